/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON (RFC 8259): texts from outside. One thread. */
#ifndef PERF_GPU_SINK_JSON_TEXT_H
#define PERF_GPU_SINK_JSON_TEXT_H

#include "sink/out_file.h"

/*
 * Write a text in quotes. What JSON has no place for is escaped, and bytes that aren't
 * UTF-8 become U+FFFD.
 */
void json_text__write(struct out_file *file, const char *text);

/* The same where there is room for JSON_TEXT_BYTES(strlen(text)). Return: where it ended. */
#define JSON_TEXT_BYTES(nr_bytes) (6 * (nr_bytes) + 2)
char *json_text__put(char *at, const char *text);

#endif
