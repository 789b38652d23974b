// SPDX-License-Identifier: GPL-2.0-or-later
/* What the CUDA trial has found, in words, with what to do about it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda.h>
#include <cupti.h>

#include "check/check.h"
#include "check/cuda_trial.h"
#include "cupti_gaps.h"
#include "util/format.h"
#include "util/proc.h"

#define GIB	       (1ull << 30)
#define NVIDIA_VERSION "/proc/driver/nvidia/version"
#define NVIDIA_PARAMS  "/proc/driver/nvidia/params"

/* The kernel's half: absent in WSL, whose driver is Windows's. Return: is it loaded? */
static bool report_module(struct report *report)
{
	char text[256];

	if (!proc__read_value(NVIDIA_VERSION, "NVRM version", text, sizeof(text))) {
		report__line(report, VERDICT_OK, "kernel module", "%s", text);
		return true;
	}
	if (!access("/dev/dxg", F_OK)) {
		report__line(report, VERDICT_OK, "kernel module", "WSL's, /dev/dxg");
		return true;
	}
	report__line(report, VERDICT_NOTE, "kernel module",
		     "NVIDIA's is not loaded: there is no " NVIDIA_VERSION);
	return false;
}

static void report_no_libcuda(struct report *report, const struct cuda_trial *cuda,
			      bool has_module)
{
	report__line(report, VERDICT_FAIL, "driver", "%s", cuda->libcuda_error);
	if (has_module)
		report__mend(report, "the kernel has NVIDIA's driver, its library is "
				     "missing: in a container use --gpus all (NVIDIA "
				     "Container Toolkit), else install the driver's "
				     "libcuda1 package");
	else
		report__mend(report, "install NVIDIA's driver; without it no program "
				     "uses a GPU, and there is nothing to record");
}

static void mend_init(struct report *report, int result)
{
	switch (result) {
	case CUDA_ERROR_NO_DEVICE:
		if (getenv("CUDA_VISIBLE_DEVICES"))
			report__mend(report, "CUDA_VISIBLE_DEVICES is \"%s\": unset it",
				     getenv("CUDA_VISIBLE_DEVICES"));
		report__mend(report, "nvidia-smi shows whether there is a GPU; in a "
				     "container use --gpus all");
		break;
	case CUDA_ERROR_STUB_LIBRARY:
		report__mend(report, "this libcuda.so.1 is the toolkit's stub, to link "
				     "with: take its folder out of LD_LIBRARY_PATH");
		break;
	case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
		report__mend(report, "kernel module and libcuda differ in version: "
				     "reboot after an update of the driver");
		break;
	case CUDA_ERROR_SYSTEM_NOT_READY:
		report__mend(report, "start nvidia-fabricmanager, which NVSwitch "
				     "machines need");
		break;
	default:
		report__mend(report, "nvidia-smi and dmesg tell more; is /dev/nvidiactl "
				     "there, and may this user read and write it?");
	}
}

/* ", GPU-..." as nvidia-smi -L has it; "" if there is none */
static const char *format_uuid(const struct cuda_gpu *gpu, char *buf, size_t size)
{
	static const uint8_t none[sizeof(gpu->uuid)];
	struct format_buf uuid;

	if (!memcmp(gpu->uuid, none, sizeof(none)))
		return "";
	snprintf(buf, size, ", %s-%s", strstr(gpu->name, " MIG ") ? "MIG" : "GPU",
		 format__uuid(gpu->uuid, &uuid));
	return buf;
}

static void report_gpus(struct report *report, const struct cuda_trial *cuda)
{
	if (!cuda->nr_gpus) {
		report__line(report, VERDICT_FAIL, "GPU", "none");
		mend_init(report, CUDA_ERROR_NO_DEVICE);
	}
	for (int i = 0; i < cuda->nr_gpus && i < CUDA_TRIAL_MAX_GPUS; i++) {
		const struct cuda_gpu *gpu = &cuda->gpus[i];
		char name[16], uuid[64];

		snprintf(name, sizeof(name), "GPU %d", i);
		report__line(report, VERDICT_OK, name,
			     "%s, compute capability %d.%d, %.0f GiB%s", gpu->name,
			     gpu->compute_major, gpu->compute_minor,
			     (double)gpu->memory_bytes / GIB,
			     format_uuid(gpu, uuid, sizeof(uuid)));
	}
	if (cuda->nr_gpus > CUDA_TRIAL_MAX_GPUS)
		report__line(report, VERDICT_OK, "GPUs", "%d in all", cuda->nr_gpus);
}

static void report_driver(struct report *report, const struct cuda_trial *cuda,
			  const struct trial *trial)
{
	bool has_module = report_module(report);

	if (*cuda->libcuda_error) {
		report_no_libcuda(report, cuda, has_module);
	} else if (*cuda->init_error) {
		report__line(report, VERDICT_FAIL, "driver", "%s: cuInit failed: %s",
			     cuda->libcuda, cuda->init_error);
		mend_init(report, cuda->init_result);
	} else if (*cuda->libcuda) {
		report__line(report, VERDICT_OK, "driver", "%s, for CUDA up to %d.%d",
			     cuda->libcuda, cuda->driver_version / 1000,
			     cuda->driver_version % 1000 / 10);
		if (trial->is_done || cuda->nr_gpus)
			report_gpus(report, cuda);
	}
}

/* The CUDA toolkit that a CUPTI is of: the table in cupti_version.h */
static const char *cupti_release(uint32_t version, char *buf, size_t size)
{
	static const char *const releases[] = {
		[13] = "11.0", [14] = "11.1", [15] = "11.4", [16] = "11.5", [17] = "11.6",
		[18] = "11.8", [19] = "12.0", [20] = "12.2", [21] = "12.3", [22] = "12.4",
		[23] = "12.5", [24] = "12.6", [26] = "12.8", [27] = "12.9", [28] = "12.9",
	};

	if (version >= 130000) /* from 13.0 on: major, minor, update */
		snprintf(buf, size, "%u.%u", version / 10000, version / 100 % 100);
	else if (version < sizeof(releases) / sizeof(*releases) && releases[version])
		snprintf(buf, size, "%s", releases[version]);
	else
		snprintf(buf, size, "an unknown release");
	return buf;
}

static void mend_recording(struct report *report, const struct cuda_trial *cuda)
{
	char text[8];

	switch (cuda->cupti_result) {
	case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
		report__mend(report, "another profiler is loaded into every process: "
				     "look at LD_PRELOAD");
		break;
	case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
		if (proc__read_value(NVIDIA_PARAMS, "RmProfilingAdminOnly", text,
				     sizeof(text)) ||
		    !strcmp(text, "0"))
			break;
		report__mend(report, "the driver lets administrators profile only: load "
				     "it with NVreg_RestrictProfilingToAdminUsers=0, or "
				     "record as root");
		break;
	default:
		report__mend(report, "is this CUPTI older than the driver's CUDA? "
				     "PERF_GPU_CUPTI=/path/to/libcupti.so names another");
	}
}

/* What recordings are without that a newer one, or a known one, would have */
static void report_gaps(struct report *report, uint32_t version)
{
	const char *gap;

	for (size_t i = 0; (gap = cupti_gaps__get(version, i)); i++)
		report__line(report, VERDICT_NOTE, "CUPTI", "%s", gap);
}

/* How many can have CUPTI in a process? From CUDA 13.2 on, if all want it so */
static void report_sharing(struct report *report, const struct cuda_trial *cuda)
{
	const bool is_shared =
		cuda->cupti_version >= 130200 &&
		(uint32_t)cuda->driver_version >= cuda->cupti_version / 100 * 10;

	if (is_shared)
		report__line(report, VERDICT_NOTE, "sharing",
			     "this CUPTI has room for several profilers, if the first "
			     "allows others: record --share joins him");
	else
		report__line(report, VERDICT_NOTE, "sharing",
			     "CUPTI has room for one profiler in a process: another, as "
			     "torch.profiler, is refused in one that is recorded, unless "
			     "it is with --share");
}

static void report_cupti(struct report *report, const struct cuda_trial *cuda)
{
	char release[32];

	if (!*cuda->cupti) {
		report__line(report, VERDICT_FAIL, "CUPTI", "%s", cuda->cupti_why);
		report__mend(report, "a program that brings its own beside libcudart (as "
				     "pip's PyTorch does) can be recorded all the same");
		return;
	}
	cupti_release(cuda->cupti_version, release, sizeof(release));
	if (cuda->cupti_call) {
		report__line(report, VERDICT_FAIL, "CUPTI",
			     "%s, of CUDA %s, can't record kernels: %s: %s", cuda->cupti,
			     release, cuda->cupti_call, cuda->cupti_error);
		mend_recording(report, cuda);
	} else {
		report__line(report, VERDICT_OK, "CUPTI", "%s, of CUDA %s", cuda->cupti,
			     release);
		report__detail(report, "API version %u", cuda->cupti_version);
		report_gaps(report, cuda->cupti_version);
		report_sharing(report, cuda);
	}
}

/* Who may profile, as the kernel module was loaded; nothing where it isn't */
static void report_profiling(struct report *report)
{
	char text[8];

	if (proc__read_value(NVIDIA_PARAMS, "RmProfilingAdminOnly", text, sizeof(text)))
		return;
	if (!strcmp(text, "0")) {
		report__line(report, VERDICT_OK, "profiling",
			     "the driver lets all users");
		return;
	}
	report__line(report, geteuid() ? VERDICT_WARN : VERDICT_OK, "profiling",
		     "the driver lets administrators only (CAP_SYS_ADMIN): others can be "
		     "refused kernels' records");
	report__mend(report,
		     "load the module with NVreg_RestrictProfilingToAdminUsers=0");
}

void check__cuda(struct report *report)
{
	static struct cuda_trial cuda;
	struct trial trial;

	cuda_trial__run(&cuda, &trial);
	report_driver(report, &cuda, &trial);
	check__mps(report);
	report_profiling(report);
	if (trial.is_done) {
		report_cupti(report, &cuda);
	} else {
		report__line(report, VERDICT_FAIL, "CUDA", "%s: the process %s",
			     cuda.step ? cuda.step : "not begun", trial.death);
		report__mend(report, "does nvidia-smi work? dmesg may tell more");
	}
	if (*trial.output)
		report__detail(report, "printed meanwhile: %s", trial.output);
}
