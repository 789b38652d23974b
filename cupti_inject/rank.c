// SPDX-License-Identifier: GPL-2.0-or-later
#include "rank.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "log.h"
#include "rank_variables.h"

/* A decimal number below UINT32_MAX, and nothing else */
static bool read_number(const char *text, uint32_t *ret)
{
	unsigned long number;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || number >= UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

static uint32_t number_or(rank_lookup *lookup, const char *name, uint32_t otherwise)
{
	uint32_t number = otherwise;

	if (name)
		read_number(lookup(name), &number);
	return number;
}

const char *rank__read(rank_lookup *lookup, struct gpu_log_rank *ret)
{
	const int saved_errno = errno;
	const char *source = NULL;

	for (size_t i = 0; i < NR_RANK_VARIABLES && !source; i++) {
		const struct rank_variables *starter = &rank_variables[i];
		uint32_t rank;

		if (!read_number(lookup(starter->rank), &rank))
			continue;
		source = starter->rank;
		ret->rank = rank;
		ret->local_rank = number_or(lookup, starter->local_rank, UINT32_MAX);
		ret->nr_ranks = number_or(lookup, starter->nr_ranks, 0);
	}
	errno = saved_errno;
	return source;
}

static const char *lookup_environment(const char *name)
{
	return secure_getenv(name);
}

void rank__tell(struct log *log)
{
	struct gpu_log_rank rank = {0};
	const char *source = rank__read(lookup_environment, &rank);

	if (source)
		log__rank(log, source, &rank);
}
