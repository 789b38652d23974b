/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that profiles a part of itself with CUPTI, as one does that uses
 * torch.profiler: it subscribes, has kernels recorded, and counts the records; alone (-N
 * NAME or without a name), or as one who allows others (-s NAME). Stand-in for CUDA only.
 *
 * When it has subscribed, it waits for -w MS, or, with -l TEXT, until the injected library
 * has said that in its log. With -x FILE it ends when the process does, behind all others that are in it:
 * makes the file, then.
 *
 * Prints "launches PID NUMBER", and "profiled KERNELS of LAUNCHES", or "refused".
 */
#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "cupti_v2.h"
#include "fault_log.h"
#include "plain_cuda.h"

#define BUFFER_BYTES (64 << 10)

static CUpti_SubscriberHandle subscriber;
static bool is_shared;
static unsigned long nr_kernels;

static void CUPTIAPI ignore(void *userdata, CUpti_CallbackDomain domain,
			    CUpti_CallbackId cbid, const void *data)
{
	(void)userdata;
	(void)domain;
	(void)cbid;
	(void)data;
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *max_nr_records)
{
	*max_nr_records = 0;
	*size = BUFFER_BYTES;
	*buffer = aligned_alloc(8, BUFFER_BYTES);
}

/* One that a forced flush took while it ran has no end. */
static void count(const CUpti_Activity *record)
{
	nr_kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
		      ((const CUpti_ActivityKernel10 *)record)->end;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer,
				 size_t size, size_t used)
{
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	while (!cuptiActivityGetNextRecord(buffer, used, &record))
		count(record);
	free(buffer);
}

/* As Kineto does: a subscriber, and only with it the records. 0 or CUPTI's error */
static CUptiResult begin(const char *name)
{
	CUpti_SubscriberParams params = {
		.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
		.subscriberName = name,
	};
	CUptiResult result;

	result = name ? cuptiSubscribe_v2(&subscriber, ignore, NULL, &params)
		      : cuptiSubscribe(&subscriber, ignore, NULL);
	if (!result)
		result = cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
	if (!result)
		result = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	return result;
}

#define V2(name)                                                                     \
	((__typeof__(((struct cupti_v2 *)NULL)->name))(uintptr_t)dlsym(RTLD_DEFAULT, \
								       #name))

static void CUPTIAPI give_shared(uint8_t **buffer, size_t *size, size_t *max_nr_records,
				 void *info)
{
	(void)info;
	give_buffer(buffer, size, max_nr_records);
}

/* CUDA 13.2 has none by subscriber. */
static CUptiResult next_record(uint8_t *buffer, size_t used, CUpti_Activity **record)
{
	if (!V2(cuptiActivityGetNextRecord_v2))
		return cuptiActivityGetNextRecord(buffer, used, record);
	return V2(cuptiActivityGetNextRecord_v2)(subscriber, buffer, used, record);
}

static void CUPTIAPI take_shared(uint8_t *buffer, size_t size, size_t used, void *info)
{
	CUpti_Activity *record = NULL;

	(void)size;
	(void)info;
	while (!next_record(buffer, used, &record))
		count(record);
	free(buffer);
}

/* As one does who knows of others */
static CUptiResult begin_shared(const char *name)
{
	struct cupti_v2_subscriber_params params = {
		.struct_size = sizeof(params), .name = name, .allows_others = 1};
	CUptiResult result;

	if (!V2(cuptiActivityEnable_v2))
		return CUPTI_ERROR_NOT_SUPPORTED;
	result = V2(cuptiSubscribe_v2)(&subscriber, ignore, NULL, &params);
	if (!result)
		result = V2(cuptiActivityRegisterCallbacks_v2)(subscriber, give_shared,
							       take_shared);
	if (!result)
		result = V2(cuptiActivityEnable_v2)(
			subscriber, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL);
	return result;
}

static void end(unsigned long nr_launches)
{
	if (is_shared)
		V2(cuptiActivityDisable_v2)
	(subscriber, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL);
	else cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	cuptiUnsubscribe(subscriber);
	printf("profiled %lu of %lu\n", nr_kernels, nr_launches);
}

/* Who registers his handler first is the last to be called: when all others have ended. */
static unsigned long nr_at_exit;
static const char *exit_file;

static void end_at_exit(void)
{
	if (!nr_at_exit)
		return;
	close(open(exit_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	end(nr_at_exit);
}

int main(int argc, char **argv)
{
	unsigned long nr_before = 0, nr_profiled = 100, nr_after = 0, wait_ms = 0;
	const char *name = NULL, *text = NULL;
	CUptiResult result;
	int option;

	while ((option = getopt(argc, argv, "b:n:a:N:s:w:l:x:")) != -1) {
		if (option == 'b')
			nr_before = strtoul(optarg, NULL, 10);
		else if (option == 'n')
			nr_profiled = strtoul(optarg, NULL, 10);
		else if (option == 'a')
			nr_after = strtoul(optarg, NULL, 10);
		else if (option == 'N')
			name = optarg;
		else if (option == 's')
			name = optarg, is_shared = true;
		else if (option == 'w')
			wait_ms = strtoul(optarg, NULL, 10);
		else if (option == 'l')
			text = optarg;
		else if (option == 'x')
			exit_file = optarg;
		else
			goto usage;
	}
	atexit(end_at_exit);
	/* Nothing before: the profiler is there before CUDA is. */
	if (nr_before)
		plain_kernel__launch(nr_before);
	result = is_shared ? begin_shared(name) : begin(name);
	usleep(wait_ms * 1000);
	if (text)
		fault_log__wait_for(text);
	plain_kernel__launch(nr_profiled);
	if (result)
		printf("refused %d\n", result);
	else if (exit_file)
		nr_at_exit = nr_profiled;
	else
		end(nr_profiled);
	if (nr_after)
		plain_kernel__launch(nr_after);
	printf("launches %d %lu\n", getpid(), nr_before + nr_profiled + nr_after);
	return 0;
usage:
	fprintf(stderr, "usage: profiled [-b LAUNCHES] [-n LAUNCHES] [-a LAUNCHES] "
			"[-N NAME | -s NAME] [-w MS] "
			"[-l TEXT] [-x FILE]\n");
	return 2;
}
