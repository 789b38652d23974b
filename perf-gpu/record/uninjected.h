/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a process that has libcuda may have it without our library, as /proc tells while it
 * runs. Stateless.
 */
#ifndef PERF_GPU_RECORD_UNINJECTED_H
#define PERF_GPU_RECORD_UNINJECTED_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

enum uninjected_why {
	UNINJECTED_UNKNOWN, /* it was gone */
	UNINJECTED_32_BIT, /* and our library isn't */
	UNINJECTED_SECURE, /* set-uid or the like (AT_SECURE): its environment is ignored */
	UNINJECTED_UNREADABLE, /* this recorder may not look: it has other rights */
	UNINJECTED_CLEARED, /* it was started without CUDA_INJECTION64_PATH */
	UNINJECTED_OTHER, /* with another library there */
	UNINJECTED_NO_FILE, /* with ours, which isn't there in its root folder */
	UNINJECTED_NO_INIT, /* with ours, which could be loaded */
};

/**
 * uninjected__look - what speaks against our library in the process?
 * @address:   where it has libcuda
 * @ret_other: the library of UNINJECTED_OTHER and UNINJECTED_NO_FILE, else ""
 *
 * For what is only seen while cuInit() is under way, UNINJECTED_NO_INIT is said, too.
 */
enum uninjected_why uninjected__look(pid_t pid, uint64_t address,
				     char ret_other[PATH_MAX]);

#endif
