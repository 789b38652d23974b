// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LD_PRELOAD=libinterrupted.so INTERRUPT_AT=NAME: before the first call of the function of
 * this name, "interrupt" is written to the terminal, and SIGINT waited for, pending or
 * delivered, so that on_terminal.py -c interrupt presses Ctrl-C at just that moment.
 *
 *   uname      the recorder locks its output
 *   signalfd   it takes signals
 *   mkdtemp    it makes the spool
 *   fork       there is no command yet
 *   putenv     in the command's process, which has signals blocked
 *   execvp     there, when they aren't any more
 *
 * What the program executes has neither variable.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_NS  5000000
#define MAX_TRIES    4000 /* 20 s */
#define STATUS_NEVER 99

static char wanted[32];

__attribute__((constructor)) static void take_variables(void)
{
	const char *name = getenv("INTERRUPT_AT");

	if (name)
		snprintf(wanted, sizeof(wanted), "%s", name);
	unsetenv("LD_PRELOAD");
	unsetenv("INTERRUPT_AT");
}

static void await_interrupt(const char *name)
{
	static const char text[] = "interrupt\n";
	const struct timespec interval = {.tv_nsec = INTERVAL_NS};
	sigset_t pending;

	if (strcmp(name, wanted) != 0)
		return;
	*wanted = '\0';
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(STATUS_NEVER);
	for (int i = 0; i < MAX_TRIES; i++) {
		sigpending(&pending);
		if (sigismember(&pending, SIGINT))
			return;
		nanosleep(&interval, NULL);
	}
	_exit(STATUS_NEVER);
}

#define INTERRUPTED(type, name, parameters, ...)                                       \
	type name parameters;                                                          \
	type name parameters                                                           \
	{                                                                              \
		static type(*next) parameters;                                         \
                                                                                       \
		if (!next)                                                             \
			next = (type(*) parameters)(uintptr_t)dlsym(RTLD_NEXT, #name); \
		await_interrupt(#name);                                                \
		return next(__VA_ARGS__);                                              \
	}

INTERRUPTED(int, uname, (struct utsname * names), names)
INTERRUPTED(int, signalfd, (int fd, const sigset_t *set, int flags), fd, set, flags)
INTERRUPTED(char *, mkdtemp, (char *path), path)
INTERRUPTED(pid_t, fork, (void))
INTERRUPTED(int, putenv, (char *variable), variable)
INTERRUPTED(int, execvp, (const char *file, char *const arguments[]), file, arguments)
