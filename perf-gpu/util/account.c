// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/account.h"

#include <stdio.h>
#include <string.h>

#include "gpu_log.h"
#include "util/format.h"
#include "util/log.h"
#include "util/sum.h"

/* Whole texts: each loss has its own, and there may be all of them. */
#define LINE_BYTES 512

static const char *const loss_words[ACCOUNT_NR_LOSSES] = {
	[ACCOUNT_RING] = "lost in rings",      [ACCOUNT_LOG] = "lost by processes",
	[ACCOUNT_UNREADABLE] = "unreadable",   [ACCOUNT_MISSING] = "missing",
	[ACCOUNT_DAMAGED] = "no longer there", [ACCOUNT_OVER_LIMIT] = "beyond --max-size",
};

static const char *const drop_words[ACCOUNT_NR_DROPS] = {
	[ACCOUNT_BY_CUPTI] = "dropped by CUPTI",
	[ACCOUNT_BY_WRITE] = "not written",
	[ACCOUNT_NO_MEMORY] = "dropped for want of memory",
	[ACCOUNT_IN_BROKEN_LOGS] = "missing in logs",
	[ACCOUNT_IN_DAMAGE] = "unreadable",
	[ACCOUNT_BEHIND_LIMIT] = "beyond --max-size",
};

void account__add_loss(struct account *account, const struct gpu_log_loss *loss)
{
	switch (loss->kind) {
	case GPU_LOG_LOSS_CUPTI_DROPPED:
		sum__add(&account->nr_dropped[ACCOUNT_BY_CUPTI], loss->nr_records);
		break;
	case GPU_LOG_LOSS_WRITE:
		sum__add(&account->nr_dropped[ACCOUNT_BY_WRITE], loss->nr_records);
		break;
	case GPU_LOG_LOSS_NO_MEMORY:
		sum__add(&account->nr_dropped[ACCOUNT_NO_MEMORY], loss->nr_records);
		break;
	default:
		/* An unfinished kernel has a record, without times. */
		break;
	}
}

static uint64_t total(const uint64_t *parts, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum__add(&sum, parts[i]);
	return sum;
}

uint64_t account__nr_lost(const struct account *account)
{
	return total(account->nr_lost, ACCOUNT_NR_LOSSES);
}

uint64_t account__nr_dropped(const struct account *account)
{
	return total(account->nr_dropped, ACCOUNT_NR_DROPS);
}

/* A sum, part by part */
struct line {
	char text[LINE_BYTES];
	size_t nr_bytes;
};

static void add_part(struct line *line, uint64_t nr, const char *what)
{
	struct format_buf count;

	line->nr_bytes += (size_t)snprintf(line->text + line->nr_bytes,
					   sizeof(line->text) - line->nr_bytes, "%s%s %s",
					   line->nr_bytes ? " + " : "",
					   format__count(nr, &count), what);
}

static void print_line(const char *what, uint64_t nr, const struct line *line,
		       bool is_whole)
{
	struct format_buf count;

	if (is_whole)
		pr_debug("%s: %s = %s", what, format__count(nr, &count), line->text);
	else
		pr_info("%s: %s = %s", what, format__count(nr, &count), line->text);
}

static void print_calls(const struct account *account)
{
	const uint64_t nr_lost = account__nr_lost(account);
	struct format_buf count;
	struct line line = {};
	uint64_t nr = nr_lost;
	char samples[80] = "samples";

	if (account->nr_without_stack)
		snprintf(samples, sizeof(samples), "samples (%s without a stack)",
			 format__count(account->nr_without_stack, &count));
	add_part(&line, account->nr_samples, samples);
	for (size_t i = 0; i < ACCOUNT_NR_LOSSES; i++)
		if (account->nr_lost[i])
			add_part(&line, account->nr_lost[i], loss_words[i]);
	sum__add(&nr, account->nr_samples);
	print_line(account->has_others ? "calls" : "launches", nr, &line,
		   !nr_lost && !account->nr_without_stack);
}

static void print_records(const struct account *account)
{
	const uint64_t nr_dropped = account__nr_dropped(account);
	struct line line = {};
	uint64_t nr = nr_dropped;

	add_part(&line, account->nr_delivered, "delivered");
	for (size_t i = 0; i < ACCOUNT_NR_DROPS; i++)
		if (account->nr_dropped[i])
			add_part(&line, account->nr_dropped[i], drop_words[i]);
	if (account->nr_unknown_time)
		add_part(&line, account->nr_unknown_time, "of unknown time");
	sum__add(&nr, account->nr_delivered);
	sum__add(&nr, account->nr_unknown_time);
	print_line("GPU records", nr, &line, !nr_dropped && !account->nr_unknown_time);
}

void account__print(const struct account *account)
{
	if (account->has_calls)
		print_calls(account);
	print_records(account);
}
