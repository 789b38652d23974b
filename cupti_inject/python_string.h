/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings of CPython. Any thread. */
#ifndef PERF_GPU_INJECT_PYTHON_STRING_H
#define PERF_GPU_INJECT_PYTHON_STRING_H

#include <stddef.h>
#include <stdint.h>

#include "python_layout.h"
#include "readable.h"

/* What CPython keeps with a string once it was a key of a dict: most names were */
#define PYTHON_STRING_NO_HASH (-1)

/**
 * python_string__hash - CPython's own hash of a string
 * @string: an address in readable memory, as far as layout->ascii_bytes
 *
 * Return: PYTHON_STRING_NO_HASH if it was never asked for.
 */
int64_t python_string__hash(const struct python_layout *layout, uintptr_t string);

struct python_string {
	const void *data; /* readable */
	size_t length; /* characters */
	unsigned int kind; /* bytes per character: 1, 2, 4 */
};

/**
 * python_string__read - a string where it is
 * @type:   str of this interpreter
 * @string: address of what may be one
 *
 * Return: 0, or -EINVAL if it isn't a str, or one in the ancient form of two pieces of
 * memory.
 */
int python_string__read(const struct python_layout *layout, uintptr_t type,
			struct readable *readable, uintptr_t string,
			struct python_string *ret);

/**
 * python_string__copy - a string as UTF-8
 * @ret, @size: gets it with a NUL; cut between characters if it is longer
 *
 * Characters that UTF-8 can't say (surrogates, as file names that are no UTF-8 have
 * them) become '?', and so do NULs.
 *
 */
void python_string__copy(const struct python_string *string, char *ret, size_t size);

#endif
