// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/stack.h"

#include <linux/perf_event.h>
#include <string.h>

#include "gpu_log.h"

/*
 * A static runtime has one or two frames of its own between the API function and
 * CUPTI (CUDA 11 to 13); further out a frame of that name is the program's.
 */
#define MAX_STATIC_RUNTIME_FRAMES 6

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static enum dso_owner owner_of(const struct map *map)
{
	return map ? dso__owner(map->dso) : DSO_OWNER_PROGRAM;
}

/* Is SYMBOL, perhaps with __ before it, _ptsz or _v7000 behind it, the function API? */
static bool is_api_symbol(const char *symbol, const char *api)
{
	size_t len = strlen(api);

	while (*symbol == '_')
		symbol++;
	return !strncmp(symbol, api, len) &&
	       (!symbol[len] || !strcmp(symbol + len, "_ptsz") ||
		(has_prefix(symbol + len, "_v") &&
		 strspn(symbol + len + 2, "0123456789") == strlen(symbol + len + 2)));
}

static const struct symbol *symbol_of(const struct map *map, uint64_t ip)
{
	if (!map)
		return NULL;
	return dso__find_symbol(map->dso, ip - map->start + map->pgoff, NULL);
}

struct chain {
	const struct machine *machine;
	const struct stack_launch *launch;
	const uint64_t *ips; /* user addresses only */
	size_t nr;
};

static bool chain__is_code(const struct chain *chain, size_t i)
{
	return GPU_LOG_FRAME_KIND(chain->ips[i]) == GPU_LOG_FRAME_ADDRESS;
}

/* Within the calling instruction, which is what has the caller's symbol and line. */
static uint64_t chain__ip(const struct chain *chain, size_t i)
{
	if (!i && chain->launch->is_hit)
		return chain->ips[i];
	return chain->ips[i] ? chain->ips[i] - 1 : 0;
}

static const struct map *chain__map(const struct chain *chain, size_t i)
{
	return machine__find_map(chain->machine, chain->launch->pid, chain__ip(chain, i));
}

/*
 * Where the program's own frames begin behind a static runtime, which I is the
 * first frame of. If the program is stripped, the one frame that is surely the
 * runtime's, the caller of CUPTI or the driver, is all that is passed.
 */
static size_t chain__skip_static_runtime(const struct chain *chain, size_t i,
					 const char *api)
{
	const struct map *first = chain__map(chain, i);

	for (size_t j = i; j < chain->nr && j < i + MAX_STATIC_RUNTIME_FRAMES; j++) {
		const struct map *map = chain__map(chain, j);
		const struct symbol *symbol;

		if (!first || !map || map->dso != first->dso)
			break;
		symbol = symbol_of(map, chain__ip(chain, j));
		if (symbol && is_api_symbol(symbol->name, api))
			return j + 1;
	}
	return i + 1;
}

/*
 * Is I the function that nvcc makes of every kernel, to launch it? Its symbol is
 * _Z<length>__device_stub__..., or _ZL<length>__device_stub__... if it is static.
 */
static bool chain__is_stub(const struct chain *chain, size_t i)
{
	const struct map *map = chain__map(chain, i);
	const struct symbol *symbol = symbol_of(map, chain__ip(chain, i));
	const char *name;

	if (!symbol || !has_prefix(symbol->name, "_Z"))
		return false;
	name = symbol->name + 2;
	name += *name == 'L';
	name += strspn(name, "0123456789");
	return has_prefix(name, "__device_stub__");
}

/* The first frame that is the program's own. */
static size_t chain__find_program(const struct chain *chain, const char *api)
{
	bool has_callee = false, has_runtime = false; /* of a runtime; a runtime */
	size_t i;

	for (i = 0; i < chain->nr; i++) {
		enum dso_owner owner = owner_of(chain__map(chain, i));

		if (owner == DSO_OWNER_PROGRAM)
			break;
		has_callee |= owner == DSO_OWNER_CUPTI || owner == DSO_OWNER_DRIVER;
		has_runtime |= owner == DSO_OWNER_RUNTIME;
	}
	if (i < chain->nr && !chain__is_code(chain, i))
		return i;
	if (i < chain->nr && has_callee && !has_runtime && api && has_prefix(api, "cuda"))
		i = chain__skip_static_runtime(chain, i, api);
	if (i && i < chain->nr && chain__is_stub(chain, i))
		i++;
	return i;
}

/* The name of code that a JIT compiler made, if it has one */
static const char *chain__jit_name(const struct chain *chain, size_t i,
				   const struct map *map)
{
	const struct stack_launch *launch = chain->launch;
	uint64_t ip = chain__ip(chain, i);
	const struct symbol *symbol;
	const char *name = NULL;

	if (launch->jit_names && launch->log >= 0)
		name = jit_names__find(launch->jit_names, (uint32_t)launch->log, ip,
				       launch->time_ns);
	if (name)
		return name;
	symbol = symbol_of(map, ip);
	return symbol ? symbol->demangled : NULL;
}

/* The user part of a callchain. */
static struct chain chain__user(const struct machine *machine,
				const struct stack_launch *launch)
{
	struct chain chain = {.machine = machine, .launch = launch};
	uint64_t start = 0, end;

	for (uint64_t i = 0; i < launch->nr_ips; i++) {
		if (launch->ips[i] == (uint64_t)PERF_CONTEXT_USER)
			start = i + 1;
	}
	for (end = start;
	     end < launch->nr_ips && launch->ips[end] < (uint64_t)PERF_CONTEXT_MAX; end++)
		;
	chain.ips = launch->ips + start;
	chain.nr = end - start;
	return chain;
}

static void stack__add(struct stack *stack, const char *name, uint64_t ip)
{
	if (stack->nr_frames < STACK_MAX_FRAMES)
		stack->frames[stack->nr_frames++] =
			(struct gpu_frame){.name = name, .ip = ip};
}

/* A frame with a name has no address: it need not be found again. */
static void stack__add_code(struct stack *stack, const struct chain *chain, size_t i)
{
	const struct map *map = chain__map(chain, i);
	const char *name = NULL;

	if (!map || dso__is_memory(map->dso)) {
		name = chain__jit_name(chain, i, map);
		stack->is_of_files = false;
	}
	stack__add(stack, name, name ? 0 : chain__ip(chain, i));
}

void stack__build(struct stack *ret, const struct machine *machine,
		  const struct stack_launch *launch, bool keep_driver_frames)
{
	struct chain chain = chain__user(machine, launch);
	const char *api = launch->api;
	size_t program = chain__find_program(&chain, api);
	const struct symbol *last = NULL;

	ret->nr_frames = 0;
	stack__add(ret, NULL, 0);
	for (size_t i = 0; i < program && keep_driver_frames; i++) {
		const struct map *map = chain__map(&chain, i);

		if (owner_of(map) == DSO_OWNER_US)
			continue;
		stack__add(ret, NULL, chain__ip(&chain, i));
		last = symbol_of(map, chain__ip(&chain, i));
	}
	/* With all frames kept, the function itself may be there. */
	if (api && !(last && is_api_symbol(last->name, api)))
		stack__add(ret, api, 0);
	ret->has_code = false;
	ret->is_of_files = true;
	for (size_t i = program; i < chain.nr; i++) {
		if (GPU_LOG_FRAME_KIND(chain.ips[i]) == GPU_LOG_FRAME_PYTHON) {
			stack__add(ret, NULL, chain.ips[i]);
			ret->has_code = true;
			ret->is_of_files = false;
			continue;
		}
		if (!chain__is_code(&chain, i)) {
			stack__add(ret, STACK_TRUNCATED, 0);
			continue;
		}
		stack__add_code(ret, &chain, i);
		ret->has_code = true;
	}
}
