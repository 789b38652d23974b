/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another NVTX tool: a line on standard error for each call, and answers of its own,
 * which a program can tell from ours. For NVTX_INJECTION64_PATH; with NVTX_TOOL_LINKED,
 * to be linked into a program.
 */
#ifdef NVTX_TOOL_LINKED
/* The header then takes it for ours, without declaring it. */
#define NVTX_STATIC_INJECTION_IMPL
#include <stdint.h>
extern int (*InitializeInjectionNvtx2_fnptr)(const void *(*)(uint32_t));
#endif

#include <stdio.h>
#include <stdlib.h>

#include <nvtx3/nvToolsExt.h>

#define FIRST_ID 1000

static int push(const char *text)
{
	fprintf(stderr, "tool: push %s\n", text);
	return 40;
}

static int push_ex(const nvtxEventAttributes_t *attributes)
{
	return push(attributes->message.ascii);
}

static int pop(void)
{
	fprintf(stderr, "tool: pop\n");
	return 50;
}

static nvtxRangeId_t start(const char *text)
{
	static nvtxRangeId_t id = FIRST_ID;

	fprintf(stderr, "tool: start %s\n", text);
	return id++;
}

static void end(nvtxRangeId_t id)
{
	fprintf(stderr, "tool: end %llu\n", (unsigned long long)id);
}

static nvtxDomainHandle_t create(const char *name)
{
	static char domain[8];
	static int nr_domains;

	fprintf(stderr, "tool: domain %s\n", name);
	return (nvtxDomainHandle_t)&domain[nr_domains++];
}

static int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	(void)attributes;
	fprintf(stderr, "tool: push in a domain\n");
	return domain ? 60 : -1;
}

/* Something that we have nothing for: it stays the tool's alone. */
static void name_thread(uint32_t tid, const char *name)
{
	(void)tid;
	fprintf(stderr, "tool: thread %s\n", name);
}

static void set(NvtxGetExportTableFunc_t get_table, NvtxCallbackModule module,
		unsigned int place, void *function)
{
	const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
	NvtxFunctionTable table;
	unsigned int size;

	if (!callbacks->GetModuleFunctionTable(module, &table, &size) || place >= size)
		abort();
	*table[place] = (NvtxFunctionPointer)function;
}

__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
	fprintf(stderr, "tool: here\n");
	set(get_table, NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushA, push);
	set(get_table, NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushEx, push_ex);
	set(get_table, NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePop, pop);
	set(get_table, NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeStartA, start);
	set(get_table, NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeEnd, end);
	set(get_table, NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_NameOsThreadA, name_thread);
	set(get_table, NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainCreateA, create);
	set(get_table, NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePushEx,
	    domain_push);
	return !getenv("NVTX_TOOL_REFUSES");
}

#ifdef NVTX_TOOL_LINKED
int (*InitializeInjectionNvtx2_fnptr)(const void *(*)(uint32_t)) =
	InitializeInjectionNvtx2;
#endif
