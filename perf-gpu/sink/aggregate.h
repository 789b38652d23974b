/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples that look the same, added up to one:
 *
 *	event · process · name of the thread · stack, by address · what the leaf says
 *
 * The sum has the time, the CPU and the thread of the first of them, the periods of all,
 * and how many they were. Threads of one name are not told apart: a pool of workers that
 * share their code is as large as one of them.
 *
 * The same addresses are the same stack as long as the same is mapped there.
 *
 * Memory grows with distinct stacks and sums, not with samples. One thread.
 */
#ifndef PERF_GPU_SINK_AGGREGATE_H
#define PERF_GPU_SINK_AGGREGATE_H

#include <stddef.h>
#include <stdint.h>

#include "sink/sink.h"

struct aggregate;

/**
 * aggregate__new - without a sample
 * @input: as in sink_ops.start(); what is in it must outlive the aggregate
 * @ret:   released by aggregate__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int aggregate__new(const struct sink_input *input, struct aggregate **ret);
void aggregate__delete(struct aggregate *aggregate); /* NULL is fine */

/**
 * aggregate__add - add a sample
 * @sample: later ones have the same time or a later one. Names of frames are kept by
 *          reference. Without user_state.
 *
 * Return: 0 or -ENOMEM.
 */
int aggregate__add(struct aggregate *aggregate, const struct gpu_sample *sample);

/* How many sums there are; they have numbers from 0 on, by their time. */
size_t aggregate__nr(const struct aggregate *aggregate);

/**
 * aggregate__get - a sum
 * @ret:    what is told of it above; frames have no file, and labels and activity are
 *          none. Its frames are valid until the next call.
 * @ret_nr: of how many samples
 *
 * Return: 0 or -ENOMEM.
 */
int aggregate__get(struct aggregate *aggregate, size_t i, struct gpu_sample *ret,
		   uint64_t *ret_nr);

#endif
