// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/api_probe.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.skel.h"
#include "record/elf_functions.h"
#include "record/pid_namespace.h"
#include "record/probe.h"
#include "record/uprobe.h"
#include "util/log.h"

/* CUDA 13 exports 12 functions that launch. */
#define MAX_FUNCTIONS 64

/* A file that was tried */
struct probed_file {
	dev_t dev;
	ino_t ino;
	struct uprobe uprobe; /* UPROBE_NONE if it failed */
};

struct api_probe {
	struct api *skel;
	bool is_uprobe_multi;
	struct probed_file *files;
	size_t nr_files;
	size_t nr_probed;
};

/* Is this a place for uprobes, and of which kind? The marker's own test tells. */
static int find_kind(bool *ret_is_multi, struct failure *failure)
{
	const struct probe_config config = {.library = NULL};
	struct probe *probe;
	int err;

	err = probe__open(&config, &probe, failure);
	if (err)
		return err;
	*ret_is_multi = probe__facts(probe)->is_uprobe_multi;
	probe__close(probe);
	return 0;
}

static int api_probe__load(struct api_probe *probe)
{
	struct pid_namespace ns;
	struct api *skel;

	skel = api__open();
	if (!skel)
		return -errno;
	probe->skel = skel;
	pid_namespace__find(&ns);
	skel->rodata->pidns_dev = ns.dev;
	skel->rodata->pidns_ino = ns.ino;
	skel->rodata->recorder_pid = (uint32_t)getpid();
	/* api_call is attached to a file, once there is one. */
	bpf_program__set_autoattach(skel->progs.api_call, false);
	if (probe->is_uprobe_multi)
		bpf_program__set_expected_attach_type(skel->progs.api_call,
						      UPROBE_ATTACH_TYPE_MULTI);
	return api__load(skel);
}

int api_probe__open(struct api_probe **ret, struct failure *failure)
{
	struct api_probe *probe = calloc(1, sizeof(*probe));
	int err;

	if (!probe)
		return failure__set(failure, -ENOMEM, NULL, "no memory for a probe");
	err = find_kind(&probe->is_uprobe_multi, failure);
	if (err)
		goto out;
	err = api_probe__load(probe);
	if (err) {
		uprobe__explain(failure, err, "load a BPF program for --probe api");
		goto out;
	}
	err = api__attach(probe->skel);
	if (err) {
		uprobe__explain(failure, err, "follow forks by a BPF program");
		goto out;
	}
	*ret = probe;
	return 0;
out:
	api_probe__close(probe);
	return err;
}

bool api_probe__is_libcuda(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, "libcuda.so", strlen("libcuda.so"));
}

/* cuLaunchKernel, cuLaunchKernelEx_ptsz, cuGraphLaunch, ...: what puts work on the GPU */
static bool is_launch(const char *name, const void *ctx)
{
	(void)ctx;
	return !strncmp(name, "cu", 2) && strstr(name, "Launch") &&
	       !strstr(name, "HostFunc");
}

/* 0; -EEXIST if it was tried before */
static int note_file(struct api_probe *probe, const char *path)
{
	struct probed_file *files;
	struct stat st;

	if (stat(path, &st))
		return -errno;
	for (size_t i = 0; i < probe->nr_files; i++) {
		if (probe->files[i].dev == st.st_dev && probe->files[i].ino == st.st_ino)
			return -EEXIST;
	}
	files = reallocarray(probe->files, probe->nr_files + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	probe->files = files;
	files[probe->nr_files++] = (struct probed_file){
		.dev = st.st_dev, .ino = st.st_ino, .uprobe = UPROBE_NONE};
	return 0;
}

static int attach(struct api_probe *probe, const char *path)
{
	uint64_t offsets[MAX_FUNCTIONS];
	size_t nr;
	int err;

	err = elf_functions__find(path, is_launch, NULL, MAX_FUNCTIONS, offsets, &nr);
	if (!err && !nr)
		err = -ENOENT;
	if (!err)
		err = uprobe__attach(probe->skel->progs.api_call, probe->is_uprobe_multi,
				     path, offsets, nr,
				     &probe->files[probe->nr_files - 1].uprobe);
	if (err)
		return err;
	probe->nr_probed++;
	pr_debug("%zu launch functions of %s are probed", nr, path);
	return 0;
}

int api_probe__add(struct api_probe *probe, const char *path)
{
	int err;

	err = note_file(probe, path);
	if (err == -EEXIST)
		return 0;
	if (!err)
		err = attach(probe, path);
	if (err)
		pr_warning("can't probe the launch functions of %s: %s: launches of "
			   "programs that use it are not recorded",
			   path,
			   err == -ENOENT   ? "it exports none"
			   : err == -EINVAL ? "it is no ELF file"
					    : strerror(-err));
	return err;
}

static void add_if_there(struct api_probe *probe, const char *folder, size_t length)
{
	char path[PATH_MAX];

	if (length &&
	    snprintf(path, sizeof(path), "%.*s/libcuda.so.1", (int)length, folder) <
		    (int)sizeof(path) &&
	    !access(path, R_OK))
		api_probe__add(probe, path);
}

/* Where drivers, containers and WSL have it */
void api_probe__add_known(struct api_probe *probe)
{
	static const char *const folders[] = {
#if defined(__x86_64__)
		"/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
		"/usr/lib/aarch64-linux-gnu",
#endif
		"/usr/lib64",
		"/usr/lib",
		"/usr/local/cuda/compat",
		"/usr/local/nvidia/lib64",
		"/usr/lib/wsl/lib",
	};
	const char *at = getenv("LD_LIBRARY_PATH");

	while (at && *at) {
		size_t length = strcspn(at, ":");

		add_if_there(probe, at, length);
		at += length + (at[length] == ':');
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		add_if_there(probe, folders[i], strlen(folders[i]));
}

size_t api_probe__nr_files(const struct api_probe *probe)
{
	return probe->nr_probed;
}

int api_probe__sample_rings_fd(const struct api_probe *probe)
{
	return bpf_map__fd(probe->skel->maps.sample_rings);
}

void api_probe__detach(struct api_probe *probe)
{
	for (size_t i = 0; i < probe->nr_files; i++)
		uprobe__release(&probe->files[i].uprobe);
	api__detach(probe->skel);
}

uint64_t api_probe__nr_lost_ring(const struct api_probe *probe)
{
	return __atomic_load_n(&probe->skel->bss->nr_lost_ring, __ATOMIC_RELAXED);
}

uint64_t api_probe__nr_lost_processes(const struct api_probe *probe)
{
	return __atomic_load_n(&probe->skel->bss->nr_lost_processes, __ATOMIC_RELAXED);
}

void api_probe__close(struct api_probe *probe)
{
	if (!probe)
		return;
	if (probe->skel)
		api_probe__detach(probe);
	api__destroy(probe->skel);
	free(probe->files);
	free(probe);
}
