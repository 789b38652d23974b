// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/hit_chain.h"

#include <linux/perf_event.h>
#include <string.h>

/* Where the caller belongs: behind the first address of user space. nr: nowhere */
static uint64_t find_place(const uint64_t *ips, uint64_t nr)
{
	for (uint64_t i = 0; i + 1 < nr; i++) {
		if (ips[i] == (uint64_t)PERF_CONTEXT_USER)
			return i + 2;
	}
	return nr + 1;
}

uint64_t hit_chain__add_caller(const uint64_t *ips, uint64_t nr, uint64_t caller,
			       uint64_t *ret)
{
	uint64_t place;

	if (!nr)
		return 0;
	if (nr > HIT_CHAIN_MAX_IPS - 1)
		nr = HIT_CHAIN_MAX_IPS - 1;
	place = find_place(ips, nr);
	if (!caller || place > nr || (place < nr && ips[place] == caller)) {
		memcpy(ret, ips, nr * sizeof(*ret));
		return nr;
	}
	memcpy(ret, ips, place * sizeof(*ret));
	ret[place] = caller;
	memcpy(ret + place + 1, ips + place, (nr - place) * sizeof(*ret));
	return nr + 1;
}
