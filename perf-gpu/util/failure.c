// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/failure.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/log.h"

int failure__set(struct failure *ret, int err, const char *advice, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(ret->why, sizeof(ret->why), fmt, args);
	va_end(args);
	snprintf(ret->advice, sizeof(ret->advice), "%s", advice ? advice : "");
	return err;
}

void failure__print(const struct failure *failure)
{
	pr_err("%s%s%s", failure->why, *failure->advice ? "; " : "", failure->advice);
}
