/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a step on labels (frame_label.h), which libunwind has made, to a rule */
#ifndef PERF_GPU_INJECT_FRAME_STEP_H
#define PERF_GPU_INJECT_FRAME_STEP_H

#include <stdbool.h>

#include "frame_rule.h"
#include "unwind_library.h"

/* libunwind's numbers of our registers */
extern const unw_regnum_t frame_step_registers[FRAME_NR_REGISTERS];

/**
 * frame_step__rule - make a rule of what registers have behind the step
 * @is_plain: what the table says of the place is all known (cfi_program.h)
 * @rule:     its head's kind stays as it is
 *
 * Return: false if no rule can say what the step was.
 */
bool frame_step__rule(const struct unwind_library *library, unw_cursor_t *cursor,
		      bool is_plain, struct frame_rule *rule);

#endif
