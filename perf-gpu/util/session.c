// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/session.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "util/log.h"

int session__make(uint64_t *ret)
{
	uint64_t session;

	do {
		if (getrandom(&session, sizeof(session), 0) != sizeof(session)) {
			int err = -errno;

			pr_err("no random number for the session: %s", strerror(-err));
			return err;
		}
	} while (!session);
	*ret = session;
	return 0;
}
