/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record --control: commands that come through a file descriptor or a FIFO while it
 * records, as perf record has them. A command is a line; what is understood is answered
 * with a line "ack", if there is a way for answers. One thread.
 */
#ifndef PERF_GPU_RECORD_CONTROL_FD_H
#define PERF_GPU_RECORD_CONTROL_FD_H

#include <stdbool.h>
#include <stddef.h>

enum control_command {
	COMMAND_NONE, /* none has come */
	COMMAND_ENABLE,
	COMMAND_DISABLE,
	COMMAND_PING,
	COMMAND_SNAPSHOT, /* of --switch-output: another file */
	COMMAND_STOP,
};

#define CONTROL_FD_MAX_LINE 128

struct control_fd {
	int fd; /* -1 once nobody can write to it any more */
	int ack_fd; /* -1: no answers */
	bool are_ours; /* to be closed */
	/* Read, but not yet taken */
	char text[CONTROL_FD_MAX_LINE];
	size_t nr_bytes;
	bool is_too_long; /* the line, whose end is still to come */
};

/**
 * control_fd__open - open what --control says
 * @text: fd:FD[,ACK-FD] or fifo:PATH[,ACK-PATH]
 * @ret:  written on success only
 *
 * Return: 0; -EINVAL for a text that is neither, not printed; or another negative errno,
 * printed.
 */
int control_fd__open(const char *text, struct control_fd *ret);

/* Read what there is, once @control->fd is readable or has ended. */
void control_fd__read(struct control_fd *control);

/* The next command that was read. What is none is told of. */
enum control_command control_fd__next(struct control_fd *control);

/* Answer that a command is carried out. */
void control_fd__acknowledge(struct control_fd *control);

void control_fd__close(struct control_fd *control);

#endif
