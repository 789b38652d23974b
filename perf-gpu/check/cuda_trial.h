/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Driver, GPUs and CUPTI, loaded and asked in a child process: the driver has
 * hundreds of megabytes and threads of its own, and may crash or hang.
 */
#ifndef PERF_GPU_CHECK_CUDA_TRIAL_H
#define PERF_GPU_CHECK_CUDA_TRIAL_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "check/trial.h"

#define CUDA_TRIAL_MAX_GPUS 16

struct cuda_gpu {
	char name[128];
	int compute_major, compute_minor;
	uint64_t memory_bytes;
	uint8_t uuid[16]; /* of a part of a GPU (MIG), its own; all 0: not known */
};

/* Filled in step by step; what a crash kept from being known is 0 or "". */
struct cuda_trial {
	const char *step; /* what was begun last: "cuInit" */

	char libcuda[PATH_MAX];
	char libcuda_error[512]; /* of dlopen() or dlsym(), if libcuda is "" */
	int init_result; /* CUresult of cuInit() */
	char init_error[64]; /* "CUDA_ERROR_NO_DEVICE"; "" if it worked */
	int driver_version; /* the CUDA it has: 13000 */
	int nr_gpus; /* also those beyond the array */
	struct cuda_gpu gpus[CUDA_TRIAL_MAX_GPUS];

	char cupti[PATH_MAX];
	char cupti_why[2048]; /* why there is none that works, if cupti is "" */
	uint32_t cupti_version;
	const char *cupti_call; /* that failed; NULL: kernels can be recorded */
	int cupti_result; /* CUptiResult of it */
	char cupti_error[256]; /* CUPTI's text for it */
};

/**
 * cuda_trial__run - load and ask
 * @ret:   written in any case
 * @trial: how it went; if it isn't done, ret->step tells where it ended
 */
void cuda_trial__run(struct cuda_trial *ret, struct trial *trial);

#endif
