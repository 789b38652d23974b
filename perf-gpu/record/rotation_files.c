// SPDX-License-Identifier: GPL-2.0-or-later
/* The files of a recording of several: their names, how many stay, and what is told of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "record/rotation_internal.h"
#include "util/format.h"
#include "util/log.h"

/* perf's: of the local time, to hundredths of a second */
static int add_timestamp(const char *path, const struct timeval *now, char ret[PATH_MAX])
{
	struct tm tm;
	char text[32];

	if (!localtime_r(&now->tv_sec, &tm) ||
	    !strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm) ||
	    snprintf(ret, PATH_MAX, "%s.%s%02u", path, text,
		     (unsigned int)(now->tv_usec / 10000)) >= PATH_MAX) {
		pr_err("can't name a file after the time: %s.TIMESTAMP is too long",
		       path);
		return -ENAMETOOLONG;
	}
	return 0;
}

/* Of two in one hundredth of a second, the second has the next one's name. */
int rotation__make_names(const struct rotation *rotation, struct file_names *ret)
{
	struct timeval now;
	int err;

	gettimeofday(&now, NULL);
	for (;;) {
		err = add_timestamp(rotation->config.path, &now, ret->perfdata);
		if (err)
			return err;
		if (snprintf(ret->sidecar, PATH_MAX, "%s.gpu", ret->perfdata) >=
		    PATH_MAX) {
			pr_err("%s.gpu is too long a name", ret->perfdata);
			return -ENAMETOOLONG;
		}
		if (access(ret->perfdata, F_OK) && access(ret->sidecar, F_OK))
			return 0;
		now.tv_usec += 10000;
		if (now.tv_usec >= 1000000) {
			now.tv_usec -= 1000000;
			now.tv_sec++;
		}
	}
}

/* It may be gone: somebody has taken it to be read. */
static int remove_file(const char *path)
{
	return unlink(path) && errno != ENOENT ? -errno : 0;
}

static void remove_oldest(struct rotation *rotation)
{
	struct rotation_file *oldest = &rotation->files[0];
	struct rotation_counts *counts = &rotation->counts;
	char sidecar[PATH_MAX];
	int err, sidecar_err;

	snprintf(sidecar, sizeof(sidecar), "%s.gpu", oldest->path);
	err = remove_file(oldest->path);
	sidecar_err = remove_file(sidecar);
	if (err || sidecar_err)
		pr_warning("can't remove %s, which is one file too many: %s",
			   err ? oldest->path : sidecar,
			   strerror(err ? -err : -sidecar_err));
	counts->nr_files--;
	counts->perfdata_bytes -= oldest->perfdata_bytes;
	counts->logs.bytes -= oldest->sidecar_bytes;
	counts->nr_removed_files++;
	counts->nr_removed_launches += oldest->nr_launches;
	free(oldest->path);
	memmove(oldest, oldest + 1, --rotation->nr_files * sizeof(*oldest));
}

/* Only so many files stay, the newest. */
int rotation__bound_files(struct rotation *rotation, const char *path,
			  uint64_t nr_launches)
{
	const unsigned int max = rotation->config.options.max_files;
	struct rotation_file file = {
		.nr_launches = nr_launches,
		.perfdata_bytes = output__counts(rotation->config.output).bytes,
		.sidecar_bytes = collection__counts(rotation->collection).bytes,
	};

	if (!max)
		return 0;
	if (rotation->nr_files == max)
		remove_oldest(rotation);
	file.path = strdup(path);
	if (!file.path) {
		pr_err("no memory for the names of files");
		return -ENOMEM;
	}
	rotation->files[rotation->nr_files++] = file;
	return 0;
}

/*
 * Would the file have nothing of its own, and push out one that has? Of --overwrite, each has
 * the newest, whatever came since the one before.
 */
bool rotation__is_idle_file(const struct rotation *rotation,
			    const struct carrier_losses *losses)
{
	const struct output_counts counts = output__counts(rotation->config.output);
	const struct carrier_losses *before = &rotation->losses;

	return rotation->nr_files && !rotation->config.options.overwrites &&
	       !rotation->has_news &&
	       counts.nr_launches == rotation->nr_launches_before &&
	       counts.nr_broken == rotation->nr_broken_before &&
	       rotation->builder.nr_counted == rotation->begin_counted &&
	       losses->nr_ring == before->nr_ring && losses->nr_log == before->nr_log &&
	       losses->nr_stack == before->nr_stack;
}

/* "30s,1G": what --overwrite takes to keep more */
static void format_larger(const struct switch_options *options, char *text, size_t size)
{
	const uint64_t mib = (options->keep_bytes >> 20) * 4;

	snprintf(text, size, "%llus,%llu%c",
		 (unsigned long long)(options->keep_ns / 1000000000),
		 (unsigned long long)(mib % 1024 ? mib : mib / 1024),
		 mib % 1024 ? 'M' : 'G');
}

/* Who asked for a time has another, if room decided. */
static void tell_size_limit(const struct rotation *rotation)
{
	const struct switch_options *options = &rotation->config.options;
	struct format_buf size;
	char larger[64];

	if (!rotation->is_size_limited || options->keep_ns == INT64_MAX)
		return;
	format_larger(options, larger, sizeof(larger));
	pr_info("that is less than %llu s, since the %s that --overwrite may take were "
		"full: --overwrite=%s keeps more",
		(unsigned long long)(options->keep_ns / 1000000000),
		format__file_size(options->keep_bytes, &size), larger);
}

void rotation__tell_file(const struct rotation *rotation, const char *path,
			 const struct gpu_log_recorder *recorder)
{
	const struct output_counts output = output__counts(rotation->config.output);
	const struct collection_counts logs = collection__counts(rotation->collection);
	const uint64_t kept_ns = recorder->end_monotonic_ns - recorder->kept_from_ns;
	struct format_buf launches, data, sidecar, cut;

	pr_info("%s %s in %s (%s), GPU records in %s.gpu (%s)",
		format__count(recorder->nr_launches, &launches),
		recorder->nr_launches == 1 ? "launch" : "launches", path,
		format__file_size(output.bytes, &data), path,
		format__file_size(logs.bytes, &sidecar));
	if (recorder->kept_from_ns)
		pr_info("the newest %.1f s are kept; %s %s and %s GPU %s of before are "
			"left out",
			(double)kept_ns / 1e9,
			format__count(recorder->nr_cut_launches, &launches),
			format__plural(recorder->nr_cut_launches, "launch", "launches"),
			format__count(recorder->nr_cut_records, &cut),
			format__plural(recorder->nr_cut_records, "record", "records"));
	if (recorder->kept_from_ns)
		tell_size_limit(rotation);
}

void rotation__count_file(struct rotation *rotation,
			  const struct gpu_log_recorder *recorder)
{
	struct rotation_counts *counts = &rotation->counts;

	if (rotation->config.options.overwrites) {
		counts->nr_kept_launches = recorder->nr_launches;
		counts->nr_cut_launches = recorder->nr_cut_launches;
	}
	counts->nr_files++;
	counts->perfdata_bytes += output__counts(rotation->config.output).bytes;
	counts->logs.bytes += collection__counts(rotation->collection).bytes;
}
