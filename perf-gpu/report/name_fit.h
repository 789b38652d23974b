/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of a table's rows in as many columns as there are, so that what is left of a name
 * says most, and no two rows look alike. Of a name that doesn't fit, this goes, one after
 * the other until it does:
 *
 *   void at::native::add<4, at::native::Functor<float>, std::array<char*, 3ul> >(int, ...)
 *   at::native::add<4, at::native::Functor<float>, std::array<char*, 3ul> >   parameters, return type
 *   at::native::add<4, Functor<float>, array<char*, 3ul>>         namespaces of arguments
 *   at::native::add<4, Functor<...>, array<...>>                  arguments of arguments
 *   add<4, Functor<...>, array<...>>                              its own namespaces
 *   add<4, Func...ay<...>>                                        the middle
 *
 * Where two names come to the same, what is shown is where they differ, and, if even that
 * is the same, a number.
 *
 * Pure; any thread.
 */
#ifndef PERF_GPU_REPORT_NAME_FIT_H
#define PERF_GPU_REPORT_NAME_FIT_H

#include <stddef.h>

/* A name, and in how many columns it is to be; @ret: for free(), NULL before */
struct fitted_name {
	const char *name;
	size_t columns;
	char *ret;
};

/**
 * names__fit - all that are shown together
 * @items: name and columns; gets ret, which is released by names__release()
 *
 * Names that are the same look the same.
 *
 * Return: 0, or -ENOMEM: some have NULL, then.
 */
int names__fit(struct fitted_name *items, size_t nr);
void names__release(struct fitted_name *items, size_t nr);

#endif
