// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/loop.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include "util/format.h"
#include "util/log.h"

/* Side-band rings are looked into this often, full or not. */
#define DRAIN_INTERVAL_MS 100
/* The library's flush period, and time for the flush on a machine with much to do */
#define MAX_SURVIVORS_MS 2500
/* How often answers are looked for, while some are due */
#define ANSWER_INTERVAL_MS 5
/* A file isn't kept back for processes that are stopped. */
#define MAX_FLUSH_MS 1500

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

enum control_state loop__first_state(int delay_ms)
{
	return delay_ms ? CONTROL_PAUSED : CONTROL_RECORDING;
}

static int finish_round(struct loop *loop)
{
	int err;

	if (output__counts(loop->output).bytes == loop->bytes_at_round)
		return 0;
	err = output__finish_round(loop->output);
	loop->bytes_at_round = output__counts(loop->output).bytes;
	return err;
}

/* Of a recording of several files, the logs too, whose records come after launches. */
static int drain_all(struct loop *loop, bool is_urgent)
{
	struct carrier_losses losses;
	int err;

	err = rotation__look(loop->rotation, is_urgent);
	if (!err)
		err = loop->carrier->ops->drain(loop->carrier);
	if (err)
		return err;
	losses = loop->carrier->ops->losses(loop->carrier);
	return rotation__read(loop->rotation, &losses);
}

static int drain(struct loop *loop)
{
	int err;

	if (loop->rotation)
		return drain_all(loop, false);
	err = loop->carrier->ops->drain(loop->carrier);
	return err ? err : finish_round(loop);
}

static int switch_file(struct loop *loop)
{
	struct carrier_losses losses;
	int err;

	err = drain_all(loop, true);
	if (err)
		return err;
	losses = loop->carrier->ops->losses(loop->carrier);
	err = rotation__switch(loop->rotation, &losses);
	if (!err && loop->is_snapshot)
		control_fd__acknowledge(loop->control_fd);
	loop->is_snapshot = false;
	return err;
}

/* 0 or a negative errno, printed */
static int switch_if_due(struct loop *loop)
{
	if (!loop->switches) {
		if (loop->signals->is_asked_to_switch)
			pr_warning("SIGUSR2 does nothing without --switch-output");
		loop->signals->is_asked_to_switch = false;
		return 0;
	}
	loop->is_switch_wanted |=
		loop->signals->is_asked_to_switch || rotation__is_due(loop->rotation);
	loop->signals->is_asked_to_switch = false;
	if (loop->is_switch_wanted && !loop->is_flushing && !loop->is_answer_due) {
		loop->is_switch_wanted = false;
		loop->is_flushing = true;
		loop->flush_end_ms = now_ms() + MAX_FLUSH_MS;
		control__command(loop->control, loop->state);
	}
	if (!loop->is_flushing)
		return 0;
	/* Answers first: the recorder may have got no time before. */
	if (!control__is_answered(loop->control)) {
		if (now_ms() <= loop->flush_end_ms)
			return 0;
		pr_warning("processes don't answer: what the GPU did in the last second "
			   "will be in a later file");
	}
	loop->is_flushing = false;
	return switch_file(loop);
}

static void take_signals(struct loop *loop)
{
	int signal;

	while (signals__read(loop->signals, &signal))
		if (signal && loop->workload)
			workload__signal(loop->workload, signal);
	if (!loop->workload && loop->signals->end_signal)
		loop->is_over = true;
}

/* Those that only the carrier can pause, and who can't say what part of theirs is wanted */
static void turn_carrier(struct loop *loop, enum control_state state)
{
	loop->carrier->ops->turn(loop->carrier,
				 state == CONTROL_RECORDING && !loop->has_capture_range);
}

/* And those that can be told */
static void turn(struct loop *loop, enum control_state state)
{
	control__command(loop->control, state);
	turn_carrier(loop, state);
}

static void command(struct loop *loop, enum control_state state)
{
	loop->state = state;
	turn(loop, state);
	loop->is_answer_due = true;
}

/* What the processes of a command have recorded is to be written before it is ended. */
static void stop(struct loop *loop)
{
	loop->is_stopping = true;
	if (!loop->is_attached)
		command(loop, CONTROL_PAUSED);
	else
		loop->is_over = true;
}

/* Return: there may be another that can be taken now. */
static bool take_command(struct loop *loop)
{
	switch (control_fd__next(loop->control_fd)) {
	case COMMAND_ENABLE:
		command(loop, CONTROL_RECORDING);
		return false;
	case COMMAND_DISABLE:
		command(loop, CONTROL_PAUSED);
		return false;
	case COMMAND_PING:
		control_fd__acknowledge(loop->control_fd);
		return true;
	case COMMAND_SNAPSHOT:
		if (!loop->switches) {
			pr_warning("--control: snapshot needs --switch-output");
			return true;
		}
		loop->is_switch_wanted = loop->is_snapshot = true;
		return false;
	case COMMAND_STOP:
		stop(loop);
		return false;
	default:
		return false;
	}
}

static void take_commands(struct loop *loop)
{
	if (loop->is_delayed && now_ms() >= loop->begin_ms) {
		loop->is_delayed = false;
		loop->state = CONTROL_RECORDING;
		turn(loop, CONTROL_RECORDING);
	}
	if (loop->is_answer_due && control__is_answered(loop->control)) {
		loop->is_answer_due = false;
		if (loop->is_stopping)
			workload__end(loop->workload);
		control_fd__acknowledge(loop->control_fd);
	}
	if (!loop->control_fd)
		return;
	while (!loop->is_answer_due && !loop->is_stopping && !loop->is_snapshot &&
	       !loop->is_flushing && take_command(loop))
		;
}

static int timeout_ms(const struct loop *loop)
{
	uint64_t now = now_ms();

	if (loop->is_answer_due || loop->is_flushing)
		return ANSWER_INTERVAL_MS;
	if (loop->is_delayed && loop->begin_ms < now + DRAIN_INTERVAL_MS)
		return loop->begin_ms > now ? (int)(loop->begin_ms - now) : 0;
	if (loop->end_ms && loop->end_ms < now + DRAIN_INTERVAL_MS)
		return loop->end_ms > now ? (int)(loop->end_ms - now) : 0;
	return DRAIN_INTERVAL_MS;
}

/* The processes have to answer before anything else is asked of them. */
static int wait_for_answers(struct loop *loop)
{
	int err = 0;

	while (!control__is_answered(loop->control)) {
		poll(NULL, 0, ANSWER_INTERVAL_MS);
		log_server__serve(loop->log_server);
		take_signals(loop);
		if (!err)
			err = drain(loop);
	}
	return err;
}

static void fail(struct loop *loop)
{
	if (loop->is_attached)
		pr_err("recording stops");
	else
		pr_err("recording stops; %s goes on", loop->name);
	loop->carrier->ops->detach(loop->carrier);
	loop->is_over |= loop->is_attached;
}

static bool is_full(struct loop *loop)
{
	struct format_buf size;

	if (!size_limit__is_reached(loop->limit, output__counts(loop->output).bytes,
				    loop->spool))
		return false;
	format__file_size(loop->limit->max_bytes, &size);
	if (loop->is_attached)
		pr_warning("the recording has reached its --max-size of %s, and stops",
			   size.text);
	else
		pr_warning("the recording has reached its --max-size of %s, and stops; "
			   "%s goes on",
			   size.text, loop->name);
	/*
	 * First the processes: what they launch until they hear of it comes to the probe, too,
	 * and is counted by both. They are not paused but end: what the GPU is still at would
	 * else be in no log.
	 */
	if (!loop->is_attached && loop->control)
		turn(loop, CONTROL_IDLE);
	loop->is_over |= loop->is_attached;
	return true;
}

/* It runs from when something is recorded first. Return: recording ends. */
static bool has_lasted(struct loop *loop)
{
	const uint64_t now = now_ms();

	if (!loop->duration_ms || (!loop->end_ms && loop->state != CONTROL_RECORDING))
		return false;
	if (!loop->end_ms)
		loop->end_ms = now + loop->duration_ms;
	if (now < loop->end_ms)
		return false;
	if (loop->is_attached) {
		loop->is_over = true;
		return true;
	}
	pr_info("the recording has lasted for its --duration, and ends; %s goes on",
		loop->name);
	loop->is_time_up = true;
	/* As in is_full() */
	turn(loop, CONTROL_IDLE);
	return true;
}

static int run(struct loop *loop)
{
	struct pollfd fds[] = {
		{.fd = loop->workload ? workload__pidfd(loop->workload) : -1,
		 .events = POLLIN},
		{.fd = loop->signals->fd, .events = POLLIN},
		{.fd = loop->carrier->ops->fd(loop->carrier), .events = POLLIN},
		{.fd = loop->control_fd ? loop->control_fd->fd : -1, .events = POLLIN},
		{.fd = loop->log_server->fd, .events = POLLIN},
	};
	int err = 0;

	while (!loop->is_over && !fds[0].revents && !loop->limit->reached_ns) {
		poll(fds, sizeof(fds) / sizeof(*fds), err ? -1 : timeout_ms(loop));
		take_signals(loop);
		if (err)
			continue;
		log_server__serve(loop->log_server);
		if (fds[3].revents) {
			control_fd__read(loop->control_fd);
			fds[3].fd = loop->control_fd->fd;
		}
		if (loop->control)
			take_commands(loop);
		if (loop->is_attached && !control__has_process(loop->control))
			loop->is_over = true;
		cuda_watch__look(&loop->watch, now_ms());
		/* Not behind what there is to be read, which may take its time */
		if (has_lasted(loop))
			break;
		err = drain(loop);
		if (!err && is_full(loop))
			break;
		if (!err && !loop->is_over)
			err = switch_if_due(loop);
		if (err) {
			fail(loop);
			fds[2].fd = fds[3].fd = fds[4].fd = -1;
		}
	}
	return err;
}

/* Processes that ran before run on. */
static int let_go(struct loop *loop, int err)
{
	int wait_err;

	turn(loop, CONTROL_IDLE);
	wait_err = wait_for_answers(loop);
	if (loop->is_stopping)
		control_fd__acknowledge(loop->control_fd);
	if (loop->workload && loop->is_over)
		workload__end(loop->workload);
	return err ? err : wait_err;
}

/*
 * Processes that outlive the command write what they have once a second: the last of it
 * is waited for, but not by who wants the end.
 */
static int wait_for_survivors(struct loop *loop)
{
	const uint64_t end_ms = now_ms() + MAX_SURVIVORS_MS;
	int err = 0;

	if (!spool__is_in_use(loop->spool))
		return 0;
	pr_debug("processes outlive the command: what they have not written yet is "
		 "waited for");
	while (!err && now_ms() < end_ms && !loop->signals->end_signal &&
	       spool__is_in_use(loop->spool)) {
		poll(NULL, 0, DRAIN_INTERVAL_MS);
		take_signals(loop);
		log_server__serve(loop->log_server);
		err = drain(loop);
	}
	return err;
}

/* What the processes have, before their logs are read. */
static int collect_rest(struct loop *loop)
{
	if ((!loop->limit->reached_ns && !loop->is_time_up) || !loop->control)
		return wait_for_survivors(loop);
	return wait_for_answers(loop);
}

/* Of processes that were killed, before their logs are read. Who has ended may have come last. */
static void complete_logs(struct loop *loop)
{
	log_server__serve(loop->log_server);
	tallies__complete_all(&loop->log_server->tallies);
}

int loop__begin(struct loop *loop)
{
	const enum control_state state = loop__first_state(loop->delay_ms);
	int err;

	if (!loop->is_attached) {
		turn_carrier(loop, state);
		return 0;
	}
	turn(loop, state);
	err = wait_for_answers(loop);
	if (!err && !control__has_log(loop->control))
		err = -ENODEV;
	return err;
}

int loop__run(struct loop *loop)
{
	int err;

	loop->is_delayed = loop->delay_ms > 0;
	if (loop->is_delayed)
		loop->begin_ms = now_ms() + (uint64_t)loop->delay_ms;
	loop->state = loop__first_state(loop->delay_ms);
	err = run(loop);
	if (loop->is_attached)
		err = let_go(loop, err);
	else if (!err)
		err = collect_rest(loop);
	complete_logs(loop);
	loop->carrier->ops->detach(loop->carrier);
	if (!err)
		err = loop->carrier->ops->finish(loop->carrier, loop->spool);
	return err ? err : finish_round(loop);
}

/* Who gives commands waits for each to be acknowledged, also when it does nothing. */
static void acknowledge(struct loop *loop)
{
	enum control_command command;

	if (loop->is_answer_due)
		control_fd__acknowledge(loop->control_fd);
	loop->is_answer_due = false;
	while ((command = control_fd__next(loop->control_fd)) != COMMAND_NONE) {
		loop->is_stopping |= command == COMMAND_STOP;
		control_fd__acknowledge(loop->control_fd);
	}
	if (loop->is_stopping)
		workload__end(loop->workload);
}

void loop__outlast(struct loop *loop)
{
	struct pollfd fds[] = {
		{.fd = workload__pidfd(loop->workload), .events = POLLIN},
		{.fd = loop->signals->fd, .events = POLLIN},
		{.fd = loop->control_fd ? loop->control_fd->fd : -1, .events = POLLIN},
	};

	if (loop->control_fd)
		acknowledge(loop);
	while (!fds[0].revents) {
		poll(fds, sizeof(fds) / sizeof(*fds), -1);
		take_signals(loop);
		if (fds[2].revents) {
			control_fd__read(loop->control_fd);
			fds[2].fd = loop->control_fd->fd;
			acknowledge(loop);
		}
	}
}
