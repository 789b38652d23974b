/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_SYMBOL_DEMANGLE_H
#define PERF_GPU_SYMBOL_DEMANGLE_H

enum demangle_style {
	DEMANGLE_FULL, /* with template arguments and parameters, as nsys has it */
	DEMANGLE_PERF, /* without parameters and return type, as perf has it */
	DEMANGLE_SHORT, /* the qualified name alone */
	DEMANGLE_NONE,
};

/**
 * demangle - a C++ (Itanium) or Rust symbol as its author wrote it
 * @name:  the symbol; what isn't mangled is returned as it is (and shortened
 *         by DEMANGLE_SHORT: "void f<int>(int)" may come demangled already)
 *
 * Return: a new string for free(), NULL without memory.
 */
char *demangle(const char *name, enum demangle_style style);

#endif
