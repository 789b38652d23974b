// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/unwinder.h"

#include <errno.h>
#include <stdlib.h>

#include "perfdata/format.h"
#include "unwind/dwarf_unwind.h"
#include "util/log.h"

struct unwinder {
	const struct arch *arch;
	const struct perf_event_attr *attr;
	struct dwarf_unwind *unwind;
	uint64_t ips[1 + DWARF_UNWIND_MAX_FRAMES];
};

int unwinder__new(const struct perfdata_reader *reader,
		  const struct perfdata_event_desc *event, const struct machine *machine,
		  struct unwinder **ret)
{
	const char *arch = perfdata_reader__feature_string(reader, HEADER_ARCH);
	struct unwinder *unwinder;

	if (!(event->attr.sample_type & PERF_SAMPLE_REGS_USER)) {
		*ret = NULL;
		return 0;
	}
	unwinder = calloc(1, sizeof(*unwinder));
	if (!unwinder)
		goto no_memory;
	unwinder->attr = &event->attr;
	unwinder->arch = arch__find(arch);
	if (!unwinder->arch) {
		pr_err("stacks of architecture %s can't be unwound here: leave that to "
		       "perf report",
		       arch ? arch : "unknown");
		unwinder__delete(unwinder);
		return -ENOTSUP;
	}
	if (dwarf_unwind__new(machine, unwinder->arch, &unwinder->unwind))
		goto no_memory;
	unwinder->ips[0] = PERF_CONTEXT_USER;
	*ret = unwinder;
	return 0;
no_memory:
	unwinder__delete(unwinder);
	pr_err("no memory to unwind stacks");
	return -ENOMEM;
}

void unwinder__delete(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	dwarf_unwind__delete(unwinder->unwind);
	free(unwinder);
}

int unwinder__walk(struct unwinder *unwinder, struct launch_sample *sample)
{
	struct user_state state;
	int nr = 0;

	if (!sample->user_state)
		return 0;
	if (!user_state__parse(unwinder->arch, unwinder->attr, sample->user_state,
			       sample->user_state_bytes, &state))
		nr = dwarf_unwind__walk(unwinder->unwind, sample->pid, &state,
					unwinder->ips + 1);
	if (nr < 0)
		return nr;
	sample->ips = unwinder->ips;
	sample->nr_ips = (uint64_t)nr + 1;
	sample->user_state = NULL;
	sample->user_state_bytes = 0;
	return 0;
}
