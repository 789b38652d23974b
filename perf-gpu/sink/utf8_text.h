/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8 (RFC 3629), which texts from outside need not be. Stateless; any thread. */
#ifndef PERF_GPU_SINK_UTF8_TEXT_H
#define PERF_GPU_SINK_UTF8_TEXT_H

#include <stddef.h>

/* Bytes of the character that a text begins with; 0 if it is none, or there is no more. */
size_t utf8_text__length(const char *text);

/* A copy in which each byte that isn't UTF-8 is U+FFFD, for free(); NULL without memory */
char *utf8_text__copy(const char *text);

#endif
