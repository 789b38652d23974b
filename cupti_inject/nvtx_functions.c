// SPDX-License-Identifier: GPL-2.0-or-later
#include "nvtx_functions.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "nvtx_names.h"
#include "nvtx_open.h"
#include "utf8.h"
#include "wiped_page.h"

_Atomic(nvtx_function *) nvtx_functions_next_core[NVTX_ABI_CORE_SIZE];
_Atomic(nvtx_function *) nvtx_functions_next_core2[NVTX_ABI_CORE2_SIZE];

/*
 * A 1 where ranges are followed. A child made by fork() follows them anew; of one made
 * by a raw clone nothing is known, not even whether our locks are free there: its calls
 * are handed on and that is all.
 */
static unsigned char *process_page;

static bool is_followed(void)
{
	return process_page && *(volatile unsigned char *)process_page;
}

/* fork() was called; what is here is the calling thread's alone. */
static void on_fork(void)
{
	nvtx_names__after_fork();
	nvtx_open__after_fork();
	*process_page = 1;
}

void nvtx_functions__follow(void)
{
	unsigned char *page;

	if (wiped_page__create(&page))
		return;
	*page = 1;
	process_page = page;
	/* Else a child, too, would go unfollowed. */
	pthread_atfork(NULL, NULL, on_fork);
}

/* --- what is said ----------------------------------------------------------------------- */

/* Text, or a copy of what fits of it. */
static const char *cut(const char *text, char buffer[NVTX_NAME_BYTES])
{
	size_t nr;

	if (!text)
		return NULL;
	nr = utf8__cut(text, NVTX_NAME_BYTES - 1);
	if (!text[nr])
		return text;
	memcpy(buffer, text, nr);
	buffer[nr] = '\0';
	return buffer;
}

static const char *narrow(const wchar_t *text, char buffer[NVTX_NAME_BYTES])
{
	if (!text)
		return NULL;
	utf8__from_wide(text, buffer, NVTX_NAME_BYTES);
	return buffer;
}

static const char *message_of(const struct nvtx_attributes *attributes,
			      char buffer[NVTX_NAME_BYTES])
{
	if (!attributes || attributes->size < sizeof(*attributes))
		return NULL;
	switch (attributes->message_type) {
	case NVTX_ABI_MESSAGE_ASCII:
		return cut(attributes->message.ascii, buffer);
	case NVTX_ABI_MESSAGE_WIDE:
		return narrow(attributes->message.wide, buffer);
	case NVTX_ABI_MESSAGE_REGISTERED:
		return nvtx_names__text(NVTX_NAME_STRING, attributes->message.registered);
	default:
		return NULL;
	}
}

static const char *domain_of(const void *handle)
{
	const char *text = nvtx_names__text(NVTX_NAME_DOMAIN, handle);

	return text || !handle ? text : "unknown domain";
}

static int follow_push(const char *domain, const char *name)
{
	int saved_errno = errno, depth;

	if (!is_followed())
		return NVTX_ABI_NO_PUSH_POP;
	depth = nvtx_open__push(domain, name);
	errno = saved_errno;
	return depth;
}

static int follow_pop(const char *domain)
{
	int saved_errno = errno, depth;

	if (!is_followed())
		return NVTX_ABI_NO_PUSH_POP;
	depth = nvtx_open__pop(domain);
	errno = saved_errno;
	return depth;
}

static void follow_start(const char *domain, const char *name, uint64_t id)
{
	int saved_errno = errno;

	if (is_followed())
		nvtx_open__start(domain, name, id);
	errno = saved_errno;
}

static void follow_end(const char *domain, uint64_t id)
{
	int saved_errno = errno;

	if (is_followed())
		nvtx_open__end(domain, id);
	errno = saved_errno;
}

static void follow_mark(const char *domain, const char *name)
{
	int saved_errno = errno;

	if (is_followed())
		nvtx_open__mark(domain, name);
	errno = saved_errno;
}

/* The handle that the program gets: the next tool's, if it has made one. */
static const void *follow_name(enum nvtx_name_kind kind, const void *handle,
			       const char *text)
{
	int saved_errno = errno;

	if (is_followed() && text)
		handle = nvtx_names__add(kind, handle, text);
	errno = saved_errno;
	return handle;
}

/* --- NVTX's functions ---------------------------------------------------------------------- */

#define NEXT(table, place, type)                                           \
	((type *)atomic_load_explicit(&nvtx_functions_next_##table[place], \
				      memory_order_relaxed))

typedef void mark_ex_fn(const struct nvtx_attributes *attributes);
typedef void mark_a_fn(const char *message);
typedef void mark_w_fn(const wchar_t *message);
typedef uint64_t start_ex_fn(const struct nvtx_attributes *attributes);
typedef uint64_t start_a_fn(const char *message);
typedef uint64_t start_w_fn(const wchar_t *message);
typedef void end_fn(uint64_t id);
typedef int push_ex_fn(const struct nvtx_attributes *attributes);
typedef int push_a_fn(const char *message);
typedef int push_w_fn(const wchar_t *message);
typedef int pop_fn(void);
typedef void domain_mark_fn(const void *domain, const struct nvtx_attributes *attributes);
typedef uint64_t domain_start_fn(const void *domain,
				 const struct nvtx_attributes *attributes);
typedef void domain_end_fn(const void *domain, uint64_t id);
typedef int domain_push_fn(const void *domain, const struct nvtx_attributes *attributes);
typedef int domain_pop_fn(const void *domain);
typedef const void *register_a_fn(const void *domain, const char *text);
typedef const void *register_w_fn(const void *domain, const wchar_t *text);
typedef const void *create_a_fn(const char *name);
typedef const void *create_w_fn(const wchar_t *name);

static void mark_ex(const struct nvtx_attributes *attributes)
{
	mark_ex_fn *next = NEXT(core, NVTX_ABI_MARK_EX, mark_ex_fn);
	char buffer[NVTX_NAME_BYTES];

	follow_mark(NULL, message_of(attributes, buffer));
	if (next)
		next(attributes);
}

static void mark_a(const char *message)
{
	mark_a_fn *next = NEXT(core, NVTX_ABI_MARK_A, mark_a_fn);
	char buffer[NVTX_NAME_BYTES];

	follow_mark(NULL, cut(message, buffer));
	if (next)
		next(message);
}

static void mark_w(const wchar_t *message)
{
	mark_w_fn *next = NEXT(core, NVTX_ABI_MARK_W, mark_w_fn);
	char buffer[NVTX_NAME_BYTES];

	follow_mark(NULL, narrow(message, buffer));
	if (next)
		next(message);
}

static uint64_t start_ex(const struct nvtx_attributes *attributes)
{
	start_ex_fn *next = NEXT(core, NVTX_ABI_RANGE_START_EX, start_ex_fn);
	uint64_t id = next ? next(attributes) : nvtx_open__new_id();
	char buffer[NVTX_NAME_BYTES];

	follow_start(NULL, message_of(attributes, buffer), id);
	return id;
}

static uint64_t start_a(const char *message)
{
	start_a_fn *next = NEXT(core, NVTX_ABI_RANGE_START_A, start_a_fn);
	uint64_t id = next ? next(message) : nvtx_open__new_id();
	char buffer[NVTX_NAME_BYTES];

	follow_start(NULL, cut(message, buffer), id);
	return id;
}

static uint64_t start_w(const wchar_t *message)
{
	start_w_fn *next = NEXT(core, NVTX_ABI_RANGE_START_W, start_w_fn);
	uint64_t id = next ? next(message) : nvtx_open__new_id();
	char buffer[NVTX_NAME_BYTES];

	follow_start(NULL, narrow(message, buffer), id);
	return id;
}

static void end(uint64_t id)
{
	end_fn *next = NEXT(core, NVTX_ABI_RANGE_END, end_fn);

	follow_end(NULL, id);
	if (next && !nvtx_open__is_own_id(id))
		next(id);
}

static int push_ex(const struct nvtx_attributes *attributes)
{
	push_ex_fn *next = NEXT(core, NVTX_ABI_RANGE_PUSH_EX, push_ex_fn);
	char buffer[NVTX_NAME_BYTES];
	int depth = follow_push(NULL, message_of(attributes, buffer));

	return next ? next(attributes) : depth;
}

static int push_a(const char *message)
{
	push_a_fn *next = NEXT(core, NVTX_ABI_RANGE_PUSH_A, push_a_fn);
	char buffer[NVTX_NAME_BYTES];
	int depth = follow_push(NULL, cut(message, buffer));

	return next ? next(message) : depth;
}

static int push_w(const wchar_t *message)
{
	push_w_fn *next = NEXT(core, NVTX_ABI_RANGE_PUSH_W, push_w_fn);
	char buffer[NVTX_NAME_BYTES];
	int depth = follow_push(NULL, narrow(message, buffer));

	return next ? next(message) : depth;
}

static int pop(void)
{
	pop_fn *next = NEXT(core, NVTX_ABI_RANGE_POP, pop_fn);
	int depth = follow_pop(NULL);

	return next ? next() : depth;
}

static void domain_mark(const void *domain, const struct nvtx_attributes *attributes)
{
	domain_mark_fn *next = NEXT(core2, NVTX_ABI_DOMAIN_MARK_EX, domain_mark_fn);
	char buffer[NVTX_NAME_BYTES];

	follow_mark(domain_of(domain), message_of(attributes, buffer));
	if (next)
		next(domain, attributes);
}

static uint64_t domain_start(const void *domain, const struct nvtx_attributes *attributes)
{
	domain_start_fn *next =
		NEXT(core2, NVTX_ABI_DOMAIN_RANGE_START_EX, domain_start_fn);
	uint64_t id = next ? next(domain, attributes) : nvtx_open__new_id();
	char buffer[NVTX_NAME_BYTES];

	follow_start(domain_of(domain), message_of(attributes, buffer), id);
	return id;
}

static void domain_end(const void *domain, uint64_t id)
{
	domain_end_fn *next = NEXT(core2, NVTX_ABI_DOMAIN_RANGE_END, domain_end_fn);

	follow_end(domain_of(domain), id);
	if (next && !nvtx_open__is_own_id(id))
		next(domain, id);
}

static int domain_push(const void *domain, const struct nvtx_attributes *attributes)
{
	domain_push_fn *next = NEXT(core2, NVTX_ABI_DOMAIN_RANGE_PUSH_EX, domain_push_fn);
	char buffer[NVTX_NAME_BYTES];
	int depth = follow_push(domain_of(domain), message_of(attributes, buffer));

	return next ? next(domain, attributes) : depth;
}

static int domain_pop(const void *domain)
{
	domain_pop_fn *next = NEXT(core2, NVTX_ABI_DOMAIN_RANGE_POP, domain_pop_fn);
	int depth = follow_pop(domain_of(domain));

	return next ? next(domain) : depth;
}

static const void *register_a(const void *domain, const char *text)
{
	register_a_fn *next =
		NEXT(core2, NVTX_ABI_DOMAIN_REGISTER_STRING_A, register_a_fn);
	const void *handle = next ? next(domain, text) : NULL;
	char buffer[NVTX_NAME_BYTES];

	return follow_name(NVTX_NAME_STRING, handle, cut(text, buffer));
}

static const void *register_w(const void *domain, const wchar_t *text)
{
	register_w_fn *next =
		NEXT(core2, NVTX_ABI_DOMAIN_REGISTER_STRING_W, register_w_fn);
	const void *handle = next ? next(domain, text) : NULL;
	char buffer[NVTX_NAME_BYTES];

	return follow_name(NVTX_NAME_STRING, handle, narrow(text, buffer));
}

static const void *create_a(const char *name)
{
	create_a_fn *next = NEXT(core2, NVTX_ABI_DOMAIN_CREATE_A, create_a_fn);
	const void *handle = next ? next(name) : NULL;
	char buffer[NVTX_NAME_BYTES];

	return follow_name(NVTX_NAME_DOMAIN, handle, cut(name, buffer));
}

static const void *create_w(const wchar_t *name)
{
	create_w_fn *next = NEXT(core2, NVTX_ABI_DOMAIN_CREATE_W, create_w_fn);
	const void *handle = next ? next(name) : NULL;
	char buffer[NVTX_NAME_BYTES];

	return follow_name(NVTX_NAME_DOMAIN, handle, narrow(name, buffer));
}

nvtx_function *const nvtx_functions_core[NVTX_ABI_CORE_SIZE] = {
	[NVTX_ABI_MARK_EX] = (nvtx_function *)mark_ex,
	[NVTX_ABI_MARK_A] = (nvtx_function *)mark_a,
	[NVTX_ABI_MARK_W] = (nvtx_function *)mark_w,
	[NVTX_ABI_RANGE_START_EX] = (nvtx_function *)start_ex,
	[NVTX_ABI_RANGE_START_A] = (nvtx_function *)start_a,
	[NVTX_ABI_RANGE_START_W] = (nvtx_function *)start_w,
	[NVTX_ABI_RANGE_END] = (nvtx_function *)end,
	[NVTX_ABI_RANGE_PUSH_EX] = (nvtx_function *)push_ex,
	[NVTX_ABI_RANGE_PUSH_A] = (nvtx_function *)push_a,
	[NVTX_ABI_RANGE_PUSH_W] = (nvtx_function *)push_w,
	[NVTX_ABI_RANGE_POP] = (nvtx_function *)pop,
};

nvtx_function *const nvtx_functions_core2[NVTX_ABI_CORE2_SIZE] = {
	[NVTX_ABI_DOMAIN_MARK_EX] = (nvtx_function *)domain_mark,
	[NVTX_ABI_DOMAIN_RANGE_START_EX] = (nvtx_function *)domain_start,
	[NVTX_ABI_DOMAIN_RANGE_END] = (nvtx_function *)domain_end,
	[NVTX_ABI_DOMAIN_RANGE_PUSH_EX] = (nvtx_function *)domain_push,
	[NVTX_ABI_DOMAIN_RANGE_POP] = (nvtx_function *)domain_pop,
	[NVTX_ABI_DOMAIN_REGISTER_STRING_A] = (nvtx_function *)register_a,
	[NVTX_ABI_DOMAIN_REGISTER_STRING_W] = (nvtx_function *)register_w,
	[NVTX_ABI_DOMAIN_CREATE_A] = (nvtx_function *)create_a,
	[NVTX_ABI_DOMAIN_CREATE_W] = (nvtx_function *)create_w,
};
