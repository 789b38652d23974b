// SPDX-License-Identifier: GPL-2.0-or-later
/* Wide strings as UTF-8: utf8.c */
#include "unit.h"

#include "utf8.h"

TEST(each_length_of_a_character)
{
	char text[32];

	CHECK_EQ(utf8__from_wide(L"a\u00e9\u20ac\U0001f600z", text, sizeof(text)), 11);
	CHECK_STR(text, "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
	CHECK_EQ(utf8__from_wide(L"", text, sizeof(text)), 0);
	CHECK_STR(text, "");
}

TEST(what_is_no_character_is_replaced)
{
	const wchar_t wide[] = {0xd800, (wchar_t)0x110000, -1, 'x', 0};
	char text[32];

	utf8__from_wide(wide, text, sizeof(text));
	CHECK_STR(text, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx");
}

TEST(only_whole_characters_fit)
{
	char text[6];

	for (size_t size = 1; size <= sizeof(text); size++) {
		size_t nr = utf8__from_wide(L"a\u20acb", text, size);

		CHECK_EQ(nr, size < 2 ? 0 : size < 5 ? 1 : size < 6 ? 4 : 5);
		CHECK_EQ(strlen(text), nr);
	}
}

TEST(a_cut_falls_between_characters)
{
	const char *text = "a\xe2\x82\xac\xf0\x9f\x98\x80"
			   "b";
	static const size_t wanted[] = {0, 1, 1, 1, 4, 4, 4, 4, 8, 9, 9, 9};

	for (size_t max = 1; max < sizeof(wanted) / sizeof(*wanted); max++)
		CHECK_EQ(utf8__cut(text, max), wanted[max]);
	/* What is no UTF-8 is cut somewhere, and nothing is read before it. */
	CHECK_EQ(utf8__cut("\x80\x80\x80\x80\x80\x80", 5), 5);
	CHECK_EQ(utf8__cut("\x80", 1), 1);
}
