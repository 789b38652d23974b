// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/log_server.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/log.h"

/* Anybody can send: who sends without end is not to keep the recorder from the rings. */
#define MAX_AT_ONCE 64

/* Not made of the session: all users can see the names of abstract sockets. */
static int make_name(char name[LOG_SERVER_MAX_NAME])
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -errno;
	snprintf(name, LOG_SERVER_MAX_NAME, "perf-gpu-%016llx",
		 (unsigned long long)random);
	return 0;
}

static int bind_name(int fd, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t bytes =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));

	memcpy(address.sun_path + 1, name, strlen(name));
	return bind(fd, (struct sockaddr *)&address, bytes) ? -errno : 0;
}

/* A process's; 0: ours. A descriptor, or -1 */
static int open_net_namespace(pid_t pid)
{
	char path[64] = "/proc/self/ns/net";

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/*
 * A socket is of the namespace in which it was made, wherever its owner goes then. That of
 * another process takes CAP_SYS_ADMIN: else it is ours.
 */
static int open_socket(pid_t peer)
{
	const int type = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int ours = -1, theirs = -1, fd = -1;

	if (peer) {
		ours = open_net_namespace(0);
		theirs = open_net_namespace(peer);
	}
	if (ours >= 0 && theirs >= 0 && !setns(theirs, CLONE_NEWNET)) {
		fd = socket(AF_UNIX, type, 0);
		if (setns(ours, CLONE_NEWNET))
			pr_debug("can't go back into the network namespace: %s",
				 strerror(errno));
	}
	if (ours >= 0)
		close(ours);
	if (theirs >= 0)
		close(theirs);
	return fd >= 0 ? fd : socket(AF_UNIX, type, 0);
}

void log_server__open(uint64_t session, struct spool *spool, pid_t peer,
		      struct log_server *ret)
{
	struct log_server server = {
		.session = session,
		.spool = spool,
		.tallies = {.spool = spool, .session = session},
	};
	int err;

	server.fd = open_socket(peer);
	err = server.fd < 0 ? -errno : make_name(server.name);
	if (!err)
		err = bind_name(server.fd, server.name);
	/* Without it, it isn't known whether a process still counts. */
	if (!err)
		setsockopt(server.fd, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int));
	if (err) {
		pr_debug("no socket to give logs by: %s", strerror(-err));
		log_server__close(&server);
	}
	*ret = server;
}

static void reply(const struct log_server *server, struct sockaddr_un *to,
		  socklen_t to_bytes, uint64_t log_id, int file)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {};
	struct log_reply data = {.log_id = log_id, .err = file < 0 ? file : 0};
	struct iovec iov = {.iov_base = &data, .iov_len = sizeof(data)};
	struct msghdr message = {
		.msg_name = to,
		.msg_namelen = to_bytes,
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	struct cmsghdr *part;

	if (file >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		part = CMSG_FIRSTHDR(&message);
		part->cmsg_level = SOL_SOCKET;
		part->cmsg_type = SCM_RIGHTS;
		part->cmsg_len = CMSG_LEN(sizeof(file));
		memcpy(CMSG_DATA(part), &file, sizeof(file));
	}
	/* Who doesn't take it has gone, or doesn't want it. */
	if (sendmsg(server->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		pr_debug("can't give a process its log: %s", strerror(errno));
}

/* What came with a request */
struct company {
	pid_t pid; /* of who sent it, by the kernel; 0: not known */
	int fd; /* -1: none */
};

/* More than one file is closed. */
static void take_files(const struct cmsghdr *part, struct company *company)
{
	for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= part->cmsg_len; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(part) + i * sizeof(fd), sizeof(fd));
		if (company->fd < 0)
			company->fd = fd;
		else
			close(fd);
	}
}

static struct company take_company(struct msghdr *message)
{
	struct company company = {.fd = -1};

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part;
	     part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET)
			continue;
		if (part->cmsg_type == SCM_RIGHTS) {
			take_files(part, &company);
		} else if (part->cmsg_type == SCM_CREDENTIALS &&
			   part->cmsg_len == CMSG_LEN(sizeof(struct ucred))) {
			struct ucred cred;

			memcpy(&cred, CMSG_DATA(part), sizeof(cred));
			company.pid = cred.pid;
		}
	}
	return company;
}

static void give_file(const struct log_server *server, const struct log_request *request,
		      struct sockaddr_un *to, socklen_t to_bytes)
{
	int file = spool__make_log(server->spool, request->pid, request->log_id,
				   request->kind == LOG_REQUEST_LAUNCH_LOG
					   ? SPOOL_LAUNCH_LOG_SUFFIX
					   : SPOOL_LOG_SUFFIX);

	reply(server, to, to_bytes, request->log_id, file);
	if (file >= 0)
		close(file);
}

static struct tally_owner owner_of(const struct log_request *request,
				   const struct company *company)
{
	return (struct tally_owner){
		.log_id = request->log_id,
		.own_pid = request->pid,
		.pid = company->pid,
	};
}

static void take_tally(struct log_server *server, const struct log_request *request,
		       const struct company *company)
{
	const struct tally_owner owner = owner_of(request, company);

	if (company->fd >= 0)
		tallies__add(&server->tallies, &owner, company->fd);
}

/* The process may make none, but write to one that is mapped. */
static void give_tally(struct log_server *server, const struct log_request *request,
		       const struct company *company, struct sockaddr_un *to,
		       socklen_t to_bytes)
{
	const struct tally_owner owner = owner_of(request, company);
	int file = tallies__new(&server->tallies, &owner);

	reply(server, to, to_bytes, request->log_id, file);
	if (file >= 0)
		close(file);
}

/* While it runs, which may be for long: its log tells in the end, with names. */
static void tell_taken(struct log_server *server, pid_t pid)
{
	if (log_limit__take(&server->limit))
		pr_warning("process %d is not recorded while it runs: another profiler "
			   "has CUPTI in it, and no probe takes the stacks of its "
			   "launches, as with --stacks uprobe",
			   (int)pid);
}

static void answer(struct log_server *server, const struct log_request *request,
		   const struct company *company, struct sockaddr_un *from,
		   socklen_t from_bytes)
{
	switch (request->kind) {
	case LOG_REQUEST_TALLY:
		take_tally(server, request, company);
		break;
	case LOG_REQUEST_NEW_TALLY:
		give_tally(server, request, company, from, from_bytes);
		break;
	case LOG_REQUEST_TAKEN:
		tell_taken(server, company->pid);
		break;
	default:
		give_file(server, request, from, from_bytes);
		break;
	}
}

/* Return: is there another who may have asked? */
static bool serve_one(struct log_server *server)
{
	char control[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))]
		__attribute__((aligned(8)));
	struct sockaddr_un from = {};
	struct log_request request;
	struct iovec data = {.iov_base = &request, .iov_len = sizeof(request)};
	struct msghdr message = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t nr = recvmsg(server->fd, &message,
			     MSG_TRUNC | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct company company;

	if (nr < 0)
		return errno == EINTR;
	company = take_company(&message);
	if (nr == sizeof(request) && request.session == server->session && request.log_id)
		answer(server, &request, &company, &from, message.msg_namelen);
	if (company.fd >= 0)
		close(company.fd);
	return true;
}

void log_server__serve(struct log_server *server)
{
	if (server->fd < 0)
		return;
	for (int i = 0; i < MAX_AT_ONCE && serve_one(server); i++)
		;
}

void log_server__close(struct log_server *server)
{
	if (server->fd >= 0)
		close(server->fd);
	tallies__release(&server->tallies);
	log_limit__tell(&server->limit, "processes");
	server->limit.nr = 0;
	server->fd = -1;
	server->name[0] = '\0';
}
