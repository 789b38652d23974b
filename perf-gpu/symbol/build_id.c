// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/build_id.h"

#include <stdio.h>
#include <string.h>

struct build_id build_id__make(const void *bytes, size_t nr_bytes)
{
	static const struct build_id none;
	struct build_id id = {0};

	if (nr_bytes > sizeof(id.bytes))
		nr_bytes = sizeof(id.bytes);
	if (nr_bytes)
		memcpy(id.bytes, bytes, nr_bytes);
	if (build_id__is_equal(&id, &none))
		return none;
	id.nr_bytes = nr_bytes;
	return id;
}

bool build_id__is_equal(const struct build_id *a, const struct build_id *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

const char *build_id__format(const struct build_id *id, char ret[BUILD_ID_TEXT_BYTES])
{
	*ret = '\0';
	for (size_t i = 0; i < id->nr_bytes; i++)
		snprintf(ret + 2 * i, 3, "%02x", id->bytes[i]);
	return ret;
}
