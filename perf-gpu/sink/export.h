/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The outputs of `perf-gpu export`: files for other programs. */
#ifndef PERF_GPU_SINK_EXPORT_H
#define PERF_GPU_SINK_EXPORT_H

#include "join/occurrences.h"
#include "sink/sink.h"

struct export_options {
	const char *path; /* "-": stdout, for those that are streams */
	enum event_weight weight; /* as in source_options */
};

/*
 * Each makes a sink that is released through ops->delete; @ret is written on success only.
 *
 * Return: 0 or a negative errno, printed.
 */

/* A timeline for chrome://tracing and ui.perfetto.dev (chrome.c) */
int sink_chrome__new(const struct export_options *options, struct sink **ret);

/* speedscope's file format (speedscope.c) */
int sink_speedscope__new(const struct export_options *options, struct sink **ret);

/* A processed profile of the Firefox Profiler (firefox.c) */
int sink_firefox__new(const struct export_options *options, struct sink **ret);

#ifdef HAVE_SQLITE3
/* Tables as nsys export makes them (nsys_sqlite.c); no stream */
int sink_nsys_sqlite__new(const struct export_options *options, struct sink **ret);
#endif

#ifdef HAVE_PROTOBUF_C
/* A timeline in Perfetto's own format (perfetto.c) */
int sink_perfetto__new(const struct export_options *options, struct sink **ret);

/* pprof's gzipped profile.proto; samples are to have labels (pprof.c) */
int sink_pprof__new(const struct export_options *options, struct sink **ret);
#endif

#endif
