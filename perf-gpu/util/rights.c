// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/log.h"

#define BIT(capability) (1ull << (capability))

/* What serves each purpose, by its bit */
static const uint64_t needed[] = {
	BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) |
		BIT(CAP_FOWNER) | BIT(CAP_KILL),
	/* CHECKPOINT_RESTORE: /proc/PID/map_files */
	BIT(CAP_SYS_PTRACE) | BIT(CAP_CHECKPOINT_RESTORE),
	/* IPC_LOCK, SYS_RESOURCE: rings and, before Linux 5.11, maps are locked memory */
	BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_IPC_LOCK) | BIT(CAP_SYS_RESOURCE),
	BIT(CAP_SYS_ADMIN),
};

/* Those that perf-gpu is given to record */
#define OWN_CAPABILITIES (BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN))

struct capabilities {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static int get(struct capabilities *ret)
{
	*ret = (struct capabilities){.header.version = _LINUX_CAPABILITY_VERSION_3};
	return syscall(SYS_capget, &ret->header, ret->data) ? -errno : 0;
}

static int set(struct capabilities *capabilities)
{
	return syscall(SYS_capset, &capabilities->header, capabilities->data) ? -errno
									      : 0;
}

void rights__keep(unsigned int which)
{
	struct capabilities capabilities;
	uint64_t kept = 0;
	int err;

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (which & 1u << i)
			kept |= needed[i];
	err = get(&capabilities);
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		struct __user_cap_data_struct *data = &capabilities.data[i];
		const uint32_t mask = (uint32_t)(kept >> 32 * i);

		data->permitted &= mask;
		data->effective &= mask;
		/* What nobody inherits any more goes out of the ambient set, too. */
		data->inheritable = 0;
	}
	if (!err)
		err = set(&capabilities);
	if (err)
		pr_debug("capabilities can't be given up: %s", strerror(-err));
}

int rights__withhold(void)
{
	struct capabilities capabilities;
	int err;

	if (!geteuid())
		return 0;
	err = get(&capabilities);
	if (err)
		return err;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		struct __user_cap_data_struct *data = &capabilities.data[i];
		const uint32_t others = ~(uint32_t)(OWN_CAPABILITIES >> 32 * i);

		data->permitted &= others;
		data->effective &= others;
		data->inheritable &= others;
	}
	return set(&capabilities);
}

int rights__check_user(void)
{
	if (geteuid() == getuid() && getegid() == getgid())
		return 0;
	pr_err("perf-gpu is set-uid or set-gid, with which anybody could run what he "
	       "likes "
	       "as user %u, group %u: take that away (chmod ug-s), and give it "
	       "capabilities "
	       "instead (setcap cap_bpf,cap_perfmon+ep)",
	       (unsigned int)geteuid(), (unsigned int)getegid());
	return -EPERM;
}
