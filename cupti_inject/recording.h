/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of this process: its log, and our place as CUPTI's subscriber. There is
 * one at a time; when it is closed, CUPTI is free for others, and another may follow.
 *
 * A recording that is open can be off: the program may want that, in two ways, or the
 * recorder. It records while none does.
 *
 * What has no other rule: one thread at a time.
 */
#ifndef PERF_GPU_INJECT_RECORDING_H
#define PERF_GPU_INJECT_RECORDING_H

#include <stdbool.h>

#include "config.h"

enum recording_switch {
	RECORDING_OFF_BY_PROGRAM = 1,
	RECORDING_OFF_BY_RECORDER = 2,
	RECORDING_OFF_BY_RANGE = 4, /* capture_range.h; of each recording anew */
};

/**
 * recording__open - open the log and subscribe to CUPTI, with nothing enabled yet
 * @config: copied
 *
 * Return: 0; a negative errno of opening the log; -EIO for anything else, which the log
 * tells. After an error, nothing is open.
 */
int recording__open(const struct config *config);

bool recording__is_open(void);

/* A warning to the user, in the log. */
void recording__warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * recording__turn - say whether to record, as far as one of them is concerned
 *
 * From any thread, and also while there is no recording: it then holds for the next.
 * If another thread is at it, it does this too, and this one doesn't wait.
 */
void recording__turn(enum recording_switch who, bool on);

/* Did CUPTI refuse to be switched on? Then the log tells why. */
bool recording__has_failed(void);

/* Is CUPTI to be shared with somebody who isn't there yet? A flush looks for him. */
bool recording__is_waiting(void);

/* Is it on, but for what can't be switched on before cuInit() is over? */
bool recording__awaits_driver(void);

/* Switch that on, if it can be now. */
void recording__look_at_driver(void);

/* Write what has ended by now. */
void recording__flush(void);

/* False when the recorder was killed, after a message to the user. From one thread. */
bool recording__has_recorder(void);

/* Has the recorder removed the log? Known after a flush. */
bool recording__is_abandoned(void);

/**
 * recording__close - off, everything out, the end record, and leave CUPTI
 *
 * CUPTI stays in the process. On an H200, launches cost 15 to 25 % more as long as it is
 * there, though nobody uses it; but cuptiFinalize(), while other threads launched graphs,
 * ended the program: "unspecified launch failure", and a double free.
 *
 * Nothing if none is open.
 */
void recording__close(void);

/* The process ends, as the atexit handlers run: everything out. */
void recording__finish(void);

/*
 * The process ends, after the atexit handlers: those from before cuInit() may have
 * launched after recording__finish(). CUDA may be gone by now, and isn't called.
 */
void recording__end_log(void);

#endif
