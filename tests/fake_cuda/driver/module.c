// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Modules and the functions in them.
 *
 * An image that is text holds the kernels whose names are words in it: PTX will do,
 * and so will a list of names. A fat binary or a cubin is not looked into; it has
 * every kernel that it is asked for.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* ELF, fatbinary_section.h's wrapper, and the fat binary itself */
#define ELF_MAGIC \
	"\x7f"    \
	"ELF"
#define FATBINC_MAGIC	 "\xb1\x43\x62\x46"
#define FAT_BINARY_MAGIC "\x50\xed\x55\xba"
#define MAGIC_BYTES	 4

static atomic_uint newest_module_id;

/* strncmp(), since a text may be shorter. */
static bool is_binary(const char *image)
{
	return !strncmp(image, ELF_MAGIC, MAGIC_BYTES) ||
	       !strncmp(image, FATBINC_MAGIC, MAGIC_BYTES) ||
	       !strncmp(image, FAT_BINARY_MAGIC, MAGIC_BYTES);
}

static CUresult module__load(CUmodule *ret, const void *image)
{
	struct CUmod_st *module;
	CUpti_ModuleResourceData data = {};
	CUpti_ResourceData resource = {.context = driver_thread()->context,
				       .resourceDescriptor = &data};

	if (!image)
		return CUDA_ERROR_INVALID_VALUE;
	module = calloc(1, sizeof(*module));
	if (!module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_init(&module->mutex, NULL);
	module->id = atomic_fetch_add(&newest_module_id, 1) + 1;
	if (!is_binary(image)) {
		module->image = strdup(image);
		module->image_bytes = strlen(image);
	}
	*ret = module;
	data.moduleId = module->id;
	data.pCubin = image;
	data.cubinSize = module->image_bytes;
	tools__resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, &resource);
	return CUDA_SUCCESS;
}

static CUresult module__load_file(CUmodule *ret, const char *path)
{
	FILE *file = fopen(path, "re");
	CUresult result = CUDA_ERROR_FILE_NOT_FOUND;
	size_t size = 0;
	char *image = NULL;

	if (!file)
		return result;
	/* An image of zero bytes in the middle ends there; enough to tell its kind. */
	if (getdelim(&image, &size, 0, file) > 0)
		result = module__load(ret, image);
	free(image);
	fclose(file);
	return result;
}

static CUresult module__unload(CUmodule module)
{
	CUpti_ModuleResourceData data = {.moduleId = module->id};
	CUpti_ResourceData resource = {.context = driver_thread()->context,
				       .resourceDescriptor = &data};

	tools__resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &resource);
	while (module->functions) {
		struct CUfunc_st *function = module->functions;

		module->functions = function->next;
		free(function);
	}
	pthread_mutex_destroy(&module->mutex);
	free((char *)module->image);
	free(module);
	return CUDA_SUCCESS;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool module__has(const struct CUmod_st *module, const char *name)
{
	const char *found = module->image;
	size_t len = strlen(name);

	if (!found)
		return true;
	for (; (found = strstr(found, name)); found++)
		if ((found == module->image || !is_word(found[-1])) &&
		    !is_word(found[len]))
			return true;
	return false;
}

static CUresult module__function(CUfunction *ret, CUmodule module, const char *name)
{
	struct CUfunc_st *function;

	if (!module || !name || !*name || !module__has(module, name))
		return CUDA_ERROR_NOT_FOUND;
	pthread_mutex_lock(&module->mutex);
	for (function = module->functions; function; function = function->next)
		if (!strcmp(function->type->name, name))
			goto out;
	function = calloc(1, sizeof(*function));
	if (!function)
		goto out;
	function->module = module;
	function->type = kernel_type__get(name);
	if (!function->type) {
		free(function);
		function = NULL;
		goto out;
	}
	function->next = module->functions;
	module->functions = function;
out:
	pthread_mutex_unlock(&module->mutex);
	if (!function)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ret = function;
	return CUDA_SUCCESS;
}

const char *function__name(CUfunction function)
{
	return function ? function->type->name : NULL;
}

static CUresult function__get_name(const char **ret, CUfunction function)
{
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	*ret = function->type->name;
	return CUDA_SUCCESS;
}

static CUresult function__module(CUmodule *ret, CUfunction function)
{
	*ret = function->module;
	return CUDA_SUCCESS;
}

static CUresult function__attribute(int *ret, CUfunction_attribute which,
				    CUfunction function)
{
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	switch (which) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*ret = 1024;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*ret = (int)function->type->registers;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*ret = 90;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*ret = 48 << 10;
		break;
	default:
		*ret = 0;
	}
	return CUDA_SUCCESS;
}

static CUresult function__set(CUfunction function)
{
	return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult max_blocks(int *ret, CUfunction function, int block_size)
{
	if (!function || block_size <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = 2048 / block_size;
	return CUDA_SUCCESS;
}

/* clang-format off */
DRIVER_API(cuModuleLoadData, (CUmodule *module, const void *image), (module, image),
	   module__load(module, image))
DRIVER_API(cuModuleLoadDataEx,
	   (CUmodule *module, const void *image, unsigned int nr_options,
	    CUjit_option *options, void **values),
	   (module, image, nr_options, options, values), module__load(module, image))
DRIVER_API(cuModuleLoadFatBinary, (CUmodule *module, const void *image), (module, image),
	   module__load(module, image))
DRIVER_API(cuModuleLoad, (CUmodule *module, const char *path), (module, path),
	   module__load_file(module, path))
DRIVER_API(cuModuleUnload, (CUmodule module), (module), module__unload(module))
DRIVER_API(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name),
	   (function, module, name), module__function(function, module, name))

DRIVER_API(cuLibraryLoadData,
	   (CUlibrary *library, const void *code, CUjit_option *jit_options,
	    void **jit_values, unsigned int nr_jit_options, CUlibraryOption *options,
	    void **values, unsigned int nr_options),
	   (library, code, jit_options, jit_values, nr_jit_options, options, values,
	    nr_options),
	   module__load((CUmodule *)library, code))
DRIVER_API(cuLibraryUnload, (CUlibrary library), (library),
	   module__unload((CUmodule)library))
DRIVER_API(cuLibraryGetKernel, (CUkernel *kernel, CUlibrary library, const char *name),
	   (kernel, library, name),
	   module__function((CUfunction *)kernel, (CUmodule)library, name))
DRIVER_API(cuLibraryGetModule, (CUmodule *module, CUlibrary library), (module, library),
	   (*module = (CUmodule)library, CUDA_SUCCESS))
DRIVER_API(cuKernelGetFunction, (CUfunction *function, CUkernel kernel),
	   (function, kernel), (*function = (CUfunction)kernel, CUDA_SUCCESS))
DRIVER_API(cuKernelGetName, (const char **name, CUkernel kernel), (name, kernel),
	   function__get_name(name, (CUfunction)kernel))

DRIVER_API(cuFuncGetName, (const char **name, CUfunction function), (name, function),
	   function__get_name(name, function))
DRIVER_API(cuFuncGetModule, (CUmodule *module, CUfunction function), (module, function),
	   function__module(module, function))
DRIVER_API(cuFuncGetAttribute,
	   (int *value, CUfunction_attribute which, CUfunction function),
	   (value, which, function), function__attribute(value, which, function))
DRIVER_API(cuFuncSetAttribute,
	   (CUfunction function, CUfunction_attribute which, int value),
	   (function, which, value), function__set(function))
DRIVER_API(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache config),
	   (function, config), function__set(function))
DRIVER_API(cuOccupancyMaxActiveBlocksPerMultiprocessor,
	   (int *nr_blocks, CUfunction function, int block_size, size_t shared_bytes),
	   (nr_blocks, function, block_size, shared_bytes),
	   max_blocks(nr_blocks, function, block_size))
DRIVER_API(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
	   (int *nr_blocks, CUfunction function, int block_size, size_t shared_bytes,
	    unsigned int flags),
	   (nr_blocks, function, block_size, shared_bytes, flags),
	   max_blocks(nr_blocks, function, block_size))
