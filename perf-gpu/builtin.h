/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommands. Each reads its options into structs, calls what does the
 * work, and returns the exit status of the process.
 */
#ifndef PERF_GPU_BUILTIN_H
#define PERF_GPU_BUILTIN_H

#include <stdbool.h>

int cmd_record(int argc, const char **argv);
int cmd_inject(int argc, const char **argv);
int cmd_script(int argc, const char **argv);
int cmd_report(int argc, const char **argv);
int cmd_flamegraph(int argc, const char **argv);
int cmd_export(int argc, const char **argv);
int cmd_archive(int argc, const char **argv);
int cmd_hotspot(int argc, const char **argv);
int cmd_tui(int argc, const char **argv);
int cmd_list(int argc, const char **argv);
int cmd_merge(int argc, const char **argv);
int cmd_wait(int argc, const char **argv);
int cmd_check(int argc, const char **argv);
int cmd_version(int argc, const char **argv);
int cmd_help(int argc, const char **argv);

/* What `perf-gpu help` lists; the table ends with a NULL name. */
struct command {
	const char *name;
	int (*run)(int argc, const char **argv);
	const char *help;
	bool has_page; /* perf-gpu-NAME(1); else it is in perf-gpu(1) */
	bool needs_rights; /* other capabilities than those for files */
};

extern const struct command commands[];

/**
 * command__find - a subcommand by its name
 * @name: need not be one; then the nearest is named in the error, printed
 *
 * Return: NULL if there is none.
 */
const struct command *command__find(const char *name);

/* Options and subcommands of perf-gpu itself, on stdout. */
void command__print_usage(void);

#endif
