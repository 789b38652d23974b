// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/log.h"
#include "util/thread.h"
#include "util/visible.h"

#define FIRST_MS 1000 /* who waits for less needs no word */
#define NEXT_MS	 200

#define CLEAR_LINE "\r\033[K"

_Atomic uint64_t progress_done;

static struct {
	pthread_mutex_t
		lock; /* over all below; never held while anything else is waited for */
	pthread_cond_t changed;
	pthread_t thread;
	bool is_running; /* there is the thread */
	bool is_over; /* it is to end */
	bool is_barred; /* for good */
	bool was_started; /* the first second is over, or about to be */
	struct timespec next; /* when it draws again; CLOCK_MONOTONIC */
	char what[256];
	uint64_t total;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_bool is_drawn; /* there is something to clear */

static void write_line(const char *text, size_t nr_bytes)
{
	/* A terminal that is gone is no reason to fail. */
	if (write(STDERR_FILENO, text, nr_bytes) < 0)
		return;
}

static void clear(void)
{
	if (atomic_exchange(&is_drawn, false))
		write_line(CLEAR_LINE, strlen(CLEAR_LINE));
}

void progress__clear_for_good(void)
{
	clear();
}

/* A background job's line would be in the midst of what the user types. */
static bool is_in_foreground(void)
{
	return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static size_t columns(void)
{
	struct winsize size;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

/* Paths are somebody else's: what a terminal would act on is none of the line. */
static void make_visible(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
			*text = '?';
}

static void draw(void)
{
	uint64_t done = atomic_load_explicit(&progress_done, memory_order_relaxed);
	char text[512], line[600], share[16] = "...";
	const char *command = log__command();
	size_t room = columns();
	int nr;

	if (!is_in_foreground())
		return;
	if (progress.total)
		snprintf(share, sizeof(share), ": %.0f %%",
			 done < progress.total
				 ? 100.0 * (double)done / (double)progress.total
				 : 100.0);
	snprintf(text, sizeof(text), "[ perf-gpu %s: %s%s ]", command, progress.what,
		 share);
	make_visible(text);
	/* A line that fills the last column can't be cleared on all terminals. */
	if (strlen(text) >= room)
		text[room - 1] = '\0';
	nr = snprintf(line, sizeof(line), CLEAR_LINE "%s", text);
	atomic_store(&is_drawn, true);
	write_line(line, (size_t)nr);
}

static void set_next(unsigned int ms)
{
	clock_gettime(CLOCK_MONOTONIC, &progress.next);
	progress.next.tv_nsec += ms % 1000 * 1000000;
	progress.next.tv_sec += ms / 1000 + progress.next.tv_nsec / 1000000000;
	progress.next.tv_nsec %= 1000000000;
}

static void *run(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&progress.lock);
	while (!progress.is_over) {
		struct timespec next = progress.next;

		if (!pthread_cond_timedwait(&progress.changed, &progress.lock, &next))
			continue;
		draw();
		set_next(NEXT_MS);
	}
	pthread_mutex_unlock(&progress.lock);
	return NULL;
}

/* It takes no signals: who handles them counts on that. */
static void start(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&progress.changed, &attr);
	pthread_condattr_destroy(&attr);
	progress.is_over = false;
	set_next(progress.was_started ? NEXT_MS : FIRST_MS);
	progress.was_started = true;
	progress.is_running = !thread__start(&progress.thread, run, NULL);
}

void progress__begin(const char *verb, const char *what, uint64_t total)
{
	pthread_mutex_lock(&progress.lock);
	progress__at(0);
	snprintf(progress.what, sizeof(progress.what), "%s%s%s", verb, what ? " " : "",
		 what ? what : "");
	visible__clean(progress.what);
	progress.total = total;
	if (!progress.is_running && !progress.is_barred && log_verbosity >= 0 &&
	    isatty(STDERR_FILENO))
		start();
	pthread_mutex_unlock(&progress.lock);
}

void progress__begin_within(const char *verb, const char *what,
			    struct progress_step *ret_outer)
{
	pthread_mutex_lock(&progress.lock);
	memcpy(ret_outer->what, progress.what, sizeof(ret_outer->what));
	ret_outer->total = progress.total;
	ret_outer->done = atomic_load_explicit(&progress_done, memory_order_relaxed);
	pthread_mutex_unlock(&progress.lock);
	progress__begin(verb, what, 0);
}

void progress__resume(const struct progress_step *outer)
{
	pthread_mutex_lock(&progress.lock);
	memcpy(progress.what, outer->what, sizeof(progress.what));
	progress.total = outer->total;
	progress__at(outer->done);
	pthread_mutex_unlock(&progress.lock);
}

void progress__end(void)
{
	bool was_running;

	pthread_mutex_lock(&progress.lock);
	was_running = progress.is_running;
	progress.is_over = true;
	progress.is_running = false;
	if (was_running)
		pthread_cond_signal(&progress.changed);
	pthread_mutex_unlock(&progress.lock);
	if (!was_running)
		return;
	pthread_join(progress.thread, NULL);
	pthread_cond_destroy(&progress.changed);
	clear();
}

void progress__hide(void)
{
	pthread_mutex_lock(&progress.lock);
	clear();
	pthread_mutex_unlock(&progress.lock);
}

void progress__yield_to(int fd)
{
	struct stat st;

	if (progress.is_barred || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return;
	progress.is_barred = true;
	progress__end();
}
