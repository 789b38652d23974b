// SPDX-License-Identifier: GPL-2.0-or-later
/* Several subscribers, as from CUDA 13.2 on: each has its own records and callbacks. */
#include "profiler.h"

#include "../../../cupti_inject/cupti_v2.h"

struct member {
	CUpti_SubscriberHandle handle;
	size_t nr_kernels, nr_calls;
};

static struct member members[3];
static struct cupti_v2 v2;

static void find_functions(const char *version)
{
	void *handle;

	setenv("FAKE_CUDA_CUPTI_VERSION", version, 1);
	setenv("FAKE_CUDA_INSTANT", "1", 1);
	handle = dlopen("libcupti.so.13", RTLD_NOW);
	CHECK(handle);
#define GET(name) v2.name = (__typeof__(v2.name))(uintptr_t)dlsym(handle, #name)
	GET(cuptiSubscribe_v2);
	GET(cuptiActivityEnable_v2);
	GET(cuptiActivityDisable_v2);
	GET(cuptiActivityRegisterCallbacks_v2);
	GET(cuptiActivityGetAttribute_v2);
	GET(cuptiIsTracingSessionRunning);
	GET(cuptiActivityGetNextRecord_v2);
	GET(cuptiActivityEnableDriverApi_v2);
#undef GET
}

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *max_nr, void *info)
{
	(void)info;
	profiler__give_buffer(buffer, size, max_nr);
}

static void take(struct member *member, uint8_t *buffer, size_t used)
{
	CUpti_Activity *record = NULL;

	while (!v2.cuptiActivityGetNextRecord_v2(member->handle, buffer, used, &record))
		member->nr_kernels +=
			record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	free(buffer);
}

static void CUPTIAPI take_0(uint8_t *buffer, size_t size, size_t used, void *info)
{
	(void)size;
	(void)info;
	take(&members[0], buffer, used);
}

static void CUPTIAPI take_1(uint8_t *buffer, size_t size, size_t used, void *info)
{
	(void)size;
	(void)info;
	take(&members[1], buffer, used);
}

static void CUPTIAPI count(void *userdata, CUpti_CallbackDomain domain,
			   CUpti_CallbackId cbid, const void *data)
{
	struct member *member = userdata;

	(void)domain;
	(void)cbid;
	(void)data;
	member->nr_calls++;
}

static CUptiResult join(size_t i, bool allows_others, char old_name[64])
{
	struct cupti_v2_subscriber_params params = {
		.struct_size = sizeof(params),
		.name = i ? "later" : "first",
		.old_name = old_name,
		.old_name_bytes = 64,
		.allows_others = allows_others,
	};

	return v2.cuptiSubscribe_v2(&members[i].handle, count, &members[i], &params);
}

static int sharing(void)
{
	size_t bytes = 1;
	uint8_t value = 9;

	CHECK_EQ(v2.cuptiActivityGetAttribute_v2(NULL, CUPTI_V2_ATTRIBUTE_SHARING, &bytes,
						 &value),
		 0);
	return value;
}

TEST(each_has_what_it_has_enabled)
{
	cupti_v2_complete_fn *const takers[] = {take_0, take_1};
	char old_name[64] = "";
	uint8_t is_running = 9;

	find_functions("13.4");
	CHECK_EQ(v2.cuptiIsTracingSessionRunning(&is_running), 0);
	CHECK_EQ(is_running, 0);
	CHECK_EQ(sharing(), CUPTI_V2_SHARING_UNDECIDED);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(join(i, true, old_name), 0);
		CHECK_EQ(v2.cuptiActivityRegisterCallbacks_v2(members[i].handle, give,
							      takers[i]),
			 0);
	}
	CHECK_STR(old_name, "CUPTI for first");
	CHECK_EQ(sharing(), CUPTI_V2_SHARING_ALLOWED);
	CHECK_EQ(v2.cuptiActivityEnable_v2(members[0].handle,
					   CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL),
		 0);
	CHECK_EQ(cuptiEnableDomain(1, members[1].handle, CUPTI_CB_DOMAIN_DRIVER_API), 0);
	launch(NULL);
	CHECK_EQ(v2.cuptiActivityEnable_v2(members[1].handle,
					   CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL),
		 0);
	launch(NULL);
	CHECK_EQ(v2.cuptiActivityDisable_v2(members[0].handle,
					    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL),
		 0);
	launch(NULL);
	finish();
	CHECK_EQ(members[0].nr_kernels, 2);
	CHECK_EQ(members[1].nr_kernels, 2);
	CHECK_EQ(members[0].nr_calls, 0);
	CHECK(members[1].nr_calls >= 6); /* entry and exit of three launches */
	CHECK_EQ(cuptiUnsubscribe(members[0].handle), 0);
	CHECK_EQ(sharing(), CUPTI_V2_SHARING_ALLOWED);
	CHECK_EQ(cuptiUnsubscribe(members[1].handle), 0);
	CHECK_EQ(sharing(), CUPTI_V2_SHARING_UNDECIDED);
}

TEST(who_knows_of_no_others_is_refused_beside_them)
{
	CUpti_SubscriberHandle alone;
	char old_name[64] = "";

	find_functions("13.3");
	CHECK_EQ(join(0, true, old_name), 0);
	CHECK_EQ(cuptiSubscribe(&alone, count, NULL),
		 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CHECK_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
		 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CHECK_EQ(join(1, false, old_name),
		 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CHECK_STR(old_name, "CUPTI for first");
}

TEST(nobody_joins_one_who_is_alone)
{
	char old_name[64] = "";

	find_functions("13.3");
	CHECK_EQ(cuptiSubscribe(&members[0].handle, count, NULL), 0);
	CHECK_EQ(sharing(), CUPTI_V2_SHARING_REFUSED);
	CHECK_EQ(join(1, true, old_name), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CHECK_EQ(v2.cuptiActivityEnable_v2(members[0].handle,
					   CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL),
		 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}

TEST(functions_came_one_after_the_other)
{
	find_functions("13.2");
	CHECK(v2.cuptiActivityEnable_v2);
	CHECK(!v2.cuptiActivityGetNextRecord_v2);
	CHECK(!v2.cuptiActivityEnableDriverApi_v2);
}

TEST(before_there_were_none)
{
	find_functions("13.1");
	CHECK(v2.cuptiSubscribe_v2);
	CHECK(!v2.cuptiActivityEnable_v2);
	CHECK(!v2.cuptiIsTracingSessionRunning);
}
