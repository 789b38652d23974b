// SPDX-License-Identifier: GPL-2.0-or-later
#include "log_client.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MAX_WAIT_MS 2000
/*
 * Who doesn't answer is stopped, perhaps. Locks are held while he is asked, for which the
 * program's threads wait in their turn: not again and again.
 */
#define SILENCE_MS 5000
/* Of what isn't answered: without its tally the recorder only counts less well. */
#define MAX_TALLY_WAIT_MS 100

static char server_name[LOG_SERVER_MAX_NAME];
static uint64_t session;
static atomic_int_fast64_t silent_until_ms; /* he isn't asked before */

void log_client__use(const char *server, uint64_t with_session)
{
	session = with_session;
	atomic_store(&silent_until_ms, 0);
	snprintf(server_name, sizeof(server_name), "%s", server);
}

static socklen_t server_address(struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* Behind a NUL, which makes it abstract */
	memcpy(ret->sun_path + 1, server_name, strlen(server_name));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   strlen(server_name));
}

static int64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* 0, or -ETIMEDOUT */
static int wait_for(int fd, short events, int64_t deadline_ms)
{
	struct pollfd poll_fd = {.fd = fd, .events = events};
	int64_t left_ms;

	while ((left_ms = deadline_ms - now_ms()) > 0)
		if (poll(&poll_fd, 1, (int)left_ms) > 0)
			return 0;
	return -ETIMEDOUT;
}

/* A socket with an address, which the kernel makes up, for the reply to come to */
static int open_socket(void)
{
	const struct sockaddr_un any = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	if (!bind(fd, (const struct sockaddr *)&any, sizeof(any.sun_family)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* @file: goes with it; -1: none */
static int ask(int fd, const struct log_request *request, int file, int64_t deadline_ms)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {};
	struct iovec data = {.iov_base = (void *)request, .iov_len = sizeof(*request)};
	struct sockaddr_un address;
	struct msghdr message = {
		.msg_name = &address,
		.msg_namelen = server_address(&address),
		.msg_iov = &data,
		.msg_iovlen = 1,
	};
	int err;

	if (file >= 0) {
		struct cmsghdr *part = (struct cmsghdr *)control;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		part->cmsg_level = SOL_SOCKET;
		part->cmsg_type = SCM_RIGHTS;
		part->cmsg_len = CMSG_LEN(sizeof(file));
		memcpy(CMSG_DATA(part), &file, sizeof(file));
	}
	for (;;) {
		if (sendmsg(fd, &message, MSG_NOSIGNAL) >= 0)
			return 0;
		/* Many ask at once: its queue is full. */
		if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
			return -errno;
		err = wait_for(fd, POLLOUT, deadline_ms);
		if (err)
			return err;
		/* Sockets without a peer are writable, whatever there is room for. */
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

/* The file in a message; -1: there is none. More than one is closed. */
static int take_file(struct msghdr *message)
{
	int file = -1;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part;
	     part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= part->cmsg_len;
		     i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(part) + i * sizeof(fd), sizeof(fd));
			if (file < 0)
				file = fd;
			else
				close(fd);
		}
	}
	return file;
}

/* Return: the file, or -errno; -EAGAIN: what came was none of the recorder's. */
static int receive(int fd, const struct log_request *request)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct sockaddr_un server, from;
	struct log_reply reply = {};
	struct iovec data = {.iov_base = &reply, .iov_len = sizeof(reply)};
	struct msghdr message = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	socklen_t server_bytes = server_address(&server);
	ssize_t nr = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	int file;

	if (nr < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	file = take_file(&message);
	if (nr == sizeof(reply) && message.msg_namelen == server_bytes &&
	    !memcmp(&from, &server, server_bytes) && reply.log_id == request->log_id)
		return reply.err || file < 0 ? (reply.err ? reply.err : -EPROTO) : file;
	if (file >= 0)
		close(file);
	return -EAGAIN;
}

static struct log_request make_request(uint64_t log_id, enum log_request_kind kind)
{
	return (struct log_request){
		.session = session,
		.log_id = log_id,
		.pid = (uint32_t)getpid(),
		.kind = kind,
	};
}

/* Nothing is waited for. @file: goes with it; -1: none. Return: it is on its way. */
static bool tell(uint64_t log_id, enum log_request_kind kind, int file)
{
	const struct log_request request = make_request(log_id, kind);
	int fd, err;

	if (!*server_name)
		return false;
	fd = open_socket();
	if (fd < 0)
		return false;
	err = ask(fd, &request, file, now_ms() + MAX_TALLY_WAIT_MS);
	close(fd);
	return !err;
}

bool log_client__send_tally(uint64_t log_id, int file)
{
	return tell(log_id, LOG_REQUEST_TALLY, file);
}

void log_client__tell_taken(uint64_t log_id)
{
	tell(log_id, LOG_REQUEST_TAKEN, -1);
}

bool log_client__is_gone(void)
{
	struct sockaddr_un address;
	bool is_gone;
	int fd;

	if (!*server_name)
		return false;
	fd = open_socket();
	if (fd < 0)
		return false;
	is_gone = connect(fd, (const struct sockaddr *)&address,
			  server_address(&address)) &&
		  errno == ECONNREFUSED;
	close(fd);
	return is_gone;
}

static int ask_for_file(const struct log_request *request)
{
	const int64_t deadline_ms = now_ms() + MAX_WAIT_MS;
	int fd, ret;

	fd = open_socket();
	if (fd < 0)
		return fd;
	ret = ask(fd, request, -1, deadline_ms);
	while (!ret) {
		ret = wait_for(fd, POLLIN, deadline_ms);
		if (ret)
			break;
		ret = receive(fd, request);
		if (ret == -EAGAIN)
			ret = 0;
		else
			break;
	}
	close(fd);
	return ret;
}

static int open_file(uint64_t log_id, enum log_request_kind kind)
{
	const struct log_request request = make_request(log_id, kind);
	int ret;

	if (!*server_name)
		return -ENOENT;
	if (now_ms() < atomic_load(&silent_until_ms))
		return -ETIMEDOUT;
	ret = ask_for_file(&request);
	if (ret == -ETIMEDOUT)
		atomic_store(&silent_until_ms, now_ms() + SILENCE_MS);
	return ret;
}

int log_client__open(uint64_t log_id, bool is_launch_log)
{
	return open_file(log_id,
			 is_launch_log ? LOG_REQUEST_LAUNCH_LOG : LOG_REQUEST_LOG);
}

int log_client__open_tally(uint64_t log_id)
{
	return open_file(log_id, LOG_REQUEST_NEW_TALLY);
}
