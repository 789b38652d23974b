// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/log.h"
#include "util/progress.h"

#define LIBRARY "libdebuginfod.so.1"

/* Who waits longer, perhaps with nothing to see, is told what for: once. */
#define MAX_SILENCE_S 2

/* Of elfutils/debuginfod.h, whose names and types are those of this version of the library */
typedef struct debuginfod_client debuginfod_client;
typedef debuginfod_client *(*begin_fn)(void);
typedef void (*end_fn)(debuginfod_client *client);
typedef int (*find_fn)(debuginfod_client *client, const unsigned char *id, int id_bytes,
		       char **ret_path);
typedef int (*progress_fn)(debuginfod_client *client, long done, long total);
typedef void (*set_progress_fn)(debuginfod_client *client, progress_fn progress);

struct debuginfod {
	bool is_tried; /* to load the library */
	bool is_off;
	void *library;
	debuginfod_client *client;
	end_fn end;
	find_fn find[2]; /* by enum debuginfod_kind */
};

int debuginfod__new(struct debuginfod **ret)
{
	struct debuginfod *debuginfod = calloc(1, sizeof(*debuginfod));

	if (!debuginfod)
		return -ENOMEM;
	*ret = debuginfod;
	return 0;
}

/* The library stays loaded: unloading curl and what it needs is nothing they are tried for. */
void debuginfod__delete(struct debuginfod *debuginfod)
{
	if (!debuginfod)
		return;
	if (debuginfod->client)
		debuginfod->end(debuginfod->client);
	free(debuginfod);
}

static time_t now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* When the question began that is open; of whom is told once in a process */
static time_t asked_s;
static bool has_told_wait;

/* The library calls it now and then; with anything but 0 it gives up. */
static int tell_progress(debuginfod_client *client, long done, long total)
{
	(void)client;
	(void)total;
	if (!has_told_wait && now_s() > asked_s + MAX_SILENCE_S) {
		has_told_wait = true;
		pr_info("waiting for servers of symbols: DEBUGINFOD_TIMEOUT has the "
			"seconds that each is given, 90 if it isn't set; without "
			"DEBUGINFOD_URLS none is asked");
	}
	progress__at(done > 0 ? (uint64_t)done : 0);
	return 0;
}

static int debuginfod__load(struct debuginfod *debuginfod)
{
	set_progress_fn set_progress;
	begin_fn begin;

	debuginfod->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!debuginfod->library) {
		pr_warning(
			"DEBUGINFOD_URLS is set, but its servers can't be asked: %s; "
			"install "
			"libdebuginfod1 (Debian, Ubuntu) or elfutils-debuginfod-client "
			"(Fedora), or unset it",
			dlerror());
		return -ENOSYS;
	}
	begin = (begin_fn)dlsym(debuginfod->library, "debuginfod_begin");
	debuginfod->end = (end_fn)dlsym(debuginfod->library, "debuginfod_end");
	debuginfod->find[DEBUGINFOD_EXECUTABLE] =
		(find_fn)dlsym(debuginfod->library, "debuginfod_find_executable");
	debuginfod->find[DEBUGINFOD_DEBUGINFO] =
		(find_fn)dlsym(debuginfod->library, "debuginfod_find_debuginfo");
	set_progress =
		(set_progress_fn)dlsym(debuginfod->library, "debuginfod_set_progressfn");
	if (!begin || !debuginfod->end || !debuginfod->find[DEBUGINFOD_EXECUTABLE] ||
	    !debuginfod->find[DEBUGINFOD_DEBUGINFO] || !set_progress) {
		pr_warning(
			"DEBUGINFOD_URLS is set, but its servers can't be asked: " LIBRARY
			" is of another kind than elfutils'");
		return -ENOSYS;
	}
	debuginfod->client = begin();
	if (!debuginfod->client) {
		pr_warning(
			"DEBUGINFOD_URLS is set, but its servers can't be asked: " LIBRARY
			" fails to begin");
		return -ENOSYS;
	}
	set_progress(debuginfod->client, tell_progress);
	return 0;
}

static bool is_wanted(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " ")];
}

/* The library's errnos are those of what curl says (elfutils: debuginfod-client.c). */
static const char *advice(int err)
{
	switch (err) {
	case -ETIME:
	case -ETIMEDOUT:
		return "DEBUGINFOD_TIMEOUT has the seconds that they are given";
	case -EFBIG:
		return "DEBUGINFOD_MAXSIZE limits what is fetched";
	case -EACCES:
	case -EROFS:
	case -ENOSPC:
		return "DEBUGINFOD_CACHE_PATH tells where files are kept";
	default:
		return "unset it to ask none";
	}
}

static int debuginfod__ask(struct debuginfod *debuginfod, enum debuginfod_kind kind,
			   const struct build_id *id, const char *path)
{
	struct progress_step outer;
	int fd;

	progress__begin_within("fetching symbols of", path, &outer);
	asked_s = now_s();
	fd = debuginfod->find[kind](debuginfod->client, id->bytes, (int)id->nr_bytes,
				    NULL);
	progress__resume(&outer);
	if (fd >= 0) {
		pr_debug("%s: %s from a debuginfod server", path,
			 kind == DEBUGINFOD_EXECUTABLE ? "the file" : "its debug file");
		return fd;
	}
	if (fd == -ENOENT) {
		pr_debug("%s: no debuginfod server has %s", path,
			 kind == DEBUGINFOD_EXECUTABLE ? "it" : "its debug file");
		return fd;
	}
	pr_warning("the servers of DEBUGINFOD_URLS can't be asked for symbols of %s: %s; "
		   "they "
		   "aren't asked any more, and functions may be [unknown]; %s",
		   path, strerror(-fd), advice(fd));
	debuginfod->is_off = true;
	return fd;
}

int debuginfod__find(struct debuginfod *debuginfod, enum debuginfod_kind kind,
		     const struct build_id *id, const char *path)
{
	int err;

	if (debuginfod->is_off || !is_wanted())
		return -ENOENT;
	if (!debuginfod->is_tried) {
		debuginfod->is_tried = true;
		err = debuginfod__load(debuginfod);
		debuginfod->is_off = err != 0;
		if (err)
			return err;
	}
	return debuginfod__ask(debuginfod, kind, id, path);
}
