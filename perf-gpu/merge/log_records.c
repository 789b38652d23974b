// SPDX-License-Identifier: GPL-2.0-or-later
#include "merge/log_records.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/gpu_log_sizes.h"
#include "util/sum.h"

int log_record__note_pids(const struct gpu_log_record *record, struct pid_set *set)
{
	const void *any = record;
	uint32_t pid = 0;

	if (!gpu_log_record__is_whole(record))
		return 0;
	switch (record->type) {
	case GPU_LOG_PROCESS:
		pid = ((const struct gpu_log_process *)any)->pid;
		break;
	case GPU_LOG_API_CALL:
		pid = ((const struct gpu_log_api_call *)any)->tid;
		break;
	case GPU_LOG_NVTX:
		pid = ((const struct gpu_log_nvtx *)any)->tid;
		break;
	default:
		break;
	}
	return pid <= INT32_MAX ? pid_set__add(set, pid) : 0;
}

/* The times of the code in @data, of @bytes, inflated: as the reader walks it. */
static int shift_code(const struct shift *shift, unsigned char *data, size_t bytes)
{
	size_t at = 0;

	while (bytes - at >= sizeof(struct gpu_log_jit_code)) {
		struct gpu_log_jit_code code;
		uint64_t size;

		memcpy(&code, data + at, sizeof(code));
		code.time_ns = shift__time(shift, code.time_ns);
		memcpy(data + at, &code, sizeof(code));
		size = (sizeof(code) + (uint64_t)code.nr_bytes + 8) & ~7ull;
		if (size > bytes - at)
			return -EINVAL;
		at += size;
	}
	return at == bytes ? 0 : -EINVAL;
}

/* A perf map has no times; a jitdump's pieces are inflated, changed, and deflated. */
static int rewrite_jit(struct gpu_log_jit *jit, const struct shift *shift)
{
	unsigned char data[GPU_LOG_JIT_MAX_BYTES];
	uLongf nr_bytes = sizeof(data);
	uLongf deflated_bytes = UINT16_MAX - 7 - sizeof(*jit);
	size_t size;

	if (jit->kind != GPU_LOG_JIT_CODE || !shift->time_ns)
		return 0;
	if (jit->nr_deflated_bytes > jit->rec.size - sizeof(*jit) ||
	    uncompress(data, &nr_bytes, jit->deflated, jit->nr_deflated_bytes) ||
	    nr_bytes != jit->nr_bytes || shift_code(shift, data, nr_bytes))
		return -EINVAL;
	/* Incompressible data grow by 5 bytes in 16 KiB. */
	memset(jit->deflated, 0, deflated_bytes);
	if (compress(jit->deflated, &deflated_bytes, data, nr_bytes) != Z_OK)
		return -ENOMEM;
	jit->nr_deflated_bytes = (uint32_t)deflated_bytes;
	size = (sizeof(*jit) + deflated_bytes + 7) & ~(size_t)7;
	jit->rec.size = (uint16_t)size;
	return 0;
}

static void shift_span(const struct shift *shift, uint64_t *start_ns, uint64_t *end_ns)
{
	*start_ns = shift__time(shift, *start_ns);
	*end_ns = shift__time(shift, *end_ns);
}

/*
 * Is it a record of a log in a sidecar? Every type has its line: the compiler asks for one of
 * those that are new, so that change() doesn't forget their times.
 */
static bool is_known(enum gpu_log_type type)
{
	switch (type) {
	case GPU_LOG_PROCESS:
	case GPU_LOG_API_CALL:
	case GPU_LOG_KERNEL:
	case GPU_LOG_ACTIVITY:
	case GPU_LOG_MEMORY:
	case GPU_LOG_NVTX:
	case GPU_LOG_JIT:
	case GPU_LOG_STRING:
	case GPU_LOG_API:
	case GPU_LOG_DEVICE:
	case GPU_LOG_CONTEXT:
	case GPU_LOG_SHAPE:
	case GPU_LOG_LOSS:
	case GPU_LOG_MESSAGE:
	case GPU_LOG_END:
	case GPU_LOG_PYTHON_CODE:
	case GPU_LOG_GRAPH_NODE:
	case GPU_LOG_EVENTS:
	case GPU_LOG_OPERATION:
	case GPU_LOG_RANK:
	case GPU_LOG_NAMESPACE:
	case GPU_LOG_ORIGIN:
	case GPU_LOG_FORGET:
		return true;
	case GPU_LOG_RECORDER:
	case GPU_LOG_STACK:
	case GPU_LOG_TIME:
	case GPU_LOG_LAUNCH:
	case GPU_LOG_THREAD:
	case GPU_LOG_MAP:
		break;
	}
	return false;
}

/* @ret: a copy of the record, as long as it must be */
static int change(const struct shift *shift, void *ret)
{
	const struct gpu_log_record *record = ret;

	switch (record->type) {
	case GPU_LOG_PROCESS: {
		struct gpu_log_process *process = ret;

		process->pid = shift__pid(shift, process->pid);
		process->ppid = shift__pid(shift, process->ppid);
		process->start_ns = shift__time(shift, process->start_ns);
		return 0;
	}
	case GPU_LOG_API_CALL: {
		struct gpu_log_api_call *call = ret;

		call->tid = shift__pid(shift, call->tid);
		shift_span(shift, &call->start_ns, &call->end_ns);
		return 0;
	}
	case GPU_LOG_KERNEL: {
		struct gpu_log_kernel *kernel = ret;

		shift_span(shift, &kernel->start_ns, &kernel->end_ns);
		return 0;
	}
	case GPU_LOG_ACTIVITY: {
		struct gpu_log_activity *activity = ret;

		shift_span(shift, &activity->start_ns, &activity->end_ns);
		return 0;
	}
	case GPU_LOG_MEMORY: {
		struct gpu_log_memory *memory = ret;

		memory->time_ns = shift__time(shift, memory->time_ns);
		return 0;
	}
	case GPU_LOG_NVTX: {
		struct gpu_log_nvtx *nvtx = ret;

		nvtx->time_ns = shift__time(shift, nvtx->time_ns);
		nvtx->tid = shift__pid(shift, nvtx->tid);
		return 0;
	}
	case GPU_LOG_JIT:
		return rewrite_jit(ret, shift);
	default:
		return 0;
	}
}

int log_record__rewrite(const struct gpu_log_record *record, const struct shift *shift,
			void *ret)
{
	if (!is_known(record->type))
		return -ENOTSUP;
	if (!gpu_log_record__is_whole(record))
		return -EINVAL;
	memcpy(ret, record, record->size);
	return change(shift, ret);
}

void log_record__add_recorder(struct gpu_log_recorder *to,
			      const struct gpu_log_recorder *recorder)
{
	sum__add(&to->nr_launches, recorder->nr_launches);
	sum__add(&to->nr_lost_ring, recorder->nr_lost_ring);
	sum__add(&to->nr_lost_stack, recorder->nr_lost_stack);
	sum__add(&to->nr_lost_log, recorder->nr_lost_log);
	sum__add(&to->nr_unreadable, recorder->nr_unreadable);
	sum__add(&to->nr_missing, recorder->nr_missing);
	sum__add(&to->nr_records, recorder->nr_records);
	sum__add(&to->nr_records_cut, recorder->nr_records_cut);
	sum__add(&to->nr_over_limit, recorder->nr_over_limit);
	sum__add(&to->nr_bytes_cut, recorder->nr_bytes_cut);
	sum__add(&to->nr_records_over_limit, recorder->nr_records_over_limit);
	sum__add(&to->nr_lost_sideband, recorder->nr_lost_sideband);
	sum__add(&to->nr_cut_launches, recorder->nr_cut_launches);
	sum__add(&to->nr_cut_records, recorder->nr_cut_records);
	to->has_others |= recorder->has_others;
	if (recorder->stopped_after_ns > to->stopped_after_ns)
		to->stopped_after_ns = recorder->stopped_after_ns;
}
