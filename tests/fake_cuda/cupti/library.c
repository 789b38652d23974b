// SPDX-License-Identifier: GPL-2.0-or-later
/* How libcupti finds libcuda, and what it says about itself. */
#include "cupti_state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct fake_hooks hooks = {
	.api = on_api,
	.api_record = on_api_record,
	.resource = on_resource,
	.kernel = on_kernel,
	.copy = on_copy,
	.wait = on_wait,
	.memory = on_memory,
	.migration = on_migration,
	.context = on_context,
};

static struct fake_tools *tools;
static pthread_once_t tools_once = PTHREAD_ONCE_INIT;

static void find_tools(void)
{
	void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_GLOBAL);
	CUresult (*get_table)(const void **, const CUuuid *);
	CUuuid id;
	const void *table;

	if (!handle)
		return;
	get_table = (__typeof__(get_table))(uintptr_t)dlsym(handle, "cuGetExportTable");
	memcpy(&id, FAKE_TOOLS_ID, sizeof(id));
	if (!get_table || get_table(&table, &id))
		return;
	tools = (struct fake_tools *)table;
	atomic_store(&tools->hooks, &hooks);
}

struct fake_tools *driver_tools(void)
{
	pthread_once(&tools_once, find_tools);
	return tools;
}

/* "cuptiActivityEnable=35,cuptiSubscribe=39" */
CUptiResult scripted_error(const char *function)
{
	size_t len = strlen(function);
	const char *found;

	/* As the real one says without a driver */
	if (!driver_tools())
		return CUPTI_ERROR_UNKNOWN;
	for (found = tools->knobs->cupti_errors; found; found = strchr(found, ',')) {
		found += *found == ',';
		if (!strncmp(found, function, len) && found[len] == '=')
			return (CUptiResult)atoi(found + len + 1);
	}
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = version__played()->number;
	return CUPTI_SUCCESS;
}

static const char *const result_names[CUPTI_ERROR_UNKNOWN + 1] = {
#include "result_names.h"
};

/* The real one has a sentence for a few, and the name for most. */
static CUptiResult result_name(CUptiResult result, const char **ret)
{
	const char *name = NULL;

	if (!ret)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (result <= CUPTI_ERROR_UNKNOWN)
		name = result_names[result];
	*ret = name ? name : "<unknown>";
	return name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **str)
{
	return result_name(result, str);
}

VERSIONED(cuptiGetErrorMessage, result_name)
