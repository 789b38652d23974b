/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An addon for Node that exports launch(n): node_step.js calls it. Stand-in for CUDA
 * only. Of Node's API it declares what it needs: that is stable, its headers are often
 * not installed.
 */
#include <stddef.h>
#include <stdint.h>

#include "plain_cuda.h"

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value napi_callback(napi_env env, napi_callback_info info);

int napi_create_function(napi_env env, const char *name, size_t length,
			 napi_callback *callback, void *data, napi_value *result);
int napi_set_named_property(napi_env env, napi_value object, const char *name,
			    napi_value value);
int napi_get_cb_info(napi_env env, napi_callback_info info, size_t *nr_arguments,
		     napi_value *arguments, napi_value *this_argument, void **data);
int napi_get_value_uint32(napi_env env, napi_value value, uint32_t *result);

napi_value napi_register_module_v1(napi_env env, napi_value exports);

static napi_value launch(napi_env env, napi_callback_info info)
{
	napi_value argument = NULL;
	size_t nr_arguments = 1;
	uint32_t nr_launches = 1;

	napi_get_cb_info(env, info, &nr_arguments, &argument, NULL, NULL);
	if (nr_arguments)
		napi_get_value_uint32(env, argument, &nr_launches);
	plain_kernel__launch(nr_launches);
	return NULL;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
	napi_value function;

	if (!napi_create_function(env, "launch", SIZE_MAX, launch, NULL, &function))
		napi_set_named_property(env, exports, "launch", function);
	return exports;
}
