// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "activity.h"
#include "api_records.h"
#include "cupti_table.h"
#include "jit.h"
#include "launch.h"
#include "log.h"
#include "marker.h"
#include "python.h"
#include "stray.h"
#include "stack.h"
#include "unwind.h"

/*
 * A recorder waits for the answer, and gives up after some seconds; kernels that run on
 * when recording ends seldom take one.
 */
#define MAX_CLOSE_WAIT_MS 1000

static struct config config;
static struct cupti_table cupti;
static bool has_cupti;
static struct log *process_log;
static atomic_bool is_open;
static bool has_been_open;
static uint64_t nr_flushed; /* launches whose kernels CUPTI was asked for, at exit */

static atomic_uint off; /* enum recording_switch */
static atomic_bool is_on; /* in CUPTI; written by who has is_switching */
static atomic_bool is_switching;
static atomic_bool has_failed;
static atomic_bool has_been_on; /* there may be something to flush */

static void tell_of_other(const char *holder)
{
	const char *open = *holder ? " (" : "", *close = *holder ? ")" : "";

	if (config.is_api_probed)
		log__message(process_log, GPU_LOG_WARNING,
			     "another profiler%s%s%s has CUPTI in this process: the "
			     "stacks of its launches are recorded, not what the GPU did",
			     open, holder, close);
	else
		log__message(process_log, GPU_LOG_ERROR,
			     "another profiler%s%s%s has CUPTI in this process, which "
			     "has room for one: run without it, or with --probe api",
			     open, holder, close);
}

/*
 * Only as CUPTI's subscriber may its buffers, too, become ours: whoever was there
 * first goes on as before. Without callbacks we need not stay it, and who comes later
 * finds it free. 0, or -EIO after a message to the user.
 */
static int subscribe(void)
{
	char holder[128] = "";
	CUptiResult result;

	result = launch__subscribe(&cupti, holder);
	if (!result && config.is_api_probed)
		launch__unsubscribe();
	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		tell_of_other(holder);
	else if (result)
		log__message(process_log, GPU_LOG_ERROR, "%s: cuptiSubscribe failed: %s",
			     cupti.path, cupti_table__error(&cupti, result));
	return result ? -EIO : 0;
}

static void unsubscribe(void)
{
	if (!config.is_api_probed)
		launch__unsubscribe();
}

/* The same */
static int prepare_activity(void)
{
	const char *what;
	CUptiResult result;

	result = activity__prepare(&cupti, process_log, &what);
	if (!result)
		return 0;
	log__message(process_log, GPU_LOG_ERROR, "%s: %s failed: %s", cupti.path, what,
		     cupti_table__error(&cupti, result));
	return -EIO;
}

/* The same; CUPTI is then as it was. */
static int start_cupti(void)
{
	static char why[2048]; /* the stack of who launches first may be small */
	int err;

	if (!has_cupti && cupti_table__open(config.cupti, &cupti, why, sizeof(why))) {
		log__message(process_log, GPU_LOG_ERROR, "%s", why);
		return -EIO;
	}
	has_cupti = true;
	err = subscribe();
	if (err)
		return err;
	err = prepare_activity();
	if (err)
		unsubscribe();
	return err;
}

static int open_log(void)
{
	if (process_log)
		return log__reopen(process_log, config.spool, config.session);
	return log__open(config.spool, config.session, false, &process_log);
}

/* 0, or -EIO after a message to the user */
static int prepare_process(void)
{
	int err;

	err = fork_page__init();
	if (err) {
		/* Without it a forked child would die at its first marker. */
		log__message(process_log, GPU_LOG_ERROR,
			     "no memory page that is wiped on fork: madvise: %s",
			     strerror(-err));
		return -EIO;
	}
	if (config.unwind && unwind__init())
		log__message(process_log, GPU_LOG_WARNING,
			     "libunwind.so.8 is neither beside the injected library nor "
			     "installed: no stacks; reinstall perf-gpu, or use "
			     "--call-graph fp");
	stack__set_max_frames(config.max_frames);
	python__begin(config.walk_python ? process_log : NULL);
	return 0;
}

int recording__open(const struct config *with_config)
{
	int err;

	config = *with_config;
	err = open_log();
	if (err)
		return err;
	err = prepare_process();
	if (!err && (launch__prepare(&config, process_log) || start_cupti()))
		err = -EIO;
	if (err) {
		launch__close();
		return err;
	}
	nr_flushed = 0;
	atomic_store(&has_failed, false);
	atomic_store(&has_been_on, false);
	/* What another recording has left behind */
	stray__begin(has_been_open && !config.is_api_probed);
	has_been_open = true;
	atomic_store(&is_open, true);
	jit__begin(process_log);
	return 0;
}

bool recording__is_open(void)
{
	return atomic_load(&is_open);
}

void recording__warn(const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	log__message(process_log, GPU_LOG_WARNING, "%s", text);
}

/* How many launching functions CUPTI tells of, in the one way or the other */
static unsigned int enable_launches(bool on)
{
	return config.is_api_probed ? api_records__enable(&cupti, process_log, on)
				    : launch__enable(on);
}

/*
 * Callbacks are on for longer than activity is, so that each kernel has its launch: one
 * launch of a thread that is just then at it may have no kernel.
 */
static void switch_on(void)
{
	CUptiResult result;

	if (!enable_launches(true)) {
		log__message(process_log, GPU_LOG_ERROR,
			     "%s names no launch function that it reports", cupti.path);
		atomic_store(&has_failed, true);
		return;
	}
	atomic_store(&has_been_on, true);
	result = activity__enable();
	if (!result)
		return;
	atomic_store(&has_been_on, false);
	log__message(process_log, GPU_LOG_ERROR,
		     "%s can't record kernels: %s (is it older than the driver's "
		     "CUDA, or is profiling forbidden to this user?)",
		     cupti.path, cupti_table__error(&cupti, result));
	enable_launches(false);
	atomic_store(&has_failed, true);
}

static void switch_off(void)
{
	activity__disable();
	enable_launches(false);
	/* API calls that are recorded are noted too late to tell. */
	if (!config.is_api_probed)
		stray__expect();
}

static bool should_be_on(void)
{
	return atomic_load(&is_open) && !atomic_load(&off) && !atomic_load(&has_failed);
}

/* Without a lock, which nobody may hold who calls CUPTI. */
static void apply(void)
{
	while (should_be_on() != atomic_load(&is_on)) {
		bool on;

		if (atomic_exchange(&is_switching, true))
			return; /* who is at it looks again when he is done */
		on = should_be_on();
		if (on && !atomic_load(&is_on))
			switch_on();
		else if (!on && atomic_load(&is_on))
			switch_off();
		atomic_store(&is_on, on && !atomic_load(&has_failed));
		atomic_store(&is_switching, false);
	}
}

void recording__turn(enum recording_switch who, bool on)
{
	if (on)
		atomic_fetch_and(&off, ~(unsigned int)who);
	else
		atomic_fetch_or(&off, (unsigned int)who);
	apply();
}

bool recording__has_failed(void)
{
	return atomic_load(&has_failed);
}

void recording__flush(void)
{
	if (!atomic_load(&has_been_on))
		return;
	python__look();
	jit__follow(process_log);
	activity__flush();
}

bool recording__is_abandoned(void)
{
	return log__is_abandoned(process_log);
}

static void tell_of_strays(void)
{
	if (stray__count())
		log__message(
			process_log, GPU_LOG_INFO,
			"%llu kernels that were launched while recording was off are "
			"left out, though CUPTI has recorded them",
			(unsigned long long)stray__count());
}

void recording__close(bool finalizes)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	if (!atomic_exchange(&is_open, false))
		return;
	apply();
	/* The program's own perf_gpu_pause() may be at it. */
	while (atomic_load(&is_switching) || atomic_load(&is_on))
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
	if (atomic_load(&has_been_on))
		activity__drain(MAX_CLOSE_WAIT_MS);
	unsubscribe();
	if (finalizes && cupti.cuptiFinalize)
		cupti.cuptiFinalize();
	tell_of_strays();
	python__end();
	launch__end();
	launch__close();
}

void recording__finish(void)
{
	if (!atomic_load(&is_open))
		return;
	nr_flushed = launch__count();
	jit__follow(process_log); /* a handler that runs later may remove the files */
	if (atomic_load(&has_been_on))
		activity__drain(0);
}

void recording__end_log(void)
{
	if (!atomic_load(&is_open))
		return;
	if (!fork_page__is_forked() && launch__count() > nr_flushed)
		log__message(process_log, GPU_LOG_WARNING,
			     "%llu launches came while the process was ending, after "
			     "CUPTI's last flush: what the GPU did for them may be "
			     "missing",
			     (unsigned long long)(launch__count() - nr_flushed));
	if (!fork_page__is_forked())
		tell_of_strays();
	python__end();
	launch__end();
}
