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

#define FLUSH_PERIOD_S 1
/* How long the process's end waits for what the thread is at */
#define MAX_END_WAIT_MS 1000

/* What the thread does; once ended, it doesn't enter CUPTI any more. */
enum worker { WORKER_SLEEPS, WORKER_WORKS, WORKER_ENDED };
static atomic_int worker = WORKER_SLEEPS;

static uint32_t done; /* the command that was carried out last */

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

static int carry_out(enum control_state state)
{
	int err = 0;

	if (state == CONTROL_IDLE) {
		recording__close(control__is_own());
		return 0;
	}
	/* Before it is open: it is not to be on for a moment. */
	recording__turn(RECORDING_OFF_BY_RECORDER, state == CONTROL_RECORDING);
	if (!recording__is_open())
		err = open_recording();
	if (err)
		return err;
	recording__turn(RECORDING_OFF_BY_RECORDER, state == CONTROL_RECORDING);
	if (!recording__has_failed()) {
		recording__flush();
		return 0;
	}
	recording__close(control__is_own());
	return -CONTROL_TOLD;
}

static void look_at_commands(void)
{
	const uint32_t wanted = control__wanted();

	if (wanted == done)
		return;
	control__answer(wanted, carry_out(CONTROL_STATE(wanted)));
	done = wanted;
}

/* Return: there may be more to do. */
static bool work_once(void)
{
	const uint32_t before = done;

	look_at_commands();
	if (done != before || !recording__is_open())
		return true;
	recording__flush();
	if (!recording__is_abandoned() && control__has_recorder())
		return true;
	recording__close(control__is_own());
	return control__is_own();
}

static bool worker__switch(int from, int to)
{
	return atomic_compare_exchange_strong(&worker, &from, to);
}

static void *work(void *unused)
{
	bool goes_on;

	(void)unused;
	do {
		control__wait(done, recording__is_open() ? FLUSH_PERIOD_S : 0);
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
		look_at_commands();
	if (recording__has_failed())
		recording__close(control__is_own());
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

static void finish(void)
{
	int cancel_state;

	/* In a forked child CUPTI's threads and locks are in no usable state. */
	if (fork_page__is_forked())
		return;
	cancel_state = no_cancel__begin();
	worker__end();
	recording__finish();
	no_cancel__end(cancel_state);
}

void worker__finish_at_exit(void)
{
	static atomic_flag is_registered = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&is_registered))
		atexit(finish);
}
