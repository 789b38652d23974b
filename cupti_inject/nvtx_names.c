// SPDX-License-Identifier: GPL-2.0-or-later
#include "nvtx_names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"

/*
 * A hash table of lists that only grow, at their heads: programs have tens of domains
 * and, at most, some thousand strings.
 */
#define NR_LISTS 4096

struct name {
	struct name *next;
	unsigned int kind; /* enum nvtx_name_kind, and BY_TEXT */
	const void *handle;
	char text[];
};

static _Atomic(struct name *) lists[NR_LISTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of adding */

static _Atomic(struct name *) *list_of(uint64_t hash)
{
	return &lists[(hash ^ hash >> 32) % NR_LISTS];
}

static _Atomic(struct name *) *list_of_handle(enum nvtx_name_kind kind,
					      const void *handle)
{
	/* Handles are mostly addresses, or small numbers. */
	return list_of(((uintptr_t)handle + kind) * 0x9e3779b97f4a7c15u);
}

static const struct name *find(enum nvtx_name_kind kind, const void *handle)
{
	const struct name *name =
		atomic_load_explicit(list_of_handle(kind, handle), memory_order_acquire);

	while (name && (name->kind != kind || name->handle != handle))
		name = name->next;
	return name;
}

/* Handles of our own making are found by their text, too: the same, of another kind. */
#define BY_TEXT 0x100

static _Atomic(struct name *) *list_of_text(enum nvtx_name_kind kind, const char *text)
{
	return list_of(intern__hash(text, strlen(text)) + kind);
}

static struct name *find_text(enum nvtx_name_kind kind, const char *text)
{
	struct name *name = atomic_load(list_of_text(kind, text));

	while (name && (name->kind != (kind | BY_TEXT) || strcmp(name->text, text)))
		name = name->next;
	return name;
}

static struct name *insert(_Atomic(struct name *) *list, unsigned int kind,
			   const void *handle, const char *text)
{
	const size_t bytes = strlen(text) + 1;
	struct name *name = malloc(sizeof(*name) + bytes);

	if (!name)
		return NULL;
	name->kind = kind;
	name->handle = handle ? handle : name;
	memcpy(name->text, text, bytes);
	name->next = atomic_load_explicit(list, memory_order_relaxed);
	atomic_store_explicit(list, name, memory_order_release);
	return name;
}

static const void *add_own(enum nvtx_name_kind kind, const char *text)
{
	struct name *by_text = find_text(kind, text);

	if (!by_text)
		by_text = insert(list_of_text(kind, text), kind | BY_TEXT, NULL, text);
	if (by_text && !find(kind, by_text) &&
	    !insert(list_of_handle(kind, by_text), kind, by_text, text))
		return NULL;
	return by_text;
}

static const void *add_other(enum nvtx_name_kind kind, const void *handle,
			     const char *text)
{
	const struct name *known = find(kind, handle);

	if (known && !strcmp(known->text, text))
		return handle;
	return insert(list_of_handle(kind, handle), kind, handle, text) ? handle : NULL;
}

const void *nvtx_names__add(enum nvtx_name_kind kind, const void *handle,
			    const char *text)
{
	const void *ret;

	pthread_mutex_lock(&mutex);
	ret = handle ? add_other(kind, handle, text) : add_own(kind, text);
	pthread_mutex_unlock(&mutex);
	return ret;
}

const char *nvtx_names__text(enum nvtx_name_kind kind, const void *handle)
{
	const struct name *name = handle ? find(kind, handle) : NULL;

	return name ? name->text : NULL;
}

void nvtx_names__after_fork(void)
{
	/* Names are whole at any time: they are put into their list at once. */
	mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
