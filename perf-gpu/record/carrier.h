/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How launches get from the recorded processes into perf.data, with what is mapped
 * and forked there (--stacks). One thread.
 *
 *   open       before the command: can it work here at all?
 *   configure  what the injected library is to do
 *   attach     the command's process exists, and waits; on failure, close
 *   turn       recording is on or off from now on
 *   drain      again and again, while the command runs
 *   detach     the command has ended, or the recording: nothing more is taken up
 *   finish     what is left into perf.data
 *   losses     once finished
 *   close      at any time
 *
 * A carrier is one file, which defines its operations, all of them; a struct carrier
 * is the first member of its own struct.
 */
#ifndef PERF_GPU_RECORD_CARRIER_H
#define PERF_GPU_RECORD_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/events.h"
#include "record/injection.h"
#include "record/output.h"
#include "record/spool.h"
#include "record/tallies.h"
#include "util/failure.h"
#include "util/rights.h"
#include "util/sum.h"

struct carrier_config {
	const char *library; /* that is injected; kept by reference */
	uint64_t session;
	struct stack_config stack;
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that are wanted of the GPU */
	size_t nr_pages; /* of each CPU's ring, a power of two; 0: fitting */
	bool is_live; /* what is recorded is wanted at once, not when the command has ended */
	const struct spool *spool; /* there from attach on; kept by reference */
	struct tallies *tallies; /* likewise */
	/* Processes to record that run already; none: the command's. Kept by reference. */
	const pid_t *running;
	size_t nr_running;
};

/* What the carrier knows to be missing in perf.data. */
struct carrier_losses {
	uint64_t nr_ring; /* launches that found no room in a ring */
	uint64_t nr_nodes; /* nodes of graphs that found none */
	uint64_t nr_log; /* launches that their process could not write */
	uint64_t nr_stack; /* stacks, of launches that are there */
	uint64_t nr_sideband; /* records of mappings and processes */
};

static inline uint64_t carrier_losses__launches(const struct carrier_losses *losses)
{
	uint64_t nr = losses->nr_ring;

	sum__add(&nr, losses->nr_log);
	return nr;
}

struct carrier {
	const struct carrier_ops *ops;
};

struct carrier_ops {
	/* Why a launch may be missing that was neither lost in a ring nor in a log */
	const char *missing;
	/* The same of processes that didn't end in order, if it is something else; or NULL */
	const char *missing_unended;

	/**
	 * open - make what needs no process to look at
	 * @ret:     released by close; written on success only
	 * @failure: written on failure only; nothing is printed
	 *
	 * Return: 0 or a negative errno.
	 */
	int (*open)(const struct carrier_config *config, struct carrier **ret,
		    struct failure *failure);

	/* Fill in what depends on the carrier; the rest is there already. */
	void (*configure)(const struct carrier *carrier, struct injection_config *config);

	/**
	 * attach - watch a process and its descendants
	 * @pid:     has not executed its command yet; 0: those that run already
	 * @output:  for drain and finish to write to; kept by reference
	 * @failure: as in open
	 *
	 * Return: 0 or a negative errno.
	 */
	int (*attach)(struct carrier *carrier, pid_t pid, struct output *output,
		      struct failure *failure);

	/*
	 * What it may take, from attach to detach, to probe what comes: enum rights. 0: all
	 * probes are there.
	 */
	unsigned int (*rights)(const struct carrier *carrier);

	/*
	 * Record, or pause, what is recorded of processes that can't be told so themselves
	 * (record/control.h); from attach on, when it is on.
	 */
	void (*turn)(struct carrier *carrier, bool on);

	/* Becomes readable when drain is urgent; -1: it never is. */
	int (*fd)(const struct carrier *carrier);

	/* Write what there is to the output. 0 or a negative errno, printed. */
	int (*drain)(struct carrier *carrier);

	void (*detach)(struct carrier *carrier);

	/* Write what is left; @spool has the logs. 0 or a negative errno, printed. */
	int (*finish)(struct carrier *carrier, const struct spool *spool);

	struct carrier_losses (*losses)(const struct carrier *carrier);

	void (*close)(struct carrier *carrier);
};

/* A uprobe on the injected library's marker, rings, and the kernel's side-band. */
extern const struct carrier_ops carrier_uprobe;

/*
 * Uprobes on the launch functions of libcuda, for CALL_GRAPH_FP and CALL_GRAPH_DWARF:
 * needs no library in the process, and has no key of the join.
 */
extern const struct carrier_ops carrier_api;

/* Nothing: another program records launches, and perf.data is its. */
extern const struct carrier_ops carrier_none;

/* The library's launch logs, read when the command has ended: CALL_GRAPH_UNWIND only. */
extern const struct carrier_ops carrier_process;

#endif
