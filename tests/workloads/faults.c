/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches kernels, and does to itself what tests/faults/target.md has a row for: `faults
 * NAME`. On a GPU and on the stand-in for CUDA.
 *
 * Each "launched NUMBER KERNELS" that it prints counts launches, and the kernels that ran.
 */
#include "faults.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct fault *const tables[] = {faults_of_ends, faults_of_cuda,
					     faults_of_processes, faults_of_limits,
					     faults_of_recorder};
#define NR_TABLES (sizeof(tables) / sizeof(*tables))

void fault__complain(const char *what)
{
	fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
	_exit(8);
}

#define NOBODY 65534

void fault__become_nobody(void)
{
	if (setgid(NOBODY) || setuid(NOBODY))
		fault__complain("setuid");
}

int main(int argc, char **argv)
{
	/* A lock that is held for ever is to end the test. */
	alarm(600);
	for (size_t i = 0; argc == 2 && i < NR_TABLES; i++)
		for (const struct fault *fault = tables[i]; fault->name; fault++)
			if (!strcmp(argv[1], fault->name))
				return fault->play();
	fprintf(stderr, "usage: faults FAULT, one of:");
	for (size_t i = 0; i < NR_TABLES; i++)
		for (const struct fault *fault = tables[i]; fault->name; fault++)
			fprintf(stderr, " %s", fault->name);
	fprintf(stderr, "\n");
	return 2;
}
