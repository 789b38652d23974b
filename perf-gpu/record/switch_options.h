/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record's --switch-output, --switch-max-files and --overwrite, in perf's words. */
#ifndef PERF_GPU_RECORD_SWITCH_OPTIONS_H
#define PERF_GPU_RECORD_SWITCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* What --overwrite keeps, where it isn't said */
#define OVERWRITE_SECONDS 10
#define OVERWRITE_BYTES	  (256ull << 20)
/* Less is no more than what is on its way. */
#define OVERWRITE_MIN_BYTES (4ull << 20)

struct switch_options {
	bool is_switched; /* --switch-output; at a signal, if the next two are 0 */
	uint64_t bytes; /* of perf.data, at which another is begun */
	uint64_t ns; /* after which another is begun */
	unsigned int max_files; /* that are there at a time; 0: all */
	bool overwrites; /* --overwrite: only the newest is kept */
	uint64_t keep_ns; /* so long */
	uint64_t keep_bytes; /* of memory, at most */
};

/* Are there options of these at all? */
static inline bool switch_options__any(const struct switch_options *options)
{
	return options->is_switched || options->overwrites;
}

/**
 * switch_options__parse - what stands behind --switch-output
 * @text: "signal", a size (B, K, M, G) or a time (s, m, h, d); NULL: a signal
 *
 * Return: 0 or -EINVAL.
 */
int switch_options__parse(const char *text, struct switch_options *ret);

/**
 * switch_options__parse_overwrite - what stands behind --overwrite
 * @text: a time, a size, or both with a comma between them; NULL: the defaults
 *
 * Return: 0; -EINVAL; or -ERANGE for less than OVERWRITE_MIN_BYTES.
 */
int switch_options__parse_overwrite(const char *text, struct switch_options *ret);

/* A number from 1 on. Return: 0 or -EINVAL. */
int switch_options__parse_max_files(const char *text, struct switch_options *ret);

#endif
