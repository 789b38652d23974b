// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/attach.h"
#include "util/log.h"

/* The library takes at most one to write what the GPU did. */
#define MAX_ANSWER_S 5

/* One page, of one process or of a command's. */
struct page {
	struct attached process; /* pid 0: a page in the spool */
	int fd;
	void *wake_address; /* of a mapping that only the kernel looks at */
	uint32_t wanted;
	bool is_over; /* nothing more comes from there */
	bool has_answered; /* once, or more often */
};

struct control {
	char path[PATH_MAX];
	const char *spool; /* to tell of */
	struct page *pages;
	size_t nr_pages;
	time_t deadline_s;
	bool is_answered;
	bool is_whole;
	bool has_log;
};

static time_t now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static int write_at(int fd, const void *data, size_t bytes, size_t offset)
{
	ssize_t nr = pwrite(fd, data, bytes, (off_t)offset);

	if (nr < 0)
		return -errno;
	return nr == (ssize_t)bytes ? 0 : -EIO;
}

/* @fd stays the caller's if this fails. */
static int page__init(struct page *page, int fd)
{
	void *map = mmap(NULL, offsetof(struct control_page, environment), PROT_READ,
			 MAP_SHARED, fd, 0);
	uint32_t wanted;

	if (map == MAP_FAILED)
		return -errno;
	if (pread(fd, &wanted, sizeof(wanted), offsetof(struct control_page, wanted)) !=
	    sizeof(wanted)) {
		munmap(map, offsetof(struct control_page, environment));
		return -EIO;
	}
	page->fd = fd;
	page->wanted = wanted;
	page->wake_address = (char *)map + offsetof(struct control_page, wanted);
	return 0;
}

static void page__release(struct page *page)
{
	if (page->wake_address)
		munmap((char *)page->wake_address - offsetof(struct control_page, wanted),
		       offsetof(struct control_page, environment));
	if (page->process.pid)
		attached__close(&page->process);
	else if (page->wake_address)
		close(page->fd);
}

static int new_control(size_t nr_pages, struct control **ret)
{
	struct control *control = calloc(1, sizeof(*control));

	if (control)
		control->pages = calloc(nr_pages, sizeof(*control->pages));
	if (!control || !control->pages) {
		pr_err("no memory for control pages");
		free(control);
		return -ENOMEM;
	}
	control->is_answered = control->is_whole = true;
	*ret = control;
	return 0;
}

/* Return: a file descriptor or a negative errno. */
static int create_page(const struct spool *spool, enum control_state state)
{
	const uint32_t header[] = {CONTROL_PAGE_MAGIC, CONTROL_PAGE_VERSION,
				   CONTROL_NEXT(0, state)};
	int fd, err = 0;

	fd = openat(spool->dir_fd, CONTROL_PAGE_NAME,
		    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, sizeof(struct control_page)) ||
	    fchown(fd, spool->uid, (gid_t)-1))
		err = -errno;
	if (!err)
		err = write_at(fd, header, sizeof(header), 0);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

int control__create(const struct spool *spool, enum control_state state,
		    struct control **ret)
{
	struct control *control;
	int fd, err;

	err = new_control(1, &control);
	if (err)
		return err;
	fd = create_page(spool, state);
	err = fd < 0 ? fd : page__init(&control->pages[0], fd);
	if (!err &&
	    snprintf(control->path, sizeof(control->path), "%s/" CONTROL_PAGE_NAME,
		     spool->path) >= (int)sizeof(control->path))
		err = -ENAMETOOLONG;
	control->nr_pages = !err;
	if (err) {
		pr_err("can't make a control page in %s: %s", spool->path,
		       strerror(-err));
		if (fd >= 0)
			close(fd);
		control__close(control);
		return err;
	}
	*ret = control;
	return 0;
}

static int attach_page(struct page *page, pid_t pid, const char *library)
{
	int err;

	err = attached__open(pid, library, &page->process);
	if (err)
		return err;
	err = page__init(page, page->process.page_fd);
	if (err) {
		pr_err("can't map the control page of process %d: %s", (int)pid,
		       strerror(-err));
		attached__close(&page->process);
	}
	return err;
}

static int check_users(const struct control *control)
{
	const struct attached *first = &control->pages[0].process;

	for (size_t i = 1; i < control->nr_pages; i++) {
		const struct attached *other = &control->pages[i].process;

		if (other->uid == first->uid)
			continue;
		pr_err("processes %d and %d have different users: record them one by one",
		       (int)first->pid, (int)other->pid);
		return -EINVAL;
	}
	return 0;
}

int control__attach(const pid_t *pids, size_t nr, const char *library,
		    struct control **ret)
{
	struct control *control;
	int err;

	err = new_control(nr, &control);
	if (err)
		return err;
	while (!err && control->nr_pages < nr) {
		err = attach_page(&control->pages[control->nr_pages],
				  pids[control->nr_pages], library);
		control->nr_pages += !err;
	}
	if (!err)
		err = check_users(control);
	if (err) {
		control__close(control);
		return err;
	}
	*ret = control;
	return 0;
}

const char *control__path(const struct control *control)
{
	return control->path;
}

uid_t control__uid(const struct control *control)
{
	return control->pages[0].process.uid;
}

int control__configure(struct control *control, const struct spool *spool,
		       char *const *environment)
{
	char text[sizeof(((struct control_page *)NULL)->environment)];
	uint32_t bytes = 0;
	int err = 0;

	control->spool = spool->path;
	for (; *environment; environment++) {
		size_t nr = strlen(*environment) + 1;

		if (nr > sizeof(text) - bytes) {
			pr_err("can't tell the processes how to record: paths are too "
			       "long");
			return -ENAMETOOLONG;
		}
		memcpy(text + bytes, *environment, nr);
		bytes += (uint32_t)nr;
	}
	for (size_t i = 0; i < control->nr_pages && !err; i++) {
		const int fd = control->pages[i].fd;

		err = write_at(fd, text, bytes,
			       offsetof(struct control_page, environment));
		if (!err)
			err = write_at(fd, &bytes, sizeof(bytes),
				       offsetof(struct control_page, environment_bytes));
	}
	if (err)
		pr_err("can't write to a control page: %s", strerror(-err));
	return err;
}

void control__command(struct control *control, enum control_state state)
{
	for (size_t i = 0; i < control->nr_pages; i++) {
		struct page *page = &control->pages[i];

		if (page->is_over)
			continue;
		page->wanted = CONTROL_NEXT(page->wanted, state);
		write_at(page->fd, &page->wanted, sizeof(page->wanted),
			 offsetof(struct control_page, wanted));
		syscall(SYS_futex, page->wake_address, FUTEX_WAKE, INT_MAX, NULL, NULL,
			0);
	}
	control->is_answered = false;
	control->deadline_s = now_s() + MAX_ANSWER_S + 1;
}

static uint32_t done_of(const struct control_member *member)
{
	return (uint32_t)member->answer;
}

static int errno_of(const struct control_member *member)
{
	return (int)(member->answer >> 32);
}

/* The processes of a command. One that was killed has left its place taken. */
static uint64_t count_members_due(struct page *page)
{
	struct control_member members[CONTROL_MAX_MEMBERS];
	uint64_t nr_due = 0;

	if (pread(page->fd, members, sizeof(members),
		  offsetof(struct control_page, members)) != sizeof(members))
		return 0;
	for (size_t i = 0; i < CONTROL_MAX_MEMBERS; i++)
		nr_due += members[i].pid && done_of(&members[i]) != page->wanted &&
			  (!kill((pid_t)members[i].pid, 0) || errno != ESRCH);
	return nr_due;
}

static bool has_command_answered(struct control *control, struct page *page)
{
	uint64_t nr_due = count_members_due(page);

	if (!nr_due)
		return true;
	if (now_s() < control->deadline_s)
		return false;
	pr_warning("%llu %s within %d seconds: stopped, or hung?",
		   (unsigned long long)nr_due,
		   nr_due == 1 ? "process doesn't answer" : "processes don't answer",
		   MAX_ANSWER_S);
	return true;
}

static void give_up(struct control *control, struct page *page)
{
	page->is_over = true;
	control->is_whole = false;
}

static void take_answer(struct control *control, struct page *page, int error)
{
	/* The log may tell of an error, which is printed with the summary. */
	if (!error || error == CONTROL_TOLD)
		control->has_log = true;
	if (error)
		give_up(control, page);
	if (error && error != CONTROL_TOLD)
		pr_err("process %d can't record into %s: %s; name a place with -o that "
		       "its user gets to and both see, as /tmp may be",
		       (int)page->process.pid, control->spool, strerror(error));
}

/* The process is gone. One that has never answered has recorded nothing. */
static void tell_end(const struct page *page, bool has_executed)
{
	const int pid = (int)page->process.pid;

	if (!page->has_answered)
		pr_err("process %d is not recorded: it has %s just now, before recording "
		       "began",
		       pid, has_executed ? "executed another program" : "ended");
	else if (has_executed)
		pr_warning("process %d has executed another program: it was recorded "
			   "until then",
			   pid);
}

/* Is the process still there, as the program that it was? */
static bool page__is_there(struct page *page)
{
	bool has_ended, has_page;

	if (page->is_over)
		return false;
	page->is_over = true;
	has_page = attached__has_page(&page->process);
	/* Behind that: who has just ended has no page, either. */
	has_ended = attached__has_ended(&page->process);
	if (has_ended || !has_page) {
		tell_end(page, !has_ended);
		return false;
	}
	page->is_over = false;
	return true;
}

/* Who has never answered has recorded nothing that could be kept. */
static void tell_silence(const struct page *page)
{
	const int pid = (int)page->process.pid;

	if (page->has_answered)
		pr_warning("process %d doesn't answer within %d seconds: is it stopped, "
			   "or hung? What it has recorded so far is kept",
			   pid, MAX_ANSWER_S);
	else
		pr_err("process %d is not recorded: it doesn't answer within %d seconds; "
		       "is it stopped, or hung? kill -CONT %d lets a stopped one go on",
		       pid, MAX_ANSWER_S, pid);
}

static bool has_process_answered(struct control *control, struct page *page)
{
	struct control_member member;

	if (!page__is_there(page)) {
		control->is_whole &= page->has_answered;
		return true;
	}
	if (pread(page->fd, &member, sizeof(member),
		  offsetof(struct control_page, members)) != sizeof(member)) {
		page->is_over = true;
		return true;
	}
	if (done_of(&member) == page->wanted) {
		page->has_answered = true;
		take_answer(control, page, errno_of(&member));
		return true;
	}
	if (now_s() < control->deadline_s)
		return false;
	give_up(control, page);
	tell_silence(page);
	return true;
}

bool control__is_answered(struct control *control)
{
	bool is_answered = true;

	if (control->is_answered)
		return true;
	for (size_t i = 0; i < control->nr_pages; i++) {
		struct page *page = &control->pages[i];

		is_answered &= page->process.pid ? has_process_answered(control, page)
						 : has_command_answered(control, page);
	}
	control->is_answered = is_answered;
	return is_answered;
}

bool control__has_process(struct control *control)
{
	bool has_process = false;

	for (size_t i = 0; i < control->nr_pages; i++)
		has_process |= page__is_there(&control->pages[i]);
	return has_process;
}

bool control__has_log(const struct control *control)
{
	return control->has_log;
}

bool control__is_whole(const struct control *control)
{
	return control->is_whole;
}

void control__close(struct control *control)
{
	if (!control)
		return;
	for (size_t i = 0; i < control->nr_pages; i++)
		page__release(&control->pages[i]);
	free(control->pages);
	free(control);
}
