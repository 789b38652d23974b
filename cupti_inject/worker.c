// SPDX-License-Identifier: GPL-2.0-or-later
#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "config.h"
#include "control.h"
#include "control_page.h"
#include "marker.h"
#include "no_cancel.h"
#include "recording.h"

#define FLUSH_PERIOD_MS 1000
/* How often another user of CUPTI is looked for */
#define WAITING_PERIOD_MS 100
/*
 * How often it is tried whether cuInit() is over, and for how long: without callbacks, as
 * with probes on the API, nobody tells, and what happens until it is noticed is lost.
 */
#define DRIVER_PERIOD_MS 1
#define MAX_DRIVER_TRIES 10000
/* How long the process's end waits for what the thread is at */
#define MAX_END_WAIT_MS 1000

/* What the thread does; once ended, it doesn't enter CUPTI any more. */
enum worker { WORKER_SLEEPS, WORKER_WORKS, WORKER_ENDED };
static atomic_int worker = WORKER_SLEEPS;

static uint32_t done; /* the command that was carried out last */
static unsigned int nr_driver_tries;

/* 0 or an error for control__answer() */
static int open_recording(void)
{
	static char text[sizeof(((struct control_page *)NULL)->environment)];
	static struct config config;
	size_t bytes;
	int err;

	bytes = control__read_environment(text, sizeof(text));
	if (!bytes || config__parse(text, bytes, &config))
		return -EINVAL;
	err = recording__open(&config);
	if (!err)
		worker__finish_at_exit();
	return err == -EIO ? -CONTROL_TOLD : err;
}

/*
 * What is open may be of a recorder that has ended without us, while we were stopped or
 * just now: another's commands are not for that.
 */
static void close_stale(void)
{
	if (!control__is_own() || !recording__is_open())
		return;
	recording__flush();
	if (recording__is_abandoned() || !recording__has_recorder())
		recording__close();
}

static int carry_out(enum control_state state)
{
	int err = 0;

	close_stale();

	if (state == CONTROL_IDLE) {
		/* Names of code, too, that closing asks nobody for */
		if (recording__is_open())
			recording__flush();
		recording__close();
		return 0;
	}
	/* Before it is open: it is not to be on for a moment. */
	recording__turn(RECORDING_OFF_BY_RECORDER, state == CONTROL_RECORDING);
	if (!recording__is_open())
		err = open_recording();
	if (err)
		return err;
	recording__turn(RECORDING_OFF_BY_RECORDER, state == CONTROL_RECORDING);
	if (!recording__has_failed())
		return 0;
	recording__close();
	return -CONTROL_TOLD;
}

/* @flushes: not within cuInit(), where nothing is to be asked of the driver */
static void look_at_commands(bool flushes)
{
	const uint32_t wanted = control__wanted();
	int err;

	if (wanted == done)
		return;
	err = carry_out(CONTROL_STATE(wanted));
	/* Who waits for the answer then reads what there is. */
	if (!err && flushes && recording__is_open())
		recording__flush();
	control__answer(wanted, err);
	done = wanted;
}

static bool awaits_driver(void)
{
	return nr_driver_tries < MAX_DRIVER_TRIES && recording__awaits_driver();
}

/* Return: there may be more to do. */
static bool work_once(void)
{
	const uint32_t before = done;

	look_at_commands(true);
	if (!recording__is_open())
		return control__is_own();
	if (done != before)
		return true;
	if (awaits_driver() && ++nr_driver_tries % FLUSH_PERIOD_MS) {
		recording__look_at_driver();
		return true;
	}
	recording__flush();
	if (!recording__is_abandoned() && control__has_recorder() &&
	    recording__has_recorder())
		return true;
	recording__close();
	return control__is_own();
}

static bool worker__switch(int from, int to)
{
	return atomic_compare_exchange_strong(&worker, &from, to);
}

/* 0: until there is a command */
static unsigned int period_ms(void)
{
	if (!recording__is_open())
		return 0;
	if (awaits_driver())
		return DRIVER_PERIOD_MS;
	return recording__is_waiting() ? WAITING_PERIOD_MS : FLUSH_PERIOD_MS;
}

static void *work(void *unused)
{
	bool goes_on;

	(void)unused;
	do {
		control__wait(done, period_ms());
		if (!worker__switch(WORKER_SLEEPS, WORKER_WORKS))
			return NULL;
		goes_on = work_once();
		worker__switch(WORKER_WORKS, WORKER_SLEEPS);
	} while (goes_on);
	return NULL;
}

void worker__begin(void)
{
	if (control__wanted() == done)
		recording__turn(RECORDING_OFF_BY_RECORDER, true);
	else
		look_at_commands(false);
	if (recording__has_failed())
		recording__close();
}

int worker__start(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* The target's signals are for the target's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, work, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err)
		pthread_setname_np(thread, "perf-gpu-flush");
	pthread_attr_destroy(&attr);
	return -err;
}

/* No flush of the thread's may run while libcupti is torn down at the exit. */
void worker__end(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	for (int i = 0; i < MAX_END_WAIT_MS; i++) {
		if (worker__switch(WORKER_SLEEPS, WORKER_ENDED) ||
		    atomic_load(&worker) == WORKER_ENDED)
			return;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
	}
}

/* The program's own handlers, which come behind it, may tell of an errno from before. */
static void finish(void)
{
	int saved_errno = errno, cancel_state;

	/* In a forked child CUPTI's threads and locks are in no usable state. */
	if (fork_page__is_forked())
		return;
	cancel_state = no_cancel__begin();
	worker__end();
	recording__finish();
	no_cancel__end(cancel_state);
	errno = saved_errno;
}

void worker__finish_at_exit(void)
{
	static atomic_flag is_registered = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&is_registered))
		atexit(finish);
}
