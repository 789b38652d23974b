// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of any text: the short one has nothing that the long one doesn't have,
 * in the same order, and takes no longer than a look at each character does.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "symbol/short_name.h"

static void check_subsequence(const char *part, const char *whole)
{
	for (; *part; part++, whole++) {
		whole = strchr(whole, *part);
		if (!whole)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *name;

	if (!text)
		abort();
	name = short_name(text);
	if (!name)
		abort();
	check_subsequence(name, text);
	if (*text && !*name)
		abort();
	if (!strpbrk(text, "(<") && strcmp(name, text) != 0)
		abort();
	free(name);
	free(text);
	return 0;
}
