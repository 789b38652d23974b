// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/failure.h"

#include <errno.h>
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

void failure__within(struct failure *failure, const char *what)
{
	struct failure inner = *failure;

	snprintf(failure->why, sizeof(failure->why), "%.80s: %.300s", what, inner.why);
}

void failure__print(const struct failure *failure)
{
	pr_err("%s%s%s", failure->why, *failure->advice ? "; " : "", failure->advice);
}

const char *failure__room(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EFBIG
		       ? ", make room or choose another place with -o"
		       : "";
}
