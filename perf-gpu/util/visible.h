/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from outside, in output that is read by lines. (Messages show what was there:
 * util/log.c.)
 */
#ifndef PERF_GPU_UTIL_VISIBLE_H
#define PERF_GPU_UTIL_VISIBLE_H

/*
 * What a terminal would act on, or a line-wise reader take for a line's end, becomes a
 * question mark; bytes of UTF-8 stay.
 */
static inline char visible_char(char c)
{
	unsigned char byte = (unsigned char)c;

	return byte < ' ' || byte == 0x7f ? '?' : c;
}

#endif
