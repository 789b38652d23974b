// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "frame_rule.h"
#include "gpu_log.h"
#include "linker_counts.h"
#include "marker.h"
#include "rule_cache.h"
#include "stack_memory.h"

/* A frame that the frame pointer leads over isn't larger. */
#define MAX_CHAIN_BYTES (1ull << 20)

static bool is_open;
static uint64_t own_start, own_end;
static atomic_uint_fast64_t newest_closes; /* libraries closed, as of the last walk */

/* Where a function was left: by a call, or by a signal */
struct place {
	uint64_t ip; /* where it goes on */
	uint64_t registers[FRAME_NR_REGISTERS];
	bool is_interrupted;
	/* Found by the frame pointer, which needn't tell where the stack pointer is: it
	   is there, or further out. */
	bool is_sp_bound;
	struct frame_rule rule; /* of the ip */
};

struct walk {
	struct stack_memory memory;
	uint16_t epoch, nr_loads; /* of the dynamic linker */
	bool has_all_registers; /* else only the stack and the frame pointer are followed */
	bool needs_all_registers; /* is set when that won't do */
	uint64_t *frames;
	uint64_t *stack_pointers; /* NULL: not wanted */
	size_t nr_frames, max_frames;
	const struct past_walk *past_from; /* the thread's last walk ... */
	uint32_t past_at; /* ... up to here, it is left behind */
	struct past_walk *past_to; /* this one */
};

/* ---- the rules ---- */

static void walk__set_epoch(struct walk *walk)
{
	struct linker_counts counts = linker_counts__get();
	uint64_t newest;

	walk->epoch = (uint16_t)counts.nr_closes;
	walk->nr_loads = (uint16_t)counts.nr_loads;
	newest = atomic_load_explicit(&newest_closes, memory_order_relaxed);
	if (counts.nr_closes <= newest)
		return;
	atomic_store_explicit(&newest_closes, counts.nr_closes, memory_order_relaxed);
	if (counts.nr_closes >> 16 != newest >> 16)
		rule_cache__clear();
}

static void learn_rule(const struct walk *walk, uint64_t pc, struct frame_rule *ret)
{
	frame_rule__learn(pc, ret);
	ret->nr_loads = walk->nr_loads;
	/* What doesn't look like code may do so once a compiler has put some there. */
	if (ret->head.kind <= FRAME_END || ret->head.is_after_call)
		rule_cache__add(pc, walk->epoch, ret);
}

static void walk__find_rule(const struct walk *walk, struct place *place)
{
	uint64_t pc = place->ip - !place->is_interrupted;

	if (!rule_cache__find(pc, walk->epoch, &place->rule) ||
	    (place->rule.head.kind == FRAME_CHAIN &&
	     place->rule.nr_loads != walk->nr_loads))
		learn_rule(walk, pc, &place->rule);
}

/*
 * A return address that no call has left was made up by who started this: a signal, with
 * code that returns from its handler, or a coroutine. It is the beginning of that code,
 * not the end of a call in the code before. Returns false if it is neither.
 */
static bool walk__find_start(const struct walk *walk, struct place *place)
{
	place->is_interrupted = true;
	walk__find_rule(walk, place);
	return place->rule.head.kind == FRAME_END ||
	       (place->rule.head.kind == FRAME_TABLE && place->rule.head.is_interrupted);
}

/* Is a place that a table has led to surely the caller's? */
static bool walk__is_sure(const struct walk *walk, struct place *place)
{
	walk__find_rule(walk, place);
	if (place->is_interrupted)
		return place->rule.head.kind != FRAME_NONE;
	return place->rule.head.is_after_call || walk__find_start(walk, place);
}

/* ---- a step ---- */

/*
 * Can a stack pointer be the caller's? The stack grows downwards, but may be another
 * one there: that of who was interrupted by a signal, or switched stacks.
 */
static bool is_outwards(const struct walk *walk, uint64_t from, uint64_t to)
{
	return to > from || to < walk->memory.start;
}

/* Where the caller's stack pointer is when the function has returned */
static bool walk__find_cfa(struct walk *walk, const struct place *from, uint64_t *ret)
{
	const struct frame_rule *rule = &from->rule;
	uint64_t cfa;

	/* A function that saves both has the frame pointer point to where. */
	if (from->is_sp_bound && !frame_rule__has_pair(rule))
		return false;
	if (from->is_sp_bound && rule->head.cfa_register == FRAME_SP) {
		*ret = from->registers[FRAME_FP] - (uint64_t)(rule->head.saved_fp * 8ll);
		return !rule->head.is_cfa_indirect;
	}
	cfa = from->registers[rule->head.cfa_register] +
	      (uint64_t)(int64_t)rule->head.cfa_offset;
	if (rule->head.is_cfa_indirect && !stack_memory__read(&walk->memory, cfa, &cfa))
		return false;
	*ret = cfa;
	return true;
}

static bool walk__find_return(struct walk *walk, const struct place *from,
			      const uint64_t bases[3], uint64_t *ret)
{
	const struct frame_rule *rule = &from->rule;

	if (rule->return_base == FRAME_IN_LINK) {
		if (FRAME_LINK >= FRAME_NR_REGISTERS || !from->is_interrupted ||
		    bases[FRAME_FROM_CFA] < bases[FRAME_FROM_SP])
			return false;
		*ret = from->registers[FRAME_LINK];
	} else if (!is_outwards(walk, bases[FRAME_FROM_SP], bases[FRAME_FROM_CFA]) ||
		   !stack_memory__read(&walk->memory,
				       bases[rule->return_base] +
					       (uint64_t)(rule->return_offset * 8ll),
				       ret)) {
		return false;
	}
	*ret = arch__return_address(*ret);
	return true;
}

static bool walk__follow_table(struct walk *walk, const struct place *from,
			       struct place *to)
{
	const struct frame_rule *rule = &from->rule;
	unsigned int nr_registers =
		walk->has_all_registers ? FRAME_NR_REGISTERS : FRAME_OTHER;
	uint64_t bases[3];
	uint64_t cfa;

	if (rule->head.cfa_register >= nr_registers ||
	    (rule->return_base == FRAME_IN_LINK && !walk->has_all_registers)) {
		walk->needs_all_registers = true;
		return false;
	}
	if (!walk__find_cfa(walk, from, &cfa))
		return false;
	bases[FRAME_FROM_CFA] = cfa;
	bases[FRAME_FROM_SP] = from->registers[FRAME_SP];
	bases[FRAME_FROM_FP] = from->registers[FRAME_FP];
	if (!walk__find_return(walk, from, bases, &to->ip))
		return false;
	for (unsigned int reg = FRAME_FP; reg < nr_registers; reg++) {
		int16_t offset = reg == FRAME_FP ? rule->head.saved_fp
						 : rule->saved_others[reg - FRAME_OTHER];

		if (offset == FRAME_SAME)
			to->registers[reg] = from->registers[reg];
		else if (!stack_memory__read(&walk->memory,
					     bases[rule->saved_base] +
						     (uint64_t)(offset * 8ll),
					     &to->registers[reg]))
			return false;
	}
	to->registers[FRAME_SP] = cfa;
	to->is_interrupted = rule->head.is_interrupted;
	to->is_sp_bound = false;
	return true;
}

/* The frame pointer points to the caller's, with the return address behind it. */
static bool walk__follow_chain(struct walk *walk, const struct place *from,
			       struct place *to)
{
	uint64_t fp = from->registers[FRAME_FP];

	if (fp < from->registers[FRAME_SP] ||
	    fp - from->registers[FRAME_SP] > MAX_CHAIN_BYTES)
		return false;
	memcpy(to->registers, from->registers, sizeof(to->registers));
	to->registers[FRAME_SP] = fp + 16;
	to->is_interrupted = false;
	to->is_sp_bound = !ARCH_CHAIN_HAS_SP;
	if (!stack_memory__read(&walk->memory, fp, &to->registers[FRAME_FP]) ||
	    !stack_memory__read(&walk->memory, fp + 8, &to->ip))
		return false;
	to->ip = arch__return_address(to->ip);
	return true;
}

enum step {
	STEP_MADE,
	STEP_END, /* there is no caller */
	STEP_LOST, /* there may be, but who? */
};

static enum step walk__step_by_chain(struct walk *walk, const struct place *from,
				     struct place *to)
{
	if (!from->registers[FRAME_FP] && from->rule.head.kind == FRAME_CHAIN)
		return STEP_END;
	if (!walk__follow_chain(walk, from, to))
		return STEP_LOST;
	if (!to->ip)
		return STEP_END;
	walk__find_rule(walk, to);
	return to->rule.head.is_after_call ? STEP_MADE : STEP_LOST;
}

static enum step walk__step(struct walk *walk, const struct place *from, struct place *to)
{
	struct place by_chain;
	bool has_place = false;
	enum step step;

	if (from->rule.head.kind == FRAME_END)
		return STEP_END;
	if (from->rule.head.kind == FRAME_TABLE && walk__follow_table(walk, from, to)) {
		if (!to->ip)
			return STEP_END;
		if (walk__is_sure(walk, to))
			return STEP_MADE;
		has_place = to->rule.head.kind == FRAME_TABLE;
	}
	if (walk->needs_all_registers && !walk->has_all_registers)
		return STEP_LOST;
	step = walk__step_by_chain(walk, from, &by_chain);
	if (step == STEP_MADE)
		*to = by_chain;
	else if (has_place)
		step = STEP_MADE;
	return step;
}

/* ---- the walk ---- */

/*
 * Takes a frame into the stack, but for our own. Returns false if it is full. Readers
 * look for an address within the call before it, so what wasn't called has 1 more.
 */
static inline bool walk__take(struct walk *walk, uint64_t ip, uint64_t sp)
{
	if (!walk->nr_frames && ip >= own_start && ip < own_end)
		return true;
	if (walk->stack_pointers)
		walk->stack_pointers[walk->nr_frames] = sp;
	if (walk->nr_frames == walk->max_frames)
		return false;
	walk->frames[walk->nr_frames++] = ip;
	return true;
}

/*
 * The last walk of a thread: the places on its own stack, as far as rules were plain.
 *
 * A step depends on nothing but its place and two words of the stack. So where a walk
 * comes to a place of the last one, and the words that led on from there are the same,
 * it goes the same way; no rule has to be looked up. Launches have most of their
 * callers in common with the launch before.
 */
struct past_place {
	uint64_t ip, sp, fp;
	/* Where the next place's fp is, from its sp; 8 bytes */
	int64_t saved_fp;
};

#define PAST_GAP INT64_MIN /* it isn't known what led on to the next place */

struct past_walk {
	uint16_t epoch, nr_loads;
	uint32_t nr;
	struct past_place places[UNWIND_MAX_FRAMES];
};

/* The last one, and the one that is made. */
static _Thread_local struct {
	struct past_walk walks[2];
	unsigned int last;
} past;

READS_STACK static inline uint64_t load(uint64_t address)
{
	return *(const uint64_t *)(uintptr_t)address;
}

/*
 * Do the words lead from one place to the next, as they did? If they are still there: a
 * coroutine may have another stack now, that begins at the same address.
 */
static inline bool walk__leads_on(const struct walk *walk, const struct past_place *from,
				  const struct past_place *to)
{
	uint64_t slot = to->sp + (uint64_t)from->saved_fp * 8;
	uint64_t returns = arch__plain_return(to->sp, from->saved_fp);

	if (returns < walk->memory.start || returns >= walk->memory.end ||
	    arch__return_address(load(returns)) != to->ip)
		return false;
	if (from->saved_fp == FRAME_SAME)
		return true;
	return slot >= walk->memory.start && slot < walk->memory.end &&
	       load(slot) == to->fp;
}

static inline void past_walk__add(struct past_walk *past_walk,
				  const struct past_place *place)
{
	if (past_walk->nr < UNWIND_MAX_FRAMES)
		past_walk->places[past_walk->nr++] = *place;
}

static void walk__begin_past(struct walk *walk)
{
	walk->past_from = &past.walks[past.last];
	past.last = !past.last;
	walk->past_to = &past.walks[past.last];
	walk->past_to->epoch = walk->epoch;
	walk->past_to->nr_loads = walk->nr_loads;
	walk->past_to->nr = 0;
	walk->past_at = 0;
	if (walk->past_from->epoch != walk->epoch ||
	    walk->past_from->nr_loads != walk->nr_loads)
		walk->past_at = walk->past_from->nr;
}

/* If the last walk came to this place, go on as it did. Has it led anywhere? */
static bool walk__follow_past(struct walk *walk, struct past_place *place)
{
	const struct past_walk *from = walk->past_from;
	const struct past_place *here;
	uint32_t start, i = walk->past_at;

	while (i < from->nr && from->places[i].sp < place->sp)
		i++;
	walk->past_at = i;
	if (i == from->nr)
		return false;
	here = &from->places[i];
	if (here->sp != place->sp || here->ip != place->ip || here->fp != place->fp)
		return false;
	for (start = i; i + 1 < from->nr; i++) {
		const struct past_place *next = &from->places[i + 1];

		if (from->places[i].saved_fp == PAST_GAP ||
		    !walk__leads_on(walk, &from->places[i], next) ||
		    !walk__take(walk, next->ip, next->sp))
			break;
		past_walk__add(walk->past_to, &from->places[i]);
	}
	*place = from->places[i];
	walk->past_at = i + 1;
	return i > start;
}

/*
 * The same as walk__step() and walk__take(), as far as the rules are plain, known, and
 * lead through the thread's own stack; leaves off at the first frame that isn't so.
 * Nearly all are, and this is what makes a walk cost 5 ns a frame, not 20; or less,
 * where the last one can be followed.
 */
static void walk__run_plain(struct walk *walk, struct place *at)
{
	const uint64_t start = walk->memory.start, end = walk->memory.end;
	struct past_place place = {.ip = at->ip,
				   .sp = at->registers[FRAME_SP],
				   .fp = at->registers[FRAME_FP]};
	struct frame_rule_head rule = at->rule.head;

	while (rule.is_plain) {
		struct past_place next;
		uint64_t returns;

		if (walk__follow_past(walk, &place)) {
			at->is_interrupted = false;
			if (!rule_cache__find_head(place.ip - 1, walk->epoch, &rule) ||
			    !rule.is_plain)
				break;
		}
		next.sp = (rule.cfa_register == FRAME_SP ? place.sp : place.fp) +
			  (uint64_t)(int64_t)rule.cfa_offset;
		returns = arch__plain_return(next.sp, rule.saved_fp);
		if (next.sp <= place.sp || returns < start || returns >= end ||
		    next.sp & 7)
			break;
		next.ip = arch__return_address(load(returns));
		next.fp = place.fp;
		place.saved_fp = rule.saved_fp;
		if (rule.saved_fp != FRAME_SAME) {
			uint64_t slot = next.sp + (uint64_t)(rule.saved_fp * 8ll);

			if (slot < start || slot >= end)
				break;
			next.fp = load(slot);
		}
		if (!rule_cache__find_head(next.ip - 1, walk->epoch, &rule) ||
		    rule.kind > FRAME_END || !rule.is_after_call ||
		    !walk__take(walk, next.ip, next.sp))
			break;
		past_walk__add(walk->past_to, &place);
		place = next;
		at->is_interrupted = false;
	}
	place.saved_fp = PAST_GAP;
	past_walk__add(walk->past_to, &place);
	at->ip = place.ip;
	at->registers[FRAME_SP] = place.sp;
	at->registers[FRAME_FP] = place.fp;
	walk__find_rule(walk, at);
}

/* The stack goes on behind the frames. */
static void walk__truncate(struct walk *walk)
{
	if (walk->nr_frames == UNWIND_MAX_FRAMES)
		walk->nr_frames--;
	walk->frames[walk->nr_frames++] = (uint64_t)GPU_LOG_FRAME_TRUNCATED << 56;
}

static void walk__run(struct walk *walk, const struct place *start)
{
	struct place places[2] = {*start};
	unsigned int now = 0;
	enum step step;

	walk->nr_frames = 0;
	walk->needs_all_registers = false;
	walk__find_rule(walk, &places[0]);
	walk__begin_past(walk);
	for (;;) {
		/* Of one that was interrupted later on, the rule is found by another key. */
		if (!walk->has_all_registers && !places[now].is_sp_bound &&
		    (!walk->nr_frames || !places[now].is_interrupted))
			walk__run_plain(walk, &places[now]);
		step = walk__step(walk, &places[now], &places[!now]);
		if (step != STEP_MADE ||
		    !walk__take(walk, places[!now].ip + places[!now].is_interrupted,
				places[!now].registers[FRAME_SP]))
			break;
		now = !now;
	}
	if (step != STEP_MADE && walk->stack_pointers)
		walk->stack_pointers[walk->nr_frames] = 0;
	if (step != STEP_END && walk->nr_frames)
		walk__truncate(walk);
}

size_t unwind__frames(uint64_t frames[UNWIND_MAX_FRAMES],
		      uint64_t stack_pointers[UNWIND_MAX_FRAMES + 1], size_t max_frames)
{
	struct walk walk = {
		.frames = frames,
		.stack_pointers = stack_pointers,
		.max_frames = max_frames,
	};
	struct place start = {.is_interrupted = true};

	if (!is_open)
		return 0;
	ARCH_PLACE_HERE(start.ip, start.registers);
	walk__set_epoch(&walk);
	stack_memory__init(&walk.memory, start.registers[FRAME_SP]);
	walk__run(&walk, &start);
	if (walk.needs_all_registers) {
		walk.has_all_registers = true;
		walk__run(&walk, &start);
	}
	return walk.nr_frames;
}

/* dl_iterate_phdr(): the segments of the object that holds this very function */
static int find_own_range(struct dl_phdr_info *info, size_t size, void *data)
{
	uint64_t self = (uintptr_t)data;
	uint64_t start = UINT64_MAX, end = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

		if (phdr->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + phdr->p_vaddr < start)
			start = info->dlpi_addr + phdr->p_vaddr;
		if (info->dlpi_addr + phdr->p_vaddr + phdr->p_memsz > end)
			end = info->dlpi_addr + phdr->p_vaddr + phdr->p_memsz;
	}
	if (self < start || self >= end)
		return 0;
	own_start = start;
	own_end = end;
	return 1;
}

int unwind__init(void)
{
	int err;

	linker_counts__begin_search();
	err = frame_rule__open();
	linker_counts__end_search();
	if (err)
		return err;
	dl_iterate_phdr(find_own_range, (void *)(uintptr_t)perf_gpu_launch);
	is_open = true;
	return 0;
}
