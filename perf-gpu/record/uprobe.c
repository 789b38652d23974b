// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/uprobe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* BPF_LINK_CREATE's attr for such a link, as in linux/bpf.h of Linux 6.6 */
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

static int attach_multi(const struct bpf_program *program, const char *path,
			const uint64_t *offsets, size_t nr, struct uprobe *ret)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)bpf_program__fd(program),
		.attach_type = UPROBE_ATTACH_TYPE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.nr_offsets = (uint32_t)nr,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	if (fd < 0)
		return -errno;
	*ret = (struct uprobe){.multi_fd = fd};
	return 0;
}

static int attach_events(const struct bpf_program *program, const char *path,
			 const uint64_t *offsets, size_t nr, struct uprobe *ret)
{
	struct uprobe uprobe = UPROBE_NONE;

	uprobe.links = calloc(nr, sizeof(*uprobe.links));
	if (!uprobe.links)
		return -ENOMEM;
	for (; uprobe.nr_links < nr; uprobe.nr_links++) {
		struct bpf_link *link = bpf_program__attach_uprobe(
			program, false, -1, path, offsets[uprobe.nr_links]);
		int err = link ? 0 : -errno;

		if (err) {
			uprobe__release(&uprobe);
			return err;
		}
		uprobe.links[uprobe.nr_links] = link;
	}
	*ret = uprobe;
	return 0;
}

int uprobe__attach(const struct bpf_program *program, bool is_multi, const char *path,
		   const uint64_t *offsets, size_t nr, struct uprobe *ret)
{
	return is_multi ? attach_multi(program, path, offsets, nr, ret)
			: attach_events(program, path, offsets, nr, ret);
}

void uprobe__release(struct uprobe *uprobe)
{
	if (uprobe->multi_fd >= 0)
		close(uprobe->multi_fd);
	for (size_t i = 0; i < uprobe->nr_links; i++)
		bpf_link__destroy(uprobe->links[i]);
	free(uprobe->links);
	*uprobe = UPROBE_NONE;
}

static bool has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

int uprobe__explain(struct failure *failure, int err, const char *what)
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
	/* What libbpf says of it, whyever */
	if (err == -ESRCH)
		return failure__set(
			failure, err,
			"it needs a kernel with CONFIG_DEBUG_INFO_BTF=y; "
			"perf-gpu record -vv shows libbpf's messages",
			"can't %s: the kernel's types (BTF) can't be read from "
			"/sys/kernel/btf/vmlinux",
			what);
	return failure__set(failure, err, "perf-gpu record -vv shows libbpf's messages",
			    "can't %s: %s", what, strerror(-err));
}
