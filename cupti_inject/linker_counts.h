/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many objects the dynamic linker has loaded and closed so far: when that changes,
 * other code may stand where some stood before.
 *
 * dl_iterate_phdr(3) tells, but takes a lock and looks at every object each time: with
 * PyTorch's 300, more than a walk of the stack. The counters are words of the linker's
 * own data, which has a symbol, _rtld_global, but no layout that one may rely on. So
 * they are looked for: what had the one value before a library was opened, and has the
 * other behind it. Whenever they are seen to change, dl_iterate_phdr() is asked again,
 * and if it says otherwise, they are not trusted any more.
 */
#ifndef PERF_GPU_INJECT_LINKER_COUNTS_H
#define PERF_GPU_INJECT_LINKER_COUNTS_H

#include <stdint.h>

struct linker_counts {
	uint64_t nr_loads;
	uint64_t nr_closes;
};

/* From any thread; a few ns, if the counters have been found. */
struct linker_counts linker_counts__get(void);

/*
 * Look for the counters: call both, with a dlopen() between them that loads something.
 * Once in a process.
 */
void linker_counts__begin_search(void);
void linker_counts__end_search(void);

#endif
