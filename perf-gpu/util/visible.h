/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from outside, in output that terminals show and that is read by lines. (Messages
 * show what was there: util/log.c.) Stateless; any thread.
 */
#ifndef PERF_GPU_UTIL_VISIBLE_H
#define PERF_GPU_UTIL_VISIBLE_H

#include <stddef.h>

/**
 * visible__length - bytes of the character that a text begins with
 *
 * Return: 0 if a terminal would act on it, a line-wise reader take it for a line's end (C0
 * and C1 controls), or it is no UTF-8; never reads beyond a NUL.
 */
size_t visible__length(const char *text);

/**
 * visible__copy - make a text what can be shown: each byte of what isn't visible is a ?
 * @to:    room for @bytes; may be @from
 * @from:  ends in a NUL, behind @bytes or more
 * @bytes: copied, without a NUL
 */
void visible__copy(char *to, const char *from, size_t bytes);

/* The same to the NUL, in place */
void visible__clean(char *text);

#endif
