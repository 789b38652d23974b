// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch.skel.h"
#include "marker_code.h"
#include "record/marker_offset.h"
#include "record/pid_namespace.h"
#include "record/uprobe.h"
#include "util/log.h"

#define MAX_OFFSETS 2

/* The same as the library's, for the self-test: never called else. */
void perf_gpu_selftest_marker(void);

__asm__(".pushsection .text\n"
	".globl perf_gpu_selftest_marker\n"
	".hidden perf_gpu_selftest_marker\n"
	".type perf_gpu_selftest_marker, %function\n"
	".balign 64\n"
	"perf_gpu_selftest_marker:\n"
	"	" MARKER_CODE "\n"
	".size perf_gpu_selftest_marker, . - perf_gpu_selftest_marker\n"
	".popsection\n");

struct probe {
	struct launch *skel;
	struct uprobe uprobe;
	struct probe_facts facts;
};

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return log__library(level == LIBBPF_DEBUG ? 2 : 1, fmt, args);
}

static struct bpf_program *launch_program(const struct probe *probe, bool reads_frames)
{
	return reads_frames ? probe->skel->progs.launch_frames
			    : probe->skel->progs.launch_sample;
}

/* The kernel checks how a program will be attached when it is loaded. */
static int probe__load(struct probe *probe, const struct probe_config *config,
		       bool is_uprobe_multi)
{
	int err, nr_cpus = libbpf_num_possible_cpus();
	struct bpf_program *program;
	struct pid_namespace ns;
	struct launch *skel;

	if (nr_cpus < 0)
		return nr_cpus;
	skel = launch__open();
	if (!skel)
		return -errno;
	probe->skel = skel;
	probe->facts.is_uprobe_multi = is_uprobe_multi;
	skel->rodata->session = config->session;
	skel->rodata->wakeup_bytes = config->wakeup_bytes;
	pid_namespace__find(&ns);
	skel->rodata->pidns_dev = ns.dev;
	skel->rodata->pidns_ino = ns.ino;
	bpf_program__set_autoload(skel->progs.launch_frames, config->reads_frames);
	bpf_program__set_autoload(skel->progs.launch_sample, !config->reads_frames);
	if (is_uprobe_multi)
		bpf_object__for_each_program(program, skel->obj)
			bpf_program__set_expected_attach_type(program,
							      UPROBE_ATTACH_TYPE_MULTI);
	err = bpf_map__set_max_entries(skel->maps.frame_rings, (uint32_t)nr_cpus);
	if (!err)
		err = launch__load(skel);
	if (err) {
		launch__destroy(skel);
		probe->skel = NULL;
	}
	return err;
}

/*
 * The page that an optimized probe calls, where the kernel has put one. On older
 * kernels the 5-byte nop is single-stepped: four times the cost of the 1-byte nop.
 */
static bool has_uprobe_trampoline(void)
{
	bool is_found = false;
	size_t size = 0;
	char *line = NULL;
	FILE *maps;

	maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return false;
	while (!is_found && getline(&line, &size, maps) > 0)
		is_found = strstr(line, "[uprobes-trampoline]");
	free(line);
	fclose(maps);
	return is_found;
}

/* Probe a marker of our own, and see that BPF counts each hit. */
static int probe__self_test(struct probe *probe, struct failure *failure)
{
	const uint64_t nr_hits = 3; /* the first one is what optimizes the probe */
	struct uprobe uprobe;
	uint64_t offset, before, nr;
	int err;

	err = marker_offset__find_own(perf_gpu_selftest_marker, &offset);
	if (err)
		return failure__set(failure, err, NULL,
				    "perf-gpu doesn't find its own code in memory");
	err = uprobe__attach(probe->skel->progs.selftest, probe->facts.is_uprobe_multi,
			     "/proc/self/exe", &offset, 1, &uprobe);
	if (err)
		return uprobe__explain(failure, err, "attach a uprobe");

	before = __atomic_load_n(&probe->skel->bss->nr_selftest_hits, __ATOMIC_RELAXED);
	for (uint64_t i = 0; i < nr_hits; i++)
		perf_gpu_selftest_marker();
	nr = __atomic_load_n(&probe->skel->bss->nr_selftest_hits, __ATOMIC_RELAXED) -
	     before;
	probe->facts.is_quick_nop5 = has_uprobe_trampoline();
	uprobe__release(&uprobe);
	if (nr < nr_hits)
		return failure__set(failure, -ENODATA, NULL,
				    "uprobes don't work here: %lu of %lu hits of a probe "
				    "on perf-gpu itself were seen",
				    (unsigned long)nr, (unsigned long)nr_hits);
	return 0;
}

/* Load and test, the one way or the other. */
static int probe__prepare(struct probe *probe, const struct probe_config *config,
			  bool is_uprobe_multi, struct failure *failure)
{
	int err;

	err = probe__load(probe, config, is_uprobe_multi);
	if (err)
		return uprobe__explain(failure, err, "load a BPF program");
	err = probe__self_test(probe, failure);
	if (err) {
		launch__destroy(probe->skel);
		probe->skel = NULL;
	}
	return err;
}

static int probe__attach_marker(struct probe *probe, const struct probe_config *config,
				struct failure *failure)
{
	static const char *const symbols[MAX_OFFSETS] = {"perf_gpu_launch",
							 "perf_gpu_launch_forked"};
	uint64_t offsets[MAX_OFFSETS];
	int err;

	for (size_t i = 0; i < MAX_OFFSETS; i++) {
		err = marker_offset__find(config->library, symbols[i], &offsets[i]);
		if (err)
			return failure__set(
				failure, err, "reinstall perf-gpu",
				"can't probe %s in %s: %s", symbols[i], config->library,
				err == -EINVAL ? "not an ELF file" : strerror(-err));
	}
	err = uprobe__attach(launch_program(probe, config->reads_frames),
			     probe->facts.is_uprobe_multi, config->library, offsets,
			     MAX_OFFSETS, &probe->uprobe);
	if (err)
		return uprobe__explain(failure, err,
				       "attach a uprobe to the injected library");
	return 0;
}

int probe__open(const struct probe_config *config, struct probe **ret,
		struct failure *failure)
{
	struct probe *probe;
	int err;

	libbpf_set_print(print_libbpf);
	probe = calloc(1, sizeof(*probe));
	if (!probe)
		return failure__set(failure, -ENOMEM, NULL, "no memory for a probe");
	probe->uprobe = UPROBE_NONE;

	err = probe__prepare(probe, config, true, failure);
	if (err) {
		pr_debug("no uprobe_multi link (%s); perf events are tried",
			 failure->why);
		err = probe__prepare(probe, config, false, failure);
	}
	if (!err && config->library)
		err = probe__attach_marker(probe, config, failure);
	if (err) {
		probe__close(probe);
		return err;
	}
	*ret = probe;
	return 0;
}

const struct probe_facts *probe__facts(const struct probe *probe)
{
	return &probe->facts;
}

int probe__sample_rings_fd(const struct probe *probe)
{
	return bpf_map__fd(probe->skel->maps.sample_rings);
}

int probe__frame_rings_fd(const struct probe *probe)
{
	return bpf_map__fd(probe->skel->maps.frame_rings);
}

void probe__detach(struct probe *probe)
{
	uprobe__release(&probe->uprobe);
}

uint64_t probe__nr_lost_ring(const struct probe *probe)
{
	return __atomic_load_n(&probe->skel->bss->nr_lost_ring, __ATOMIC_RELAXED);
}

uint64_t probe__nr_lost_nodes(const struct probe *probe)
{
	return __atomic_load_n(&probe->skel->bss->nr_lost_nodes, __ATOMIC_RELAXED);
}

uint64_t probe__nr_lost_stack(const struct probe *probe)
{
	return __atomic_load_n(&probe->skel->bss->nr_lost_stack, __ATOMIC_RELAXED);
}

void probe__close(struct probe *probe)
{
	if (!probe)
		return;
	uprobe__release(&probe->uprobe);
	launch__destroy(probe->skel);
	free(probe);
}
