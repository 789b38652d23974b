/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What became of everything that the library has seen: the same figures, in the same
 * words, for all who print them. The sums are such that they add up.
 *
 *   calls that were recorded = samples + lost, each kind
 *   GPU records              = delivered + dropped, each kind + of unknown time
 *
 * One thread.
 */
#ifndef PERF_GPU_UTIL_ACCOUNT_H
#define PERF_GPU_UTIL_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct gpu_log_loss;

enum account_loss {
	ACCOUNT_RING, /* no room in a ring */
	ACCOUNT_LOG, /* the process could not write them */
	ACCOUNT_UNREADABLE, /* the kernel's records of them can't be read */
	ACCOUNT_MISSING, /* counted by the process, and never seen */
	ACCOUNT_DAMAGED, /* recorded, and not there any more */
	ACCOUNT_OVER_LIMIT, /* left out by record --max-size */
	ACCOUNT_NR_LOSSES,
};

enum account_drop {
	ACCOUNT_BY_CUPTI,
	ACCOUNT_BY_WRITE, /* in blocks that could not be written */
	ACCOUNT_NO_MEMORY,
	ACCOUNT_IN_BROKEN_LOGS, /* counted by a process, and not where its log can be read */
	ACCOUNT_IN_DAMAGE, /* recorded, and not there any more */
	ACCOUNT_BEHIND_LIMIT, /* left out by record --max-size */
	ACCOUNT_NR_DROPS,
};

struct account {
	bool has_calls; /* they are in perf.data; else others record them */
	bool has_others; /* calls that are no launches are among them */
	uint64_t nr_samples;
	uint64_t nr_without_stack; /* of them */
	uint64_t nr_lost[ACCOUNT_NR_LOSSES];
	/*
	 * GPU_LOG_KERNEL, _ACTIVITY, _MEMORY, _API_CALL and _NVTX: the records that are
	 * counted when they are lost
	 */
	uint64_t nr_delivered;
	uint64_t nr_unknown_time; /* the others that are there */
	uint64_t nr_dropped[ACCOUNT_NR_DROPS];
};

/* A loss of GPU records that a log tells of; other kinds are none of these. */
void account__add_loss(struct account *account, const struct gpu_log_loss *loss);

/* Call of these what is lost, of any kind. */
uint64_t account__nr_lost(const struct account *account);
uint64_t account__nr_dropped(const struct account *account);

/*
 * What there was, and what became of it, in a line each for calls and GPU records; of
 * those of which all is there, only with -v.
 */
void account__print(const struct account *account);

#endif
