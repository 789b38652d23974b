/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from outside, as SVG and JSON take them: whole characters that XML 1.0 allows
 * (https://www.w3.org/TR/xml/#charsets), whatever the bytes were. Stateless; any thread.
 */
#ifndef PERF_GPU_FLAMEGRAPH_TEXT_H
#define PERF_GPU_FLAMEGRAPH_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "sink/out_file.h"

/**
 * text__next - the next character
 * @at: where it is; moved behind it. Not at the end of the text.
 *
 * Return: its code point; U+FFFD for a byte that is no UTF-8, and for a character that
 * is no text.
 */
uint32_t text__next(const char **at);

/* How many characters a text has */
size_t text__length(const char *text);

/* Write the first @nr characters for XML, in attributes too. */
void text__write_xml(struct out_file *file, const char *text, size_t nr);

/*
 * Write for JSON, with its quotes: in ASCII, without anything that means something to HTML,
 * so that it may stand in a <script>.
 */
void text__write_json(struct out_file *file, const char *text);

#endif
