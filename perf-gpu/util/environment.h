/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment that perf-gpu was started with, for the command that it runs.
 *
 * Where perf-gpu has capabilities of its file (setcap), the dynamic linker takes
 * LD_LIBRARY_PATH, LD_PRELOAD and others out of the environment (AT_SECURE): it must not
 * obey them. The command has no such capabilities, and is to run as it would without us. One
 * thread.
 */
#ifndef PERF_GPU_UTIL_ENVIRONMENT_H
#define PERF_GPU_UTIL_ENVIRONMENT_H

/**
 * environment__init - find what the dynamic linker has taken out
 * @argv: of main(), with its strings where the kernel has put them
 */
void environment__init(const char *const *argv);

/* A variable's value, also if it was taken out; NULL: it isn't set. Not to be obeyed. */
const char *environment__get(const char *name);

/* Put it back, in a process that will execute the command. 0 or -ENOMEM, not printed. */
int environment__restore(void);

#endif
