/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_TESTS_FAULTS_H
#define PERF_GPU_TESTS_FAULTS_H

#define NR_LAUNCHES 100

/* What is done to a program, by name. Each returns its exit status. */
struct fault {
	const char *name; /* NULL ends a table */
	int (*play)(void);
};

extern const struct fault faults_of_ends[];
extern const struct fault faults_of_cuda[];
extern const struct fault faults_of_processes[];
extern const struct fault faults_of_limits[];
extern const struct fault faults_of_recorder[];

/*
 * What a program checks itself, as that files of its own are left alone: say what is wrong,
 * and errno, and exit with 8.
 */
__attribute__((noreturn)) void fault__complain(const char *what);

/* Root gives up all that he may, as a daemon does. */
void fault__become_nobody(void);

#endif
