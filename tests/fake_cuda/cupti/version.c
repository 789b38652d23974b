// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which CUPTI is played: the one of the headers, or FAKE_CUDA_CUPTI_VERSION's. All that
 * differs is in the two tables: the size of records, of which each version's is the
 * beginning of the next one's, and the functions that came later.
 *
 * From NVIDIA's release notes and cupti_activity_deprecated.h. What isn't in the headers
 * (13.1 and later) has the documented fields' size, and zeros.
 */
#include "cupti_state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_activity_deprecated.h>

/* The newest whose records are known, and how much longer those of later ones are */
#define NEWEST_KNOWN 130499
#define UNKNOWN_TAIL 32

static const struct {
	int cuda; /* 1000 * major + 10 * minor, as CUDA_VERSION */
	uint32_t number;
} versions[] = {
	{11000, 13},	 {11010, 14},	  {11020, 15},	   {11030, 15},
	{11040, 15},	 {11050, 16},	  {11060, 17},	   {11070, 17},
	{11080, 18},	 {12000, 19},	  {12010, 19},	   {12020, 20},
	{12030, 21},	 {12040, 22},	  {12050, 23},	   {12060, 24},
	{12080, 26},	 {12090, 27},	  {13000, 130001}, {13010, 130100},
	{13020, 130200}, {13030, 130300}, {13040, 130400},
};

#define SIZE(name_) sizeof(CUpti_Activity##name_)

/* @since: the number of the first version that has it; those of a kind are in order. */
static const struct {
	CUpti_ActivityKind kind;
	uint32_t since;
	size_t bytes;
} layouts[] = {
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 13, SIZE(Kernel5)},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 15, SIZE(Kernel6)},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 17, SIZE(Kernel7)},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 18, SIZE(Kernel8)},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 19, SIZE(Kernel9)},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130000, SIZE(Kernel10)},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130100, SIZE(Kernel10) + 8},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130300, SIZE(Kernel10) + 16},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130400, SIZE(Kernel10) + 32},
	{CUPTI_ACTIVITY_KIND_MEMCPY, 13, SIZE(Memcpy3)},
	{CUPTI_ACTIVITY_KIND_MEMCPY, 14, SIZE(Memcpy4)},
	{CUPTI_ACTIVITY_KIND_MEMCPY, 17, SIZE(Memcpy5)},
	{CUPTI_ACTIVITY_KIND_MEMCPY, 26, SIZE(Memcpy6)},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, 13, SIZE(MemcpyPtoP2)},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, 14, SIZE(MemcpyPtoP3)},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, 17, SIZE(MemcpyPtoP4)},
	{CUPTI_ACTIVITY_KIND_MEMSET, 13, SIZE(Memset2)},
	{CUPTI_ACTIVITY_KIND_MEMSET, 14, SIZE(Memset3)},
	{CUPTI_ACTIVITY_KIND_MEMSET, 17, SIZE(Memset4)},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 13, SIZE(Synchronization)},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 26, SIZE(Synchronization2)},
	{CUPTI_ACTIVITY_KIND_MEMORY2, 15, SIZE(Memory2)},
	{CUPTI_ACTIVITY_KIND_MEMORY2, 17, SIZE(Memory3)},
	{CUPTI_ACTIVITY_KIND_MEMORY2, 24, SIZE(Memory4)},
	{CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 13, SIZE(UnifiedMemoryCounter2)},
	{CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 26, SIZE(UnifiedMemoryCounter3)},
	{CUPTI_ACTIVITY_KIND_CONTEXT, 13, SIZE(Context)},
	{CUPTI_ACTIVITY_KIND_CONTEXT, 22, SIZE(Context2)},
	{CUPTI_ACTIVITY_KIND_CONTEXT, 23, SIZE(Context3)},
	{CUPTI_ACTIVITY_KIND_DEVICE, 13, SIZE(Device2)},
	{CUPTI_ACTIVITY_KIND_DEVICE, 16, SIZE(Device3)},
	{CUPTI_ACTIVITY_KIND_DEVICE, 17, SIZE(Device4)},
	{CUPTI_ACTIVITY_KIND_DEVICE, 24, SIZE(Device5)},
	{CUPTI_ACTIVITY_KIND_DEVICE, 130200, SIZE(Device5) + 8},
	{CUPTI_ACTIVITY_KIND_DRIVER, 13, SIZE(API)},
	{CUPTI_ACTIVITY_KIND_RUNTIME, 13, SIZE(API)},
};

static const struct {
	const char *name;
	uint32_t since;
} functions[] = {
	{"cuptiGetGraphId", 14},
	{"cuptiActivityFlushPeriod", 14},
	{"cuptiActivityEnableLaunchAttributes", 15},
	{"cuptiActivityRegisterTimestampCallback", 17},
	{"cuptiGetErrorMessage", 20},
	{"cuptiGetGraphExecId", 21},
	{"cuptiActivityEnableDriverApi", 23},
	{"cuptiActivityEnableRuntimeApi", 23},
	{"cuptiActivityEnableAllSyncRecords", 26},
	{"cuptiSubscribe_v2", 130000},
	{"cuptiActivityEnable_v2", 130200},
	{"cuptiActivityDisable_v2", 130200},
	{"cuptiActivityRegisterCallbacks_v2", 130200},
	{"cuptiActivityGetAttribute_v2", 130200},
	{"cuptiActivitySetAttribute_v2", 130200},
	{"cuptiIsTracingSessionRunning", 130200},
	{"cuptiActivityGetNextRecord_v2", 130300},
	{"cuptiActivityGetNumDroppedRecords_v2", 130300},
	{"cuptiGetTimestamp_v2", 130300},
	{"cuptiActivityEnableDriverApi_v2", 130400},
	{"cuptiActivityEnableRuntimeApi_v2", 130400},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct version played;
static size_t bytes_of[CUPTI_ACTIVITY_KIND_COUNT];

static void measure(void)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (played.number >= layouts[i].since)
			bytes_of[layouts[i].kind] = layouts[i].bytes;
	if (!played.is_unknown)
		return;
	for (size_t kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
		if (bytes_of[kind])
			bytes_of[kind] += UNKNOWN_TAIL;
}

/*
 * By the knob, or the name that the library has: libcupti.so.11.8, libcupti.so.12, which is
 * the last of CUDA 12's
 */
static bool find_wanted(int *major, int *minor)
{
	const char *wanted = getenv("FAKE_CUDA_CUPTI_VERSION");
	const char *suffix;
	Dl_info self;
	int nr;

	if (wanted && sscanf(wanted, "%d.%d", major, minor) == 2)
		return true;
	if (!dladdr((void *)(uintptr_t)version__played, &self) || !self.dli_fname)
		return false;
	suffix = strstr(self.dli_fname, "libcupti.so.");
	nr = suffix ? sscanf(suffix, "libcupti.so.%d.%d", major, minor) : 0;
	if (nr == 1)
		*minor = 9;
	/* libcupti.so.2025.3.1 is a name that the real one has, too. */
	return (nr == 2 && *major < 100) || (nr == 1 && *major < CUDA_VERSION / 1000);
}

/* Of a version that isn't in the table, what the last one before it had */
static void choose(void)
{
	int major, minor;

	played.cuda = CUDA_VERSION;
	played.number = CUPTI_API_VERSION;
	if (find_wanted(&major, &minor)) {
		played.cuda = 1000 * major + 10 * minor;
		for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
			if (versions[i].cuda <= played.cuda)
				played.number = versions[i].number;
		if (major > 13 || (major == 13 && minor > 4))
			played.number = (uint32_t)(major * 10000 + minor * 100);
	}
	played.is_unknown = played.number > NEWEST_KNOWN;
	measure();
}

const struct version *version__played(void)
{
	pthread_once(&once, choose);
	return &played;
}

size_t record__known_bytes(CUpti_ActivityKind kind)
{
	size_t known = sizeof(kind); /* of one that nobody here knows */

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].kind == kind && layouts[i].since <= CUPTI_API_VERSION)
			known = layouts[i].bytes;
	return known;
}

size_t record_bytes(CUpti_ActivityKind kind)
{
	version__played();
	if (played.is_unknown && kind == UNKNOWN_KIND)
		return UNKNOWN_KIND_BYTES;
	return kind < CUPTI_ACTIVITY_KIND_COUNT ? bytes_of[kind] : 0;
}

bool version__has_kind(CUpti_ActivityKind kind)
{
	return record_bytes(kind) || record__known_bytes(kind) == sizeof(kind);
}

bool version__has(const char *function)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(functions[i].name, function))
			return version__played()->number >= functions[i].since;
	return true;
}

/* "cudaMemcpy3DBatchAsync_v13000" came with CUDA 13.0. */
bool version__has_api(const char *name)
{
	const char *suffix = name;
	int since = 0;

	while ((suffix = strstr(suffix, "_v")))
		since = atoi(suffix += 2);
	return since <= version__played()->cuda;
}
