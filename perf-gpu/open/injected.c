// SPDX-License-Identifier: GPL-2.0-or-later
#include "open/injected.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink/sink.h"
#include "source/options.h"
#include "util/log.h"
#include "util/owner.h"
#include "util/spool_name.h"

/* Prints nothing */
__attribute__((format(printf, 2, 3))) static int put_path(char ret[PATH_MAX],
							  const char *fmt, ...)
{
	va_list args;
	int length;

	va_start(args, fmt);
	length = vsnprintf(ret, PATH_MAX, fmt, args);
	va_end(args);
	return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* @length without @end, if that is the end of @name's first @length bytes */
static size_t cut(const char *name, size_t length, const char *end)
{
	size_t nr = strlen(end);

	return length > nr && !strncmp(name + length - nr, end, nr) ? length - nr
								    : length;
}

/* "perf.data" → "perf.gpu.data", what inject calls it; others after their input */
static int name_output(const char *folder, const char *input, char ret[PATH_MAX])
{
	size_t length = cut(input, strlen(input), ".tar.zst");

	length = cut(input, length, ".data");
	return put_path(ret, "%s/%.*s.gpu.data", folder, (int)length, input);
}

static void tell_file(FILE *to, const char *what, const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		fprintf(to, "%s: none\n", what);
		return;
	}
	fprintf(to, "%s: number %ju, %jd bytes, changed %jd.%09ld\n", what,
		(uintmax_t)st.st_ino, (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec);
}

/*
 * What @output is made of, and which file that is. Its path counts, since it has that
 * of its symbols. NULL if there is no memory.
 */
static char *describe(const struct source_options *options, const char *chosen,
		      const char *output)
{
	char beside[PATH_MAX] = "";
	size_t bytes;
	char *text;
	FILE *to;

	to = open_memstream(&text, &bytes);
	if (!to)
		return NULL;
	put_path(beside, "%s.gpu", options->perfdata_path);
	fprintf(to, "version: %s\n", PERF_GPU_VERSION);
	tell_file(to, "recording", options->perfdata_path);
	tell_file(to, "GPU records",
		  options->sidecar_path ? options->sidecar_path : beside);
	fprintf(to, "%soutput: %s\n", chosen, output);
	tell_file(to, "output", output);
	return fclose(to) ? NULL : text;
}

/* Of nobody else, who could show us anything */
static bool is_trusted(const char *path)
{
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (stat(path, &st))
		return false;
	return st.st_uid == geteuid() || st.st_uid == 0 ||
	       (owner__find(&uid, &gid) && st.st_uid == uid);
}

static bool has_text(const char *path, const char *wanted)
{
	size_t length = strlen(wanted), got = 0;
	char *text = malloc(length + 1);
	FILE *file = fopen(path, "re");

	if (file && text)
		got = fread(text, 1, length + 1, file);
	if (file)
		fclose(file);
	got = got == length && !memcmp(text, wanted, length);
	free(text);
	return got;
}

static bool is_up_to_date(const struct source_options *options, const char *chosen,
			  const char *output)
{
	char stamp[PATH_MAX], symbols[PATH_MAX], folder[PATH_MAX];
	char *text;
	bool is_same;

	if (put_path(stamp, "%s.dso/made-of", output) ||
	    put_path(symbols, "%s.dso/[GPU_Kernel]", output) ||
	    put_path(folder, "%s.dso/symbols", output) || !is_trusted(output) ||
	    !is_trusted(stamp) || access(symbols, R_OK) || access(output, R_OK))
		return false;
	if (source_options__read_archive(options) && access(folder, X_OK))
		return false;
	text = describe(options, chosen, output);
	is_same = text && has_text(stamp, text);
	free(text);
	return is_same;
}

/* Failing costs no more than that it is made again. */
static void write_stamp(const struct source_options *options, const char *chosen,
			const char *output)
{
	char *text = describe(options, chosen, output);
	char stamp[PATH_MAX];
	FILE *file = NULL;
	int fd = -1;

	/* Anew: a link that somebody has put there is not to be followed. */
	if (text && !put_path(stamp, "%s.dso/made-of", output) &&
	    (!unlink(stamp) || errno == ENOENT))
		fd = open(stamp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  0644);
	if (fd >= 0) {
		owner__give(fd);
		file = fdopen(fd, "w");
	}
	if (file)
		fputs(text, file);
	else if (fd >= 0)
		close(fd);
	if (!file || fclose(file))
		pr_debug("%s.dso/made-of could not be written: %m", output);
	free(text);
}

static int inject(const struct source_options *options, const char *chosen,
		  const char *output)
{
	struct source_options with_symbols = *options;
	char symbol_folder[PATH_MAX];
	struct source_stats stats;
	struct sink *sink;
	int err;

	if (source_options__reads(options, output))
		return -EINVAL;
	if (put_path(symbol_folder, "%s.dso/symbols", output)) {
		pr_err("%s.dso/symbols is too long for a name", output);
		return -ENAMETOOLONG;
	}
	with_symbols.symbol_folder = symbol_folder;
	err = sink_perfdata__new(output, &(struct perfdata_options){}, &sink);
	if (err)
		return err;
	err = source__run(&with_symbols, sink, &stats);
	if (!err) {
		source_stats__print_summary(&stats);
		source_stats__release(&stats);
	}
	sink->ops->delete (sink);
	if (!err)
		write_stamp(options, chosen, output);
	return err;
}

/* What is someone else's there stays as it is, too. */
static bool can_write(const char *folder, const char *output)
{
	struct stat st;

	if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS))
		return false;
	return geteuid() == 0 || stat(output, &st) || st.st_uid == geteuid();
}

static int make_folders(char *path)
{
	for (char *slash = path; slash; *slash = '/') {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		if (!slash)
			break;
	}
	return 0;
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv: a folder for each recording */
static uint64_t hash_path(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
	return hash;
}

/* @beside: what can't be where it is, and @why */
static int find_cache(const char *beside, const char *why, char ret_folder[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	uint64_t hash = hash_path(beside);
	int err;

	if (cache && cache[0] == '/') {
		err = put_path(ret_folder, "%s/perf-gpu/%016" PRIx64, cache, hash);
	} else if (home && home[0] == '/') {
		err = put_path(ret_folder, "%s/.cache/perf-gpu/%016" PRIx64, home, hash);
	} else {
		pr_err("%s %s, and neither HOME nor XDG_CACHE_HOME tells where else to "
		       "write: "
		       "set one, or choose a file with 'perf-gpu inject -o'",
		       beside, why);
		return -ENOENT;
	}
	if (!err)
		err = make_folders(ret_folder);
	if (err)
		pr_err("folder %s could not be made: %s; set XDG_CACHE_HOME to one that "
		       "can be written",
		       ret_folder, strerror(-err));
	return err;
}

/* Where the recording's output is or is to be; its folder, for the user alone, exists. */
static int choose_output(const struct source_options *options, const char *chosen,
			 const char *input, char ret_output[PATH_MAX])
{
	const char *name = strrchr(input, '/') + 1;
	char folder[PATH_MAX];
	int err;

	err = put_path(folder, "%.*s", (int)(name - 1 - input), input);
	if (!err)
		err = name_output(folder, name, ret_output);
	if (!err && source_options__read_archive(options)) {
		if (find_cache(input, "is an archive", folder))
			return -ENOENT;
		err = name_output(folder, name, ret_output);
	} else if (!err && !is_up_to_date(options, chosen, ret_output) &&
		   !can_write(folder[0] ? folder : "/", ret_output)) {
		if (find_cache(ret_output, "can't be written", folder))
			return -ENOENT;
		err = name_output(folder, name, ret_output);
	}
	if (err)
		pr_err("the name of what would be made of %s is too long", input);
	return err;
}

int injected__update(const struct source_options *options, const char *chosen,
		     char ret_path[PATH_MAX])
{
	char input[PATH_MAX], output[PATH_MAX];
	int err;

	if (!realpath(options->perfdata_path, input)) {
		err = -errno;
		if (err == -ENOENT && spool_name__is_beside(options->perfdata_path))
			pr_err("%s could not be opened: %s; its recorder has not "
			       "finished: try 'perf-gpu inject --recover -i %s'",
			       options->perfdata_path, strerror(-err),
			       options->perfdata_path);
		else
			pr_err("%s could not be opened: %s; record with 'perf-gpu "
			       "record', or name a recording with -i",
			       options->perfdata_path, strerror(-err));
		return err;
	}
	err = choose_output(options, chosen, input, output);
	if (err)
		return err;
	if (is_up_to_date(options, chosen, output))
		pr_debug("%s is up to date", output);
	else
		err = inject(options, chosen, output);
	if (!err)
		snprintf(ret_path, PATH_MAX, "%s", output);
	return err;
}
