// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols that lie beside, inside and across each other. */
#include <stdlib.h>
#include <string.h>

#include "symbol/symtab.h"
#include "unit.h"

static const char *name_at(struct symtab *symtab, uint64_t address)
{
	const struct symbol *symbol = symtab__find(symtab, address);

	return symbol ? symbol->name : "none";
}

TEST(empty_table_finds_nothing)
{
	struct symtab symtab = {0};

	CHECK_EQ(symtab__finish(&symtab), 0);
	CHECK_STR(name_at(&symtab, 0), "none");
	symtab__release(&symtab);
}

TEST(end_is_excluded_and_gaps_have_no_name)
{
	struct symtab symtab = {0};

	CHECK_EQ(symtab__add(&symtab, 0x200, 0x210, "b"), 0);
	CHECK_EQ(symtab__add(&symtab, 0x100, 0x180, "a"), 0);
	CHECK_EQ(symtab__add(&symtab, 0x300, 0x300, "empty"), 0);
	CHECK_EQ(symtab__add(&symtab, UINT64_MAX - 1, UINT64_MAX, "top"), 0);
	CHECK_EQ(symtab__finish(&symtab), 0);
	CHECK_STR(name_at(&symtab, 0xff), "none");
	CHECK_STR(name_at(&symtab, 0x100), "a");
	CHECK_STR(name_at(&symtab, 0x17f), "a");
	CHECK_STR(name_at(&symtab, 0x180), "none");
	CHECK_STR(name_at(&symtab, 0x20f), "b");
	CHECK_STR(name_at(&symtab, 0x210), "none");
	CHECK_STR(name_at(&symtab, 0x300), "none");
	CHECK_STR(name_at(&symtab, UINT64_MAX - 1), "top");
	CHECK_STR(name_at(&symtab, UINT64_MAX), "none");
	symtab__release(&symtab);
}

TEST(later_symbol_covers_earlier_one)
{
	struct symtab symtab = {0};

	symtab__add(&symtab, 0x100, 0x200, "outer");
	symtab__add(&symtab, 0x140, 0x150, "inner");
	symtab__add(&symtab, 0x1f0, 0x220, "across");
	symtab__add(&symtab, 0x100, 0x104, "entry");
	CHECK_EQ(symtab__finish(&symtab), 0);
	CHECK_STR(name_at(&symtab, 0x100), "entry");
	CHECK_STR(name_at(&symtab, 0x104), "outer");
	CHECK_STR(name_at(&symtab, 0x140), "inner");
	CHECK_STR(name_at(&symtab, 0x150), "outer");
	CHECK_STR(name_at(&symtab, 0x1ef), "outer");
	CHECK_STR(name_at(&symtab, 0x1f0), "across");
	CHECK_STR(name_at(&symtab, 0x21f), "across");
	CHECK_EQ(symtab__find(&symtab, 0x160)->start, 0x100);
	symtab__release(&symtab);
}

/* Against the plain definition: the last symbol that covers the address. */
TEST(random_overlaps_match_the_definition)
{
	enum { NR = 200, SPAN = 300 };
	static struct symbol all[NR];
	static char names[NR][12];

	srand(1);
	for (int round = 0; round < 20; round++) {
		struct symtab symtab = {0};

		for (int i = 0; i < NR; i++) {
			all[i].start = (uint64_t)(rand() % SPAN);
			all[i].end = all[i].start + (uint64_t)(rand() % 30);
			snprintf(names[i], sizeof(names[i]), "%d", i);
			CHECK_EQ(symtab__add(&symtab, all[i].start, all[i].end, names[i]),
				 0);
		}
		CHECK_EQ(symtab__finish(&symtab), 0);
		for (uint64_t address = 0; address < SPAN + 40; address++) {
			const char *expected = "none";

			for (int i = 0; i < NR; i++) {
				if (all[i].start <= address && address < all[i].end)
					expected = names[i];
			}
			CHECK_STR(name_at(&symtab, address), expected);
		}
		symtab__release(&symtab);
	}
}

TEST(demangled_name_is_made_once)
{
	struct symtab symtab = {0};
	const char *first;

	symtab__add(&symtab, 0x100, 0x200, "_Z3fooi");
	CHECK_EQ(symtab__finish(&symtab), 0);
	first = symtab__find(&symtab, 0x100)->demangled;
	CHECK_STR(first, "foo");
	CHECK(symtab__find(&symtab, 0x1ff)->demangled == first);
	symtab__release(&symtab);
}
