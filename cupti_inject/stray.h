/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels and copies that CUPTI records without having told of their launch. Most were
 * launched while recording was off. CUPTI 13 does so after kernels have been recorded a second time in a process (seen
 * on an H200 with CUDA graphs, 150,000 kernels at each attach). They have the correlation
 * id of the thread's last launch that was told of, and would get its stack.
 *
 * They are known by what a launch can't have: an id from while recording was off, as ids
 * count up through the whole process; and, in
 * the buffer of a thread, another kernel of the same id on the same device, or a kernel
 * and a copy of one id, unless both are nodes of graphs. (One call may make several
 * copies, so of copies alone only the first rule tells. And a launch of a graph by a
 * thread whose last launch was one, too, is not known, and gets the stack of that.)
 *
 * From any thread.
 */
#ifndef PERF_GPU_INJECT_STRAY_H
#define PERF_GPU_INJECT_STRAY_H

#include <stdbool.h>
#include <stdint.h>

/* What the GPU did: a kernel, or a copy or memset */
struct stray_work {
	uint32_t device;
	uint32_t graph; /* 0: it is of none */
	bool is_copy;
};

/* Work of one id that follows each other in a buffer; all 0 at its start. */
struct stray_run {
	uint64_t correlation_id;
	struct stray_work first;
	bool has_begun;
	bool is_over; /* all that follow are strays */
};

/**
 * stray__begin - a recording begins
 * @are_expected: there was another before, and stray__on_from() says where this begins;
 *                else everything is taken for what it is
 */
void stray__begin(bool are_expected);

/**
 * stray__off_from - the recording is switched off: from here on there may be some
 * @correlation_id: which launches behind that have, and none before
 * @time_ns:        now
 */
void stray__off_from(uint64_t correlation_id, uint64_t time_ns);

/* It is about to be switched on again: launches are told of from here on. */
void stray__before_on(void);

/* It is on: what is recorded is of launches that have that id, or a later one. */
void stray__on_from(uint64_t correlation_id);

/*
 * Is recording off as of the launch with that id? Then it is not to be told of. May say
 * no of one that is just then at it, while its kernels are strays.
 */
bool stray__is_off(uint64_t correlation_id);

enum stray_kind {
	STRAY_NONE, /* of the launch with that id */
	STRAY_OFF, /* launched while recording was off: to be left out */
	/*
	 * Launched while it was on, but CUPTI hasn't told of it: it has the id of a launch
	 * of this time, the last that was told of.
	 */
	STRAY_UNTOLD,
};

/**
 * stray__is - what the next work of a buffer is
 * @correlation_id: of the work; 0: it has none, and that tells nothing
 * @start_ns:       when it began; 0: unknown
 */
enum stray_kind stray__is(struct stray_run *run, const struct stray_work *work,
			  uint64_t correlation_id, uint64_t start_ns);

/**
 * stray__has_id_of_pause - is what a thread did one, a sync or an allocation?
 *
 * By the first rule alone. Parameters as above.
 */
bool stray__has_id_of_pause(uint64_t correlation_id);

/* The buffer ends: the thread's next one goes on there. */
void stray__end_buffer(const struct stray_run *run);

/* How many there were, in this recording: that were left out; that were untold */
uint64_t stray__count(void);
uint64_t stray__count_untold(void);

#endif
