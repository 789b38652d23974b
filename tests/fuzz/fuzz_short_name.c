// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of any text: the short one has nothing that the long one doesn't have,
 * in the same order, and takes no longer than a look at each character does. In a table,
 * what is shown of two that differ is never the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "report/name_fit.h"
#include "symbol/short_name.h"

static void check_subsequence(const char *part, const char *whole)
{
	for (; *part; part++, whole++) {
		whole = strchr(whole, *part);
		if (!whole)
			abort();
	}
}

/* The text, without its last byte, and with one more, in 40 columns */
static void check_fit(const char *text)
{
	size_t bytes = strlen(text);
	char *less = strndup(text, bytes ? bytes - 1 : 0), *more = malloc(bytes + 2);
	struct fitted_name items[3] = {
		{.name = text, .columns = 40},
		{.name = less, .columns = 40},
		{.name = more, .columns = 40},
	};

	if (!less || !more)
		abort();
	stpcpy(stpcpy(more, text), "x");
	if (names__fit(items, 3))
		abort();
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(items[i].name, items[j].name) !=
			    !strcmp(items[i].ret, items[j].ret))
				abort();
	names__release(items, 3);
	free(less);
	free(more);
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
	check_fit(text);
	free(text);
	return 0;
}
