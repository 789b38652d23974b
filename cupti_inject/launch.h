/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The launch callbacks: CUPTI calls one at the entry of every API function that has
 * records of the kinds that are wanted, as launches have; it walks the stack and hits the
 * marker. "Launches" here are calls of any of these.
 *
 * A runtime function calls the driver function of the same job, and both are
 * reported, with one correlation id: only the first, which is the outermost, is
 * taken. That holds without counting entries and exits, so an exit that never
 * comes (callbacks switched off in between) does no harm.
 */
#ifndef PERF_GPU_INJECT_LAUNCH_H
#define PERF_GPU_INJECT_LAUNCH_H

#include "config.h"
#include "cupti_table.h"
#include "log.h"

/**
 * launch__prepare - know where launches are to go
 * @config, @log: kept
 *
 * Return: 0 or a negative errno, of which the log tells.
 */
int launch__prepare(const struct config *config, struct log *log);

/**
 * launch__subscribe - become CUPTI's subscriber, with no callback enabled yet
 * @cupti: kept
 * @ret_holder: who holds CUPTI already, if it says so; else ""
 *
 * Return: CUPTI's result; undone by launch__unsubscribe().
 */
CUptiResult launch__subscribe(const struct cupti_table *cupti, char ret_holder[128]);

/*
 * Follow cudaProfilerStart() and cudaProfilerStop() from here on, until
 * launch__unsubscribe(). 0, or -ENOSYS if CUPTI doesn't tell of them.
 */
int launch__enable_range(void);

/* Leave CUPTI to others: recording could not begin. */
void launch__unsubscribe(void);

/**
 * launch__enable - switch the callbacks of every such function on or off, and those that
 * tell of graphs' nodes
 *
 * The functions are found in CUPTI's own list of names, so those of later
 * versions are too.
 *
 * Return: how many such functions, 0 if none could be switched.
 */
unsigned int launch__enable(bool on);

/**
 * launch__emit - walk the calling thread's stack, and hand it to the recorder
 * @api: GPU_LOG_API_ID() of what is happening
 * @key: what it is found by later: of a launch, the correlation id
 *
 * Counts nothing. For callbacks of CUPTI's, on any thread, in a forked child too.
 */
void launch__emit(uint32_t api, uint64_t key);

/* CUPTI's 32-bit correlation id, widened by what this process has launched. */
uint64_t launch__widen(uint32_t correlation_id);

/* The same of a launch, which others are widened by from here on. */
uint64_t launch__note_correlation(uint32_t correlation_id);

/*
 * A correlation id, widened: launches that are entered from here on have later ones.
 * Calls the driver. 0: CUPTI doesn't tell; its callbacks must be on.
 */
uint64_t launch__newest_id(void);

/* How many launches this process has made. */
uint64_t launch__count(void);

/*
 * Write launches that are still in memory. Before anything is written of kernels: so
 * each that is in the log after a kill has its launch.
 */
void launch__flush(void);

/* In the process itself, or in a forked child of it: write the end record. */
void launch__end(void);

/* Give up the files. There may be another launch__prepare(). */
void launch__close(void);

#endif
