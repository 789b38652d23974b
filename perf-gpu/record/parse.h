/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of record's options, as perf understands them. Nothing is printed. */
#ifndef PERF_GPU_RECORD_PARSE_H
#define PERF_GPU_RECORD_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/events.h"

/* Of one CPU's ring; perf and the kernel can't do much more */
#define PARSE_MAX_RING_BYTES (1ull << 30)

/**
 * parse__call_graph - "unwind", "fp", "dwarf" or "dwarf,<bytes>"
 * @ret: bytes are rounded up to a multiple of 8; written on success only
 *
 * Return: 0, -EINVAL for another word, -ERANGE for bytes that are none, or not
 * from 1 to CALL_GRAPH_MAX_DWARF_BYTES.
 */
int parse__call_graph(const char *text, struct stack_config *ret);

/* 1 to MAX_STACK_FRAMES. Return: 0, -EINVAL if it is no number, or -ERANGE. */
int parse__max_stack(const char *text, unsigned int *ret);

/* parse__capture_range - "cudaProfilerApi" or "none": 0, or -EINVAL for another word */
int parse__capture_range(const char *text, bool *ret);

/* parse__stacks - "auto", "uprobe" or "process": 0, or -EINVAL for another word */
int parse__stacks(const char *text, enum stacks *ret);

/**
 * parse__python - "walk", "trampoline" or "off"
 * @ret: written on success only
 *
 * Return: 0, or -EINVAL for another word.
 */
int parse__python(const char *text, enum python_frames *ret);

/* parse__probe - "marker", "api" or "none": 0, or -EINVAL for another word */
int parse__probe(const char *text, enum launch_probe *ret);

/**
 * parse__mmap_pages - pages, or a size with B, K, M or G behind it
 * @page_bytes: size of a page
 * @ret_pages:  rounded up to a power of two; written on success only
 *
 * Return: 0, -EINVAL, or -ERANGE for more than PARSE_MAX_RING_BYTES.
 */
int parse__mmap_pages(const char *text, size_t page_bytes, size_t *ret_pages);

/**
 * parse__max_size - a size with B, K, M or G behind it
 * @ret_bytes: written on success only
 *
 * Return: 0, -EINVAL, or -ERANGE for none, or more than 63 bits.
 */
int parse__max_size(const char *text, uint64_t *ret_bytes);

/**
 * parse__delay - -D's argument
 * @ret_ms: milliseconds, or -1; written on success only
 *
 * Return: 0, -EINVAL for what is neither, -ERANGE for more than an int has.
 */
int parse__delay(const char *text, int *ret_ms);

/**
 * parse__duration - seconds, or a time with ms, s, m, h or d behind it
 * @ret_ms: not 0; written on success only
 *
 * Return: 0, -EINVAL, or -ERANGE for none, or more than a year has.
 */
int parse__duration(const char *text, uint64_t *ret_ms);

/**
 * parse__pids - -p's argument: process ids with commas between them
 * @ret_pids: to be freed; written on success only
 *
 * Return: 0, -EINVAL, -ERANGE for a number that no process has, or -ENOMEM.
 */
int parse__pids(const char *text, pid_t **ret_pids, size_t *ret_nr);

#endif
