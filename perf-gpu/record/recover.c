// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu_log.h"
#include "record/finish.h"
#include "record/journal.h"
#include "record/launch_merge.h"
#include "record/output.h"
#include "record/output_lock.h"
#include "record/spool.h"
#include "record/unbegun.h"
#include "util/log.h"
#include "util/owner.h"
#include "util/spool_name.h"
#include "util/stream.h"

/*
 * Recorded processes look once a second whether their recorder lives, end their logs, and
 * let go of them; children that they have forked may never do so.
 */
#define MAX_WAIT_MS  3000
#define WAIT_STEP_MS 50

static const char missing[] =
	"they were on the way when the recorder ended, or came behind that; what the "
	"GPU did for them, until their process noticed, is there without a stack";

/* What is left, and what is made of it */
struct recovery {
	char path[PATH_MAX]; /* of perf.data */
	struct spool spool;
	struct journal journal;
	int journal_fd;
	char data_path[PATH_MAX];
	struct output_lock lock;
	struct backup backup;
	struct output *output;
	uint64_t nr_bytes, nr_lost_bytes; /* of the unfinished perf.data's records */
	struct carrier_losses losses;
};

/* --- finding it ------------------------------------------------------------------ */

/* Spools of a perf.data by their state, and the newest of those that are left */
struct found {
	size_t nr_left, nr_locked, nr_unbegun;
	char newest[PATH_MAX];
	struct timespec newest_time;
	char lost[PATH_MAX]; /* one that can't be recovered; "": there is none */
	char denied[PATH_MAX]; /* one that this user doesn't get to; likewise */
};

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* 0, or a negative errno, if it can't be told */
static int look_at(struct found *found, const char *path)
{
	enum journal_state state = JOURNAL_NONE;
	struct spool spool;
	struct stat st;
	int err;

	err = spool__open(path, &spool);
	/* What others have put there, or just removed */
	if (err == -ENOENT || err == -ENOTDIR || err == -ELOOP)
		return 0;
	if (err)
		goto out_closed;
	err = fstat(spool.dir_fd, &st) ? -errno : journal__state(&spool, &state);
	if (err)
		goto out;
	switch (state) {
	case JOURNAL_LEFT:
		found->nr_left++;
		if (found->nr_left == 1 || is_later(&st.st_mtim, &found->newest_time)) {
			found->newest_time = st.st_mtim;
			snprintf(found->newest, sizeof(found->newest), "%s", path);
		}
		break;
	case JOURNAL_LOST:
		snprintf(found->lost, sizeof(found->lost), "%s", path);
		break;
	case JOURNAL_LOCKED:
		found->nr_locked++;
		break;
	case JOURNAL_NONE:
		found->nr_unbegun += unbegun__is_spool(&spool);
		break;
	}
out:
	close(spool.dir_fd);
out_closed:
	if (err == -EACCES) {
		snprintf(found->denied, sizeof(found->denied), "%s", path);
		err = 0;
	}
	return err;
}

static int find_spools(const char *path, struct found *ret)
{
	char folder[PATH_MAX], spool[2 * PATH_MAX];
	struct dirent *entry;
	const char *name;
	int err = 0;
	DIR *dir;

	*ret = (struct found){};
	spool_name__split(path, folder, &name);
	dir = opendir(folder);
	if (!dir)
		return -errno;
	while (!err && (errno = 0, entry = readdir(dir))) {
		if (!spool_name__is_of(entry->d_name, name))
			continue;
		snprintf(spool, sizeof(spool), "%s/%s", folder, entry->d_name);
		if (strlen(spool) < PATH_MAX)
			err = look_at(ret, !strcmp(folder, ".") ? entry->d_name : spool);
	}
	if (!err)
		err = -errno;
	closedir(dir);
	return err;
}

void recover__tell(const char *path)
{
	struct found found;
	char others[64] = "";

	if (find_spools(path, &found))
		return;
	if (found.nr_unbegun && !found.nr_left)
		pr_warning("a recorder was ended here before it recorded anything: "
			   "perf-gpu inject --recover -i %s removes what it has left",
			   path);
	if (!found.nr_left)
		return;
	if (found.nr_left > 1)
		snprintf(others, sizeof(others), ", and %zu more,", found.nr_left - 1);
	pr_warning("%s%s is left of a recorder that did not finish: perf-gpu inject "
		   "--recover -i %s makes a recording of it",
		   found.newest, others, path);
}

/* Without the slash with which shells complete the names of folders */
static void copy_folder(char copy[PATH_MAX], const char *path)
{
	size_t nr_bytes = strlen(path);

	while (nr_bytes > 1 && path[nr_bytes - 1] == '/')
		nr_bytes--;
	snprintf(copy, PATH_MAX, "%.*s", (int)nr_bytes, path);
}

/* A spool that the user names */
static int take_folder(struct recovery *recovery, const char *path)
{
	const size_t nr_bytes = strlen(path), nr_suffix = strlen(SPOOL_NAME_SUFFIX);

	if (nr_bytes <= nr_suffix || nr_bytes >= sizeof(recovery->path) ||
	    strncmp(path + nr_bytes - nr_suffix, SPOOL_NAME_INFIX,
		    strlen(SPOOL_NAME_INFIX)) != 0) {
		pr_err("%s is no folder that a recorder has left: its name ends with "
		       ".gpu.spool. and six letters and digits",
		       path);
		return -EINVAL;
	}
	snprintf(recovery->path, sizeof(recovery->path), "%.*s",
		 (int)(nr_bytes - nr_suffix), path);
	return 0;
}

static void tell_nothing(const struct found *found, const char *path)
{
	if (*found->lost && !found->nr_locked)
		pr_err("there is nothing to recover beside %s: %s is left of a recorder "
		       "of several files, of which those that have a time in their names "
		       "are whole, and the rest is lost: remove that folder, and the "
		       "unfinished %s.XXXXXX",
		       path, found->lost, path);
	else if (*found->denied && !found->nr_locked)
		pr_err("there is nothing to recover beside %s that is this user's; %s: "
		       "%s",
		       path, found->denied, strerror(EACCES));
	else
		pr_err("there is nothing to recover beside %s: %s", path,
		       found->nr_locked ? "it is still being recorded"
					: "no recorder of this user's has left anything");
}

/*
 * Nothing can be recovered; but a recorder may have left its lock, or what it had before
 * anything was recorded. Return: -ENOENT or another errno, printed
 */
static int clear(const struct found *found, const char *path)
{
	struct output_lock lock;
	char sidecar_path[PATH_MAX];
	unsigned int nr = 0;
	int err;

	if (found->nr_locked || (*found->lost && !found->nr_unbegun)) {
		tell_nothing(found, path);
		return -ENOENT;
	}
	snprintf(sidecar_path, sizeof(sidecar_path), "%.*s.gpu", PATH_MAX - 5, path);
	err = output_lock__take(sidecar_path, path,
				"there is nothing to recover of it yet", &lock);
	if (err)
		return err;
	if (lock.is_held)
		nr = unbegun__remove(path);
	output_lock__release(&lock);
	if (nr && !*found->lost)
		pr_err("there is nothing to recover beside %s: nothing had been recorded",
		       path);
	else
		tell_nothing(found, path);
	return -ENOENT;
}

/* The newest beside a perf.data, be that there or not */
static int take_newest(struct recovery *recovery, const char *path, struct found *found)
{
	int err;

	err = find_spools(path, found);
	if (err) {
		pr_err("can't look beside %s: %s", path, strerror(-err));
		return err;
	}
	if (!found->nr_left)
		return clear(found, path);
	snprintf(recovery->path, sizeof(recovery->path), "%s", path);
	if (found->nr_left > 1)
		pr_warning("recorders have left %zu folders beside %s: the newest is "
			   "recovered, the others by doing this again; give %s another "
			   "name before, since of older ones only %s.old is kept",
			   found->nr_left, path, path, path);
	return 0;
}

/* The spool, and which perf.data it is of */
static int find(struct recovery *recovery, const char *path)
{
	struct found found = {};
	struct stat st;
	int err;

	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		copy_folder(found.newest, path);
		err = take_folder(recovery, found.newest);
	} else {
		err = take_newest(recovery, path, &found);
	}
	if (err)
		return err;
	err = spool__open(found.newest, &recovery->spool);
	if (err)
		pr_err("can't open the folder %s: %s", found.newest, strerror(-err));
	return err;
}

/* --- what is in it --------------------------------------------------------------- */

static void wait_for_processes(const struct recovery *recovery)
{
	for (int ms = 0; spool__is_in_use(&recovery->spool); ms += WAIT_STEP_MS) {
		if (ms >= MAX_WAIT_MS) {
			pr_warning("recorded processes still have their logs open: what "
				   "they write from now on is not recorded");
			return;
		}
		poll(NULL, 0, WAIT_STEP_MS);
	}
}

/* Made by us, or for who has used sudo; and not another name of some other file of ours */
static bool is_own_file(int fd, struct stat *st)
{
	uid_t uid;
	gid_t gid;

	if (fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_nlink != 1)
		return false;
	return st->st_uid == geteuid() || (owner__find(&uid, &gid) && st->st_uid == uid);
}

/* The unfinished file stands beside perf.data, whatever the journal says. */
static int open_data(struct recovery *recovery)
{
	const char *name = recovery->journal.data, *output;
	char folder[PATH_MAX];
	struct stat st;
	int fd;

	spool_name__split(recovery->path, folder, &output);
	if (strncmp(name, output, strlen(output)) != 0 ||
	    snprintf(recovery->data_path, sizeof(recovery->data_path), "%s/%s", folder,
		     name) >= (int)sizeof(recovery->data_path)) {
		recovery->data_path[0] = '\0';
		return -EINVAL;
	}
	fd = open(recovery->data_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && is_own_file(fd, &st)) {
		recovery->nr_bytes = (uint64_t)st.st_size;
		return fd;
	}
	recovery->data_path[0] = '\0';
	if (fd < 0)
		return -errno;
	close(fd);
	return -EPERM;
}

/* Records up to the first that isn't whole. 0 or a negative errno, printed */
static int read_records(struct recovery *recovery, FILE *file)
{
	static _Alignas(8) unsigned char record[UINT16_MAX + 1];
	struct perf_event_header *header = (void *)record;
	uint64_t nr_left = recovery->nr_bytes;
	int err = 0;

	while (!err && fread(record, sizeof(*header), 1, file) == 1 &&
	       header->size >= sizeof(*header) && header->size % 8 == 0 &&
	       header->size <= nr_left) {
		const size_t nr_body = header->size - sizeof(*header);

		if (nr_body && fread(header + 1, nr_body, 1, file) != 1)
			break;
		nr_left -= header->size;
		err = output__recovered(recovery->output, header);
	}
	recovery->nr_lost_bytes = nr_left;
	return err;
}

static int read_data(struct recovery *recovery, int fd)
{
	const uint64_t offset = recovery->journal.data_offset;
	FILE *file;
	int err;

	if (recovery->nr_bytes <= offset)
		return 0; /* nothing had happened yet */
	recovery->nr_bytes -= offset;
	file = stream__open(fd, "r");
	if (!file || fseeko(file, (off_t)offset, SEEK_SET)) {
		err = -errno;
		pr_err("can't read %s: %s", recovery->data_path, strerror(-err));
	} else {
		err = read_records(recovery, file);
	}
	if (file)
		fclose(file);
	if (!err && recovery->nr_lost_bytes)
		pr_warning("%s is damaged: its last %llu bytes, of %llu, can't be read",
			   recovery->data_path,
			   (unsigned long long)recovery->nr_lost_bytes,
			   (unsigned long long)recovery->nr_bytes);
	return err;
}

static int read_launch_logs(struct recovery *recovery)
{
	struct launch_reader_counts counts;
	int err;

	err = launch_merge__run(&recovery->spool, recovery->journal.session,
				recovery->output, &counts);
	if (err)
		return err;
	recovery->losses.nr_log = counts.nr_lost;
	recovery->losses.nr_stack = counts.nr_lost_stacks;
	return 0;
}

static int read_launches(struct recovery *recovery)
{
	int fd = open_data(recovery), err = 0;

	if (!recovery->journal.has_perfdata)
		err = 0; /* it was to be dropped */
	else if (recovery->journal.has_launch_logs)
		err = read_launch_logs(recovery);
	else if (fd >= 0)
		err = read_data(recovery, fd);
	else
		pr_warning("the unfinished %s can't be read: the stacks of launches are "
			   "lost: %s",
			   recovery->journal.data, strerror(-fd));
	if (fd >= 0)
		close(fd);
	return err;
}

static int open_output(struct recovery *recovery)
{
	const struct output_config config = {
		.path = recovery->path,
		.argv = recovery->journal.argv,
		.stack = recovery->journal.stack,
		.session = recovery->journal.session,
		.clock = recovery->journal.clock,
	};
	int err;

	err = output__open(&config, &recovery->output);
	if (!err)
		err = read_launches(recovery);
	return err ? err : output__finish_round(recovery->output);
}

/* --- what is made of it ---------------------------------------------------------- */

/*
 * Killed between its two last steps, the recorder has given the sidecar its name, and not
 * perf.data: that one is made anew, and must not become another's.
 */
static void remove_half(const struct recovery *recovery)
{
	const char *path = recovery->backup.path[1];
	struct gpu_log_block block;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is_ours;

	if (fd < 0)
		return;
	is_ours = read(fd, &block, sizeof(block)) == sizeof(block) &&
		  block.magic == GPU_LOG_MAGIC &&
		  block.session == recovery->journal.session;
	close(fd);
	if (is_ours && recovery->journal.has_perfdata)
		unlink(path);
}

static int finish(struct recovery *recovery)
{
	const struct size_limit unlimited = {};
	const struct finish_input input = {
		.path = recovery->path,
		.has_perfdata = recovery->journal.has_perfdata,
		.session = recovery->journal.session,
		.events = recovery->journal.events,
		.clock = recovery->journal.clock,
		.output = recovery->output,
		.spool = &recovery->spool,
		.backup = &recovery->backup,
		.limit = &unlimited,
		.losses = recovery->losses,
		.missing = missing,
		.status = -1,
		.is_recovered = true,
	};
	bool is_whole;

	remove_half(recovery);
	return finish__run(&input, &is_whole);
}

static int run(struct recovery *recovery, const char *path)
{
	int err;

	err = find(recovery, path);
	if (err)
		return err;
	wait_for_processes(recovery);
	err = journal__read(&recovery->spool, &recovery->journal, &recovery->journal_fd);
	if (err)
		return err;
	pr_info("%s is what process %d on %s has left", recovery->spool.path,
		recovery->journal.pid, recovery->journal.host);
	err = backup__init(recovery->path, recovery->journal.has_perfdata,
			   &recovery->backup);
	if (!err)
		err = output_lock__take(
			recovery->backup.path[1], recovery->path,
			"wait until that one ends, then recover what the other has left",
			&recovery->lock);
	if (!err)
		err = open_output(recovery);
	return err ? err : finish(recovery);
}

int recover__run(const char *path, char *ret_path)
{
	struct recovery recovery = {
		.spool = {.dir_fd = -1}, .journal_fd = -1, .lock = {.fd = -1}};
	int err = run(&recovery, path);

	output__close(recovery.output);
	if (!err) {
		snprintf(ret_path, PATH_MAX, "%s", recovery.path);
		if (*recovery.data_path)
			unlink(recovery.data_path);
		spool__remove(&recovery.spool);
	} else if (recovery.spool.dir_fd >= 0) {
		close(recovery.spool.dir_fd);
	}
	if (recovery.journal_fd >= 0)
		close(recovery.journal_fd);
	journal__release(&recovery.journal);
	output_lock__release(&recovery.lock);
	return err;
}
