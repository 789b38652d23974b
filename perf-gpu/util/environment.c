// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unsetenv(3) forgets a variable's address, but its string stays where the kernel has put
 * it at the start of the program (fs/binfmt_elf.c, fs/exec.c):
 *
 *   argv[0] NUL argv[1] NUL ... NAME=value NUL NAME=value NUL ... file name NUL
 *                               ^ behind the last argument        ^ AT_EXECFN
 */
#include "util/environment.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static const char *first, *end; /* both NULL: nothing was taken out */

void environment__init(const char *const *argv)
{
	const char *file_name = (const char *)getauxval(AT_EXECFN);
	const char *last = NULL;

	if (!getauxval(AT_SECURE) || !file_name)
		return;
	while (*argv)
		last = *argv++;
	/* Else it is a kernel that does it in another way. */
	if (!last || last >= file_name)
		return;
	first = last + strlen(last) + 1;
	end = file_name;
}

/* The next that isn't in the environment, from @at on; or NULL */
static const char *next_hidden(const char *at)
{
	for (; at < end; at += strlen(at) + 1) {
		const char *equals = strchr(at, '=');
		char *name;
		bool is_hidden;

		if (!equals || equals == at)
			continue;
		name = strndup(at, (size_t)(equals - at));
		is_hidden = name && !getenv(name);
		free(name);
		if (is_hidden)
			return at;
	}
	return NULL;
}

const char *environment__get(const char *name)
{
	const char *value = getenv(name);
	const size_t nr = strlen(name);

	for (const char *at = first; !value && at < end; at += strlen(at) + 1)
		if (!strncmp(at, name, nr) && at[nr] == '=')
			value = at + nr + 1;
	return value;
}

int environment__restore(void)
{
	const char *at = first;

	while ((at = next_hidden(at))) {
		/* The string is the kernel's way to hand over the environment: it stays. */
		if (putenv((char *)at))
			return -ENOMEM;
		at += strlen(at) + 1;
	}
	return 0;
}
