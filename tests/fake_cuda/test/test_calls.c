// SPDX-License-Identifier: GPL-2.0-or-later
/* API calls and their callbacks are what they are with the real CUDA and CUPTI. */
#include "profiler.h"

TEST(injected_library_is_initialized_once)
{
	setenv("CUDA_INJECTION64_PATH", FAKE_CUDA_DIR "/test_injection.so", 1);
	CHECK_EQ(cudaFree(NULL), 0);
	CHECK_EQ(cudaFree(NULL), 0);
	CHECK_EQ(DRIVER(cuInit)(0), 0);
	CHECK_STR(getenv("FAKE_CUDA_TEST_INJECTED"), "1");
}

TEST(injected_library_that_is_not_there_is_passed_over)
{
	setenv("CUDA_INJECTION64_PATH", "/nonexistent/injection.so", 1);
	CHECK_EQ(cudaFree(NULL), 0);
}

TEST(runtime_and_driver_call_share_a_correlation_id)
{
	static const struct {
		CUpti_CallbackDomain domain;
		CUpti_ApiCallbackSite site;
		const char *name;
	} wanted[] = {
		{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_API_ENTER, "cudaLaunchKernel_v7000"},
		{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_API_ENTER, "cuLaunchKernel"},
		{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_API_EXIT, "cuLaunchKernel"},
		{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_API_EXIT, "cudaLaunchKernel_v7000"},
	};

	plain_kernel__launch(1); /* what initializes calls the driver too */
	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	profiler__enable(CUPTI_CB_DOMAIN_DRIVER_API);
	launch(NULL);
	CHECK_EQ(profiler.nr_calls, 4);
	for (size_t i = 0; i < 4; i++) {
		CHECK_EQ(profiler.calls[i].domain, wanted[i].domain);
		CHECK_EQ(profiler.calls[i].site, wanted[i].site);
		CHECK_STR(profiler.calls[i].name, wanted[i].name);
		CHECK_STR(profiler.calls[i].symbol, KERNEL);
		CHECK_EQ(profiler.calls[i].correlation_id,
			 profiler.calls[0].correlation_id);
		CHECK(profiler.calls[i].params);
		CHECK_EQ(profiler.calls[i].result, 0);
	}
	launch(NULL);
	CHECK_EQ(profiler.nr_calls, 8);
	CHECK(profiler.calls[4].correlation_id != profiler.calls[0].correlation_id);

	CHECK_EQ(cuptiEnableDomain(0, profiler.handle, CUPTI_CB_DOMAIN_RUNTIME_API), 0);
	CHECK_EQ(cuptiEnableDomain(0, profiler.handle, CUPTI_CB_DOMAIN_DRIVER_API), 0);
	finish();
	CHECK_EQ(profiler.nr_calls, 8);
	CHECK_EQ(profiler.nr_kernels, 2);
	CHECK_EQ(profiler.kernels[0].correlationId, profiler.calls[0].correlation_id);
	CHECK_EQ(profiler.kernels[1].correlationId, profiler.calls[4].correlation_id);
}

TEST(one_callback_can_be_enabled_alone)
{
	profiler__start();
	CHECK_EQ(cuptiEnableCallback(1, profiler.handle, CUPTI_CB_DOMAIN_DRIVER_API,
				     CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel),
		 0);
	launch(NULL);
	finish();
	CHECK_EQ(profiler.nr_calls, 2);
	CHECK_STR(profiler.calls[0].name, "cuLaunchKernel");
	CHECK_EQ(cuptiUnsubscribe(profiler.handle), 0);
	launch(NULL);
	CHECK_EQ(profiler.nr_calls, 2);
}

TEST(failed_call_shows_its_result_at_exit)
{
	profiler__start();
	CHECK_EQ(cudaFree(NULL), 0);
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	CHECK_EQ(cudaLaunchKernel((const void *)plain_kernel, one, (dim3){2000, 1, 1},
				  NULL, 0, NULL),
		 cudaErrorInvalidConfiguration);
	CHECK_EQ(profiler.calls[1].result, cudaErrorInvalidConfiguration);
	CHECK_EQ(cudaLaunchKernel((const void *)unit__add, one, one, NULL, 0, NULL),
		 cudaErrorInvalidDeviceFunction);
	CHECK_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
	CHECK_EQ(cudaGetLastError(), cudaSuccess);
	finish();
	CHECK_EQ(profiler.nr_kernels, 0);
}

TEST(second_subscriber_is_refused)
{
	CUpti_SubscriberHandle first, second;
	char holder[128] = "";
	CUpti_SubscriberParams params = {
		.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
		.subscriberName = "first",
		.oldSubscriberName = holder,
		.oldSubscriberSize = sizeof(holder),
	};

	CHECK_EQ(cuptiSubscribe_v2(&first, profiler__on_callback, NULL, &params), 0);
	CHECK_EQ(cuptiSubscribe(&second, profiler__on_callback, NULL),
		 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CHECK_EQ(cuptiSubscribe_v2(&second, profiler__on_callback, NULL, &params),
		 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CHECK_STR(holder, "CUPTI for first");
	CHECK_EQ(cuptiUnsubscribe(first), 0);
	CHECK_EQ(cuptiUnsubscribe(first), CUPTI_ERROR_INVALID_PARAMETER);
	CHECK_EQ(cuptiSubscribe(&second, profiler__on_callback, NULL), 0);
}

TEST(script_can_have_another_subscriber)
{
	CUpti_SubscriberHandle handle;
	char holder[128] = "";
	CUpti_SubscriberParams params = {
		.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
		.oldSubscriberName = holder,
		.oldSubscriberSize = sizeof(holder),
	};

	setenv("FAKE_CUDA_SUBSCRIBER", "Nsight Systems", 1);
	CHECK_EQ(cuptiSubscribe_v2(&handle, profiler__on_callback, NULL, &params),
		 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CHECK_STR(holder, "Nsight Systems");
}

TEST(script_can_have_cupti_fail)
{
	setenv("FAKE_CUDA_CUPTI_ERRORS", "cuptiActivityEnable=35,cuptiSubscribe=999", 1);
	CHECK_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
		 CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
	CHECK_EQ(cuptiSubscribe(&profiler.handle, profiler__on_callback, NULL),
		 CUPTI_ERROR_UNKNOWN);
	CHECK_EQ(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 0);
}

TEST(script_can_have_no_device_or_an_old_driver)
{
	int nr_devices = -1;

	setenv("FAKE_CUDA_NO_DEVICE", "1", 1);
	CHECK_EQ(cudaGetDeviceCount(&nr_devices), cudaErrorNoDevice);
	CHECK_EQ(cudaLaunchKernel((const void *)plain_kernel, one, one, NULL, 0, NULL),
		 cudaErrorNoDevice);
}

TEST(driver_older_than_the_runtime_is_refused)
{
	setenv("FAKE_CUDA_DRIVER_VERSION", "12080", 1);
	CHECK_EQ(cudaFree(NULL), cudaErrorInsufficientDriver);
}

TEST(devices_are_as_many_as_scripted)
{
	struct cudaDeviceProp properties;
	int nr_devices = 0, device = -1;
	CUuuid uuids[2];

	setenv("FAKE_CUDA_DEVICES", "3", 1);
	CHECK_EQ(cudaGetDeviceCount(&nr_devices), 0);
	CHECK_EQ(nr_devices, 3);
	CHECK_EQ(cudaGetDeviceProperties(&properties, 2), 0);
	CHECK_STR(properties.name, "Fake GPU");
	CHECK_EQ(cudaGetDeviceProperties(&properties, 3), cudaErrorInvalidDevice);
	CHECK_EQ(DRIVER(cuDeviceGetUuid_v2)(&uuids[0], 0), 0);
	CHECK_EQ(DRIVER(cuDeviceGetUuid_v2)(&uuids[1], 1), 0);
	CHECK(memcmp(&uuids[0], &uuids[1], sizeof(*uuids)));

	profiler__start();
	CHECK_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE), 0);
	CHECK_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONTEXT), 0);
	CHECK_EQ(cudaSetDevice(1), 0);
	CHECK_EQ(cudaGetDevice(&device), 0);
	CHECK_EQ(device, 1);
	launch(NULL);
	finish();
	CHECK_EQ(profiler.nr_devices, 3);
	CHECK_EQ(profiler.nr_contexts, 2); /* device 0's was there before */
	CHECK_EQ(profiler.nr_kernels, 1);
	CHECK_EQ(profiler.kernels[0].deviceId, 1);
}

static const char ptx[] = ".visible .entry first(.param .u64 p) {}\n"
			  ".visible .entry second() {}\n";

TEST(driver_program_needs_no_runtime)
{
	CUlaunchConfig config = {.gridDimX = 1,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 1,
				 .blockDimY = 1,
				 .blockDimZ = 1};
	CUfunction functions[2];
	CUcontext context;
	CUmodule module;

	CHECK_EQ(DRIVER(cuModuleLoadData)(&module, ptx), CUDA_ERROR_NOT_INITIALIZED);
	CHECK_EQ(DRIVER(cuInit)(0), 0);
	profiler__start();
	CHECK_EQ(((CUresult(*)(CUcontext *, unsigned int, CUdevice))driver_function(
			 "cuCtxCreate_v2"))(&context, 0, 0),
		 0);
	CHECK_EQ(DRIVER(cuModuleLoadData)(&module, ptx), 0);
	CHECK_EQ(DRIVER(cuModuleGetFunction)(&functions[0], module, "first"), 0);
	CHECK_EQ(DRIVER(cuModuleGetFunction)(&functions[1], module, "second"), 0);
	CHECK_EQ(DRIVER(cuModuleGetFunction)(&functions[1], module, "sec"),
		 CUDA_ERROR_NOT_FOUND);
	profiler__enable(CUPTI_CB_DOMAIN_DRIVER_API);
	CHECK_EQ(DRIVER(cuLaunchKernel)(functions[0], 1, 1, 1, 1, 1, 1, 0, NULL, NULL,
					NULL),
		 0);
	CHECK_EQ(DRIVER(cuLaunchKernelEx)(&config, functions[1], NULL, NULL), 0);
	CHECK_EQ(profiler.nr_calls, 4);
	CHECK_STR(profiler.calls[2].name, "cuLaunchKernelEx");
	CHECK_STR(profiler.calls[2].symbol, "second");
	CHECK_EQ(DRIVER(cuCtxSynchronize)(), 0);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	CHECK_EQ(profiler.nr_kernels, 2);
	CHECK_STR(profiler.kernels[1].name, "second");
}

TEST(per_thread_stream_is_another_stream)
{
	__typeof__(&cudaLaunchKernel) launch_ptsz =
		dlsym(RTLD_DEFAULT, "cudaLaunchKernel_ptsz");

	CHECK(launch_ptsz);
	CHECK_EQ(cudaFree(NULL), 0);
	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	CHECK_EQ(launch_ptsz((const void *)plain_kernel, one, one, NULL, 0, NULL), 0);
	CHECK_STR(profiler.calls[0].name, "cudaLaunchKernel_ptsz_v7000");
	launch(NULL);
	finish();
	CHECK_EQ(profiler.nr_kernels, 2);
	CHECK(profiler.kernels[0].streamId != profiler.kernels[1].streamId);
}

TEST(memory_holds_what_is_copied_into_it)
{
	char out[100] = "something", in[100];
	struct cudaPointerAttributes attributes;
	void *memory;

	CHECK_EQ(cudaMalloc(&memory, sizeof(out)), 0);
	CHECK_EQ(cudaMemcpy(in, memory, sizeof(in), cudaMemcpyDeviceToHost), 0);
	CHECK_EQ(in[50], 0);
	CHECK_EQ(cudaMemcpy(memory, out, sizeof(out), cudaMemcpyHostToDevice), 0);
	CHECK_EQ(cudaMemset((char *)memory + 4, 'x', 3), 0);
	CHECK_EQ(cudaMemcpy(in, memory, sizeof(in), cudaMemcpyDeviceToHost), 0);
	CHECK_STR(in, "somexxxng");
	CHECK_EQ(cudaPointerGetAttributes(&attributes, (char *)memory + 50), 0);
	CHECK_EQ(attributes.type, cudaMemoryTypeDevice);
	CHECK_EQ(cudaFree(memory), 0);
	CHECK_EQ(cudaFree(memory), cudaErrorInvalidValue);
}

/* A forked child is told by a page that the kernel wipes; qemu 7.2 only says so. */
static void need_wiping(void)
{
	unsigned char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	CHECK(page != MAP_FAILED);
	CHECK_EQ(madvise(page, 65536, MADV_WIPEONFORK), 0);
	*page = 1;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		_exit(*page);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status))
		SKIP("this emulator doesn't wipe pages on fork");
}

/* In a child of an initialized process. Returns the launch's error. */
static int launch_in_child(void)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		size_t nr_calls = profiler.nr_calls;
		cudaError_t error = cudaLaunchKernel((const void *)plain_kernel, one, one,
						     NULL, 0, NULL);

		CHECK(profiler.nr_calls > nr_calls);
		CHECK_EQ(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), 0);
		CHECK_EQ(profiler.nr_kernels, 0);
		_exit((int)error);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(forked_child_is_refused_but_calls_back)
{
	need_wiping();
	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	launch(NULL);
	CHECK_EQ(launch_in_child(), cudaErrorInitializationError);
	finish();
	CHECK_EQ(profiler.nr_kernels, 1);
}

TEST(forked_child_may_launch_if_scripted)
{
	need_wiping();
	setenv("FAKE_CUDA_ALLOW_FORK", "1", 1);
	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	launch(NULL);
	CHECK_EQ(launch_in_child(), cudaSuccess);
}

TEST(child_forked_before_initialization_is_a_process_of_its_own)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	launch(NULL);
	if (!pid)
		_exit(0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* NVIDIA's library, where it is installed: it gives its names without a driver. */
static void *open_real_cupti(void)
{
	static const char *const places[] = {"lib/libcupti.so.13", "lib64/libcupti.so.13",
					     "extras/CUPTI/lib64/libcupti.so.13"};
	const char *roots[] = {getenv("CUDA_HOME"), "/usr/local/cuda"};
	char path[4096];

	for (size_t i = 0; i < 2; i++) {
		for (size_t j = 0; roots[i] && j < 3; j++) {
			void *handle;

			snprintf(path, sizeof(path), "%s/%s", roots[i], places[j]);
			handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
			if (handle)
				return handle;
		}
	}
	return NULL;
}

TEST(names_are_the_real_ones)
{
	void *real = open_real_cupti();
	__typeof__(&cuptiGetCallbackName) real_callback_name;
	__typeof__(&cuptiGetResultString) real_result_string;
	__typeof__(&cuptiGetVersion) real_version;
	uint32_t version, own_version;

	if (!real)
		SKIP("NVIDIA's libcupti.so.13 isn't installed");
	real_callback_name = dlsym(real, "cuptiGetCallbackName");
	real_result_string = dlsym(real, "cuptiGetResultString");
	real_version = dlsym(real, "cuptiGetVersion");
	CHECK(real_callback_name && real_callback_name != cuptiGetCallbackName);
	CHECK_EQ(real_version(&version), 0);
	CHECK_EQ(cuptiGetVersion(&own_version), 0);
	if (version != own_version)
		SKIP("NVIDIA's libcupti.so.13 is of another version than the headers");
	for (int domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++) {
		for (uint32_t id = 0; id < 2000; id++) {
			const char *name = NULL, *real_name = NULL;

			CHECK_EQ(cuptiGetCallbackName(domain, id, &name),
				 real_callback_name(domain, id, &real_name));
			CHECK_STR(name, real_name);
		}
	}
	for (int result = 0; result <= CUPTI_ERROR_UNKNOWN; result++) {
		const char *name = NULL, *real_name = NULL;

		CHECK_EQ(cuptiGetResultString(result, &name),
			 real_result_string(result, &real_name));
		CHECK_STR(name, real_name);
	}
}
