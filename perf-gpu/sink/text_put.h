/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text put where there is room for it, for what is written a million times: each returns
 * where it ended. Inline, so that a literal's length is known.
 */
#ifndef PERF_GPU_SINK_TEXT_PUT_H
#define PERF_GPU_SINK_TEXT_PUT_H

#include <stdint.h>
#include <string.h>

/* Bytes that a number of 64 bits takes at most */
#define TEXT_PUT_NUMBER 20

static inline char *text_put__text(char *at, const char *text)
{
	return (char *)mempcpy(at, text, strlen(text));
}

/* The two digits of numbers below 100, one after the other */
#define TEXT_PUT_PAIRS                                       \
	"00010203040506070809101112131415161718192021222324" \
	"25262728293031323334353637383940414243444546474849" \
	"50515253545556575859606162636465666768697071727374" \
	"75767778798081828384858687888990919293949596979899"

/* Two digits at a time: half as many divisions, which are what takes long */
static inline char *text_put__number(char *at, uint64_t number)
{
	static const char pairs[] = TEXT_PUT_PAIRS;
	char digits[TEXT_PUT_NUMBER];
	size_t first = sizeof(digits);

	while (number >= 100) {
		first -= 2;
		memcpy(digits + first, pairs + 2 * (number % 100), 2);
		number /= 100;
	}
	if (number >= 10) {
		first -= 2;
		memcpy(digits + first, pairs + 2 * number, 2);
	} else {
		digits[--first] = (char)('0' + number);
	}
	return (char *)mempcpy(at, digits + first, sizeof(digits) - first);
}

/* "12.345" of 12345 */
static inline char *text_put__thousandths(char *at, uint64_t number)
{
	unsigned int rest = (unsigned int)(number % 1000);

	at = text_put__number(at, number / 1000);
	*at++ = '.';
	*at++ = (char)('0' + rest / 100);
	*at++ = (char)('0' + rest / 10 % 10);
	*at++ = (char)('0' + rest % 10);
	return at;
}

/* "12.345678" of 12345678; at most TEXT_PUT_NUMBER + 2 bytes */
static inline char *text_put__millionths(char *at, uint64_t number)
{
	static const char pairs[] = TEXT_PUT_PAIRS;
	const unsigned int rest = (unsigned int)(number % 1000000);

	at = text_put__number(at, number / 1000000);
	*at++ = '.';
	memcpy(at, pairs + 2 * (rest / 10000), 2);
	memcpy(at + 2, pairs + 2 * (rest / 100 % 100), 2);
	memcpy(at + 4, pairs + 2 * (rest % 100), 2);
	return at + 6;
}

#endif
