// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "launch.skel.h"
#include "record/marker_offset.h"
#include "util/log.h"

#define MAX_OFFSETS 2

/* What the marker in cupti_inject/marker.c is, for the self-test: never called else. */
#if defined(__x86_64__)
#define NOP_QUICK ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#elif defined(__aarch64__)
#define NOP_QUICK "nop"
#else
#error "which nop is a probe quick on, for this architecture?"
#endif

void perf_gpu_selftest_marker(void);

__asm__(".pushsection .text\n"
	".globl perf_gpu_selftest_marker\n"
	".hidden perf_gpu_selftest_marker\n"
	".type perf_gpu_selftest_marker, %function\n"
	".balign 64\n"
	"perf_gpu_selftest_marker:\n"
	"	" NOP_QUICK "\n"
	"	ret\n"
	".size perf_gpu_selftest_marker, . - perf_gpu_selftest_marker\n"
	".popsection\n");

/*
 * BPF_LINK_CREATE's attr for a uprobe_multi link (Linux 6.6, linux/bpf.h), which
 * libbpf 1.1 and the headers beside it don't know yet.
 */
#define ATTACH_TYPE_UPROBE_MULTI 48

struct uprobe_multi_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t nr_offsets;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};

/* One program on one or more places of a file; all 0 and -1 when detached. */
struct attachment {
	int multi_fd;
	struct bpf_link *links[MAX_OFFSETS];
};

struct probe {
	struct launch *skel;
	struct attachment attachment;
	struct probe_facts facts;
};

static bool has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

/* The kernel refused @what with @err: why, most likely? */
static int explain(struct failure *failure, int err, const char *what)
{
	bool is_allowed = has_capability(CAP_SYS_ADMIN) ||
			  (has_capability(CAP_BPF) && has_capability(CAP_PERFMON));

	if (!is_allowed)
		return failure__set(
			failure, -EPERM,
			"run it with sudo, or with the capabilities CAP_BPF and "
			"CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep on the "
			"perf-gpu binary)",
			"this user may not use BPF");
	if ((err == -EPERM || err == -EACCES) && !has_capability(CAP_SYS_ADMIN))
		return failure__set(failure, -EPERM,
				    "run it with sudo (from Linux 6.6 on, CAP_BPF and "
				    "CAP_PERFMON are enough)",
				    "this kernel wants CAP_SYS_ADMIN to %s: %s", what,
				    strerror(-err));
	if (err == -EPERM || err == -EACCES)
		return failure__set(failure, -EPERM,
				    "is it locked down, or is this a container that "
				    "filters bpf(2) and perf_event_open(2)?",
				    "the kernel refuses to %s in spite of the "
				    "capabilities: %s",
				    what, strerror(-err));
	if (err == -ENOSYS)
		return failure__set(failure, -ENOSYS,
				    "it needs Linux 5.8 with CONFIG_BPF_SYSCALL and "
				    "CONFIG_UPROBE_EVENTS",
				    "the kernel can't %s: %s", what, strerror(-err));
	return failure__set(failure, err, "perf-gpu record -vv shows libbpf's messages",
			    "can't %s: %s", what, strerror(-err));
}

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return log__library(level == LIBBPF_DEBUG ? 2 : 1, fmt, args);
}

static void attachment__release(struct attachment *attachment)
{
	if (attachment->multi_fd >= 0)
		close(attachment->multi_fd);
	attachment->multi_fd = -1;
	for (size_t i = 0; i < MAX_OFFSETS; i++) {
		bpf_link__destroy(attachment->links[i]);
		attachment->links[i] = NULL;
	}
}

static int attach_multi(const struct bpf_program *program, const char *path,
			const uint64_t *offsets, size_t nr, struct attachment *ret)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)bpf_program__fd(program),
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.nr_offsets = (uint32_t)nr,
	};

	ret->multi_fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return ret->multi_fd < 0 ? -errno : 0;
}

static int attach_events(const struct bpf_program *program, const char *path,
			 const uint64_t *offsets, size_t nr, struct attachment *ret)
{
	for (size_t i = 0; i < nr; i++) {
		ret->links[i] =
			bpf_program__attach_uprobe(program, false, -1, path, offsets[i]);
		if (!ret->links[i]) {
			int err = -errno;

			attachment__release(ret);
			return err;
		}
	}
	return 0;
}

static int probe__attach(const struct probe *probe, const struct bpf_program *program,
			 const char *path, const uint64_t *offsets, size_t nr,
			 struct attachment *ret)
{
	*ret = (struct attachment){.multi_fd = -1};
	if (probe->facts.is_uprobe_multi)
		return attach_multi(program, path, offsets, nr, ret);
	return attach_events(program, path, offsets, nr, ret);
}

static struct bpf_program *launch_program(const struct probe *probe, bool reads_frames)
{
	return reads_frames ? probe->skel->progs.launch_frames
			    : probe->skel->progs.launch_sample;
}

/* The inode of the initial pid namespace (the kernel's linux/proc_ns.h) */
#define INITIAL_PIDNS_INO 0xeffffffcu

/* Where we aren't in the initial namespace, tell the program where we are. */
static void set_pid_namespace(struct launch *skel)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PIDNS_INO)
		return;
	/* As the kernel has device numbers: 12 bits of major, 20 of minor */
	skel->rodata->pidns_dev = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	skel->rodata->pidns_ino = st.st_ino;
}

/* The kernel checks how a program will be attached when it is loaded. */
static int probe__load(struct probe *probe, const struct probe_config *config,
		       bool is_uprobe_multi)
{
	int err, nr_cpus = libbpf_num_possible_cpus();
	struct bpf_program *program;
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
	set_pid_namespace(skel);
	bpf_program__set_autoload(skel->progs.launch_frames, config->reads_frames);
	bpf_program__set_autoload(skel->progs.launch_sample, !config->reads_frames);
	if (is_uprobe_multi)
		bpf_object__for_each_program(program, skel->obj)
			bpf_program__set_expected_attach_type(program,
							      ATTACH_TYPE_UPROBE_MULTI);
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
	struct attachment attachment;
	uint64_t offset, before, nr;
	int err;

	err = marker_offset__find_own(perf_gpu_selftest_marker, &offset);
	if (err)
		return failure__set(failure, err, NULL,
				    "perf-gpu doesn't find its own code in memory");
	err = probe__attach(probe, probe->skel->progs.selftest, "/proc/self/exe", &offset,
			    1, &attachment);
	if (err)
		return explain(failure, err, "attach a uprobe");

	before = __atomic_load_n(&probe->skel->bss->nr_selftest_hits, __ATOMIC_RELAXED);
	for (uint64_t i = 0; i < nr_hits; i++)
		perf_gpu_selftest_marker();
	nr = __atomic_load_n(&probe->skel->bss->nr_selftest_hits, __ATOMIC_RELAXED) -
	     before;
	probe->facts.is_quick_nop5 = has_uprobe_trampoline();
	attachment__release(&attachment);
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
		return explain(failure, err, "load a BPF program");
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
	err = probe__attach(probe, launch_program(probe, config->reads_frames),
			    config->library, offsets, MAX_OFFSETS, &probe->attachment);
	if (err)
		return explain(failure, err, "attach a uprobe to the injected library");
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
	probe->attachment.multi_fd = -1;

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
	attachment__release(&probe->attachment);
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
	attachment__release(&probe->attachment);
	launch__destroy(probe->skel);
	free(probe);
}
