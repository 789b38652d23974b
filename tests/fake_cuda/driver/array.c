// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrays: memory of their own kind, whose rows lie one behind the other here. */
#include <stdlib.h>

#include "driver.h"

static size_t format_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	default:
		return 4;
	}
}

/* A height or depth of 0 is one of fewer dimensions. */
static CUresult array__create(CUarray *ret, size_t width, size_t height, size_t depth,
			      CUarray_format format, unsigned int nr_channels)
{
	struct allocation allocation = {.kind = CUPTI_ACTIVITY_MEMORY_KIND_ARRAY};
	struct CUarray_st *array = calloc(1, sizeof(*array));
	CUresult result;

	if (!array)
		return CUDA_ERROR_OUT_OF_MEMORY;
	array->pitch = width * format_bytes(format) * nr_channels;
	array->height = height ? height : 1;
	array->depth = depth ? depth : 1;
	allocation.bytes = array->pitch * array->height * array->depth;
	result = memory__allocate(&allocation, NULL);
	if (result) {
		free(array);
		return result;
	}
	array->start = allocation.start;
	array->context = allocation.context;
	*ret = array;
	return CUDA_SUCCESS;
}

static CUresult array__destroy(CUarray array)
{
	CUresult result;

	if (!array)
		return CUDA_ERROR_INVALID_HANDLE;
	result = memory__free(array->start, false, NULL);
	free(array);
	return result;
}

/* clang-format off */
DRIVER_API(cuArrayCreate_v2, (CUarray *array, const CUDA_ARRAY_DESCRIPTOR *of),
	   (array, of),
	   array__create(array, of->Width, of->Height, 0, of->Format, of->NumChannels))
DRIVER_API(cuArray3DCreate_v2, (CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *of),
	   (array, of),
	   array__create(array, of->Width, of->Height, of->Depth, of->Format,
			 of->NumChannels))
DRIVER_API(cuArrayDestroy, (CUarray array), (array), array__destroy(array))
