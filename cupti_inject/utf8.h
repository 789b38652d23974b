/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wide strings as UTF-8. Stateless; any thread. */
#ifndef PERF_GPU_INJECT_UTF8_H
#define PERF_GPU_INJECT_UTF8_H

#include <stddef.h>
#include <wchar.h>

/**
 * utf8__from_wide - what fits of a wide string, in whole characters
 * @text: UTF-32, as wchar_t is on Linux; what is no character becomes U+FFFD
 * @ret:  ends with a NUL
 * @size: of it, at least 1
 *
 * Return: bytes written, without the NUL.
 */
size_t utf8__from_wide(const wchar_t *text, char *ret, size_t size);

/* How many of the first @max bytes of UTF-8 are whole characters, up to a NUL. */
size_t utf8__cut(const char *text, size_t max);

#endif
