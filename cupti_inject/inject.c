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
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "control.h"
#include "marker.h"
#include "no_cancel.h"
#include "recording.h"
#include "worker.h"

/* For the CUDA driver, libcupti, and the marker's readers */
EXPORT int InitializeInjection(void);

/*
 * Stop and go on recording, for a program that wants to record a part of its
 * life; found by dlsym(). From any thread, one at a time.
 */
EXPORT void perf_gpu_pause(void);
EXPORT void perf_gpu_resume(void);

/* After the atexit handlers; other libraries' destructors come behind it */
__attribute__((destructor)) static void end(void)
{
	int saved_errno = errno, cancel_state = no_cancel__begin();

	if (!fork_page__is_forked())
		worker__end();
	recording__end_log();
	control__leave();
	no_cancel__end(cancel_state);
	errno = saved_errno;
}

/* Recorded from here on, or from when the recorder wants it. */
static void begin(const struct config *config)
{
	int err, control_err = 0;

	if (*config->control)
		control_err = control__join(config->control);
	err = recording__open(config);
	if (err && err != -EIO)
		marker__tell_no_log(config->session, err);
	/* There is nobody here to answer commands. */
	if (err)
		control__leave();
	if (err)
		return;
	if (control_err)
		recording__warn("recorded from the start, since it can't be told "
				"otherwise: %s: %s",
				config->control, strerror(-control_err));
	worker__begin();
	if (!recording__is_open())
		return;
	err = worker__start();
	if (err)
		recording__warn("no thread to flush with (%s): a kill loses what is in "
				"CUPTI's buffers",
				strerror(-err));
	worker__finish_at_exit();
}

/* Without a recorder there is nobody to tell of an error. */
static void wait_for_recorder(void)
{
	if (!fork_page__init() && !control__create())
		worker__start();
}

static void initialize(void)
{
	static struct config config; /* the stack of who launches first may be small */
	int cancel_state = no_cancel__begin();
	int err;

	err = config__read(&config);
	if (!err)
		begin(&config);
	else if (err == -ENOENT && config__waits())
		wait_for_recorder();
	no_cancel__end(cancel_state);
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

/* Who is cancelled on the way would leave the others waiting for the end of the switch. */
static void turn(bool on)
{
	int saved_errno = errno, cancel_state = no_cancel__begin();

	if (!fork_page__is_forked())
		recording__turn(RECORDING_OFF_BY_PROGRAM, on);
	no_cancel__end(cancel_state);
	errno = saved_errno;
}

void perf_gpu_pause(void)
{
	turn(false);
}

void perf_gpu_resume(void)
{
	turn(true);
}
