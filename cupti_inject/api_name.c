// SPDX-License-Identifier: GPL-2.0-or-later
#include "api_name.h"

#include <stdio.h>
#include <string.h>

#include "cupti_table.h"
#include "gpu_log.h"

_Static_assert((int)CUPTI_RUNTIME_TRACE_CBID_SIZE < API_MAX_CBIDS / 2, "leave room");
_Static_assert((int)CUPTI_DRIVER_TRACE_CBID_SIZE < API_MAX_CBIDS / 2, "leave room");

#define KERNEL GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL)
#define MEMCPY GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMCPY)
#define MEMSET GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMSET)
#define SYNC   GPU_LOG_KIND_BIT(GPU_LOG_KIND_SYNC)
#define CALL   GPU_LOG_KIND_BIT(GPU_LOG_KIND_CALL)
#define MEMORY GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMORY)
#define FAULT  GPU_LOG_KIND_BIT(GPU_LOG_KIND_FAULT)

/*
 * By what a name has behind cu or cuda: the first that fits counts. Whatever follows is
 * a variant: Async, 2D, D2D32, FromArray, _v2, _ptsz, and those that are to come.
 */
static const struct {
	const char *begin;
	uint32_t kinds;
} functions[] = {
	/* Not on the GPU, and not by the program */
	{"LaunchHostFunc", 0},
	{"Launch", KERNEL | CALL},
	/* Whatever nodes it has, those whose making wasn't seen are this call's. */
	{"GraphLaunch", KERNEL | MEMCPY | MEMSET | CALL},
	/* A variable's module is loaded, and it allocated, when it is first asked for. */
	{"MemcpyToSymbol", MEMCPY | SYNC | MEMORY | CALL},
	{"MemcpyFromSymbol", MEMCPY | SYNC | MEMORY | CALL},
	{"GetSymbol", MEMORY},
	/* One of pageable memory waits, though it be Async. */
	{"Memcpy", MEMCPY | SYNC | CALL},
	{"MemPrefetch", MEMCPY | FAULT | CALL},
	{"MemDiscardAndPrefetch", MEMCPY | FAULT | CALL},
	{"Memset", MEMSET | SYNC | CALL},

	{"DeviceSynchronize", SYNC},
	{"ThreadSynchronize", SYNC},
	{"CtxSynchronize", SYNC},
	{"StreamSynchronize", SYNC},
	{"EventSynchronize", SYNC},
	/* No thread waits, but there is a record of it. */
	{"StreamQuery", SYNC},
	{"EventQuery", SYNC},
	{"StreamWaitEvent", SYNC},
	{"CtxWaitEvent", SYNC},
	{"GreenCtxWaitEvent", SYNC},

	{"Malloc", MEMORY},
	{"MemAlloc", MEMORY},
	{"MemHostAlloc", MEMORY},
	{"HostAlloc", MEMORY},
	{"MemHostRegister", MEMORY},
	{"HostRegister", MEMORY},
	{"ArrayCreate", MEMORY},
	{"Array3DCreate", MEMORY},
	{"MipmappedArrayCreate", MEMORY},
	{"MemPoolCreate", MEMORY},
	{"MemCreate", MEMORY},
	{"MemMapArrayAsync", 0}, /* of what was created before */
	{"MemMap", MEMORY},
	/* What was mapped has its record of this one (CUPTI 13.0). */
	{"MemSetAccess", MEMORY},
	/* The variables of a module */
	{"ModuleLoad", MEMORY},
	{"LibraryLoad", MEMORY},

	{"FreeAsync", MEMORY},
	{"MemFreeAsync", MEMORY},
	/* These wait for what may still use it. */
	{"Free", MEMORY | SYNC},
	{"MemFree", MEMORY | SYNC},
	{"MemHostUnregister", MEMORY | SYNC},
	{"HostUnregister", MEMORY | SYNC},
	{"ArrayDestroy", MEMORY | SYNC},
	{"MipmappedArrayDestroy", MEMORY | SYNC},
	{"MemPoolDestroy", MEMORY | SYNC},
	{"MemRelease", MEMORY | SYNC},
	{"MemUnmap", MEMORY | SYNC},
	{"ModuleUnload", MEMORY | SYNC},
	{"LibraryUnload", MEMORY | SYNC},
	/* With all that is in the context */
	{"CtxDestroy", MEMORY | SYNC},
	{"CtxDetach", MEMORY | SYNC},
	{"DevicePrimaryCtxRelease", MEMORY | SYNC},
	{"DevicePrimaryCtxReset", MEMORY | SYNC},
	{"DeviceReset", MEMORY | SYNC},
	{"ThreadExit", MEMORY | SYNC},
};

static bool begins_with(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

/* Without __ before, and cuda, cu64 (of CUDA 3) or cu; NULL if it has none of these */
static const char *skip_prefix(const char *name)
{
	static const char *const prefixes[] = {"cuda", "cu64", "cu"};

	while (*name == '_')
		name++;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (begins_with(name, prefixes[i]))
			return name + strlen(prefixes[i]);
	return NULL;
}

uint32_t api_name__kinds(const char *name)
{
	const char *rest = skip_prefix(name);

	if (!rest)
		return 0;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (begins_with(rest, functions[i].begin))
			return functions[i].kinds;
	/* Of a later version, perhaps */
	if (strstr(rest, "Launch") && !strstr(rest, "HostFunc"))
		return KERNEL | MEMCPY | MEMSET | CALL;
	return 0;
}

bool api_name__is_wanted(const char *name, uint32_t events, uint32_t kinds)
{
	const uint32_t has = api_name__kinds(name);

	if (has & KERNEL || events & GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_LAUNCH))
		return has & kinds;
	return has & ~CALL & kinds;
}

void api_name__public(const char *name, char *ret, size_t size)
{
	size_t len;
	char *version;

	while (*name == '_')
		name++;
	snprintf(ret, size, "%s", name);
	version = strrchr(ret, '_');
	if (!version || version[1] != 'v')
		return;
	len = strlen(version + 2);
	if (len >= 4 && strspn(version + 2, "0123456789") == len)
		*version = 0;
}
