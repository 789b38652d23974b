/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a Firefox profile: a timeline's tracks that have slices. A thread has one
 * array for each field of all its markers, and of all its samples, so these are kept until
 * the end, as small as they can be: 64 bytes for a marker, 24 for a sample.
 *
 * One thread.
 */
#ifndef PERF_GPU_SINK_FIREFOX_THREADS_H
#define PERF_GPU_SINK_FIREFOX_THREADS_H

#include <stdint.h>

#include "sink/frame_names.h"
#include "sink/out_file.h"
#include "sink/timeline.h"

struct firefox_threads;

/* @ret: released by firefox_threads__delete(). 0 or -ENOMEM, printed, as all that may fail. */
int firefox_threads__new(struct firefox_threads **ret);
void firefox_threads__delete(struct firefox_threads *threads); /* NULL is fine */

/* As timeline_writer_ops has them */
int firefox_threads__track(struct firefox_threads *threads,
			   const struct timeline_track *track);
int firefox_threads__event(struct firefox_threads *threads,
			   const struct timeline_event *event);
int firefox_threads__begin(struct firefox_threads *threads,
			   const struct timeline_event *event);
void firefox_threads__end(struct firefox_threads *threads, uint32_t track,
			  uint64_t time_ns);

/* When the first marker begins; UINT64_MAX without one */
uint64_t firefox_threads__first_ns(const struct firefox_threads *threads);
/* When the last one ends; 0 without one */
uint64_t firefox_threads__last_ns(const struct firefox_threads *threads);

/**
 * firefox_threads__write - the array of all threads
 * @strings:  where markers' names are looked up, by whose ids they are written
 * @first_ns: times are written from then on
 *
 * Return: 0, -ENOMEM, printed, or out_file__error().
 */
int firefox_threads__write(struct firefox_threads *threads, struct out_file *file,
			   struct frame_names *strings, uint64_t first_ns);

#endif
