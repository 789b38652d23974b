/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this process may do beyond its user, capabilities(7), and how it gets rid of that as
 * early as it can: what it reads is made by others. One thread.
 */
#ifndef PERF_GPU_UTIL_RIGHTS_H
#define PERF_GPU_UTIL_RIGHTS_H

/* What is still to be done */
enum rights {
	/* read and write files where the user says, and signal his processes */
	RIGHTS_FILES = 1 << 0,
	/* look at processes of others: their mappings and descriptors */
	RIGHTS_PROCESSES = 1 << 1,
	/* load BPF programs, attach them by links, open perf events */
	RIGHTS_BPF = 1 << 2,
	/* attach them by perf events, which takes CAP_SYS_ADMIN */
	RIGHTS_ADMIN = 1 << 3,
};

/**
 * rights__keep - give up all capabilities but those that serve a purpose, for good
 * @which: RIGHTS_*; none of them is got that wasn't there
 *
 * Also for root, whose files stay his. That it can't be done is said with -v.
 */
void rights__keep(unsigned int which);

/**
 * rights__withhold - in a process that will execute a program of the user's: it gets none
 * of the capabilities that are there for perf-gpu
 *
 * From neither a user's inheritable nor his ambient ones; others stay, as does what root
 * has by being root.
 *
 * Return: 0 or a negative errno, not printed: the process must go no further.
 */
int rights__withhold(void);

/*
 * Does this process run as another user than the one who has started it? -EPERM, printed,
 * if so: what it would run as well would be anybody's way to that user.
 */
int rights__check_user(void);

#endif
