// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libperf-gpu-inject.so: loaded into the target by the CUDA driver, which calls
 * InitializeInjection() within the first cuInit().
 *
 * The target is sacred. This library never exits or aborts, never prints, leaves
 * errno, signal handlers and the working directory alone, and holds no lock while
 * it calls CUDA. If something doesn't work it says so in its log, which the
 * recorder reads, and the target goes on unrecorded.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "activity.h"
#include "config.h"
#include "cupti_table.h"
#include "launch.h"
#include "log.h"
#include "marker.h"
#include "unwind.h"

static struct config config;
static struct cupti_table cupti;
static struct log *process_log;
static atomic_bool is_recording;
static uint64_t nr_flushed; /* launches whose kernels CUPTI was asked for, at exit */

/* For the CUDA driver, libcupti, and the marker's readers */
EXPORT int InitializeInjection(void);

/*
 * Stop and go on recording, for a program that wants to record a part of its
 * life; found by dlsym(). From any thread, one at a time.
 */
EXPORT void perf_gpu_pause(void);
EXPORT void perf_gpu_resume(void);

/*
 * Only as CUPTI's subscriber may its buffers, too, become ours: whoever was there
 * first goes on as before. 0, or -EIO after a message to the user.
 */
static int subscribe(void)
{
	char holder[128] = "";
	CUptiResult result;

	result = launch__subscribe(&cupti, holder);
	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		log__message(process_log, GPU_LOG_ERROR,
			     "another profiler%s%s%s has CUPTI in this process, which "
			     "has room for one: run without it",
			     *holder ? " (" : "", holder, *holder ? ")" : "");
	else if (result)
		log__message(process_log, GPU_LOG_ERROR, "%s: cuptiSubscribe failed: %s",
			     cupti.path, cupti_table__error(&cupti, result));
	return result ? -EIO : 0;
}

/* The same */
static int enable(void)
{
	const char *what;
	CUptiResult result;

	result = activity__prepare(&cupti, process_log, &what);
	if (result) {
		log__message(process_log, GPU_LOG_ERROR, "%s: %s failed: %s", cupti.path,
			     what, cupti_table__error(&cupti, result));
		return -EIO;
	}
	if (!launch__enable(true)) {
		log__message(process_log, GPU_LOG_ERROR,
			     "%s names no launch function that it reports", cupti.path);
		return -EIO;
	}
	result = activity__enable();
	if (result) {
		log__message(process_log, GPU_LOG_ERROR,
			     "%s can't record kernels: %s (is it older than the driver's "
			     "CUDA, or is profiling forbidden to this user?)",
			     cupti.path, cupti_table__error(&cupti, result));
		return -EIO;
	}
	return 0;
}

/* The same; CUPTI is then as it was. */
static int start_cupti(void)
{
	static char why[2048]; /* the stack of who launches first may be small */
	int err;

	if (cupti_table__open(config.cupti, &cupti, why, sizeof(why))) {
		log__message(process_log, GPU_LOG_ERROR, "%s", why);
		return -EIO;
	}
	err = subscribe();
	if (err)
		return err;
	err = enable();
	if (err)
		launch__unsubscribe();
	return err;
}

static void finish(void)
{
	/* In a forked child CUPTI's threads and locks are in no usable state. */
	if (!is_recording || fork_page__is_forked())
		return;
	nr_flushed = launch__count();
	activity__end();
}

/*
 * After the atexit handlers, which may launch too: those from before cuInit() run
 * after finish(). CUDA may be gone by now, and isn't called.
 */
__attribute__((destructor)) static void end_log(void)
{
	if (!is_recording)
		return;
	if (!fork_page__is_forked() && launch__count() > nr_flushed)
		log__message(process_log, GPU_LOG_WARNING,
			     "%llu launches came while the process was ending, after "
			     "CUPTI's last flush: what the GPU did for them may be "
			     "missing",
			     (unsigned long long)(launch__count() - nr_flushed));
	launch__end();
}

static void initialize(void)
{
	int err;

	if (config__read(&config))
		return;
	err = log__open(config.spool, config.session, false, &process_log);
	if (err) {
		marker__tell_no_log(config.session, err);
		return;
	}
	err = fork_page__init();
	if (err) {
		/* Without it a forked child would die at its first marker. */
		log__message(process_log, GPU_LOG_ERROR,
			     "no memory page that is wiped on fork: madvise: %s",
			     strerror(-err));
		return;
	}
	if (config.unwind && unwind__init())
		log__message(process_log, GPU_LOG_WARNING,
			     "libunwind.so.8 is neither beside the injected library nor "
			     "installed: no stacks; reinstall perf-gpu, or use "
			     "--call-graph fp");
	if (launch__prepare(&config, process_log) || start_cupti())
		return;
	is_recording = true;
	err = activity__start_flushing();
	if (err)
		log__message(process_log, GPU_LOG_WARNING,
			     "no thread to flush with (%s): a kill loses what is in "
			     "CUPTI's buffers",
			     strerror(-err));
	atexit(finish);
}

int InitializeInjection(void)
{
	static atomic_flag is_initialized = ATOMIC_FLAG_INIT;
	int saved_errno = errno;

	/* The driver calls once, other injectors may call again. */
	if (!atomic_flag_test_and_set(&is_initialized))
		initialize();
	errno = saved_errno;
	return 1;
}

void perf_gpu_pause(void)
{
	if (!is_recording || fork_page__is_forked())
		return;
	launch__enable(false);
	activity__disable();
}

void perf_gpu_resume(void)
{
	if (!is_recording || fork_page__is_forked())
		return;
	activity__enable();
	launch__enable(true);
}
