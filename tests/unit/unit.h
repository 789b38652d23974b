/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A unit test program: any number of cases and, from here, a main() that runs
 * each in a process of its own and prints TAP (https://testanything.org).
 *
 *	#include "unit.h"
 *
 *	TEST(reader_refuses_half_a_header)
 *	{
 *		CHECK_EQ(reader__open("/dev/null", &reader), -EINVAL);
 *		CHECK(!reader);
 *	}
 *
 * A failed CHECK says where and ends its case; a crash, an exit and five
 * minutes without an end fail the case too, and the next one is run. SKIP(reason) ends
 * a case that can't be run here. `test_x PATTERN` runs the cases whose name
 * contains PATTERN; `UNIT_NO_FORK=1 gdb --args test_x PATTERN` stays in one
 * process.
 */
#ifndef PERF_GPU_TESTS_UNIT_H
#define PERF_GPU_TESTS_UNIT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNIT_TIME_LIMIT_S 300 /* for what hangs */
#define UNIT_STATUS_SKIP  77

struct unit_case {
	const char *name;
	void (*run)(void);
	int line;
	struct unit_case *next;
};

static struct unit_case *unit_cases; /* in the order of the file */
static char *unit_skip_reason; /* written by the child, read by its parent */

/* A case is added by a constructor, whose order no compiler promises. */
static void unit__add(struct unit_case *new_case)
{
	struct unit_case **place = &unit_cases;

	while (*place && (*place)->line < new_case->line)
		place = &(*place)->next;
	new_case->next = *place;
	*place = new_case;
}

#define TEST(case_name)                                                                \
	static void test_##case_name(void);                                            \
	static struct unit_case unit_case_##case_name = {#case_name, test_##case_name, \
							 __LINE__, NULL};              \
	__attribute__((constructor)) static void unit_add_##case_name(void)            \
	{                                                                              \
		unit__add(&unit_case_##case_name);                                     \
	}                                                                              \
	static void test_##case_name(void)

__attribute__((format(printf, 3, 4), noreturn, unused)) static void
unit__fail(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	printf("# %s:%d: ", file, line);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

__attribute__((unused)) static void unit__check_eq(const char *file, int line,
						   const char *text_a, const char *text_b,
						   unsigned long long a,
						   unsigned long long b)
{
	if (a != b)
		unit__fail(file, line, "%s is %lld (%#llx), %s is %lld (%#llx)", text_a,
			   (long long)a, a, text_b, (long long)b, b);
}

__attribute__((unused)) static void unit__check_str(const char *file, int line,
						    const char *text_a,
						    const char *text_b, const char *a,
						    const char *b)
{
	if (a == b || (a && b && strcmp(a, b) == 0))
		return;
	unit__fail(file, line, "%s isn't %s\n#   \"%s\"\n#   \"%s\"", text_a, text_b,
		   a ? a : "(NULL)", b ? b : "(NULL)");
}

__attribute__((unused)) static void unit__check_mem(const char *file, int line,
						    const char *text_a,
						    const char *text_b, const void *a,
						    const void *b, size_t nr_bytes)
{
	const unsigned char *bytes_a = a, *bytes_b = b;

	for (size_t i = 0; i < nr_bytes; i++)
		if (bytes_a[i] != bytes_b[i])
			unit__fail(file, line, "%s[%zu] is 0x%02x, %s[%zu] is 0x%02x",
				   text_a, i, bytes_a[i], text_b, i, bytes_b[i]);
}

#define CHECK(condition)                                                           \
	do {                                                                       \
		if (!(condition))                                                  \
			unit__fail(__FILE__, __LINE__, "%s is false", #condition); \
	} while (0)

#define UNIT_IS_FLOAT(x)                                        \
	(__builtin_types_compatible_p(__typeof__(x), double) || \
	 __builtin_types_compatible_p(__typeof__(x), float))

/* Integers of any type and sign, or pointers */
#define CHECK_EQ(a, b)                                                              \
	do {                                                                        \
		_Static_assert(!UNIT_IS_FLOAT(a) && !UNIT_IS_FLOAT(b),              \
			       "CHECK_EQ() is for integers and pointers");          \
		unit__check_eq(__FILE__, __LINE__, #a, #b, (unsigned long long)(a), \
			       (unsigned long long)(b));                            \
	} while (0)

#define CHECK_STR(a, b) unit__check_str(__FILE__, __LINE__, #a, #b, a, b)

#define CHECK_MEM(a, b, nr_bytes) \
	unit__check_mem(__FILE__, __LINE__, #a, #b, a, b, nr_bytes)

#define UNIT_SKIP_REASON_BYTES 256

#define SKIP(reason)                                                              \
	do {                                                                      \
		snprintf(unit_skip_reason, UNIT_SKIP_REASON_BYTES, "%s", reason); \
		fflush(stdout);                                                   \
		_exit(UNIT_STATUS_SKIP);                                          \
	} while (0)

static int unit__run_child(const struct unit_case *the_case)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("# fork");
		return 1;
	}
	if (pid == 0) {
		alarm(UNIT_TIME_LIMIT_S);
		the_case->run();
		exit(0); /* not _exit(): the leak checker works at exit */
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	if (WIFSIGNALED(status)) {
		printf("# killed by signal %d (%s)\n", WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
		return 1;
	}
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	const char *pattern = argc > 1 ? argv[1] : "";
	bool has_failed = false;
	int nr = 0;

	unit_skip_reason = mmap(NULL, UNIT_SKIP_REASON_BYTES, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (unit_skip_reason == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (const struct unit_case *c = unit_cases; c; c = c->next) {
		int status = 0;

		if (!strstr(c->name, pattern))
			continue;
		if (getenv("UNIT_NO_FORK"))
			c->run();
		else
			status = unit__run_child(c);
		nr++;
		if (status == UNIT_STATUS_SKIP) {
			printf("ok %d - %s # SKIP %s\n", nr, c->name, unit_skip_reason);
		} else {
			printf("%s %d - %s\n", status ? "not ok" : "ok", nr, c->name);
			has_failed |= status != 0;
		}
	}
	printf("1..%d\n", nr);
	return has_failed;
}

#endif
