/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libunwind, of which we have a copy beside this library. It is opened so that nobody else
 * gets to see it, as it has functions of the same names as libgcc.
 */
#ifndef PERF_GPU_INJECT_UNWIND_LIBRARY_H
#define PERF_GPU_INJECT_UNWIND_LIBRARY_H

#include <libunwind.h>

struct unwind_library {
	unw_addr_space_t (*create_addr_space)(unw_accessors_t *, int);
	int (*init_remote)(unw_cursor_t *, unw_addr_space_t, void *);
	int (*step)(unw_cursor_t *);
	int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
	int (*search_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
			    unw_proc_info_t *, int, void *);
};

/* Our own copy, or else any. 0, or -ENOENT without one; it is never closed. */
int unwind_library__open(struct unwind_library *ret);

/**
 * unwind_library__start - use it for the first time
 * @data: for the accessors of @space, which are called
 */
void unwind_library__start(const struct unwind_library *library, unw_addr_space_t space,
			   void *data);

#endif
