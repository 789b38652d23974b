/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_SINK_RECORDING_TEXT_H
#define PERF_GPU_SINK_RECORDING_TEXT_H

#include "sink/sink.h"

/**
 * recording_text - what was recorded, where and when, in one line for people
 * @ret: "perf-gpu record ./app · host · 2026-11-30 08:22:15 UTC · 2 × NVIDIA H200", of which
 *       what isn't known is left out; to be freed; written on success only
 *
 * Comes from the recording alone, so that it is the same wherever and whenever it is made.
 * It may have any byte but NUL. A long command is cut, and ends in "…".
 *
 * Return: 0 or a negative errno.
 */
int recording_text(const struct sink_input *input, char **ret);

#endif
