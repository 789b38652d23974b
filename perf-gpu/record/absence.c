// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/absence.h"

#include <stdio.h>

#include "record/injection.h"
#include "util/format.h"
#include "util/log.h"

#define MAX_WHY 512

/* Where nothing more is known of one that has libcuda */
#define ANYTHING                                                                        \
	"either cuInit() is never called, or fails, or the program is set-uid, or has " \
	"cleared " INJECTION_VARIABLE                                                   \
	", or given it to another profiler, as nsys does, "                             \
	"or runs in a container without "

static void format_why(const struct absence *absence, char ret[MAX_WHY])
{
	static const char *const whys[] = {
		[UNINJECTED_32_BIT] = "it is a 32-bit program, which our library can't "
				      "be loaded into: build it for 64 bits",
		[UNINJECTED_SECURE] =
			"it is set-uid, or has capabilities of its file: CUDA and the "
			"library take nothing from its environment; start it by a user "
			"who has these rights, or use record --probe api",
		[UNINJECTED_UNREADABLE] =
			"it runs with other rights than this recorder, as by sudo or a "
			"set-uid bit, which keep the library out; put perf-gpu record "
			"behind sudo",
		[UNINJECTED_CLEARED] =
			"it was started without " INJECTION_VARIABLE
			": what has started it, such as sudo or env -i, passes on no "
			"environment; put perf-gpu record behind that",
		[UNINJECTED_NO_INIT] =
			"cuInit() was not called in it, or has failed; does "
			"nvidia-smi show a GPU there?",
	};
	const struct cuda_users_missing *uninjected = &absence->uninjected;

	switch (uninjected->why) {
	case UNINJECTED_UNKNOWN:
		snprintf(ret, MAX_WHY, ANYTHING "%s", absence->library);
		break;
	case UNINJECTED_OTHER:
		snprintf(ret, MAX_WHY,
			 INJECTION_VARIABLE " names another library there, %.200s: have "
					    "that unset, or use record --probe api",
			 uninjected->other ? uninjected->other : "of another profiler");
		break;
	case UNINJECTED_NO_FILE:
		snprintf(ret, MAX_WHY,
			 "%.200s isn't there in its root folder, which is a container's: "
			 "record in there",
			 uninjected->other ? uninjected->other : absence->library);
		break;
	default:
		snprintf(ret, MAX_WHY, "%s", whys[uninjected->why]);
	}
}

/* "1 process has loaded libcuda", and which */
static void print_users(const struct absence *absence, const char *before,
			const char *behind)
{
	const struct cuda_users_missing *uninjected = &absence->uninjected;
	const uint64_t nr = uninjected->nr_processes;
	struct format_buf count;
	char why[MAX_WHY];

	format_why(absence, why);
	pr_warning("%s%s %s%s (%s, pid %u%s): %s", before, format__count(nr, &count),
		   uninjected->is_unseen
			   ? format__plural(nr, "process can't be looked at",
					    "processes can't be looked at")
			   : format__plural(nr, "process has loaded libcuda",
					    "processes have loaded libcuda"),
		   behind, *uninjected->comm ? uninjected->comm : "which has ended",
		   uninjected->pid, nr == 1 ? "" : " and others", why);
}

void absence__print_uninjected(const struct absence *absence)
{
	print_users(absence, "", ", but not our library with it");
}

void absence__print(const struct absence *absence)
{
	/* The kernel tells no more of who has executed a set-uid program. */
	static const char seen[] = "none was seen with libcuda.so.1";
	char end[64] = "";

	if (absence->status > 0)
		snprintf(end, sizeof(end), "; the command has ended with status %d",
			 absence->status);
	if (absence->uninjected.nr_processes)
		print_users(absence,
			    "no process initialized CUDA with our library in it, but ",
			    "");
	else if (absence->sight == ABSENCE_BLIND)
		pr_warning("no process initialized CUDA with our library in it%s: "
			   "%s" ANYTHING "%s",
			   end, *end ? "did it fail before? Else " : "",
			   absence->library);
	else if (absence->status > 0)
		pr_warning("no process initialized CUDA: %s%s: did it fail before?", seen,
			   end);
	else
		pr_warning("no process initialized CUDA: %s: does the command use CUDA, "
			   "and find its driver? (A build for CPUs only doesn't.)",
			   seen);
}
