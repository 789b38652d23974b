/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_SYMBOL_SHORT_NAME_H
#define PERF_GPU_SYMBOL_SHORT_NAME_H

/**
 * short_name - the qualified name in a demangled C++ or Rust name
 * @text: "void at::native::(anonymous namespace)::kernel<float, 4>(float*, int)"
 *
 * Without template arguments, parameters and return type:
 * "at::native::(anonymous namespace)::kernel". Text that isn't built like a
 * C++ name, unbalanced brackets for example, is copied as it is.
 *
 * Return: a new string for free(), NULL without memory.
 */
char *short_name(const char *text);

/* The same with its template arguments: "at::native::(anonymous namespace)::kernel<float, 4>" */
char *short_name__with_arguments(const char *text);

#endif
