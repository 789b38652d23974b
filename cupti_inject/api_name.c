// SPDX-License-Identifier: GPL-2.0-or-later
#include "api_name.h"

#include <stdio.h>
#include <string.h>

#include "cupti_table.h"

_Static_assert((int)CUPTI_RUNTIME_TRACE_CBID_SIZE < API_MAX_CBIDS / 2, "leave room");
_Static_assert((int)CUPTI_DRIVER_TRACE_CBID_SIZE < API_MAX_CBIDS / 2, "leave room");

bool api_name__is_launch(const char *name)
{
	return (strstr(name, "Launch") || strstr(name, "launch")) &&
	       !strstr(name, "HostFunc");
}

void api_name__public(const char *name, char *ret, size_t size)
{
	size_t len;
	char *version;

	while (*name == '_')
		name++;
	snprintf(ret, size, "%s", name);
	version = strrchr(ret, '_');
	if (!version || version[1] != 'v')
		return;
	len = strlen(version + 2);
	if (len >= 4 && strspn(version + 2, "0123456789") == len)
		*version = 0;
}
