/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels for faults.c, through the driver's API, which is opened when it is first used:
 * the program links nothing of CUDA's, and runs on a GPU and on the stand-in alike.
 */
#ifndef PERF_GPU_TESTS_FAULT_GPU_H
#define PERF_GPU_TESTS_FAULT_GPU_H

/*
 * Launch so many kernels that do nothing, wait for them, and print "launched NUMBER
 * KERNELS". Any thread may call them; on an error they end the program with status 9.
 */
void gpu__launch(unsigned int nr_launches);

/* Kernels that run for 50 ms each, one after the other; they are not waited for. */
void gpu__launch_slow(unsigned int nr_launches);

/* Calls that launch nothing, since they ask for no block: each has to fail. */
void gpu__launch_wrongly(unsigned int nr_launches);

/*
 * A kernel that ends in a trap, and launches behind it: each has to fail, and so does all
 * else from there on.
 */
void gpu__trap(unsigned int nr_launches);

/* Make a context of its own this thread's, and the primary one again, for good. */
void gpu__create_context(void);
void gpu__destroy_context(void);

/* The primary context and its module are gone, and are to be made anew. */
void gpu__forget(void);

/* Where "launched ..." goes: standard output, if nothing is said. */
void gpu__report_to(int fd);

#endif
