// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"
#include "api_records.h"
#include "control.h"
#include "cupti_clock.h"
#include "cupti_share.h"
#include "cupti_table.h"
#include "fault.h"
#include "holder.h"
#include "jit.h"
#include "launch.h"
#include "log.h"
#include "log_client.h"
#include "marker.h"
#include "nvtx.h"
#include "own_file.h"
#include "python.h"
#include "rank.h"
#include "recorder.h"
#include "refusal.h"
#include "stray.h"
#include "stack.h"
#include "unwind.h"

/*
 * A recorder waits for the answer, and gives up after some seconds; kernels that run on
 * when recording ends seldom take one.
 */
#define MAX_CLOSE_WAIT_MS 1000
/*
 * The recorder loads a BPF program: 60 ms on a machine with nothing else to do, and more
 * than 500 ms on one whose CPUs have ten others each.
 */
#define MAX_PROBE_WAIT_MS 3000

static struct config config;
static struct cupti_table cupti;
static bool has_cupti;
static bool has_unwind; /* or is none needed? */
/* With --share: CUPTI is ours, too; that has been in vain */
static atomic_bool has_joined;
static bool is_hopeless;
/* Another has CUPTI; the recorder's probes tell of launches. Of a process that waits. */
static bool is_taken;
static char joined[256]; /* whom: it is told when what is launched is recorded */
static bool is_join_told;
static struct log *process_log;
static atomic_bool is_open;
static bool has_been_open;
/* Switching on is not the first time; as is_on. The driver can be called by then. */
static bool is_resumed;
static uint64_t nr_flushed; /* launches whose kernels CUPTI was asked for, at exit */

static atomic_uint off; /* enum recording_switch */
static atomic_bool is_on; /* in CUPTI; written by who has is_switching */
static atomic_bool is_switching;
static atomic_bool has_failed;
static atomic_bool has_been_on; /* there may be something to flush */
static atomic_uint missing_kinds; /* GPU_LOG_KIND_BIT()s that CUPTI doesn't record */

static bool has_answer(const char *suffix)
{
	static char path[PATH_MAX + 32]; /* the stack may be small */

	snprintf(path, sizeof(path), "%s/%016llx%s", config.spool,
		 (unsigned long long)log__id(process_log), suffix);
	return !access(path, F_OK);
}

/* Can the recorder take the launches of this process by probes on the API? */
static bool ask_for_probes(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	/* The recorder doesn't see which part of its life is wanted. */
	if (config.has_launch_log || config.has_capture_range)
		return false;
	marker__tell_taken(config.session, log__id(process_log));
	for (int i = 0; i < MAX_PROBE_WAIT_MS; i++) {
		if (has_answer(GPU_LOG_PROBED_SUFFIX))
			return true;
		if (has_answer(GPU_LOG_UNPROBED_SUFFIX))
			return false;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
	}
	return false;
}

/* Return: the stacks of launches are recorded. */
static bool tell_of_other(const char *subscriber)
{
	bool has_stacks = config.is_api_probed || ask_for_probes();
	char holder[256];

	holder__describe(subscriber, holder, sizeof(holder));
	if (has_stacks)
		log__message(
			process_log, GPU_LOG_WARNING,
			"another profiler%s has CUPTI in this process: the stacks of "
			"its launches are recorded, not what the GPU did",
			holder);
	else
		log__message(
			process_log, GPU_LOG_ERROR,
			"another profiler%s has CUPTI in this process, which has "
			"room for one: run without it, or take stacks alone by record "
			"%s--share%s",
			holder, config.has_launch_log ? "--stacks uprobe or " : "",
			control__is_own() ? " from its start" : "");
	/* The log is read in the end; who attaches is told by the answer. */
	if (!has_stacks && config.has_launch_log && !control__is_own())
		log_client__tell_taken(log__id(process_log));
	return has_stacks;
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
		is_taken = tell_of_other(holder) && control__is_own();
	else if (result)
		log__message(process_log, GPU_LOG_ERROR, "%s: cuptiSubscribe failed: %s",
			     cupti.path, cupti_table__error(&cupti, result));
	return result ? -EIO : 0;
}

static void unsubscribe(void)
{
	if (is_taken)
		return;
	if (config.shares && atomic_exchange(&has_joined, false)) {
		cupti_share__leave();
		fault__forget();
	} else if (!config.is_api_probed) {
		launch__unsubscribe();
	}
}

/* The same */
static int prepare_activity(void)
{
	const char *what;
	CUptiResult result;

	result = activity__prepare(&cupti, process_log, &what);
	if (!result)
		return 0;
	log__message(process_log, config.shares ? GPU_LOG_WARNING : GPU_LOG_ERROR,
		     "%s: %s failed: %s", cupti.path, what,
		     cupti_table__error(&cupti, result));
	return -EIO;
}

/*
 * With --share: is there by now another subscriber who allows us? Before, CUPTI is left
 * alone. Again and again, by one thread at a time.
 */
static void join_others(void)
{
	char holder[128] = "";
	static char why[2048]; /* as below */
	int err;

	if (!config.shares || is_hopeless || atomic_load(&has_joined))
		return;
	err = cupti_share__join(&cupti, holder, sizeof(holder), why, sizeof(why));
	if (err == -EAGAIN || err == -EBUSY)
		return;
	is_hopeless = true;
	has_cupti = false; /* which the table was of, if it was */
	if (err == -EIO)
		log__message(process_log, GPU_LOG_WARNING, "%s", why);
	if (err)
		return;
	if (prepare_activity()) {
		cupti_share__leave();
		return;
	}
	holder__describe(holder, joined, sizeof(joined));
	is_join_told = false;
	is_hopeless = false;
	atomic_store(&has_joined, true);
}

static void tell_of_joining(void)
{
	if (!config.shares || is_join_told)
		return;
	is_join_told = true;
	log__message(
		process_log, GPU_LOG_WARNING,
		"CUPTI is shared with another profiler%s: what the GPU did before it "
		"came is not recorded, only the stacks of launches",
		joined);
}

/* CUPTI doesn't tell who was refused while it was ours, only that we weren't. */
static void tell_of_refused(void)
{
	const struct holder_library *library = holder__possible();

	if (library && atomic_load(&has_been_on) && !config.is_api_probed)
		log__message(
			process_log, GPU_LOG_INFO,
			"%s is in this process: if it was to record meanwhile, CUPTI "
			"refused it; record --share leaves CUPTI to it",
			library->holder);
}

static void tell_of_others(void)
{
	tell_of_refused();
	if (config.shares && !atomic_load(&has_joined))
		log__message(
			process_log, GPU_LOG_WARNING,
			"CUPTI is left to others (--share): the stacks of launches are "
			"recorded, not what the GPU did");
}

/* What is told instead of what isn't found then */
#define NO_MORE_FILES \
	"it can open no more files (ulimit -n), so no libraries can be loaded"

static void tell_of_unwind(void)
{
	if (!has_unwind)
		log__message(process_log, GPU_LOG_WARNING,
			     "%s: no stacks; reinstall perf-gpu, or use --call-graph fp",
			     own_file__has_no_more()
				     ? NO_MORE_FILES
				     : "libunwind.so.8 is neither beside the injected "
				       "library nor installed");
}

/* The same; CUPTI is then as it was, and where another has it, too. */
static int start_cupti(void)
{
	static char why[2048]; /* the stack of who launches first may be small */
	int err;

	if (config.shares)
		return 0; /* not yet */
	if (!has_cupti && cupti_table__open(config.cupti, &cupti, why, sizeof(why))) {
		log__message(process_log, GPU_LOG_ERROR, "%s",
			     own_file__has_no_more() ? NO_MORE_FILES : why);
		return -EIO;
	}
	has_cupti = true;
	err = subscribe();
	if (err)
		return is_taken ? 0 : err;
	err = prepare_activity();
	if (err)
		unsubscribe();
	return err;
}

/* The same. From here on the program says when to record. */
static int begin_range(void)
{
	if (!config.has_capture_range) {
		atomic_fetch_and(&off, ~(unsigned int)RECORDING_OFF_BY_RANGE);
		return 0;
	}
	atomic_fetch_or(&off, (unsigned int)RECORDING_OFF_BY_RANGE);
	if (!launch__enable_range())
		return 0;
	log__message(process_log, GPU_LOG_ERROR,
		     "%s doesn't tell of cudaProfilerStart(): record without "
		     "--capture-range",
		     cupti.path);
	unsubscribe();
	return -EIO;
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
	has_unwind = !config.unwind || !unwind__init();
	stack__set_max_frames(config.max_frames);
	python__begin(config.walk_python ? process_log : NULL);
	return 0;
}

int recording__open(const struct config *with_config)
{
	int err;

	config = *with_config;
	is_taken = false;
	log_client__use(config.log_server, config.session);
	err = open_log();
	if (err)
		return err;
	log__events(process_log, config.events, config.kinds);
	rank__tell(process_log);
	err = launch__prepare(&config, process_log) ? -EIO : prepare_process();
	if (!err)
		err = start_cupti();
	if (!err)
		err = begin_range();
	if (err) {
		/* What is left to do is others': the log ends in order. */
		launch__end();
		launch__close();
		return err;
	}
	tell_of_unwind();
	nr_flushed = 0;
	atomic_store(&has_failed, false);
	atomic_store(&has_been_on, false);
	atomic_store(&missing_kinds, 0);
	/* What another recording has left behind */
	is_resumed = has_been_open && !config.is_api_probed;
	stray__begin(is_resumed);
	has_been_open = true;
	is_hopeless = false;
	join_others();
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
	return config.is_api_probed ? api_records__enable(&cupti, process_log,
							  config.events, config.kinds, on)
				    : launch__enable(on);
}

/* Once a recording: it may be switched on several times. From any thread. */
static void tell_of_missing(const struct activity_refusal *refusal)
{
	const uint32_t kinds = refusal->kinds | refusal->unknown_kinds;
	const uint32_t told = atomic_fetch_or(&missing_kinds, kinds);

	if (!(kinds & ~told))
		return;
	refusal__tell(refusal, process_log, &cupti, GPU_LOG_WARNING);
	log__events(process_log, config.events, config.kinds & ~(told | kinds));
}

/* What has to wait until the driver is initialized */
static void switch_on_late(bool is_last)
{
	struct activity_refusal refusal;

	activity__enable_late(is_last, &refusal);
	/*
	 * Who never launched anything misses nothing, and may have had no context. Launches
	 * that are probed on the API aren't counted here.
	 */
	if (!is_last || config.is_api_probed || launch__count())
		tell_of_missing(&refusal);
}

static void switch_nvtx(bool on)
{
	if (config.kinds & GPU_LOG_KIND_BIT(GPU_LOG_KIND_NVTX))
		nvtx__switch(process_log, on);
}

/* A correlation id between what was launched and what will be, or what stands for none. */
static uint64_t newest_id(uint64_t unknown)
{
	uint64_t id = launch__newest_id();

	return id ? id : unknown;
}

/*
 * Callbacks come first, so that each kernel has its launch; one launch of a thread that
 * is just then at it may have no kernel.
 */
static void switch_on(void)
{
	struct activity_refusal refusal;
	uint32_t kinds;

	stray__before_on();
	/* What is launched is within ranges that the log knows. */
	switch_nvtx(true);
	if (!enable_launches(true)) {
		log__message(process_log, GPU_LOG_ERROR,
			     "%s names no launch function that it reports", cupti.path);
		atomic_store(&has_failed, true);
		switch_nvtx(false);
		return;
	}
	kinds = activity__enable(config.kinds, &refusal);
	if (kinds || !(refusal.kinds | refusal.unknown_kinds)) {
		if (is_resumed)
			stray__on_from(newest_id(0));
		tell_of_missing(&refusal);
		atomic_store(&has_been_on, true);
		tell_of_joining();
		return;
	}
	refusal__tell(&refusal, process_log, &cupti, GPU_LOG_ERROR);
	enable_launches(false);
	switch_nvtx(false);
	atomic_store(&has_failed, true);
}

static void switch_off(void)
{
	/* API calls that are recorded are noted too late to tell. */
	if (!config.is_api_probed)
		stray__off_from(newest_id(UINT64_MAX), cupti_clock__now());
	/*
	 * Launches first: who is just then at one gets to the GPU meanwhile. If kernels
	 * were off before, the launch would have none, and the first stray of its thread
	 * would be taken for its (on an H200, 1 or 2 of 100,000 kernels).
	 */
	enable_launches(false);
	activity__disable();
	switch_nvtx(false);
	is_resumed = true;
}

static bool should_be_on(void)
{
	return atomic_load(&is_open) && !is_taken && !atomic_load(&off) &&
	       !atomic_load(&has_failed) && (!config.shares || atomic_load(&has_joined));
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

bool recording__is_waiting(void)
{
	return atomic_load(&is_open) && config.shares && !is_hopeless &&
	       !atomic_load(&has_joined);
}

bool recording__awaits_driver(void)
{
	return atomic_load(&is_open) && !is_taken && fault__is_awaited();
}

void recording__look_at_driver(void)
{
	switch_on_late(false);
}

void recording__flush(void)
{
	if (recording__is_waiting()) {
		join_others();
		apply();
	}
	if (!atomic_load(&has_been_on))
		return;
	switch_on_late(false);
	python__look();
	jit__follow(process_log);
	activity__flush();
}

bool recording__has_recorder(void)
{
	if (!recorder__is_dead(config.spool))
		return true;
	log__message(process_log, GPU_LOG_WARNING,
		     "its recorder has ended without it: what it did since is not "
		     "recorded");
	return false;
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
			"%llu kernels or copies that were launched while recording was "
			"off are left out, though CUPTI has recorded them",
			(unsigned long long)stray__count());
	if (stray__count_untold())
		log__message(
			process_log, GPU_LOG_WARNING,
			"CUPTI has recorded %llu kernels or copies without telling of "
			"their launches: they have no stack",
			(unsigned long long)stray__count_untold());
}

void recording__close(void)
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
	tell_of_others();
	unsubscribe();
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
	if (atomic_load(&has_been_on)) {
		switch_on_late(true);
		activity__drain(0);
	}
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
	if (!fork_page__is_forked()) {
		tell_of_strays();
		tell_of_others();
	}
	python__end();
	launch__end();
}
