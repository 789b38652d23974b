// SPDX-License-Identifier: GPL-2.0-or-later
/* How other libraries find the driver's functions, and the names of its errors. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

/* The newest of a function that there is, as its users' headers would name it. */
static void *find_function(const char *name, bool is_per_thread)
{
	static const char *const versions[] = {"_v4", "_v3", "_v2", ""};
	static const char *const suffixes[] = {"_ptsz", ""};
	void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *found = NULL;
	char full[128];

	for (size_t i = is_per_thread ? 0 : 1; self && !found && i < 2; i++) {
		for (size_t j = 0; !found && j < 4; j++) {
			snprintf(full, sizeof(full), "%s%s%s", name, versions[j],
				 suffixes[i]);
			found = dlsym(self, full);
		}
	}
	if (self)
		dlclose(self);
	return found;
}

static CUresult get_function(const char *name, void **ret, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *ret_status)
{
	void *found;

	if (!name || !ret)
		return CUDA_ERROR_INVALID_VALUE;
	found = find_function(name,
			      flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
	*ret = found;
	if (ret_status)
		*ret_status = found ? CU_GET_PROC_ADDRESS_SUCCESS
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* Both work before cuInit(), and the second is only for the other doubles. */
CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
				     cuuint64_t flags,
				     CUdriverProcAddressQueryResult *symbolStatus)
{
	(void)cudaVersion;
	return get_function(symbol, pfn, flags, symbolStatus);
}

CUresult CUDAAPI cuGetExportTable(const void **ppExportTable,
				  const CUuuid *pExportTableId)
{
	if (!ppExportTable || !pExportTableId)
		return CUDA_ERROR_INVALID_VALUE;
	if (memcmp(pExportTableId, FAKE_TOOLS_ID, sizeof(*pExportTableId)))
		return CUDA_ERROR_NOT_FOUND;
	*ppExportTable = &tools;
	return CUDA_SUCCESS;
}

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
	{CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
	{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED",
	 "initialization error"},
	{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
	 "no CUDA-capable device is detected"},
	{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
	 "invalid device ordinal"},
	{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
	 "invalid device context"},
	{CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
	{CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM",
	 "OS call failed or operation not supported on this OS"},
	{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
	 "invalid resource handle"},
	{CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE",
	 "the operation cannot be performed in the present state"},
	{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
	{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	 "operation not permitted when stream is capturing"},
	{CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
	 "stream was not the one that began the capture"},
};

static CUresult error_text(CUresult code, const char **ret, bool is_name)
{
	*ret = NULL;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		if (errors[i].code == code) {
			*ret = is_name ? errors[i].name : errors[i].text;
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **pStr)
{
	return error_text(error, pStr, true);
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **pStr)
{
	return error_text(error, pStr, false);
}
