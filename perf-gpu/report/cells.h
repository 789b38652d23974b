/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and figures as they stand in a table, whatever the locale. Stateless; any thread. */
#ifndef PERF_GPU_REPORT_CELLS_H
#define PERF_GPU_REPORT_CELLS_H

#include <stddef.h>
#include <stdint.h>

struct cell {
	char text[16];
};

/* "834ns", "4.64us", "58.6ms", "1.23s", "4321s": three digits and more */
const char *cell__duration(double ns, struct cell *cell);

/* "256B", "1.05kB", "33.6MB": decimal, as GB/s are */
const char *cell__bytes(double bytes, struct cell *cell);

/* "12,608"; from ten million on "12.3M", "1.23G": at most 9 columns */
const char *cell__count(uint64_t count, struct cell *cell);

/* "55.2%"; rounded down, so that 100.0% is all */
const char *cell__share(uint64_t part, uint64_t whole, struct cell *cell);

/* "12.4", GB/s of bytes in ns; "-" without a time */
const char *cell__rate(uint64_t bytes, uint64_t ns, struct cell *cell);

/**
 * utf8__next - the next character of a text
 * @at: moved behind it; not at the text's end
 *
 * Return: its code point; a byte that begins none that is well formed is one character,
 * U+FFFD.
 */
uint32_t utf8__next(const char **at);

/* What a terminal would act on: control characters, and those that turn its direction. */
int utf8__is_control(uint32_t character);

/**
 * cell__name - a name in at most @columns of a terminal
 * @columns: wide characters take two. Of longer names the middle becomes "..."
 * @ret:     with question marks for what is no text, or a control character
 * @bytes:   room in @ret; 4 * columns + 4 is always enough
 *
 * Return: how many columns it takes.
 */
size_t cell__name(const char *text, size_t columns, char *ret, size_t bytes);

#endif
