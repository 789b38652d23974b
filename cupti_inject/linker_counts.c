// SPDX-License-Identifier: GPL-2.0-or-later
#include "linker_counts.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* _rtld_global has 4 to 5 KiB (glibc 2.17 to 2.41). */
#define MAX_LINKER_BYTES (64u << 10)

/* The linker's words: objects loaded so far, and those that are there now. */
static const uint64_t *loads_word;
static const uint32_t *objects_word;
static atomic_bool are_words_found;

/* What dl_iterate_phdr() said last. A writer may be overtaken by one that knows less. */
static atomic_uint_fast64_t last_loads, last_closes;

static struct {
	const unsigned char *start;
	size_t bytes;
	unsigned char *copy; /* as of the search's begin */
	struct linker_counts counts;
} search;

/* dl_iterate_phdr(): every object has the same counters. */
static int take_counters(struct dl_phdr_info *info, size_t size, void *data)
{
	struct linker_counts *counts = data;

	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs)) {
		counts->nr_loads = info->dlpi_adds;
		counts->nr_closes = info->dlpi_subs;
	}
	return 1;
}

static struct linker_counts ask_linker(void)
{
	struct linker_counts counts = {};

	dl_iterate_phdr(take_counters, &counts);
	return counts;
}

static uint32_t nr_objects(const struct linker_counts *counts)
{
	return (uint32_t)(counts->nr_loads - counts->nr_closes);
}

static bool words_say(const struct linker_counts *counts)
{
	return __atomic_load_n(loads_word, __ATOMIC_RELAXED) == counts->nr_loads &&
	       __atomic_load_n(objects_word, __ATOMIC_RELAXED) == nr_objects(counts);
}

struct linker_counts linker_counts__get(void)
{
	struct linker_counts counts = {
		.nr_loads = atomic_load_explicit(&last_loads, memory_order_relaxed),
		.nr_closes = atomic_load_explicit(&last_closes, memory_order_relaxed),
	};
	struct linker_counts after;

	if (!atomic_load_explicit(&are_words_found, memory_order_acquire))
		return ask_linker();
	if (words_say(&counts))
		return counts;
	counts = ask_linker();
	if (!words_say(&counts)) {
		/* Unless a thread is loading something just now. */
		after = ask_linker();
		if (!memcmp(&after, &counts, sizeof(counts)))
			atomic_store(&are_words_found, false);
		return after;
	}
	atomic_store_explicit(&last_loads, counts.nr_loads, memory_order_relaxed);
	atomic_store_explicit(&last_closes, counts.nr_closes, memory_order_relaxed);
	return counts;
}

void linker_counts__begin_search(void)
{
	const ElfW(Sym) * symbol;
	void *start, *copy;
	Dl_info info;

	start = dlvsym(RTLD_DEFAULT, "_rtld_global", "GLIBC_PRIVATE");
	if (!start || !dladdr1(start, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
	    info.dli_saddr != start || symbol->st_size > MAX_LINKER_BYTES)
		return;
	copy = malloc(symbol->st_size);
	if (!copy)
		return;
	search.start = start;
	search.bytes = symbol->st_size;
	search.counts = ask_linker();
	memcpy(copy, start, symbol->st_size);
	search.copy = copy;
}

/* Did the bytes from AT on have the one value, and have the other? Little endian. */
static bool has_changed(size_t at, size_t size, uint64_t before, uint64_t after)
{
	return at + size <= search.bytes && !memcmp(search.copy + at, &before, size) &&
	       !memcmp(search.start + at, &after, size);
}

/*
 * As long as nothing was closed, the two have one value. In every glibc the namespaces,
 * with the number of their objects, come first.
 */
static void find_words(const struct linker_counts *before,
		       const struct linker_counts *after)
{
	const size_t none = search.bytes;
	size_t objects = none, loads = none;

	for (size_t i = 0; i < search.bytes; i += sizeof(*objects_word)) {
		if (objects == none && has_changed(i, sizeof(*objects_word),
						   nr_objects(before), nr_objects(after)))
			objects = i;
		if (i != objects && !(i % sizeof(*loads_word)) &&
		    has_changed(i, sizeof(*loads_word), before->nr_loads,
				after->nr_loads)) {
			if (loads != none)
				return;
			loads = i;
		}
	}
	if (objects == none || loads == none)
		return;
	objects_word = (const uint32_t *)(const void *)(search.start + objects);
	loads_word = (const uint64_t *)(const void *)(search.start + loads);
	atomic_store(&last_loads, after->nr_loads);
	atomic_store(&last_closes, after->nr_closes);
	atomic_store_explicit(&are_words_found, true, memory_order_release);
}

void linker_counts__end_search(void)
{
	const struct linker_counts before = search.counts;
	struct linker_counts after;

	if (!search.copy)
		return;
	after = ask_linker();
	if (after.nr_loads != before.nr_loads)
		find_words(&before, &after);
	free(search.copy);
	search.copy = NULL;
}
