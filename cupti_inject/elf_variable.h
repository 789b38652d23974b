/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A variable of the program's, or of a library of its, that is not exported: found by
 * the file's symbol table, if it wasn't stripped. Stateless; any thread.
 */
#ifndef PERF_GPU_INJECT_ELF_VARIABLE_H
#define PERF_GPU_INJECT_ELF_VARIABLE_H

#include <stddef.h>

/**
 * elf_variable__find - where a variable is
 * @code:  an address within the object that it is of
 * @name:  symbol
 * @bytes: its size, which it is aligned to
 *
 * The file on disk may be another by now than the one that was loaded: what is found lies
 * in the object's memory in any case.
 *
 * Return: its address, or NULL.
 */
void *elf_variable__find(const void *code, const char *name, size_t bytes);

#endif
