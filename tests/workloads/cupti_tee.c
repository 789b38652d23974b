// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A second reader of what CUPTI records, in the same process as perf-gpu's library and of
 * the same buffers: a libcupti (PERF_GPU_CUPTI) that passes everything on to the real one,
 * and looks at each buffer before it hands it over. So what a recording comes to can be
 * compared with CUPTI's own records, to the nanosecond, by code that shares nothing with
 * ours but the header of CUPTI.
 *
 *   CUPTI_TEE_LIBRARY  the real one; else the libcupti that the process has, or that the
 *                      dynamic linker finds
 *   CUPTI_TEE_OUTPUT   file that gets a line for each buffer and kind in it, with tabs:
 *                      KIND  RECORDS  NS  BYTES     (gpu-kernel, gpu-memcpy, gpu-memset)
 *
 *   CUPTI_TEE_SIZES    file that gets, when the process ends, a line for each kind of
 *                      record that was seen, with tabs:
 *                      ok|longer|WRONG  KIND  VERSION  STRUCT  BYTES  DISTANCE
 *                      where STRUCT and BYTES are what record_layout.c says of that kind and
 *                      version of CUPTI, and DISTANCE is the least between such a record
 *                      and the one behind it: a layout is wrong if it isn't its size. In
 *                      versions that record_layout.c doesn't know it may be longer.
 *
 * Records without times count as none, as they have no samples.
 *
 * So the layouts can be checked with any CUPTI that runs on a machine with a GPU:
 *   CUPTI_TEE_LIBRARY=.../libcupti.so.12 CUPTI_TEE_SIZES=sizes.txt CUPTI_TEE_OUTPUT=sums.txt \
 *   PERF_GPU_CUPTI=$PWD/build/tests/workloads/libcupti_tee.so \
 *   perf-gpu record -e all -- build/tests/workloads/event_truth
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti_table.h"
#include "record_layout.h"

enum { KERNEL, MEMCPY, MEMSET, NR_KINDS };

static const char *const names[NR_KINDS] = {"gpu-kernel", "gpu-memcpy", "gpu-memset"};

struct sum {
	uint64_t nr, ns, bytes;
};

#define MAX_KINDS 128
static atomic_size_t distances[MAX_KINDS]; /* to the next record; 0: none was seen */

static void *library;
static CUpti_BuffersCallbackCompleteFunc pass_on;
static __typeof__(&cuptiActivityGetNextRecord) next_record;

/* One that the process has already comes first: there can't be two. */
static void *open_real(void)
{
	static const char *const sonames[] = {"libcupti.so.13", "libcupti.so.12",
					      "libcupti.so"};
	static const int flags[] = {RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD,
				    RTLD_NOW | RTLD_LOCAL};
	const char *path = getenv("CUPTI_TEE_LIBRARY");
	void *handle = NULL;

	if (path && *path)
		return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		for (size_t j = 0; j < sizeof(sonames) / sizeof(*sonames) && !handle; j++)
			handle = dlopen(sonames[j], flags[i]);
	return handle;
}

static void *real(const char *name)
{
	if (!library)
		library = open_real();
	if (!library) {
		fprintf(stderr, "cupti_tee: %s\n", dlerror());
		abort();
	}
	return dlsym(library, name);
}

static void add(struct sum *sum, uint64_t start_ns, uint64_t end_ns, uint64_t bytes)
{
	if (!start_ns || end_ns < start_ns)
		return;
	sum->nr++;
	sum->ns += end_ns - start_ns;
	sum->bytes += bytes;
}

/* What is read here is where it is in all versions of these records. */
static void add_record(struct sum *sums, const CUpti_Activity *record)
{
	const CUpti_ActivityKernel4 *kernel = (const void *)record;
	const CUpti_ActivityMemcpy *copy = (const void *)record;
	const CUpti_ActivityMemset *set = (const void *)record;

	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		add(&sums[KERNEL], kernel->start, kernel->end, 0);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		add(&sums[MEMCPY], copy->start, copy->end, copy->bytes);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		add(&sums[MEMSET], set->start, set->end, set->bytes);
		break;
	default:
		break;
	}
}

/* In one piece, since buffers come from several threads. */
static void write_sums(const struct sum *sums)
{
	const char *path = getenv("CUPTI_TEE_OUTPUT");
	char text[512] = "";
	int fd;

	for (int kind = 0; kind < NR_KINDS; kind++)
		if (sums[kind].nr)
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
				 names[kind], sums[kind].nr, sums[kind].ns,
				 sums[kind].bytes);
	fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		fprintf(stderr, "cupti_tee: cannot write CUPTI_TEE_OUTPUT\n");
		abort();
	}
	close(fd);
}

/* Of two records that follow each other in a buffer */
static void note_distance(const CUpti_Activity *record, const CUpti_Activity *next)
{
	const size_t distance = (size_t)((const char *)next - (const char *)record);
	size_t least;

	if ((unsigned int)record->kind >= MAX_KINDS)
		return;
	least = atomic_load(&distances[record->kind]);
	while ((!least || distance < least) &&
	       !atomic_compare_exchange_weak(&distances[record->kind], &least, distance))
		;
}

static const char *judge(size_t bytes, size_t distance, uint32_t version)
{
	if (distance == bytes)
		return "ok";
	return distance > bytes && version > CUPTI_NEWEST_KNOWN ? "longer" : "WRONG";
}

__attribute__((destructor)) static void write_sizes(void)
{
	const char *path = getenv("CUPTI_TEE_SIZES");
	__typeof__(&cuptiGetVersion) get_version;
	uint32_t version = 0;
	FILE *file;

	if (!path || !library)
		return;
	get_version = real("cuptiGetVersion");
	file = fopen(path, "a");
	if (!file || get_version(&version)) {
		fprintf(stderr, "cupti_tee: cannot write CUPTI_TEE_SIZES\n");
		abort();
	}
	for (int kind = 0; kind < MAX_KINDS; kind++) {
		const struct record_layout *layout =
			record_layout__find((CUpti_ActivityKind)kind, version);
		const size_t distance = atomic_load(&distances[kind]);

		if (distance && layout)
			fprintf(file, "%s\t%d\t%" PRIu32 "\t%s\t%zu\t%zu\n",
				judge(layout->bytes, distance, version), kind, version,
				layout->name, layout->bytes, distance);
	}
	fclose(file);
}

static void CUPTIAPI look_and_pass_on(CUcontext context, uint32_t stream, uint8_t *buffer,
				      size_t size, size_t valid_bytes)
{
	struct sum sums[NR_KINDS] = {0};
	CUpti_Activity *record = NULL, *last = NULL;

	while (valid_bytes && !next_record(buffer, valid_bytes, &record)) {
		add_record(sums, record);
		if (last)
			note_distance(last, record);
		last = record;
	}
	write_sums(sums);
	pass_on(context, stream, buffer, size, valid_bytes);
}

static CUptiResult CUPTIAPI register_callbacks(CUpti_BuffersCallbackRequestFunc request,
					       CUpti_BuffersCallbackCompleteFunc complete)
{
	__typeof__(&cuptiActivityRegisterCallbacks) pass =
		real("cuptiActivityRegisterCallbacks");

	pass_on = complete;
	next_record = real("cuptiActivityGetNextRecord");
	return pass(request, look_and_pass_on);
}

/* dlsym() asks for what it is to give for a name. */
#define FORWARD(name_)                                                            \
	__attribute__((used)) static __typeof__(&name_) resolve_##name_(void)     \
	{                                                                         \
		if (!strcmp(#name_, "cuptiActivityRegisterCallbacks"))            \
			return (__typeof__(&name_))(uintptr_t)register_callbacks; \
		return (__typeof__(&name_))(uintptr_t)real(#name_);               \
	}                                                                         \
	__typeof__(name_) name_ __attribute__((ifunc("resolve_" #name_)));
CUPTI_FUNCTIONS(FORWARD, FORWARD)
