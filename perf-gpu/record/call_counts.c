// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/call_counts.h"

#include <stdbool.h>

#include "gpu_log.h"

#define BIT(kind) GPU_LOG_KIND_BIT(GPU_LOG_KIND_##kind)

/* Where a function stands. Return: it can. */
static bool find_place(uint32_t api, uint32_t *ret_domain, uint32_t *ret_cbid)
{
	*ret_domain = api >> 24;
	*ret_cbid = api & 0xffffff;
	return *ret_domain < CALL_COUNTS_DOMAINS && *ret_cbid < CALL_COUNTS_CBIDS;
}

void call_counts__add(struct call_counts *counts, uint32_t api)
{
	uint32_t domain, cbid;

	if (find_place(api, &domain, &cbid))
		counts->nr_calls[domain][cbid]++;
	else
		counts->nr_others++;
}

void call_kinds__set(struct call_kinds *all, uint32_t api, uint32_t kinds)
{
	uint32_t domain, cbid;

	if (find_place(api, &domain, &cbid) && !all->kinds[domain][cbid])
		all->kinds[domain][cbid] = kinds;
}

/* A copy waits, too, and cudaFree may: what they are for comes first. */
static enum call_class class_of(uint32_t kinds)
{
	if (kinds & BIT(CALL))
		return CALL_LAUNCH;
	if (kinds & BIT(MEMORY))
		return CALL_MEMORY;
	return kinds & BIT(SYNC) ? CALL_WAIT : CALL_UNKNOWN;
}

struct call_sums call_counts__sum(const struct call_counts *counts,
				  const struct call_kinds *kinds, uint32_t events)
{
	const bool are_launches = !(gpu_log_kinds_of(events) & (BIT(SYNC) | BIT(MEMORY)));
	struct call_sums sums = {.nr[CALL_UNKNOWN] = counts->nr_others};

	for (uint32_t domain = 0; domain < CALL_COUNTS_DOMAINS; domain++)
		for (uint32_t cbid = 0; cbid < CALL_COUNTS_CBIDS; cbid++)
			sums.nr[class_of(kinds->kinds[domain][cbid])] +=
				counts->nr_calls[domain][cbid];
	/* Probes are on launching functions. */
	sums.nr[CALL_LAUNCH] += counts->nr_calls[0][0];
	sums.nr[CALL_UNKNOWN] -= counts->nr_calls[0][0];
	if (are_launches) {
		sums.nr[CALL_LAUNCH] += sums.nr[CALL_UNKNOWN];
		sums.nr[CALL_UNKNOWN] = 0;
	}
	return sums;
}
