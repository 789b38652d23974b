// SPDX-License-Identifier: GPL-2.0-or-later
/* What of a text can be shown on a terminal */
#include <string.h>

#include "unit.h"
#include "util/visible.h"

static const char *cleaned(const char *text)
{
	static char copy[256];

	strcpy(copy, text);
	visible__clean(copy);
	return copy;
}

TEST(what_is_text_stays)
{
	CHECK_STR(cleaned(""), "");
	CHECK_STR(cleaned("matmul<float, 4>(int*)~ "), "matmul<float, 4>(int*)~ ");
	CHECK_STR(cleaned("\u00a0\u00e4\u20ac\U0001f600"),
		  "\u00a0\u00e4\u20ac\U0001f600");
}

TEST(what_a_terminal_obeys_does_not)
{
	CHECK_STR(cleaned("a\x1b[31mb\a\b\r\n\t\x7f"), "a?[31mb??????");
	/* The same controls, as one byte and as UTF-8 */
	CHECK_STR(cleaned("a\x9b"
			  "31m"),
		  "a?31m");
	CHECK_STR(cleaned("a\xc2\x9b"
			  "31m\xc2\x85"),
		  "a??31m??");
}

TEST(what_is_no_utf8_does_not)
{
	CHECK_STR(cleaned("\xff\xfe\xc0\x80"), "????");
	CHECK_STR(cleaned("\xc0\xaf\xe0\x80\xaf"), "?????"); /* a slash, too long */
	CHECK_STR(cleaned("\xed\xa0\x80"), "???"); /* half a surrogate pair */
	CHECK_STR(cleaned("\xf4\x90\x80\x80"), "????"); /* above U+10FFFF */
	CHECK_STR(cleaned("\xe2\x82"), "??"); /* cut */
	CHECK_STR(cleaned("\xe2\x82x"), "??x");
}

TEST(a_character_is_not_copied_in_part)
{
	char to[8] = "-------";

	visible__copy(to, "ab\u20ac", 4);
	CHECK(!memcmp(to, "ab?\?---", 8));
	visible__copy(to, "ab\u20ac", 5);
	CHECK(!memcmp(to, "ab\u20ac--", 8));
	visible__copy(to, "", 0);
	CHECK(!memcmp(to, "ab\u20ac--", 8));
}
