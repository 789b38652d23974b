// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * seccomp-deny SYSCALL[,SYSCALL...] COMMAND [ARGS]: run a command for which some
 * system calls fail with EPERM, as they do in a container that filters them.
 *
 * The filter is inherited by all descendants. It looks at the number only, and takes
 * the architecture for the one it was built for. "bpf_link" is bpf(BPF_LINK_CREATE), which
 * fails with EINVAL, as on a kernel that hasn't got the kind of link: EPERM would be another
 * answer.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_DENIED 16

static const struct {
	const char *name;
	unsigned int number;
} known[] = {
	{"bpf", SYS_bpf},
	{"madvise", SYS_madvise},
	{"perf_event_open", SYS_perf_event_open},
	{"pidfd_open", SYS_pidfd_open},
	{"renameat2", SYS_renameat2},
};

static unsigned int find_number(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, name))
			return known[i].number;
	fprintf(stderr, "seccomp-deny: add %s to the list in its source\n", name);
	exit(2);
}

/* bpf(2)'s first argument; the number of the system call has to be loaded again then. */
static size_t add_bpf_link(struct sock_filter *filter, size_t nr)
{
	const struct sock_filter added[] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BPF_LINK_CREATE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};

	memcpy(filter + nr, added, sizeof(added));
	return nr + sizeof(added) / sizeof(*added);
}

/* Two instructions for each: is it the one? Then fail. */
static size_t add_denied(struct sock_filter *filter, size_t nr, char *names)
{
	char *name;

	for (name = strtok(names, ","); name && nr < 1 + 2 * MAX_DENIED;
	     name = strtok(NULL, ",")) {
		if (!strcmp(name, "bpf_link")) {
			nr = add_bpf_link(filter, nr);
			continue;
		}
		filter[nr++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							    find_number(name), 0, 1);
		filter[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							    SECCOMP_RET_ERRNO | EPERM);
	}
	return nr;
}

int main(int argc, char **argv)
{
	struct sock_filter filter[2 + 5 * MAX_DENIED] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {.filter = filter};
	size_t nr;

	if (argc < 3) {
		fprintf(stderr, "usage: seccomp-deny SYSCALL[,SYSCALL...] COMMAND\n");
		return 2;
	}
	nr = add_denied(filter, 1, argv[1]);
	filter[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)nr;
	/* Without privileges a filter may only be set by who can't gain any. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp-deny: prctl");
		return 2;
	}
	execvp(argv[2], argv + 2);
	fprintf(stderr, "seccomp-deny: %s: %s\n", argv[2], strerror(errno));
	return 127;
}
