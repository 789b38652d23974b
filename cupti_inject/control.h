/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The library's side of the control page (control_page.h). There is one page in a
 * process, or none.
 *
 * A forked child has no page: the mapping isn't inherited. What may be called there
 * says so.
 */
#ifndef PERF_GPU_INJECT_CONTROL_H
#define PERF_GPU_INJECT_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Make a page for recorders to find (PERF_GPU_WAIT). 0 or a negative errno. */
int control__create(void);

/* Join the page of a recording (PERF_GPU_CONTROL). 0 or a negative errno. */
int control__join(const char *path);

/* Is the page our own? Then one recorder may follow another. */
bool control__is_own(void);

/* The last command; without a page the same, ever. */
uint32_t control__wanted(void);

/* Sleep until the command is another than @seen, or so many milliseconds; 0: no limit. */
void control__wait(uint32_t seen, unsigned int ms);

/* Say that a command is carried out, or couldn't be: @err, negative or 0. */
void control__answer(uint32_t wanted, int err);

/**
 * control__read_environment - how the recorder wants to have it
 * @ret: gets a copy, "NAME=value" strings
 *
 * Return: bytes of it; 0 if what is there is none.
 */
size_t control__read_environment(char *ret, size_t size);

/* Is the recorder of our own page alive? True where it can't be known. */
bool control__has_recorder(void);

/* The process ends: no answer is to be waited for. Nothing in a forked child. */
void control__leave(void);

#endif
