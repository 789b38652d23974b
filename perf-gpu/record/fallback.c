// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/fallback.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "holder.h"
#include "perfdata/format.h"
#include "record/api_probe.h"
#include "record/events.h"
#include "record/injection.h"
#include "record/pid_namespace.h"
#include "record/proc_maps.h"
#include "record/ring.h"
#include "record/sideband.h"
#include "record/synthesize.h"
#include "util/failure.h"
#include "util/log.h"
#include "util/proc.h"

/* The kernel's PID_MAX_LIMIT on 64-bit machines */
#define MAX_PIDS (4u << 20)

struct fallback {
	struct fallback_config config;
	struct api_probe *probe; /* NULL: not needed yet, or it has failed */
	struct ring *ring;
	/*
	 * Who walks a copied stack wants to know where .eh_frame is, which is in no
	 * executable mapping: these aren't in the recording else. Of all processes, as those
	 * that are added run already.
	 */
	struct sideband *sideband;
	uint64_t *pids; /* that were added: a bitmap of MAX_PIDS */
	bool has_pids;
	/* Side-band records that were lost before the first was */
	uint64_t nr_lost_before;
	int err; /* of setting probes, which has been told: there are none */
	bool is_off; /* for now */
	/* Processes without our library, and what the first has in its place: "" nothing */
	size_t nr_uninjected;
	pid_t uninjected_pid;
	char injected[PATH_MAX];
	/* And those that can't be probed, with why the first can't */
	size_t nr_unprobed;
	pid_t unprobed_pid;
	int unprobed_err;
};

int fallback__new(const struct fallback_config *config, struct fallback **ret)
{
	struct fallback *fallback = calloc(1, sizeof(*fallback));

	if (!fallback)
		return -ENOMEM;
	fallback->config = *config;
	*ret = fallback;
	return 0;
}

static bool has_pid(const struct fallback *fallback, uint32_t pid)
{
	return fallback->pids && pid < MAX_PIDS &&
	       fallback->pids[pid / 64] >> pid % 64 & 1;
}

static void note_pid(struct fallback *fallback, uint32_t pid)
{
	if (pid < MAX_PIDS)
		fallback->pids[pid / 64] |= 1ull << pid % 64;
}

/* What is executable is in the recording already, by the carrier's own side-band. */
static int take_sideband(void *ctx, const struct perf_event_header *event)
{
	const struct perfdata_mmap2 *mmap2 = (const void *)event;
	struct fallback *fallback = ctx;

	if (event->type != PERF_RECORD_MMAP2 || event->size < sizeof(*mmap2) ||
	    mmap2->prot & PROT_EXEC || !has_pid(fallback, mmap2->pid))
		return 0;
	return output__sideband(fallback->config.output, event);
}

static int open_sideband(struct fallback *fallback, struct failure *failure)
{
	const struct stack_config copied = {.call_graph = CALL_GRAPH_DWARF};
	struct perf_event_attr attr;

	fallback->pids = calloc(MAX_PIDS / 64, sizeof(*fallback->pids));
	if (!fallback->pids)
		return failure__set(failure, -ENOMEM, NULL, "no memory for processes");
	sideband_event__init(&copied, &attr);
	/* The carrier's has them; fewer fit longer. */
	attr.comm = attr.comm_exec = attr.task = 0;
	return sideband__open(-1, &attr, take_sideband, fallback, &fallback->sideband,
			      failure);
}

static int open_all(struct fallback *fallback, struct failure *failure)
{
	const struct api_probe_config config = {
		.events = fallback->config.events,
		.facts = &fallback->config.facts,
	};
	int err;

	/*
	 * A BPF program takes half a second to load on a machine with much to do. Of all
	 * processes there are, no ring has room for what they map meanwhile: it comes first.
	 */
	err = api_probe__open(&config, &fallback->probe, failure);
	if (err)
		return err;
	api_probe__turn(fallback->probe, !fallback->is_off);
	err = open_sideband(fallback, failure);
	if (!err)
		err = ring__open(api_probe__sample_rings_fd(fallback->probe),
				 output__hit_attr(fallback->config.output),
				 fallback->config.nr_pages, output__hit,
				 fallback->config.output, &fallback->ring, failure);
	return err;
}

static int open_once(struct fallback *fallback)
{
	struct failure failure;
	int err;

	if (fallback->probe)
		return 0;
	if (fallback->err)
		return fallback->err;
	err = open_all(fallback, &failure);
	if (!err)
		return 0;
	failure__print(&failure);
	fallback->err = err;
	api_probe__close(fallback->probe);
	fallback->probe = NULL;
	sideband__close(fallback->sideband);
	fallback->sideband = NULL;
	return err;
}

struct search {
	struct api_probe *probe;
	pid_t pid;
	int err; /* 0: a libcuda is probed */
};

/* proc_maps__read(): a mapping of the process */
static int probe_mapping(void *ctx, const struct gpu_log_map *map)
{
	struct search *search = ctx;

	if (map->prot & PROT_EXEC && api_probe__is_libcuda(map->path) &&
	    !api_probe__add_mapping(search->probe, search->pid, map->start, map->bytes,
				    map->path))
		search->err = 0;
	return 0;
}

/* Before the mappings of the first process are read: what was lost by then told nothing else. */
static int begin_pids(struct fallback *fallback)
{
	int err;

	if (fallback->has_pids)
		return 0;
	err = sideband__drain(fallback->sideband);
	fallback->nr_lost_before = sideband__nr_lost(fallback->sideband);
	fallback->has_pids = true;
	return err;
}

int fallback__add(struct fallback *fallback, pid_t pid, uint32_t global_pid)
{
	struct search search = {.pid = pid, .err = -ENOENT};
	int err = open_once(fallback);

	if (!err)
		err = begin_pids(fallback);
	if (err)
		return err;
	note_pid(fallback, (uint32_t)pid);
	err = synthesize__process(fallback->config.output, pid, true);
	/* Before its probes, so that no hit of it is missed once it goes on */
	if (!err)
		err = api_probe__record(fallback->probe, global_pid);
	search.probe = fallback->probe;
	if (!err)
		err = proc_maps__read(pid, probe_mapping, &search);
	return err ? err : search.err;
}

int fallback__drain(struct fallback *fallback)
{
	int err;

	if (!fallback->ring)
		return 0;
	err = sideband__drain(fallback->sideband);
	return err ? err : ring__drain(fallback->ring);
}

/* Not if it has ended, and nobody has waited for it yet: then its environment is empty. */
static bool has_program(pid_t pid)
{
	char path[64], target[2];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, target, sizeof(target)) > 0;
}

/*
 * The value of CUDA_INJECTION64_PATH that a process was executed with, which is what the
 * driver goes by, unless the program changes its environment. 0, or -errno if it can't be
 * read.
 */
static int read_injection(pid_t pid, char ret[PATH_MAX])
{
	int err;

	*ret = '\0';
	err = proc__read_environment(pid, INJECTION_VARIABLE, ret, PATH_MAX);
	if (err == -ENODATA)
		return has_program(pid) ? 0 : -ESRCH;
	return err;
}

/* The kernel tells of processes by the pids that the recorder sees, BPF by the initial ones. */
static bool sees_global_pids(void)
{
	struct pid_namespace ns;

	pid_namespace__find(&ns);
	return !ns.ino;
}

/* COMM and EXIT records both begin so. */
struct task_record {
	struct perf_event_header header;
	uint32_t pid, second;
};

/* Another program, or none: what is known of the process isn't true any more. */
static void forget_pid(struct fallback *fallback, const struct perf_event_header *event)
{
	const struct task_record *task = (const void *)event;
	const bool is_exec = event->type == PERF_RECORD_COMM &&
			     event->misc & PERF_RECORD_MISC_COMM_EXEC;

	if ((is_exec || event->type == PERF_RECORD_EXIT) &&
	    event->size >= sizeof(*task) && has_pid(fallback, task->pid) &&
	    (is_exec || kill((pid_t)task->pid, 0)))
		fallback->pids[task->pid / 64] &= ~(1ull << task->pid % 64);
}

/* Does a mapping begin a program's use of CUDA? */
static bool is_libcuda(const struct perf_event_header *event)
{
	const struct perfdata_mmap2 *mmap2 = (const void *)event;

	return event->type == PERF_RECORD_MMAP2 && event->size > sizeof(*mmap2) &&
	       mmap2->prot & PROT_EXEC &&
	       memchr(mmap2->path, '\0', event->size - sizeof(*mmap2)) &&
	       api_probe__is_libcuda(mmap2->path);
}

/* Unlike one that says so itself, it can't tell what becomes of its launches. */
static void note_unprobed(struct fallback *fallback, pid_t pid, int err)
{
	if (pid == fallback->unprobed_pid || fallback->nr_unprobed++)
		return;
	fallback->unprobed_pid = pid;
	fallback->unprobed_err = err;
}

void fallback__look(struct fallback *fallback, const struct perf_event_header *event,
		    const char *library)
{
	const struct perfdata_mmap2 *mmap2 = (const void *)event;
	char injected[PATH_MAX];
	int err;

	forget_pid(fallback, event);
	if (!is_libcuda(event) || has_pid(fallback, mmap2->pid) ||
	    read_injection((pid_t)mmap2->pid, injected) || !strcmp(injected, library))
		return;
	err = sees_global_pids() ? fallback__add(fallback, (pid_t)mmap2->pid, mmap2->pid)
				 : -ENOTSUP;
	if (err) {
		note_unprobed(fallback, (pid_t)mmap2->pid, err);
		return;
	}
	if (fallback->nr_uninjected++)
		return;
	fallback->uninjected_pid = (pid_t)mmap2->pid;
	memcpy(fallback->injected, injected, sizeof(injected));
}

void fallback__turn(struct fallback *fallback, bool on)
{
	fallback->is_off = !on;
	if (fallback->probe)
		api_probe__turn(fallback->probe, on);
}

static void tell_unprobed(const struct fallback *fallback)
{
	const int err = fallback->unprobed_err;

	if (!fallback->nr_unprobed)
		return;
	pr_warning(
		"process %d%s has libcuda without our library, and its launches can't be "
		"probed: %s: they are not recorded; does a program or a script change "
		"or clear " INJECTION_VARIABLE "?",
		(int)fallback->unprobed_pid,
		fallback->nr_unprobed > 1 ? " and others" : "",
		err == -ENOTSUP	 ? "record runs in a PID namespace, where it isn't told "
				   "which process that is for the kernel"
		: err == -ENOENT ? "none of its libcuda has launch functions that can be"
		: err == -E2BIG	 ? "there are too many such processes"
				 : strerror(-err));
}

void fallback__tell(const struct fallback *fallback)
{
	const struct holder_library *known = holder__of_library(fallback->injected);
	const char *others = fallback->nr_uninjected > 1 ? " and others" : "";

	tell_unprobed(fallback);
	if (!fallback->nr_uninjected)
		return;
	if (*fallback->injected)
		pr_warning(INJECTION_VARIABLE
			   " is set to %s in process %d%s: %s has the only place that "
			   "CUDA has for one; the stacks of launches are recorded, not "
			   "what the GPU did",
			   fallback->injected, (int)fallback->uninjected_pid, others,
			   known ? known->holder : "another profiler");
	else
		pr_warning(INJECTION_VARIABLE
			   " isn't set any more in process %d%s: the stacks of launches "
			   "are recorded, not what the GPU did",
			   (int)fallback->uninjected_pid, others);
}

void fallback__detach(struct fallback *fallback)
{
	if (fallback->probe)
		api_probe__detach(fallback->probe);
}

uint64_t fallback__nr_lost_ring(const struct fallback *fallback)
{
	return fallback->probe ? api_probe__nr_lost_ring(fallback->probe) : 0;
}

uint64_t fallback__nr_lost_sideband(const struct fallback *fallback)
{
	return fallback->sideband
		       ? sideband__nr_lost(fallback->sideband) - fallback->nr_lost_before
		       : 0;
}

void fallback__close(struct fallback *fallback)
{
	if (!fallback)
		return;
	ring__close(fallback->ring);
	api_probe__close(fallback->probe);
	sideband__close(fallback->sideband);
	free(fallback->pids);
	free(fallback);
}
