// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows are as "Database File Format" has them; what SQLite itself makes of whole files is
 * tests/shell/test_export.sh's.
 */
#include <stdint.h>

#include "sink/sql_tree.h"
#include "unit.h"

static void check_varint(uint64_t number, const char *wanted, size_t nr_bytes)
{
	unsigned char bytes[SQL_MAX_VARINT];

	CHECK_EQ(sql_record__put_varint(bytes, number) - bytes, nr_bytes);
	CHECK(!memcmp(bytes, wanted, nr_bytes));
}

TEST(a_varint_has_seven_bits_a_byte_and_eight_in_the_ninth)
{
	check_varint(0, "\0", 1);
	check_varint(0x7f, "\x7f", 1);
	check_varint(0x80, "\x81\0", 2);
	check_varint(0x3fff, "\xff\x7f", 2);
	check_varint(0x4000, "\x81\x80\0", 3);
	check_varint(((uint64_t)1 << 56) - 1, "\xff\xff\xff\xff\xff\xff\xff\x7f", 8);
	check_varint((uint64_t)1 << 56, "\x80\xc0\x80\x80\x80\x80\x80\x80\0", 9);
	check_varint(UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9);
}

/* The one value of a row: its type, and its bytes */
static void check_number(int64_t number, const char *wanted, size_t nr_bytes)
{
	struct sql_record record = {};

	CHECK_EQ(sql_record__make(&record, &SQL_NUMBER(number), 1, 0, false), 0);
	CHECK_EQ(record.nr_bytes, 1 + nr_bytes);
	CHECK_EQ(record.bytes[0], 2);
	CHECK(!memcmp(record.bytes + 1, wanted, nr_bytes));
	free(record.bytes);
}

TEST(a_number_is_as_short_as_it_can_be)
{
	check_number(SQL_NULL, "\0", 1);
	check_number(0, "\x08", 1);
	check_number(1, "\x09", 1);
	check_number(2, "\x01\x02", 2);
	check_number(-1, "\x01\xff", 2);
	check_number(127, "\x01\x7f", 2);
	check_number(-128, "\x01\x80", 2);
	check_number(128, "\x02\0\x80", 3);
	check_number(-32768, "\x02\x80\0", 3);
	check_number(32768, "\x03\0\x80\0", 4);
	check_number(0x7fffff, "\x03\x7f\xff\xff", 4);
	check_number(0x800000, "\x04\0\x80\0\0", 5);
	check_number(INT32_MAX, "\x04\x7f\xff\xff\xff", 5);
	check_number(0x80000000, "\x05\0\0\x80\0\0\0", 7);
	check_number(0x7fffffffffff, "\x05\x7f\xff\xff\xff\xff\xff", 7);
	check_number(0x800000000000, "\x06\0\0\x80\0\0\0\0\0", 9);
	check_number(INT64_MIN + 1, "\x06\x80\0\0\0\0\0\0\x01", 9);
}

TEST(a_row_has_types_before_values)
{
	static const char wanted[] = "\x06\0\x11\x01\0\0ab\x05";
	const struct sql_value row[] = {SQL_NUMBER(77), SQL_TEXT("ab"), SQL_NUMBER(5)};
	struct sql_record record = {};

	/* The first is where the row is; two columns that nothing is known of */
	CHECK_EQ(sql_record__make(&record, row, 3, 2, true), 0);
	CHECK_EQ(record.nr_bytes, sizeof(wanted) - 1);
	CHECK(!memcmp(record.bytes, wanted, record.nr_bytes));
	free(record.bytes);
}

TEST(a_long_header_counts_its_own_length)
{
	struct sql_value row[SQL_MAX_COLUMNS];
	struct sql_record record = {};
	static char text[100000];

	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i < SQL_MAX_COLUMNS; i++)
		row[i] = SQL_TEXT(text);
	CHECK_EQ(sql_record__make(&record, row, SQL_MAX_COLUMNS, 0, false), 0);
	/* 3 bytes for each type: 96, and 1 */
	CHECK_EQ(record.bytes[0], 97);
	CHECK_EQ(record.nr_bytes, 97 + SQL_MAX_COLUMNS * (sizeof(text) - 1));
	CHECK_EQ(record.bytes[97], 'x');
	free(record.bytes);
}

/* A file of pages that is not there any more */
static void open_pages(struct sql_pages *pages, uint32_t lock_page, char *path)
{
	strcpy(path, "/tmp/test_sql_tree.XXXXXX");
	close(mkstemp(path));
	*pages = (struct sql_pages){.lock_page = lock_page};
	CHECK_EQ(out_file__open(path, &pages->file), 0);
}

static unsigned int number16(const unsigned char *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

TEST(the_page_for_locks_has_nothing)
{
	unsigned char page[SQL_PAGE_BYTES], read_back[SQL_PAGE_BYTES];
	struct sql_pages pages;
	char path[64];
	FILE *file;

	open_pages(&pages, 3, path);
	memset(page, 'p', sizeof(page));
	CHECK_EQ(sql_pages__add(&pages, page), 1);
	CHECK_EQ(sql_pages__behind(&pages, 1), 2);
	CHECK_EQ(sql_pages__behind(&pages, 2), 4);
	CHECK_EQ(sql_pages__add(&pages, page), 2);
	CHECK_EQ(sql_pages__next(&pages), 4);
	CHECK_EQ(sql_pages__add(&pages, page), 4);
	CHECK_EQ(sql_pages__add(&pages, page), 5);
	CHECK_EQ(pages.nr, 5);
	out_file__rewrite(pages.file, 4 * SQL_PAGE_BYTES, "end", 3);
	CHECK_EQ(out_file__finish(pages.file), 0);
	out_file__close(pages.file);
	file = fopen(path, "r");
	for (size_t i = 0; i < 5; i++) {
		CHECK_EQ(fread(read_back, sizeof(read_back), 1, file), 1);
		CHECK_EQ(read_back[3], i == 2 ? 0 : 'p');
		CHECK_EQ(read_back[0], i == 2 ? 0 : i == 4 ? 'e' : 'p');
	}
	CHECK_EQ(fgetc(file), EOF);
	fclose(file);
	unlink(path);
}

/* What is under an inner page, counted: as in a search, all numbers go up. */
static size_t count_rows(FILE *file, const unsigned char *page, unsigned int offset,
			 unsigned int *ret_depth)
{
	unsigned int nr = number16(page + offset + 3);
	unsigned char below[SQL_PAGE_BYTES];
	size_t sum = 0;

	*ret_depth = 1;
	if (page[offset] == 13)
		return nr;
	for (unsigned int i = 0; i <= nr; i++) {
		const unsigned char *at =
			i < nr ? page + number16(page + offset + 12 + 2 * i)
			       : page + offset + 8;
		long child = (long)number16(at) << 16 | number16(at + 2);

		CHECK_EQ(fseek(file, (child - 1) * SQL_PAGE_BYTES, SEEK_SET), 0);
		CHECK_EQ(fread(below, sizeof(below), 1, file), 1);
		CHECK(below[0] == 5 || below[0] == 13);
		sum += count_rows(file, below, 0, ret_depth);
	}
	++*ret_depth;
	return sum;
}

static void check_rows(int64_t nr_rows, unsigned int offset, unsigned int depth)
{
	unsigned char root[SQL_PAGE_BYTES];
	struct sql_tree tree = {};
	struct sql_record record = {};
	struct sql_pages pages;
	unsigned int seen_depth;
	char path[64], text[1001];
	FILE *file;

	/* Four of them fill a page. */
	memset(text, 't', sizeof(text));
	text[sizeof(text) - 1] = 0;
	open_pages(&pages, SQL_LOCK_PAGE, path);
	CHECK_EQ(sql_record__make(&record, &SQL_TEXT(text), 1, 0, false), 0);
	for (int64_t i = 0; i < nr_rows; i++)
		CHECK_EQ(sql_tree__add(&tree, &pages, &record, i), 0);
	CHECK_EQ(sql_tree__finish(&tree, &pages, root, offset), 0);
	CHECK_EQ(out_file__finish(pages.file), 0);
	file = fopen(path, "r");
	CHECK_EQ(count_rows(file, root, offset, &seen_depth), nr_rows);
	CHECK_EQ(seen_depth, depth);
	fclose(file);
	unlink(path);
	out_file__close(pages.file);
	free(record.bytes);
	sql_tree__release(&tree);
}

TEST(a_tree_has_as_many_levels_as_it_needs)
{
	check_rows(0, 0, 1);
	check_rows(4, 0, 1);
	check_rows(5, 0, 2);
	check_rows(4, 100, 2); /* which is why page 1 can have one child */
	check_rows(3, 100, 1);
	check_rows(4 * 200, 0, 2);
	check_rows(4 * 300, 0, 3);
	check_rows(4 * 266 * 2 + 1, 0, 3);
}
