/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens while it records: launches go into perf.data, signals to the command, and
 * commands of --control and the end of --delay to the processes. One thread.
 */
#ifndef PERF_GPU_RECORD_LOOP_H
#define PERF_GPU_RECORD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "record/carrier.h"
#include "record/control.h"
#include "record/control_fd.h"
#include "record/cuda_watch.h"
#include "record/log_server.h"
#include "record/output.h"
#include "record/rotation.h"
#include "record/signals.h"
#include "record/size_limit.h"
#include "record/spool.h"
#include "record/workload.h"

struct loop {
	struct signals *signals;
	struct carrier *carrier;
	struct output *output;
	struct rotation *rotation; /* NULL: one file has all */
	bool switches; /* --switch-output */
	const struct spool *spool;
	struct log_server *log_server;
	struct workload *workload; /* NULL: record until a signal or a command ends it */
	struct control *control; /* NULL: what is recorded is recorded all the time */
	bool is_attached; /* @control has processes that ran already */
	struct control_fd *control_fd; /* NULL: none */
	struct size_limit *limit;
	struct cuda_watch watch;
	bool has_capture_range; /* processes say themselves when to record */
	int delay_ms; /* until recording begins; -1: until a command says so */
	uint64_t duration_ms; /* from when it begins; 0: any */
	const char *name; /* of the command, if there is one */
	/* of the functions below */
	uint64_t bytes_at_round;
	uint64_t begin_ms; /* by CLOCK_MONOTONIC, if is_delayed */
	bool is_delayed;
	uint64_t end_ms; /* of @duration_ms; 0: it has not begun */
	bool is_time_up; /* the command, which was recorded, runs on */
	bool is_answer_due; /* a command of --control is being carried out */
	enum control_state state; /* that processes were told last */
	/* Another file is wanted; processes write what they have, before it is begun. */
	bool is_switch_wanted, is_flushing;
	bool is_snapshot; /* --control wants to know when it is done */
	uint64_t flush_end_ms; /* so long they are waited for */
	bool is_stopping; /* --control said so */
	bool is_over;
};

/* What processes begin with. */
enum control_state loop__first_state(int delay_ms);

/**
 * loop__begin - have processes that run already recorded, before the command is started
 *
 * Return: 0, or a negative errno, printed: none of them can be.
 */
int loop__begin(struct loop *loop);

/**
 * loop__run - record until the command ends, or the processes do, someone says so, or
 * the limit is reached or the time is up, which is told
 *
 * Processes that ran before run on, unrecorded.
 *
 * Return: 0, or a negative errno, printed, that has ended the recording; a command that
 * is recorded has run on without it.
 */
int loop__run(struct loop *loop);

/**
 * loop__outlast - nothing is recorded any more: wait for the command, and hand on signals
 *
 * Who has the other end of --control sees its end. The carrier, output and spool may be gone.
 */
void loop__outlast(struct loop *loop);

#endif
