/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches from the bottom of a stack of 50 KiB, and each launch has one of its own:
 * the 12 outermost calls below main() are of one() and zero(), as the bits of the
 * launch's number are, most significant first; then come calls of padding(). So what
 * was damaged anywhere in a copy of the stack shows in it. Stand-in for CUDA only.
 */
#include <string.h>
#include <unistd.h>

#include "plain_cuda.h"

#define NR_BITS	      12 /* -b has another number */
#define NR_PADDING    50
#define PADDING_BYTES 1000

static void padding(unsigned int nr_left)
{
	volatile char room[PADDING_BYTES];

	memset((char *)room, (int)nr_left, sizeof(room));
	if (nr_left)
		padding(nr_left - 1);
	else
		plain_kernel__launch(1);
	room[0] = 0; /* so that the call above isn't the last */
}

static void one(unsigned int number, unsigned int nr_bits);
static void zero(unsigned int number, unsigned int nr_bits);

static inline __attribute__((always_inline)) void next(unsigned int number,
						       unsigned int nr_bits)
{
	if (!nr_bits)
		padding(NR_PADDING);
	else if (number >> (nr_bits - 1) & 1)
		one(number, nr_bits - 1);
	else
		zero(number, nr_bits - 1);
	__asm__ volatile("" ::: "memory"); /* likewise */
}

static __attribute__((noinline)) void one(unsigned int number, unsigned int nr_bits)
{
	__asm__ volatile("nop"); /* or the compiler makes one function of the two */
	next(number, nr_bits);
}

static __attribute__((noinline)) void zero(unsigned int number, unsigned int nr_bits)
{
	next(number, nr_bits);
}

int main(int argc, char **argv)
{
	unsigned int nr_launches = 100, pause_us = 0, nr_bits = NR_BITS;
	int option;

	while ((option = getopt(argc, argv, "n:p:b:")) != -1) {
		if (option == 'n') {
			nr_launches = (unsigned int)strtoul(optarg, NULL, 10);
		} else if (option == 'p') {
			pause_us = (unsigned int)strtoul(optarg, NULL, 10);
		} else if (option == 'b') {
			nr_bits = (unsigned int)strtoul(optarg, NULL, 10);
		} else {
			fprintf(stderr, "usage: deep_stack [-n LAUNCHES] [-p US] "
					"[-b BITS]\n");
			return 2;
		}
	}
	for (unsigned int i = 0; i < nr_launches; i++) {
		next(i, nr_bits);
		if (pause_us)
			usleep(pause_us);
	}
	return 0;
}
