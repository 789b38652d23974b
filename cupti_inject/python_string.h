/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPython's objects that hold text and bytes, where they are. Any thread. */
#ifndef PERF_GPU_INJECT_PYTHON_STRING_H
#define PERF_GPU_INJECT_PYTHON_STRING_H

#include <stddef.h>
#include <stdint.h>

#include "python_layout.h"
#include "readable.h"

/* What objects of an interpreter are told apart by: addresses of its types */
struct python_types {
	uintptr_t code, string, bytes;
};

/* How an interpreter's memory is read */
struct python_reader {
	const struct python_layout *layout;
	const struct python_types *types;
	struct readable readable;
};

/* What CPython keeps with a string once it was a key of a dict: most names were */
#define PYTHON_STRING_NO_HASH (-1)

struct python_string {
	const unsigned char *data; /* readable */
	size_t length; /* characters */
	unsigned int kind; /* bytes per character: 1, 2, 4 */
	int64_t hash; /* CPython's own, or PYTHON_STRING_NO_HASH */
};

/**
 * python_string__read - find what a string consists of
 * @address: of what may be a str
 *
 * Return: 0, or -EINVAL if it isn't one, or one in the ancient form of two pieces of
 * memory.
 */
int python_string__read(const struct python_reader *reader, uintptr_t address,
			struct python_string *ret);

/**
 * python_string__copy - a string as UTF-8
 * @ret, @size: gets it with a NUL; cut between characters if it is longer
 *
 * Characters that UTF-8 can't say (surrogates, as file names that are no UTF-8 have
 * them) become '?', and so do NULs.
 */
void python_string__copy(const struct python_string *string, char *ret, size_t size);

/* The same of a bytes object; NULL if it is none. */
const uint8_t *python_bytes__read(const struct python_reader *reader, uintptr_t address,
				  size_t *ret_nr_bytes);

#endif
