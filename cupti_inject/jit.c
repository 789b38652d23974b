// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A jitdump is found by the mapping that its writer makes of it, executable, for
 * profilers to see. Node removes that before it ends, so it is looked for now and then.
 */
#include "jit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit_file.h"
#include "own_file.h"

/* A file that is followed. */
struct source {
	struct own_file own;
	struct jit_file file;
	bool is_open;
	bool is_given_up; /* with a message */
};

struct sources {
	struct source perf_map;
	struct source dump;
	/* Calls before /proc/self/maps is read again; each time twice as many. */
	unsigned int nr_calls_to_skip, nr_skipped;
};

static struct sources sources; /* of the process itself */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int take_piece(void *log, const struct gpu_log_jit *piece, const void *deflated)
{
	return log__jit(log, piece, deflated);
}

/* In /tmp anybody can put a file for us to read: it must be the process's, or root's. */
static bool is_trusted(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       (st.st_uid == geteuid() || !st.st_uid);
}

/* source->own.path is set. */
static void source__open(struct source *source, enum gpu_log_jit_kind kind)
{
	if (own_file__open(&source->own, O_RDONLY | O_NONBLOCK | O_NOCTTY))
		return;
	if (!is_trusted(source->own.fd)) {
		own_file__close(&source->own);
		return;
	}
	source->file = (struct jit_file){.kind = kind};
	source->is_given_up = false;
	source->is_open = true;
}

static void source__read(struct source *source, struct log *log)
{
	struct stat st;
	int err;

	if (source->is_given_up || own_file__check(&source->own, &st))
		return;
	err = jit_file__read(&source->file, source->own.fd, take_piece, log);
	if (err != -EFBIG && err != -EINVAL)
		return;
	source->is_given_up = true;
	log__message(log, GPU_LOG_WARNING,
		     err == -EFBIG ? "%s is too large to be kept: functions that were "
				     "compiled late have no names"
				   : "%s is no jitdump of this machine's: functions of "
				     "its have no names",
		     source->own.path);
}

/* Has the path another file by now, or the one that is open, or none? */
static bool source__is_replaced(const struct source *source)
{
	struct stat st;

	return !lstat(source->own.path, &st) &&
	       (st.st_dev != source->own.dev || st.st_ino != source->own.ino);
}

static void follow_perf_map(struct source *source, struct log *log)
{
	if (source->is_open)
		source__read(source, log);
	if (source->is_open && source__is_replaced(source)) {
		own_file__close(&source->own);
		source->is_open = false;
	}
	if (source->is_open)
		return;
	snprintf(source->own.path, sizeof(source->own.path), "/tmp/perf-%d.map",
		 (int)getpid());
	source__open(source, GPU_LOG_JIT_PERF_MAP);
	if (source->is_open)
		source__read(source, log);
}

/* Is it a line of /proc/PID/maps about the dump? Its path, to the line's end, if so. */
static const char *dump_path(const char *line, const char *name)
{
	const char *path = strchr(line, '/');
	size_t length, name_length = strlen(name);

	if (!path)
		return NULL;
	length = strcspn(path, "\n");
	return length > name_length &&
			       !strncmp(path + length - name_length, name, name_length)
		       ? path
		       : NULL;
}

static void find_dump(struct source *source)
{
	char name[32], *line = NULL;
	const char *path = NULL;
	size_t room = 0;
	FILE *maps;

	maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return;
	snprintf(name, sizeof(name), "/jit-%d.dump", (int)getpid());
	while (!path && getline(&line, &room, maps) > 0)
		path = dump_path(line, name);
	if (path && strlen(path) < sizeof(source->own.path)) {
		snprintf(source->own.path, sizeof(source->own.path), "%.*s",
			 (int)strcspn(path, "\n"), path);
		source__open(source, GPU_LOG_JIT_CODE);
	}
	free(line);
	fclose(maps);
}

static void follow_dump(struct sources *all, struct log *log, bool is_last)
{
	if (!all->dump.is_open &&
	    (is_last || all->nr_skipped++ >= all->nr_calls_to_skip)) {
		all->nr_calls_to_skip = 2 * all->nr_skipped;
		all->nr_skipped = 0;
		find_dump(&all->dump);
	}
	if (all->dump.is_open)
		source__read(&all->dump, log);
}

static void follow(struct sources *all, struct log *log, bool is_last)
{
	follow_perf_map(&all->perf_map, log);
	follow_dump(all, log, is_last);
}

static void close_all(struct sources *all)
{
	if (all->perf_map.is_open)
		own_file__close(&all->perf_map.own);
	if (all->dump.is_open)
		own_file__close(&all->dump.own);
	all->perf_map.is_open = false;
	all->dump.is_open = false;
	all->nr_calls_to_skip = 0;
	all->nr_skipped = 0;
}

void jit__begin(struct log *log)
{
	pthread_mutex_lock(&mutex);
	close_all(&sources);
	follow(&sources, log, false);
	pthread_mutex_unlock(&mutex);
}

void jit__follow(struct log *log)
{
	pthread_mutex_lock(&mutex);
	follow(&sources, log, false);
	pthread_mutex_unlock(&mutex);
}

/* A child has files of its own, and may have the mutex of a thread that it hasn't got. */
static void end_in_child(struct log *log)
{
	struct sources *own = calloc(1, sizeof(*own));

	if (!own)
		return;
	follow(own, log, true);
	close_all(own);
	free(own);
}

void jit__end(struct log *log, bool is_forked)
{
	if (is_forked) {
		end_in_child(log);
		return;
	}
	pthread_mutex_lock(&mutex);
	follow(&sources, log, true);
	close_all(&sources);
	pthread_mutex_unlock(&mutex);
}
