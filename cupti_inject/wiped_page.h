/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page that a forked child finds to be all 0, whoever made it: pthread_atfork()
 * misses a raw clone.
 */
#ifndef PERF_GPU_INJECT_WIPED_PAGE_H
#define PERF_GPU_INJECT_WIPED_PAGE_H

/**
 * wiped_page__create - a page of zeros, which is one again in every child
 * @ret: written on success only
 *
 * Return: 0 or a negative errno (-EINVAL before Linux 4.14).
 */
int wiped_page__create(unsigned char **ret);

#endif
