// SPDX-License-Identifier: GPL-2.0-or-later
/* What libunwind isn't shown of unwind tables: cfi_program.c */
#include "unit.h"

#include "cfi_program.h"

#define SCAN(program, bytes) cfi_program__scan(program, (uintptr_t)(bytes), sizeof(bytes))

/* The bytes as libunwind sees them, a word at a time */
static void see(const struct cfi_program *program, const unsigned char *bytes,
		size_t nr_bytes, unsigned char *ret)
{
	for (size_t i = 0; i < nr_bytes; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, sizeof(word));
		word = cfi_program__hide(program, (uintptr_t)bytes + i, word);
		memcpy(ret + i, &word, sizeof(word));
	}
}

/* What a compiler writes for a function that signs its return address */
TEST(signing_is_hidden_and_nothing_else)
{
	static const unsigned char bytes[24] = {
		0x41, /* advance_loc 1 */
		0x2d, /* negate_ra_state */
		0x02, 0x2d, /* advance_loc1 45 */
		0x0e, 0x2d, /* def_cfa_offset 45 */
		0x9d, 0x06, /* offset x29 */
		0x9e, 0x85, 0x2d, /* offset x30, in two bytes */
		0x03, 0x2d, 0x2d, /* advance_loc2 */
		0x0a, /* remember_state */
		0x2d, /* negate_ra_state */
		0x04, 0x2d, 0x2d, 0x2d, 0x2d, /* advance_loc4 */
		0x2c, /* negate_ra_state_with_pc */
		0x0b, /* restore_state */
		0xde, /* restore x30 */
	};
	unsigned char wanted[24], seen[24];
	struct cfi_program program;

	SCAN(&program, bytes);
	CHECK(program.is_plain);
	memcpy(wanted, bytes, sizeof(bytes));
	wanted[1] = wanted[15] = wanted[21] = 0;
	see(&program, bytes, sizeof(bytes), seen);
	CHECK_MEM(seen, wanted, sizeof(wanted));
	CHECK_EQ(cfi_program__hide(&program, (uintptr_t)bytes + 24, UINT64_MAX),
		 UINT64_MAX);
	CHECK_EQ(cfi_program__hide(&program, (uintptr_t)bytes - 8, UINT64_MAX),
		 UINT64_MAX);
	/* Half of it */
	CHECK_EQ(cfi_program__hide(&program, (uintptr_t)bytes - 6, UINT64_MAX),
		 0x00ffffffffffffff);
}

TEST(expressions_are_told_and_passed_over)
{
	static const unsigned char cfa[8] = {0x0f, 3, 0x2d, 0x2d, 0x2d, 0x2d, 0x41, 0};
	static const unsigned char saved[8] = {0x10, 6, 2, 0x2d, 0x2d, 0x2d, 0x41, 0};
	static const unsigned char value[8] = {0x16, 6, 2, 0x2d, 0x2d, 0x2d, 0x41, 0};
	const unsigned char *all[] = {cfa, saved, value};

	for (size_t i = 0; i < 3; i++) {
		struct cfi_program program;
		unsigned char wanted[8], seen[8];

		cfi_program__scan(&program, (uintptr_t)all[i], 8);
		CHECK(!program.is_plain);
		memcpy(wanted, all[i], sizeof(wanted));
		wanted[5] = 0;
		see(&program, all[i], sizeof(seen), seen);
		CHECK_MEM(seen, wanted, sizeof(wanted));
	}
}

TEST(what_is_not_known_ends_the_look)
{
	static const unsigned char unknown[8] = {0x41, 0x3e, 0x2d};
	static const unsigned char set_loc[8] = {0x01, 0x2d};
	static const unsigned char cut_number[8] = {0, 0, 0, 0, 0, 0, 0x0e, 0x80};
	static const unsigned char cut_bytes[8] = {0, 0, 0, 0, 0, 0x04, 1, 2};
	static const unsigned char long_block[8] = {0x0f, 0xff, 0xff, 0xff,
						    0xff, 0xff, 0x7f, 0x2d};
	const unsigned char *all[] = {unknown, set_loc, cut_number, cut_bytes,
				      long_block};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct cfi_program program;
		unsigned char seen[8];

		cfi_program__scan(&program, (uintptr_t)all[i], 8);
		CHECK(!program.is_plain);
		see(&program, all[i], sizeof(seen), seen);
		CHECK_MEM(seen, all[i], sizeof(seen));
	}
}

TEST(what_is_too_long_is_not_known_whole)
{
	static unsigned char bytes[CFI_PROGRAM_MAX_BYTES + 8];
	struct cfi_program program;

	bytes[CFI_PROGRAM_MAX_BYTES - 1] = bytes[CFI_PROGRAM_MAX_BYTES] = 0x2d;
	SCAN(&program, bytes);
	CHECK(!program.is_plain);
	CHECK_EQ(cfi_program__hide(&program, (uintptr_t)bytes + CFI_PROGRAM_MAX_BYTES - 1,
				   0x2d2d),
		 0x2d00);
	cfi_program__scan(&program, (uintptr_t)bytes, CFI_PROGRAM_MAX_BYTES);
	CHECK(program.is_plain);
	cfi_program__scan(&program, (uintptr_t)bytes, 0);
	CHECK(program.is_plain);
}

TEST(garbage_stays_within_its_bytes)
{
	unsigned char *page = mmap(NULL, 2 << 16, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct cfi_program program;

	CHECK(page != MAP_FAILED);
	CHECK_EQ(mprotect(page + (1 << 16), 1 << 16, PROT_NONE), 0);
	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t nr = (size_t)rand() % 64;
		unsigned char *bytes = page + (1 << 16) - nr;

		for (size_t i = 0; i < nr; i++)
			bytes[i] = (unsigned char)rand();
		cfi_program__scan(&program, (uintptr_t)bytes, nr);
	}
}
