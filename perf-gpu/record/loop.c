// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/loop.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include "util/log.h"

/* Side-band rings are looked into this often, full or not. */
#define DRAIN_INTERVAL_MS 100
/* How often answers are looked for, while some are due */
#define ANSWER_INTERVAL_MS 5

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

static int drain(struct loop *loop)
{
	int err;

	err = loop->carrier->ops->drain(loop->carrier);
	return err ? err : finish_round(loop);
}

static void take_signals(struct loop *loop)
{
	int signal;

	while (signals__read(loop->signals, &signal))
		if (signal && loop->workload)
			workload__signal(loop->workload, signal);
	if (!loop->workload && loop->signals->is_asked_to_end)
		loop->is_over = true;
}

static void command(struct loop *loop, enum control_state state)
{
	control__command(loop->control, state);
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
		control__command(loop->control, CONTROL_RECORDING);
	}
	if (loop->is_answer_due && control__is_answered(loop->control)) {
		loop->is_answer_due = false;
		if (loop->is_stopping)
			workload__end(loop->workload);
		control_fd__acknowledge(loop->control_fd);
	}
	if (!loop->control_fd)
		return;
	while (!loop->is_answer_due && !loop->is_stopping && take_command(loop))
		;
}

static int timeout_ms(const struct loop *loop)
{
	uint64_t now = now_ms();

	if (loop->is_answer_due)
		return ANSWER_INTERVAL_MS;
	if (loop->is_delayed && loop->begin_ms < now + DRAIN_INTERVAL_MS)
		return loop->begin_ms > now ? (int)(loop->begin_ms - now) : 0;
	return DRAIN_INTERVAL_MS;
}

/* The processes have to answer before anything else is asked of them. */
static int wait_for_answers(struct loop *loop)
{
	int err = 0;

	while (!control__is_answered(loop->control)) {
		poll(NULL, 0, ANSWER_INTERVAL_MS);
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

static int run(struct loop *loop)
{
	struct pollfd fds[] = {
		{.fd = loop->workload ? workload__pidfd(loop->workload) : -1,
		 .events = POLLIN},
		{.fd = loop->signals->fd, .events = POLLIN},
		{.fd = loop->carrier->ops->fd(loop->carrier), .events = POLLIN},
		{.fd = loop->control_fd ? loop->control_fd->fd : -1, .events = POLLIN},
	};
	int err = 0;

	while (!loop->is_over && !fds[0].revents) {
		poll(fds, sizeof(fds) / sizeof(*fds), err ? -1 : timeout_ms(loop));
		take_signals(loop);
		if (err)
			continue;
		if (fds[3].revents) {
			control_fd__read(loop->control_fd);
			fds[3].fd = loop->control_fd->fd;
		}
		if (loop->control)
			take_commands(loop);
		if (loop->is_attached && !control__has_process(loop->control))
			loop->is_over = true;
		err = drain(loop);
		if (err) {
			fail(loop);
			fds[2].fd = fds[3].fd = -1;
		}
	}
	return err;
}

/* Processes that ran before run on. */
static int let_go(struct loop *loop, int err)
{
	int wait_err;

	control__command(loop->control, CONTROL_IDLE);
	wait_err = wait_for_answers(loop);
	if (loop->is_stopping)
		control_fd__acknowledge(loop->control_fd);
	if (loop->workload && loop->is_over)
		workload__end(loop->workload);
	return err ? err : wait_err;
}

int loop__begin(struct loop *loop)
{
	int err;

	if (!loop->is_attached)
		return 0;
	control__command(loop->control, loop__first_state(loop->delay_ms));
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
	err = run(loop);
	if (loop->is_attached)
		err = let_go(loop, err);
	loop->carrier->ops->detach(loop->carrier);
	if (!err)
		err = loop->carrier->ops->finish(loop->carrier, loop->spool);
	return err ? err : finish_round(loop);
}
