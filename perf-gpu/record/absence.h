/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a recording has nothing, or lacks a process: told in one line, by what was seen. */
#ifndef PERF_GPU_RECORD_ABSENCE_H
#define PERF_GPU_RECORD_ABSENCE_H

#include "record/cuda_users.h"

/* What was seen of the processes of a command, besides who has launched */
enum absence_sight {
	ABSENCE_BLIND, /* nothing */
	ABSENCE_LOOKED, /* now and then, by record/cuda_watch.h */
	ABSENCE_TOLD, /* and by the kernel, of all that they have mapped */
};

struct absence {
	const char *library; /* that was injected */
	enum absence_sight sight;
	int status; /* with which the command has ended; -1: not known */
	struct cuda_users_missing uninjected;
};

/* No process has told anything. */
void absence__print(const struct absence *absence);

/* Some have: there are processes in absence->uninjected beside these. */
void absence__print_uninjected(const struct absence *absence);

#endif
