// SPDX-License-Identifier: GPL-2.0-or-later
/* Counting what the dynamic linker loads and closes (cupti_inject/linker_counts.c) */
#include "unit.h"

#include <dlfcn.h>
#include <link.h>

#include "../../cupti_inject/linker_counts.h"

/* In every glibc system, and used by nothing here */
#define SEARCHED "libnss_compat.so.2"
#define LOADED	 "libBrokenLocale.so.1"

static int take(struct dl_phdr_info *info, size_t size, void *data)
{
	struct linker_counts *counts = data;

	(void)size;
	counts->nr_loads = info->dlpi_adds;
	counts->nr_closes = info->dlpi_subs;
	return 1;
}

static void check_counts(void)
{
	struct linker_counts wanted, got = linker_counts__get();

	dl_iterate_phdr(take, &wanted);
	CHECK_EQ(got.nr_loads, wanted.nr_loads);
	CHECK_EQ(got.nr_closes, wanted.nr_closes);
}

static void load_and_close(void)
{
	const struct linker_counts before = linker_counts__get();
	void *library = dlopen(LOADED, RTLD_NOW | RTLD_LOCAL);

	CHECK(library);
	check_counts();
	CHECK(linker_counts__get().nr_loads > before.nr_loads);
	CHECK(!dlclose(library));
	check_counts();
	CHECK(linker_counts__get().nr_closes > before.nr_closes);
	CHECK(dlopen(LOADED, RTLD_NOW | RTLD_LOCAL));
	check_counts();
}

TEST(counts_without_a_search)
{
	check_counts();
	load_and_close();
}

TEST(counts_behind_a_search)
{
	linker_counts__begin_search();
	CHECK(dlopen(SEARCHED, RTLD_NOW | RTLD_LOCAL));
	linker_counts__end_search();
	check_counts();
	load_and_close();
}

TEST(counts_behind_a_search_that_saw_a_close)
{
	void *library = dlopen(LOADED, RTLD_NOW | RTLD_LOCAL);

	CHECK(library);
	CHECK(!dlclose(library));
	linker_counts__begin_search();
	CHECK(dlopen(SEARCHED, RTLD_NOW | RTLD_LOCAL));
	linker_counts__end_search();
	check_counts();
	load_and_close();
}

TEST(counts_behind_a_search_in_vain)
{
	linker_counts__begin_search();
	linker_counts__end_search();
	check_counts();
	load_and_close();
}
