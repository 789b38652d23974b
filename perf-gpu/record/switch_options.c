// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/switch_options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	char letter;
	uint64_t factor;
};

static const struct unit sizes[] = {
	{'B', 1}, {'K', 1ull << 10}, {'M', 1ull << 20}, {'G', 1ull << 30}, {0}};
static const struct unit times[] = {{'s', 1000000000ull},
				    {'m', 60000000000ull},
				    {'h', 3600000000000ull},
				    {'d', 86400000000000ull},
				    {0}};

/* A number and one of the units, of @bytes characters. 0 or -EINVAL. */
static int parse_amount(const char *text, size_t bytes, const struct unit *units,
			uint64_t *ret)
{
	unsigned long long number;
	uint64_t amount;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || !number || end != text + bytes - 1)
		return -EINVAL;
	while (units->letter && units->letter != *end)
		units++;
	if (!units->letter || __builtin_mul_overflow(number, units->factor, &amount) ||
	    amount > INT64_MAX)
		return -EINVAL;
	*ret = amount;
	return 0;
}

int switch_options__parse(const char *text, struct switch_options *ret)
{
	uint64_t bytes = 0, ns = 0;

	if (text && strcmp(text, "signal") &&
	    parse_amount(text, strlen(text), sizes, &bytes) &&
	    parse_amount(text, strlen(text), times, &ns))
		return -EINVAL;
	ret->is_switched = true;
	ret->bytes = bytes;
	ret->ns = ns;
	return 0;
}

int switch_options__parse_overwrite(const char *text, struct switch_options *ret)
{
	uint64_t bytes = 0, ns = 0;

	while (text) {
		size_t length = strcspn(text, ",");
		bool is_size = !bytes && !parse_amount(text, length, sizes, &bytes);

		if (!is_size && (ns || parse_amount(text, length, times, &ns)))
			return -EINVAL;
		text = text[length] ? text + length + 1 : NULL;
	}
	if (bytes && bytes < OVERWRITE_MIN_BYTES)
		return -ERANGE;
	ret->overwrites = true;
	/* Who gives a size alone wants that to decide. */
	ret->keep_ns = ns ? ns : bytes ? INT64_MAX : OVERWRITE_SECONDS * 1000000000ull;
	ret->keep_bytes = bytes ? bytes : OVERWRITE_BYTES;
	return 0;
}

int switch_options__parse_max_files(const char *text, struct switch_options *ret)
{
	unsigned long long number;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || !number || number > INT_MAX)
		return -EINVAL;
	ret->max_files = (unsigned int)number;
	return 0;
}
