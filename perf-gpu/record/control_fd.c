// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/control_fd.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"

#define ACK "ack\n"

/* The name that perf.data has for our event, which perf's "enable EVENT" may have */
#define EVENT_NAME "gpu-launch"

/* A number, up to the end or a comma. -1 for what is none. */
static int parse_fd(const char *text, const char **ret_end)
{
	unsigned long fd;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	fd = strtoul(text, &end, 10);
	if (errno || fd > INT_MAX || (*end && *end != ','))
		return -1;
	*ret_end = end;
	return (int)fd;
}

static int check_fd(int fd)
{
	int err;

	if (fcntl(fd, F_GETFD) >= 0)
		return 0;
	err = -errno;
	pr_err("--control: file descriptor %d is not open", fd);
	return err;
}

static int use_fds(const char *text, struct control_fd *control)
{
	int err;

	control->fd = parse_fd(text, &text);
	if (control->fd < 0)
		return -EINVAL;
	if (*text) {
		control->ack_fd = parse_fd(text + 1, &text);
		if (control->ack_fd < 0 || *text)
			return -EINVAL;
	}
	err = check_fd(control->fd);
	if (!err && control->ack_fd >= 0)
		err = check_fd(control->ack_fd);
	return err;
}

/* To read and to write, as perf does: it then never blocks for want of a partner. */
static int open_fifo(const char *path, int *ret)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC), err;

	if (fd < 0) {
		err = -errno;
		pr_err("--control: can't open %s: %s%s", path, strerror(-err),
		       err == -ENOENT ? "; make it with mkfifo" : "");
		return err;
	}
	*ret = fd;
	return 0;
}

static int open_fifos(const char *text, struct control_fd *control)
{
	char *paths = strdup(text), *ack_path;
	int err = -ENOMEM;

	if (!paths) {
		pr_err("no memory for --control");
		return err;
	}
	ack_path = strchr(paths, ',');
	if (ack_path)
		*ack_path++ = '\0';
	control->are_ours = true;
	if (!*paths || (ack_path && !*ack_path))
		err = -EINVAL;
	else
		err = open_fifo(paths, &control->fd);
	if (!err && ack_path)
		err = open_fifo(ack_path, &control->ack_fd);
	free(paths);
	return err;
}

int control_fd__open(const char *text, struct control_fd *ret)
{
	struct control_fd control = {.fd = -1, .ack_fd = -1};
	int err = -EINVAL;

	if (!strncmp(text, "fd:", 3))
		err = use_fds(text + 3, &control);
	else if (!strncmp(text, "fifo:", 5))
		err = open_fifos(text + 5, &control);
	if (err)
		control_fd__close(&control);
	else
		*ret = control;
	return err;
}

void control_fd__read(struct control_fd *control)
{
	size_t room = sizeof(control->text) - control->nr_bytes;
	ssize_t nr;

	if (!room) {
		control->nr_bytes = 0;
		control->is_too_long = true;
		room = sizeof(control->text);
	}
	do {
		nr = read(control->fd, control->text + control->nr_bytes, room);
	} while (nr < 0 && errno == EINTR);
	if (nr > 0) {
		control->nr_bytes += (size_t)nr;
		return;
	}
	if (nr < 0 && errno == EAGAIN)
		return;
	if (nr < 0)
		pr_warning("--control: can't read: %s", strerror(errno));
	if (control->are_ours)
		close(control->fd);
	control->fd = -1;
}

/* "enable", or "enable gpu-launch" */
static bool is_command(const char *line, const char *name)
{
	size_t nr = strlen(name);

	if (strncmp(line, name, nr))
		return false;
	return !line[nr] || !strcmp(line + nr, " " EVENT_NAME);
}

static enum control_command parse_line(const char *line)
{
	if (is_command(line, "enable"))
		return COMMAND_ENABLE;
	if (is_command(line, "disable"))
		return COMMAND_DISABLE;
	if (!strcmp(line, "ping"))
		return COMMAND_PING;
	if (!strcmp(line, "snapshot"))
		return COMMAND_SNAPSHOT;
	if (!strcmp(line, "stop"))
		return COMMAND_STOP;
	pr_warning("--control: \"%s\" is no command: there are enable, "
		   "disable, ping, snapshot and stop",
		   line);
	return COMMAND_NONE;
}

/* A line ends with a newline, or with a NUL as some of perf's users send it. */
static size_t find_end(const struct control_fd *control)
{
	size_t i;

	for (i = 0; i < control->nr_bytes; i++)
		if (control->text[i] == '\n' || !control->text[i])
			break;
	return i;
}

enum control_command control_fd__next(struct control_fd *control)
{
	enum control_command command = COMMAND_NONE;
	char line[CONTROL_FD_MAX_LINE];
	size_t nr;

	while (!command && (nr = find_end(control)) < control->nr_bytes) {
		memcpy(line, control->text, nr);
		line[nr] = '\0';
		control->nr_bytes -= nr + 1;
		memmove(control->text, control->text + nr + 1, control->nr_bytes);
		if (control->is_too_long)
			pr_warning("--control: a line is too long for any command");
		else if (nr)
			command = parse_line(line);
		control->is_too_long = false;
	}
	return command;
}

void control_fd__acknowledge(struct control_fd *control)
{
	struct pollfd fd = {.fd = control->ack_fd, .events = POLLOUT};

	if (control->ack_fd < 0)
		return;
	/* Who asks for answers and doesn't read them is not waited for. */
	if (poll(&fd, 1, 0) <= 0 || !(fd.revents & POLLOUT) ||
	    write(control->ack_fd, ACK, strlen(ACK)) != (ssize_t)strlen(ACK))
		pr_warning("--control: an answer could not be written");
}

void control_fd__close(struct control_fd *control)
{
	if (control->are_ours && control->fd >= 0)
		close(control->fd);
	if (control->are_ours && control->ack_fd >= 0)
		close(control->ack_fd);
	control->fd = control->ack_fd = -1;
}
