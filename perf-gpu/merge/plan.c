// SPDX-License-Identifier: GPL-2.0-or-later
#include "merge/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/format.h"
#include "util/log.h"

/* perf has pids in 32 bits, with a sign; above are those of lanes (source/lanes.h). */
#define MAX_PID 1999999999

static int no_memory(void)
{
	pr_err("no memory to merge");
	return -ENOMEM;
}

/* Where the newest alone is kept, a file has what the one before has, too. */
static bool is_of_overwrite(const struct merge_input *input)
{
	return input->recorder.is_window || input->recorder.kept_from_ns;
}

/* Of one recorder: parts of its recording, if each ends at another time. 0 or -EEXIST */
static int check_parts(const struct merge_input *one, const struct merge_input *other)
{
	if (one->recorder.end_monotonic_ns == other->recorder.end_monotonic_ns)
		pr_err("%s and %s are the same recording: name it once", one->path,
		       other->path);
	else if (is_of_overwrite(one) || is_of_overwrite(other))
		pr_err("%s and %s are of one record --overwrite, and can have GPU "
		       "records "
		       "in common: read each on its own",
		       one->path, other->path);
	else
		return 0;
	return -EEXIST;
}

/* Behind the part that it follows, whatever order they are named in */
static void put_part(struct merge_input **inputs, size_t i, size_t after)
{
	struct merge_input *part = inputs[i];

	memmove(&inputs[after + 1], &inputs[after],
		(i - after) * sizeof(struct merge_input *));
	inputs[after] = part;
}

/* The parts of a recording come one after the other, by time. 0 or -EEXIST, printed */
static int sort_parts(struct merge_input **inputs, size_t nr_inputs)
{
	for (size_t i = 0; i < nr_inputs; i++) {
		size_t place = i;
		int err;

		for (size_t j = 0; j < i; j++) {
			if (inputs[i]->session != inputs[j]->session)
				continue;
			err = check_parts(inputs[j], inputs[i]);
			if (err)
				return err;
			place = j + 1;
			if (inputs[j]->recorder.end_monotonic_ns <
			    inputs[i]->recorder.end_monotonic_ns)
				continue;
			place = j;
			break;
		}
		put_part(inputs, i, place);
	}
	return 0;
}

/* Parts have pids, and a clock, in common: the clock as it was in the end. */
static int join_parts(struct merge_input **inputs, size_t nr_inputs)
{
	for (size_t i = 0; i < nr_inputs; i++) {
		struct merge_input *input = inputs[i];

		input->whole = input;
		if (!i || inputs[i - 1]->session != input->session)
			continue;
		inputs[i - 1]->next_part = input;
		input->whole = inputs[i - 1]->whole;
		input->whole->boot_ns = input->boot_ns;
		if (pid_set__add_all(&input->whole->pids, &input->pids, 0))
			return no_memory();
	}
	return 0;
}

struct log_of {
	uint64_t log_id;
	const struct merge_input *input;
};

static int compare_logs(const void *a, const void *b)
{
	const struct log_of *one = a, *other = b;

	return (one->log_id > other->log_id) - (one->log_id < other->log_id);
}

/* A merged one and one that it was made of have logs in common. */
static int check_logs(struct merge_input *const *inputs, size_t nr_inputs)
{
	size_t nr_logs = 0, nr = 0;
	struct log_of *logs;
	int err = 0;

	for (size_t i = 0; i < nr_inputs; i++)
		nr_logs += inputs[i]->nr_logs;
	logs = calloc(nr_logs + 1, sizeof(*logs));
	if (!logs)
		return no_memory();
	for (size_t i = 0; i < nr_inputs; i++)
		for (size_t log = 0; log < inputs[i]->nr_logs; log++)
			logs[nr++] = (struct log_of){.log_id = inputs[i]->log_ids[log],
						     .input = inputs[i]};
	qsort(logs, nr, sizeof(*logs), compare_logs);
	for (size_t i = 1; i < nr && !err; i++) {
		if (logs[i].log_id != logs[i - 1].log_id ||
		    logs[i].input->whole == logs[i - 1].input->whole)
			continue;
		pr_err("%s and %s have processes in common: one was merged into the "
		       "other already",
		       logs[i - 1].input->path, logs[i].input->path);
		err = -EEXIST;
	}
	free(logs);
	return err;
}

/* perf takes the frames, registers and files of all samples for those of one. */
static int check_machines(struct merge_input *const *inputs, size_t nr_inputs)
{
	const struct merge_input *first = NULL;

	for (size_t i = 0; i < nr_inputs; i++) {
		if (!*inputs[i]->arch)
			continue;
		if (!first)
			first = inputs[i];
		if (!strcmp(inputs[i]->arch, first->arch))
			continue;
		pr_err("%s is of %s, %s of %s: recordings of two architectures can't be "
		       "one",
		       first->path, first->arch, inputs[i]->path, inputs[i]->arch);
		return -EINVAL;
	}
	return 0;
}

static void set_times(struct merge_input *const *inputs, size_t nr_inputs)
{
	int64_t earliest_ns = INT64_MAX;

	for (size_t i = 0; i < nr_inputs; i++)
		inputs[i]->boot_ns = inputs[i]->whole->boot_ns;
	for (size_t i = 0; i < nr_inputs; i++)
		if (inputs[i]->boot_ns < earliest_ns)
			earliest_ns = inputs[i]->boot_ns;
	for (size_t i = 0; i < nr_inputs; i++)
		inputs[i]->shift.time_ns =
			(uint64_t)inputs[i]->boot_ns - (uint64_t)earliest_ns;
}

/*
 * The next number beyond @taken that is a power of ten, or some of them, which is more
 * than @highest: who is 4711 becomes 14711, say. 0: there is none.
 */
static uint32_t free_offset(uint32_t taken, uint32_t highest)
{
	uint64_t unit = 10, offset;

	while (unit <= highest)
		unit *= 10;
	offset = (taken / unit + 1) * unit;
	return offset + highest <= MAX_PID ? (uint32_t)offset : 0;
}

static int set_pids_of(struct merge_input *input, struct pid_set *taken)
{
	struct format_buf by;

	if (input->whole != input) {
		input->shift.pid = input->whole->shift.pid;
		return 0;
	}
	if (pid_set__meets(&input->pids, taken)) {
		input->shift.pid = free_offset(taken->highest, input->pids.highest);
		if (!input->shift.pid) {
			pr_err("%s: there are no pids left that its own, up to %u, could "
			       "become: merge fewer recordings at once",
			       input->path, input->pids.highest);
			return -ERANGE;
		}
		pr_debug("%s: its pids are shown %s higher", input->path,
			 format__count(input->shift.pid, &by));
	}
	return pid_set__add_all(taken, &input->pids, input->shift.pid) ? no_memory() : 0;
}

/* One line: there may be hundreds of containers that all have their pid 1. */
static void tell_pids(struct merge_input *const *inputs, size_t nr_inputs)
{
	const struct merge_input *moved = NULL;
	struct format_buf text;
	uint64_t nr_moved = 0;

	for (size_t i = 0; i < nr_inputs; i++) {
		if (!inputs[i]->shift.pid || inputs[i]->whole != inputs[i])
			continue;
		moved = inputs[i];
		nr_moved++;
	}
	if (nr_moved == 1)
		pr_info("%s: its pids are shown %s higher, since others have them too",
			moved->path, format__count(moved->shift.pid, &text));
	else if (nr_moved)
		pr_info("%s recordings have pids that others have too: theirs are shown "
			"higher, by a round number for each (which, -v tells)",
			format__count(nr_moved, &text));
}

static int set_pids(struct merge_input *const *inputs, size_t nr_inputs)
{
	struct pid_set *taken = calloc(1, sizeof(*taken));
	int err = 0;

	if (!taken)
		return no_memory();
	for (size_t i = 0; i < nr_inputs && !err; i++)
		err = set_pids_of(inputs[i], taken);
	if (!err)
		tell_pids(inputs, nr_inputs);
	pid_set__release(taken);
	free(taken);
	return err;
}

/* Names of several hosts, of a recording that was merged */
static bool has_one_host(const struct merge_input *input)
{
	return *input->host && !strchr(input->host, ',');
}

/* Up to the first dot, where that is enough to tell a host from the others */
static size_t short_bytes(const char *hosts, const char *host)
{
	size_t bytes = strcspn(host, "."), all_bytes = strlen(host), next;

	for (; *hosts; hosts += next + (hosts[next] == ',')) {
		next = strcspn(hosts, ",");
		if (strcspn(hosts, ".,") == bytes && !strncmp(hosts, host, bytes) &&
		    (next != all_bytes || strncmp(hosts, host, next)))
			return all_bytes;
	}
	return bytes;
}

static int set_hosts_of(struct merge_input *const *inputs, size_t nr_inputs,
			const char *hosts)
{
	for (size_t i = 0; i < nr_inputs; i++) {
		const char *host = inputs[i]->host;

		if (!has_one_host(inputs[i]))
			continue;
		inputs[i]->comm_host = strndup(host, short_bytes(hosts, host));
		if (!inputs[i]->comm_host)
			return no_memory();
	}
	return 0;
}

static int set_hosts(struct merge_input *const *inputs, size_t nr_inputs)
{
	char *hosts;
	int nr_hosts = merge_plan__hosts(inputs, nr_inputs, &hosts);
	int err = 0;

	if (nr_hosts < 0)
		return nr_hosts;
	if (nr_hosts > 1)
		err = set_hosts_of(inputs, nr_inputs, hosts);
	free(hosts);
	return err;
}

int merge_plan__make(struct merge_input **inputs, size_t nr_inputs, bool has_hosts)
{
	int err;

	err = sort_parts(inputs, nr_inputs);
	if (!err)
		err = join_parts(inputs, nr_inputs);
	if (!err)
		err = check_logs(inputs, nr_inputs);
	if (!err)
		err = check_machines(inputs, nr_inputs);
	if (!err)
		err = set_pids(inputs, nr_inputs);
	if (!err && has_hosts)
		err = set_hosts(inputs, nr_inputs);
	if (!err)
		set_times(inputs, nr_inputs);
	return err;
}

/* Is a name among those that have commas between them? */
static bool has_name(const char *names, const char *name, size_t bytes)
{
	while (*names) {
		size_t next = strcspn(names, ",");

		if (next == bytes && !strncmp(names, name, bytes))
			return true;
		names += next + (names[next] == ',');
	}
	return false;
}

int merge_plan__hosts(struct merge_input *const *inputs, size_t nr_inputs, char **ret)
{
	size_t room = 1, used = 0;
	int nr_hosts = 0;
	char *hosts;

	for (size_t i = 0; i < nr_inputs; i++)
		room += strlen(inputs[i]->host) + 1;
	hosts = calloc(1, room);
	if (!hosts)
		return no_memory();
	for (size_t i = 0; i < nr_inputs; i++) {
		const char *name = inputs[i]->host;

		for (size_t bytes; *name; name += bytes + (name[bytes] == ',')) {
			bytes = strcspn(name, ",");
			if (has_name(hosts, name, bytes))
				continue;
			used += (size_t)snprintf(hosts + used, room - used, "%s%.*s",
						 used ? "," : "", (int)bytes, name);
			nr_hosts++;
		}
	}
	*ret = hosts;
	return nr_hosts;
}
