// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/api_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.skel.h"
#include "api_name.h"
#include "gpu_log.h"
#include "record/elf_functions.h"
#include "record/pid_namespace.h"
#include "record/probe.h"
#include "record/uprobe.h"
#include "util/arch.h"
#include "util/environment.h"
#include "util/log.h"

/* CUDA 13 exports 240 functions that are of any event, 12 that launch. */
#define MAX_FUNCTIONS 1024
/* Each probed one has a descriptor, and any file can have the name. */
#define MAX_FILES 128

/* A file that was tried */
struct probed_file {
	dev_t dev;
	ino_t ino;
	struct uprobe uprobe; /* UPROBE_NONE if it failed */
};

struct api_probe {
	uint32_t events;
	struct api *skel;
	bool is_uprobe_multi;
	struct probed_file *files;
	size_t nr_files;
	size_t nr_probed;
	bool has_too_many; /* files; which has been told */
	struct log_limit limit; /* of warnings */
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

static int api_probe__load(struct api_probe *probe, bool follows_children)
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
	skel->rodata->is_by_name = !follows_children;
	bpf_program__set_autoload(skel->progs.note_fork, follows_children);
	bpf_program__set_autoload(skel->progs.note_exec, !follows_children);
	/* api_call is attached to a file, once there is one. */
	bpf_program__set_autoattach(skel->progs.api_call, false);
	if (probe->is_uprobe_multi)
		bpf_program__set_expected_attach_type(skel->progs.api_call,
						      UPROBE_ATTACH_TYPE_MULTI);
	return api__load(skel);
}

int api_probe__open(const struct api_probe_config *config, struct api_probe **ret,
		    struct failure *failure)
{
	struct api_probe *probe = calloc(1, sizeof(*probe));
	int err = 0;

	if (!probe)
		return failure__set(failure, -ENOMEM, NULL, "no memory for a probe");
	probe->events = config->events;
	if (config->facts)
		probe->is_uprobe_multi = config->facts->is_uprobe_multi;
	else
		err = find_kind(&probe->is_uprobe_multi, failure);
	if (err)
		goto out;
	err = api_probe__load(probe, config->follows_children);
	if (err) {
		uprobe__explain(failure, err, "load a BPF program for probes on the API");
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

int api_probe__record(struct api_probe *probe, uint32_t global_pid)
{
	const uint8_t value = 1;

	return bpf_map__update_elem(probe->skel->maps.recorded, &global_pid,
				    sizeof(global_pid), &value, sizeof(value), BPF_ANY);
}

void api_probe__turn(struct api_probe *probe, bool on)
{
	__atomic_store_n(&probe->skel->bss->is_off, !on, __ATOMIC_RELAXED);
}

bool api_probe__is_libcuda(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, "libcuda.so", strlen("libcuda.so"));
}

/* cuLaunchKernel, cuLaunchKernelEx_ptsz, cuGraphLaunch, ... */
static bool is_wanted(const char *name, const void *ctx)
{
	const struct api_probe *probe = ctx;

	return api_name__is_wanted(name, probe->events, gpu_log_kinds_of(probe->events));
}

static bool is_attached(const struct uprobe *uprobe)
{
	return uprobe->multi_fd >= 0 || uprobe->nr_links;
}

/*
 * 0; -EEXIST if it is probed, -EALREADY if that was tried in vain, or is not to be
 * tried
 */
static int note_file(struct api_probe *probe, int fd, const char *path)
{
	struct probed_file *files;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	for (size_t i = 0; i < probe->nr_files; i++) {
		if (probe->files[i].dev == st.st_dev && probe->files[i].ino == st.st_ino)
			return is_attached(&probe->files[i].uprobe) ? -EEXIST : -EALREADY;
	}
	if (probe->nr_files == MAX_FILES) {
		if (!probe->has_too_many)
			pr_warning("more than %d files are called libcuda: %s and others "
				   "are not probed",
				   MAX_FILES, path);
		probe->has_too_many = true;
		return -EALREADY;
	}
	files = reallocarray(probe->files, probe->nr_files + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	probe->files = files;
	files[probe->nr_files++] = (struct probed_file){
		.dev = st.st_dev, .ino = st.st_ino, .uprobe = UPROBE_NONE};
	return 0;
}

static int attach(struct api_probe *probe, int fd, const char *path)
{
	uint64_t offsets[MAX_FUNCTIONS];
	char same[32];
	size_t nr;
	int err;

	/*
	 * Not by its own path, where a process could put another file between the search
	 * and the probe: that would write to the code of all who use that one, within
	 * an instruction.
	 */
	snprintf(same, sizeof(same), "/proc/self/fd/%d", fd);
	err = elf_functions__find(same, is_wanted, probe, MAX_FUNCTIONS, offsets, &nr);
	if (!err && !nr)
		err = -ENOENT;
	if (!err)
		err = uprobe__attach(probe->skel->progs.api_call, probe->is_uprobe_multi,
				     same, offsets, nr,
				     &probe->files[probe->nr_files - 1].uprobe);
	if (err)
		return err;
	probe->nr_probed++;
	pr_debug("%zu launch functions of %s are probed", nr, path);
	return 0;
}

int api_probe__add(struct api_probe *probe, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	err = fd < 0 ? -errno : note_file(probe, fd, path);
	if (!err)
		err = attach(probe, fd, path);
	if (fd >= 0)
		close(fd);
	if (err == -EEXIST)
		return 0;
	if (err && err != -EALREADY && log_limit__take(&probe->limit))
		pr_warning("can't probe the launch functions of %s: %s: launches of "
			   "programs that use it are not recorded",
			   path,
			   err == -ENOENT   ? "it exports none"
			   : err == -EINVAL ? "it is no ELF file"
					    : strerror(-err));
	return err;
}

/* The last part of a path, without what the kernel adds to that of a removed file */
static const char *name_of(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path);
	const char *slash;

	if (length >= sizeof(deleted) &&
	    !strcmp(path + length - strlen(deleted), deleted))
		path[length - strlen(deleted)] = '\0';
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/*
 * Whether the link leads to what the process had there: it may have unmapped that since,
 * and mapped another file.
 */
static bool leads_to(const char *link, const char *file)
{
	char target[PATH_MAX], wanted[PATH_MAX];
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	if (length < 0 || access(link, R_OK) ||
	    snprintf(wanted, sizeof(wanted), "%s", file) >= (int)sizeof(wanted))
		return false;
	target[length] = '\0';
	return !strcmp(name_of(target), name_of(wanted));
}

int api_probe__add_mapping(struct api_probe *probe, pid_t pid, uint64_t start,
			   uint64_t bytes, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)start, (unsigned long long)(start + bytes));
	if (leads_to(path, file))
		return api_probe__add(probe, path);
	/* It needs more rights, or is unmapped again. */
	if (snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, file) <
		    (int)sizeof(path) &&
	    !access(path, R_OK))
		return api_probe__add(probe, path);
	return access(file, R_OK) ? -errno : api_probe__add(probe, file);
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
		"/usr/lib64",
		"/usr/lib",
		"/usr/local/cuda/compat",
		"/usr/local/nvidia/lib64",
		"/usr/lib/wsl/lib",
	};
	const char *const *own_folders = arch__host()->library_folders;
	const char *at = environment__get("LD_LIBRARY_PATH");

	while (at && *at) {
		size_t length = strcspn(at, ":");

		add_if_there(probe, at, length);
		at += length + (at[length] == ':');
	}
	for (; *own_folders; own_folders++)
		add_if_there(probe, *own_folders, strlen(*own_folders));
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		add_if_there(probe, folders[i], strlen(folders[i]));
}

size_t api_probe__nr_files(const struct api_probe *probe)
{
	return probe->nr_probed;
}

bool api_probe__is_uprobe_multi(const struct api_probe *probe)
{
	return probe->is_uprobe_multi;
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
	log_limit__tell(&probe->limit, "files");
	if (probe->skel)
		api_probe__detach(probe);
	api__destroy(probe->skel);
	free(probe->files);
	free(probe);
}
