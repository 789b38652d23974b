/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command needs to be executed at all: the interpreter that a script names in its
 * first line, or the dynamic loader that an ELF file names (PT_INTERP, elf(5)). Where that
 * isn't there, execve(2) says ENOENT as if the command itself were missing. Stateless.
 */
#ifndef PERF_GPU_RECORD_INTERPRETER_H
#define PERF_GPU_RECORD_INTERPRETER_H

#include <limits.h>
#include <stdbool.h>

/**
 * interpreter__is_missing - is the command there, but not what would run it?
 * @command: as execvp(3) takes it: a path, or a name that is searched in PATH
 * @ret:     the path of what is missing; written only if it is so
 */
bool interpreter__is_missing(const char *command, char ret[PATH_MAX]);

#endif
