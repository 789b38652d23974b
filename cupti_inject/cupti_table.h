/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUPTI, opened at run time. A library that was linked to one libcupti isn't
 * loaded where only another is found, and the CUDA driver says nothing of it:
 * so nothing is linked, and every place is looked at.
 */
#ifndef PERF_GPU_INJECT_CUPTI_TABLE_H
#define PERF_GPU_INJECT_CUPTI_TABLE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* Functions without which nothing works, then those that older CUPTIs lack. */
/* clang-format off */
#define CUPTI_FUNCTIONS(required, optional)			\
	required(cuptiActivityDisable)				\
	required(cuptiActivityEnable)				\
	required(cuptiActivityFlushAll)				\
	required(cuptiActivityGetNextRecord)			\
	required(cuptiActivityGetNumDroppedRecords)		\
	required(cuptiActivityRegisterCallbacks)		\
	required(cuptiEnableCallback)				\
	required(cuptiGetCallbackName)				\
	required(cuptiGetResultString)				\
	required(cuptiGetVersion)				\
	required(cuptiSetThreadIdType)				\
	required(cuptiSubscribe)				\
	required(cuptiUnsubscribe)				\
	optional(cuptiActivityConfigureUnifiedMemoryCounter)	\
	optional(cuptiActivityEnableDriverApi)			\
	optional(cuptiActivityEnableRuntimeApi)			\
	optional(cuptiActivityRegisterTimestampCallback)	\
	optional(cuptiGetGraphNodeId)				\
	optional(cuptiGetTimestamp)				\
	optional(cuptiSubscribe_v2)
/* clang-format on */

struct cupti_table {
	char path[PATH_MAX]; /* of the library in use */
	uint32_t version; /* cuptiGetVersion() */
#define CUPTI_MEMBER(name) __typeof__(&name) name;
	CUPTI_FUNCTIONS(CUPTI_MEMBER, CUPTI_MEMBER)
#undef CUPTI_MEMBER
};

/**
 * cupti_table__open - find a libcupti that works with this library, and open it
 * @wanted: path of the one to take, or "" to look for it: where the environment says,
 *          unless the program has more rights than its user
 * @ret:    valid on success only; the library stays open
 * @why:    receives what to tell the user on failure
 *
 * Once in a process, and one thread at a time.
 *
 * Return: 0, -ENOENT none found, -ENOTSUP none that we can work with.
 */
int cupti_table__open(const char *wanted, struct cupti_table *ret, char *why,
		      size_t why_bytes);

/**
 * cupti_table__open_loaded - the same of the one that the process has loaded, if any
 *
 * May be called again and again.
 *
 * Return: 0, -ENOENT none is loaded, -ENOTSUP we can't work with it.
 */
int cupti_table__open_loaded(struct cupti_table *ret, char *why, size_t why_bytes);

/* CUPTI's text for a result code. */
const char *cupti_table__error(const struct cupti_table *cupti, CUptiResult result);

#endif
