// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A message is made whole in memory and leaves in one write(2), so that those of
 * several threads, and the target's own output, don't cut it.
 *
 * Names of kernels, files and threads come from outside: what a terminal would
 * obey (C0 and C1 controls, bytes that are no UTF-8) is shown, as \n or \x1b.
 */
#include "util/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int log_verbosity;

static const char *log_command;

void log__set_command(const char *command)
{
	log_command = command;
}

/* Bytes of the printable character at @text, or 0 if what is there isn't one */
static size_t printable_bytes(const unsigned char *text)
{
	static const unsigned int smallest[] = {0, 0, 0xa0, 0x800, 0x10000};
	unsigned int code = text[0];
	size_t nr_bytes;

	if (code < 0x80)
		return code >= 0x20 && code != 0x7f;
	if (code >= 0xc0 && code < 0xe0)
		nr_bytes = 2;
	else if (code >= 0xe0 && code < 0xf0)
		nr_bytes = 3;
	else if (code >= 0xf0 && code < 0xf8)
		nr_bytes = 4;
	else
		return 0;
	code &= 0x7fu >> nr_bytes;
	for (size_t i = 1; i < nr_bytes; i++) {
		/* The NUL at the end is no such byte: never reads beyond it. */
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < smallest[nr_bytes] || code > 0x10ffff)
		return 0;
	return code >= 0xd800 && code < 0xe000 ? 0 : nr_bytes;
}

/* @out has room for four times the text. Return: where it ended. */
static char *copy_visible(char *out, const char *text)
{
	while (*text) {
		size_t nr_bytes = printable_bytes((const unsigned char *)text);

		if (nr_bytes) {
			out = mempcpy(out, text, nr_bytes);
			text += nr_bytes;
		} else if (*text == '\n' || *text == '\t') {
			*out++ = '\\';
			*out++ = *text++ == '\n' ? 'n' : 't';
		} else {
			out += sprintf(out, "\\x%02x", (unsigned char)*text++);
		}
	}
	return out;
}

static void write_all(const char *text, size_t nr_bytes)
{
	while (nr_bytes) {
		ssize_t written = write(STDERR_FILENO, text, nr_bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return; /* nobody is left who could be told */
		text += written;
		nr_bytes -= (size_t)written;
	}
}

static void print(const char *before, const char *kind, const char *after,
		  const char *fmt, va_list args)
{
	const char *command = log_command ? log_command : "";
	int saved_errno = errno;
	char *text = NULL;
	char *line, *end;
	size_t frame_bytes;

	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	frame_bytes = strlen(before) + strlen("perf-gpu ") + strlen(command) +
		      strlen(": ") + strlen(kind) + strlen(after) + 1;
	/* Without memory the text before its arguments is better than nothing. */
	line = malloc(frame_bytes + 4 * strlen(text ? text : fmt));
	if (!line) {
		write_all(fmt, strlen(fmt));
		write_all("\n", 1);
		goto out;
	}
	end = line + sprintf(line, "%sperf-gpu%s%s: %s", before, *command ? " " : "",
			     command, kind);
	end = copy_visible(end, text ? text : fmt);
	end = stpcpy(end, after);
	write_all(line, (size_t)(end - line));
out:
	free(line);
	free(text);
	errno = saved_errno;
}

void pr_err(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print("", "", "\n", fmt, args);
	va_end(args);
}

void pr_warning(const char *fmt, ...)
{
	va_list args;

	if (log_verbosity < 0)
		return;
	va_start(args, fmt);
	print("", "warning: ", "\n", fmt, args);
	va_end(args);
}

void pr_info(const char *fmt, ...)
{
	va_list args;

	if (log_verbosity < 0)
		return;
	va_start(args, fmt);
	print("[ ", "", " ]\n", fmt, args);
	va_end(args);
}

void pr_debug(const char *fmt, ...)
{
	va_list args;

	if (log_verbosity < 1)
		return;
	va_start(args, fmt);
	print("", "", "\n", fmt, args);
	va_end(args);
}

int log__library(int min_verbosity, const char *fmt, va_list args)
{
	char *text;

	if (log_verbosity < min_verbosity || vasprintf(&text, fmt, args) < 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	pr_debug("%s", text);
	free(text);
	return 0;
}
