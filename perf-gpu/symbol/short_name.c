// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shortens demangled names, as text: they come from libiberty, from LLVM and
 * from NVIDIA's tools, often with nothing left to demangle.
 *
 * One pass over what stands outside of brackets; what is inside of them is
 * skipped or copied as a whole:
 *
 *   decltype (a<b>) ns::(anonymous namespace)::f<int>(int)::{lambda(int)#1}::operator()(int) const
 *   |______||_____| |__________________________||____|____||______________||__________||____|_____|
 *    dropped at the space: return type   copied   skipped      copied        copied     skipped, end
 *
 * The text may be anything: the pass never leaves it, and takes time linear in
 * its length.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/short_name.h"

/* "void (*(*f(int))(int))(int)": functions that return functions that ... */
#define MAX_NESTED_DECLARATORS 4

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

struct shortening {
	const char *in, *end; /* what is left to read */
	char *out; /* as large as the text */
	size_t nr_out;
	bool keeps_arguments; /* of templates */
	bool is_conversion; /* in "operator unsigned long", whose spaces stay */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool starts_with(const char *text, const char *end, const char *prefix)
{
	size_t nr = strlen(prefix);

	return (size_t)(end - text) >= nr && memcmp(text, prefix, nr) == 0;
}

/* Behind the bracket that closes the one at @text, or NULL if none does. */
static const char *skip_group(const char *text, const char *end, char open, char close)
{
	size_t depth = 0;

	for (; text < end; text++) {
		if (*text == open)
			depth++;
		else if (*text == close && --depth == 0)
			return text + 1;
	}
	return NULL;
}

/*
 * The same of '<': in parentheses, < and > may be operators, so these are
 * skipped whole; outside of them, only the > of -> and operator> is one.
 */
static const char *skip_template_arguments(const char *text, const char *end)
{
	size_t depth = 0;

	while (text < end) {
		if (*text == '(') {
			text = skip_group(text, end, '(', ')');
			if (!text)
				return NULL;
			continue;
		}
		if (starts_with(text, end, "->")) {
			text += 2;
			continue;
		}
		if (*text == '<')
			depth++;
		else if (*text == '>' && --depth == 0)
			return text + 1;
		text++;
	}
	return NULL;
}

static void shortening__copy(struct shortening *s, const char *to)
{
	size_t nr = (size_t)(to - s->in);

	memcpy(s->out + s->nr_out, s->in, nr);
	s->nr_out += nr;
	s->in = to;
}

/* Copies "operator" and what belongs to it, and nothing of what may follow. */
static void shortening__operator(struct shortening *s)
{
	/* A longer one comes before what it begins with. */
	static const char *const symbols[] = {
		"()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=",
		">=", "==", "!=",  "&&",  "||",	 "++",	"--", "+=", "-=", "*=",
		"/=", "%=", "^=",  "&=",  "|=",	 "<",	">",  "+",  "-",  "*",
		"/",  "%",  "^",   "&",	  "|",	 "~",	"!",  "=",  ",",
	};
	static const char *const words[] = {
		" new[]", " delete[]", " new", " delete", " co_await",
	};

	shortening__copy(s, s->in + strlen("operator"));
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		if (!starts_with(s->in, s->end, symbols[i]))
			continue;
		shortening__copy(s, s->in + strlen(symbols[i]));
		/* "operator< <int>" */
		if (starts_with(s->in, s->end, " <"))
			s->in++;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (starts_with(s->in, s->end, words[i])) {
			shortening__copy(s, s->in + strlen(words[i]));
			return;
		}
	}
	if (starts_with(s->in, s->end, "\"\" "))
		shortening__copy(s, s->in + 3);
	else if (s->in < s->end && *s->in == ' ')
		s->is_conversion = true;
}

static int shorten(struct shortening *s, unsigned int nr_nested);

/* Do parameters end before @text: is what follows no part of the declarator? */
static bool is_behind_parameters(const char *text, const char *end)
{
	static const char *const followers[] = {
		"::", " const", " volatile", " &", "&", " noexcept", " [", ".", "@",
	};

	if (text == end)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(followers); i++) {
		if (starts_with(text, end, followers[i]))
			return true;
	}
	return false;
}

/* Behind the qualifiers of a function: at "::", or at the end of the text. */
static const char *skip_qualifiers(const char *text, const char *end)
{
	const char *scope = text;

	while (scope < end && !starts_with(scope, end, "::") && *scope != '(' &&
	       *scope != '<')
		scope++;
	return starts_with(scope, end, "::") ? scope : end;
}

static int shortening__parentheses(struct shortening *s, unsigned int nr_nested)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *behind;

	s->is_conversion = false;
	if (starts_with(s->in, s->end, anonymous)) {
		shortening__copy(s, s->in + strlen(anonymous));
		return 0;
	}
	behind = skip_group(s->in, s->end, '(', ')');
	if (!behind)
		return -1;
	/* "void (*f(int))(float)": f is inside. */
	if ((starts_with(s->in, s->end, "(*") || starts_with(s->in, s->end, "(&")) &&
	    behind < s->end && *behind == '(') {
		if (nr_nested == MAX_NESTED_DECLARATORS)
			return -1;
		s->in += 2;
		s->end = behind - 1;
		s->nr_out = 0;
		return shorten(s, nr_nested + 1);
	}
	s->in = is_behind_parameters(behind, s->end) ? skip_qualifiers(behind, s->end)
						     : behind;
	return 0;
}

static int shortening__angle(struct shortening *s)
{
	/* NVIDIA's and Microsoft's ways to write what has no name */
	static const char *const names[] = {"<unnamed>", "<lambda"};
	const char *behind = skip_template_arguments(s->in, s->end);

	if (!behind)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (starts_with(s->in, s->end, names[i])) {
			shortening__copy(s, behind);
			return 0;
		}
	}
	/* Rust's "<T as Trait>::method" */
	if (!s->nr_out || s->keeps_arguments) {
		shortening__copy(s, behind);
		return 0;
	}
	/* Rust's "function::<T>" */
	if (s->nr_out > 2 && memcmp(s->out + s->nr_out - 2, "::", 2) == 0)
		s->nr_out -= 2;
	s->in = behind;
	return 0;
}

static int shortening__copy_group(struct shortening *s, char open, char close)
{
	const char *behind = skip_group(s->in, s->end, open, close);

	if (!behind)
		return -1;
	shortening__copy(s, behind);
	return 0;
}

static int shorten(struct shortening *s, unsigned int nr_nested)
{
	int err = 0;

	while (!err && s->in < s->end) {
		char before = s->nr_out ? s->out[s->nr_out - 1] : ' ';

		if (*s->in == '(') {
			err = shortening__parentheses(s, nr_nested);
		} else if (*s->in == '<') {
			err = shortening__angle(s);
		} else if (*s->in == '{') {
			err = shortening__copy_group(s, '{', '}');
		} else if (*s->in == '[') {
			err = shortening__copy_group(s, '[', ']');
		} else if (*s->in == ')' || *s->in == '>') {
			err = -1;
		} else if (starts_with(s->in, s->end, " [clone")) {
			s->in = s->end;
		} else if (*s->in == ' ' && !s->is_conversion) {
			/* What came before was the return type. */
			s->nr_out = 0;
			s->in++;
		} else if (starts_with(s->in, s->end, "operator") && !is_word(before) &&
			   !is_word(s->in[strlen("operator")])) {
			shortening__operator(s);
		} else {
			shortening__copy(s, s->in + 1);
		}
	}
	return err;
}

static char *make_short(const char *text, bool keeps_arguments)
{
	size_t nr = strlen(text);
	struct shortening s = {
		.in = text,
		.end = text + nr,
		.out = malloc(nr + 1),
		.keeps_arguments = keeps_arguments,
	};

	if (!s.out)
		return NULL;
	/* Neither arguments nor parameters: the name of no function in C++. */
	if (!strpbrk(text, "(<") || shorten(&s, 0) || !s.nr_out) {
		memcpy(s.out, text, nr);
		s.nr_out = nr;
	}
	s.out[s.nr_out] = '\0';
	return s.out;
}

char *short_name(const char *text)
{
	return make_short(text, false);
}

char *short_name__with_arguments(const char *text)
{
	return make_short(text, true);
}
