/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recorder tells processes while they run, and what they answer: a page that
 * the injected library has mapped, MAP_SHARED, and the recorder reads and writes.
 *
 *   record -p        a memfd of the process, made when it was loaded to wait
 *                    (PERF_GPU_WAIT): one process, and the recorder says in the page
 *                    how to record
 *   record -D, with  a file in the recorder's spool folder (PERF_GPU_CONTROL): all
 *     --control      processes of the command, which know how to record
 *
 * A command is a new value of `wanted`, a futex that the library's thread sleeps on.
 * It does what is wanted, and then makes that value the answer of its member.
 *
 * The recorder of a memfd holds a write lock on the whole of it, by fcntl(F_OFD_SETLK):
 * there is one at a time, and a process whose recorder has died finds it gone.
 */
#ifndef PERF_GPU_CONTROL_PAGE_H
#define PERF_GPU_CONTROL_PAGE_H

#include <assert.h>
#include <stdint.h>

#define CONTROL_PAGE_MAGIC   0x43555047u /* "GPUC" */
#define CONTROL_PAGE_VERSION 1

/* The memfd's name, and what /proc/PID/maps and /proc/PID/fd have for it */
#define CONTROL_MEMFD_NAME "perf-gpu-control"
#define CONTROL_MEMFD_PATH "/memfd:" CONTROL_MEMFD_NAME " (deleted)"

/* Lowest bits of `wanted`; the others make each command another value. */
enum control_state {
	CONTROL_IDLE = 0, /* no recording; in a page of the spool, none any more */
	CONTROL_PAUSED = 1,
	CONTROL_RECORDING = 2,
};

#define CONTROL_STATE(wanted)	    ((enum control_state)((wanted)&3))
#define CONTROL_NEXT(wanted, state) (((wanted) & ~3u) + 4 + (uint32_t)(state))

/* More processes than these follow commands without an answer. */
#define CONTROL_MAX_MEMBERS 1024

/* One process. */
struct control_member {
	uint32_t pid; /* as it sees itself; 0: free */
	uint32_t pad;
	/* Low 32 bits: of `wanted`, what has been done. High: errno if that failed. */
	uint64_t answer;
};

_Static_assert(sizeof(struct control_member) == 16, "shared with the recorder");

/* errno of a recording that was given up, for a reason that the process's log has */
#define CONTROL_TOLD 255

struct control_page {
	uint32_t magic;
	uint32_t version;
	uint32_t wanted; /* of the recorder */
	uint32_t environment_bytes; /* the rest is the recorder's, before a command */
	/* The variables of config.h, "NAME=value", each ended by a NUL */
	char environment[16368];
	struct control_member members[CONTROL_MAX_MEMBERS];
};

_Static_assert(sizeof(struct control_page) == 32768, "shared with the recorder");

#endif
