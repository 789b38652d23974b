// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/output_path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rank_variables.h"
#include "util/log.h"

/* "RANK, PMI_RANK or SLURM_PROCID" */
static void list_variables(char *text, size_t size)
{
	size_t nr_bytes = 0;

	for (size_t i = 0; i < NR_RANK_VARIABLES && nr_bytes < size; i++)
		nr_bytes += (size_t)snprintf(text + nr_bytes, size - nr_bytes, "%s%s",
					     !i				  ? ""
					     : i + 1 == NR_RANK_VARIABLES ? " or "
									  : ", ",
					     rank_variables[i].rank);
}

/* The rank's digits, or NULL, printed */
static const char *find_rank(const char *pattern)
{
	char variables[256];

	for (size_t i = 0; i < NR_RANK_VARIABLES; i++) {
		const char *name = rank_variables[i].rank, *value = getenv(name);

		if (!value || !*value)
			continue;
		if (!value[strspn(value, "0123456789")])
			return value;
		pr_err("-o %s: the rank that %s has is no number: %s", pattern, name,
		       value);
		return NULL;
	}
	list_variables(variables, sizeof(variables));
	pr_err("-o %s: no rank for %%r: none of the environment variables %s is set "
	       "here; is this started by torchrun, mpirun or srun?",
	       pattern, variables);
	return NULL;
}

struct text {
	char *at;
	size_t left_bytes;
	bool is_full;
};

static void text__add(struct text *text, const char *what, size_t bytes)
{
	if (bytes >= text->left_bytes) {
		text->is_full = true;
		return;
	}
	memcpy(text->at, what, bytes);
	text->at += bytes;
	text->left_bytes -= bytes;
}

/* Add what a letter stands for. 0 or a negative errno, printed. */
static int add_value(struct text *text, const char *pattern, char letter)
{
	struct utsname uts;
	const char *value;
	char pid[16];

	switch (letter) {
	case 'h':
		uname(&uts);
		/* Linux lets root have any name. */
		for (char *slash = uts.nodename; (slash = strchr(slash, '/'));)
			*slash = '_';
		value = uts.nodename;
		break;
	case 'r':
		value = find_rank(pattern);
		if (!value)
			return -ENOENT;
		break;
	case 'p':
		snprintf(pid, sizeof(pid), "%d", (int)getpid());
		value = pid;
		break;
	case '%':
		value = "%";
		break;
	default:
		pr_err("-o %s: %%%.1s is nothing that a file's name can have: %%h is the "
		       "host's name, %%r the rank, %%p the recorder's process id, %%%% a "
		       "%%",
		       pattern, letter ? &letter : "");
		return -EINVAL;
	}
	text__add(text, value, strlen(value));
	return 0;
}

int output_path__expand(const char *pattern, char ret[PATH_MAX])
{
	char path[PATH_MAX];
	struct text text = {.at = path, .left_bytes = sizeof(path)};
	const char *from = pattern;
	int err;

	while (*from) {
		size_t plain_bytes = strcspn(from, "%");

		text__add(&text, from, plain_bytes);
		from += plain_bytes;
		if (!*from)
			break;
		err = add_value(&text, pattern, from[1]);
		if (err)
			return err;
		from += 2;
	}
	if (text.is_full) {
		pr_err("the output path is too long: %s", pattern);
		return -ENAMETOOLONG;
	}
	*text.at = '\0';
	snprintf(ret, PATH_MAX, "%s", path);
	return 0;
}
