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

#include "util/progress.h"
#include "util/visible.h"

/* What is left of a message where there is no memory */
#define SHORT_BYTES 512

int log_verbosity;

static const char *log_command;

void log__set_command(const char *command)
{
	log_command = command;
}

const char *log__command(void)
{
	return log_command ? log_command : "";
}

/* @out has room for four times the text. Return: where it ended. */
static char *copy_visible(char *out, const char *text)
{
	while (*text) {
		size_t nr_bytes = visible__length(text);

		if (nr_bytes) {
			out = mempcpy(out, text, nr_bytes);
			text += nr_bytes;
		} else if (*text == '\n' || *text == '\t') {
			*out++ = '\\';
			*out++ = *text++ == '\n' ? 'n' : 't';
		} else {
			out += snprintf(out, sizeof("\\x00"), "\\x%02x",
					(unsigned char)*text++);
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
	const char *command = log__command();
	int saved_errno = errno;
	char short_text[SHORT_BYTES], short_line[4 * SHORT_BYTES + 256];
	char *text, *line, *end;
	size_t frame_bytes;
	va_list again;

	va_copy(again, args);
	if (vasprintf(&text, fmt, args) < 0) {
		vsnprintf(short_text, sizeof(short_text), fmt, again);
		text = short_text;
	}
	va_end(again);
	frame_bytes = strlen(before) + strlen("perf-gpu ") + strlen(command) +
		      strlen(": ") + strlen(kind) + strlen(after) + 1;
	progress__hide();
	line = malloc(frame_bytes + 4 * strlen(text) + 1);
	if (!line) {
		line = short_line;
		text[strnlen(text, SHORT_BYTES - 1)] = '\0';
	}
	end = line + snprintf(line, frame_bytes, "%sperf-gpu%s%s: %s", before,
			      *command ? " " : "", command, kind);
	end = copy_visible(end, text);
	end = mempcpy(end, after, strlen(after));
	write_all(line, (size_t)(end - line));
	if (line != short_line)
		free(line);
	if (text != short_text)
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

#define LIMIT 10

bool log_limit__take(struct log_limit *limit)
{
	return limit->nr++ < LIMIT;
}

void log_limit__tell(const struct log_limit *limit, const char *what)
{
	if (limit->nr > LIMIT)
		pr_warning("the same of %llu more %s",
			   (unsigned long long)(limit->nr - LIMIT), what);
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
