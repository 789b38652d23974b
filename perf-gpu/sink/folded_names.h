/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What frames are called in folded text: made what stackcollapse-perf.pl of FlameGraph
 * makes of their names, so that the lines are the same and any reader takes them.
 *
 *   ;                   becomes : as it is what separates frames
 *   a->b                two frames, the function and what was inlined into it
 *   k(float*, int)      ends at the first ( but for (anonymous namespace), unless it looks
 *                       like a Go method, net/http.(*Client).Do
 *   k+0x1f              of a frame that is no code, ends there
 *   " '                 are left out
 *   control characters  become ? as in the text
 *
 * Two differences: a name that begins with "(anonymous namespace)" stays, which that script
 * drops, and a frame that has no name left is dropped, which that script keeps.
 *
 * So a name has no part, one, or several. Each part has a number: first by when it was met,
 * and once they are sorted, by its place among all of them. One thread.
 */
#ifndef PERF_GPU_SINK_FOLDED_NAMES_H
#define PERF_GPU_SINK_FOLDED_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sink/frame_names.h"

struct folded_part {
	const char *text; /* not empty */
	size_t bytes;
};

struct folded_names;

/* @ret: released by folded_names__delete(). 0 or -ENOMEM, as all below that may fail. */
int folded_names__new(struct folded_names **ret);
void folded_names__delete(struct folded_names *names); /* NULL is fine */

/**
 * folded_names__parts - what of a name there is in a line
 * @name: of frame_names, always of the same
 * @ret:  the numbers of its parts, from the root on; valid until the next call
 *
 * Return: how many, or -ENOMEM.
 */
ssize_t folded_names__parts(struct folded_names *names, const struct frame_name *name,
			    const uint32_t **ret);

/**
 * folded_names__sort - give parts the numbers that they have when sorted by their bytes
 * @ret_numbers: the new ones, by the old; for free(); written on success only
 *
 * No name is asked for from here on.
 */
int folded_names__sort(struct folded_names *names, uint32_t **ret_numbers);

/* How many parts there are, and one, once they are sorted. */
size_t folded_names__nr_parts(const struct folded_names *names);
const struct folded_part *folded_names__part(const struct folded_names *names,
					     uint32_t number);

#endif
