/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures as the closing lines show them, whatever the locale, and paragraphs. */
#ifndef PERF_GPU_UTIL_FORMAT_H
#define PERF_GPU_UTIL_FORMAT_H

#include <stdint.h>

struct format_buf {
	char text[40];
};

/* "1,234,567"; returns buf->text, which is what the functions below do too. */
const char *format__count(uint64_t count, struct format_buf *buf);

/* Nanoseconds as "812.450 ms", with thousands separators. */
const char *format__ms(uint64_t ns, struct format_buf *buf);

/* A file's size as "1.5 MB", or "42.1 KB" below 0.1 MB, which would read as none. */
const char *format__file_size(uint64_t bytes, struct format_buf *buf);

/* "99.9 %" of @whole; rounded down, so that 100.0 % is said of all only. */
const char *format__percent(uint64_t part, uint64_t whole, struct format_buf *buf);

/* The word that goes with a count: @one of one, else @many. */
const char *format__plural(uint64_t nr, const char *one, const char *many);

/* A UUID with its hyphens, as nvidia-smi has a GPU's behind "GPU-" */
const char *format__uuid(const uint8_t uuid[16], struct format_buf *buf);

/*
 * Print the words of a text on stdout, in lines of 80 columns that begin at @column,
 * where the first one is already; and a newline.
 */
void format__print_wrapped(int column, const char *text);

#endif
