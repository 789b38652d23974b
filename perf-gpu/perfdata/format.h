/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The perf.data file, as perf's own tools/perf/Documentation/
 * perf.data-file-format.txt and tools/perf/util/header.c have it.
 *
 *   +-------------------------------+ 0
 *   | struct perfdata_file_header   |
 *   |   attrs, data: where they are |
 *   +-------------------------------+
 *   | ids: u64 of event 0, 1, ...   |
 *   +-------------------------------+ attrs.offset
 *   | per event:                    |
 *   |   perf_event_attr (attr.size) |
 *   |   perfdata_section of its ids |
 *   +-------------------------------+ data.offset
 *   | records                       |
 *   +-------------------------------+ data.offset + data.size
 *   | per feature bit that is set,  |
 *   | in order: a perfdata_section  |
 *   +-------------------------------+
 *   | the features                  |
 *   +-------------------------------+
 *
 * Everything has the byte order of the machine that recorded, and is 8-byte
 * aligned up to the features. A data.size of 0 means that perf was killed
 * before it could tell: the records then go on to the end of the file, and no
 * feature was written.
 */
#ifndef PERF_GPU_PERFDATA_FORMAT_H
#define PERF_GPU_PERFDATA_FORMAT_H

#include <assert.h>
#include <linux/perf_event.h>
#include <stdint.h>

#define PERFDATA_MAGIC	       0x32454c4946524550ull /* "PERFILE2" */
#define PERFDATA_MAGIC_SWAPPED 0x50455246494c4532ull
#define PERFDATA_MAGIC_V1      0x454c494646524550ull /* "PERFFILE", before 2009 */

struct perfdata_section {
	uint64_t offset; /* from the start of the file */
	uint64_t size; /* bytes */
};

#define PERFDATA_NR_FEATURES 256

struct perfdata_file_header {
	uint64_t magic;
	uint64_t size; /* of this header; 16 says pipe mode */
	uint64_t attr_size; /* of an attr and the section behind it */
	struct perfdata_section attrs;
	struct perfdata_section data;
	struct perfdata_section event_types; /* not used any more */
	uint64_t features[PERFDATA_NR_FEATURES / 64]; /* HEADER_* bits */
};

_Static_assert(sizeof(struct perfdata_file_header) == 104, "on disk");

/* A pipe-mode file has only magic and size, and everything else as records. */
#define PERFDATA_PIPE_HEADER_BYTES 16

/*
 * The features' bits, with what is behind each:
 *   string       u32 len, char[len]: NUL-terminated, padded with NULs to 64
 *   strings      u32 nr, string[nr]
 */
enum perfdata_feature_bit {
	HEADER_TRACING_DATA = 1,
	HEADER_BUILD_ID = 2, /* struct perfdata_build_id, ... */
	HEADER_HOSTNAME = 3, /* string */
	HEADER_OSRELEASE = 4, /* string */
	HEADER_VERSION = 5, /* string: of perf */
	HEADER_ARCH = 6, /* string */
	HEADER_NRCPUS = 7, /* u32 configured, u32 online */
	HEADER_CPUDESC = 8, /* string */
	HEADER_CPUID = 9, /* string */
	HEADER_TOTAL_MEM = 10, /* u64 KiB */
	HEADER_CMDLINE = 11, /* strings */
	/*
	 * u32 nr, u32 attr_bytes, then nr times:
	 * attr, u32 nr_ids, string name, u64 ids[nr_ids]
	 */
	HEADER_EVENT_DESC = 12,
	HEADER_CPU_TOPOLOGY = 13,
	HEADER_NUMA_TOPOLOGY = 14,
	HEADER_BRANCH_STACK = 15,
	HEADER_PMU_MAPPINGS = 16,
	HEADER_GROUP_DESC = 17,
	HEADER_AUXTRACE = 18,
	HEADER_STAT = 19,
	HEADER_CACHE = 20,
	HEADER_SAMPLE_TIME = 21, /* u64 first_ns, u64 last_ns */
	HEADER_MEM_TOPOLOGY = 22,
	HEADER_CLOCKID = 23, /* u64 the clock's resolution in ns */
	HEADER_DIR_FORMAT = 24,
	HEADER_BPF_PROG_INFO = 25,
	HEADER_BPF_BTF = 26,
	HEADER_COMPRESSED = 27,
	HEADER_CPU_PMU_CAPS = 28,
	HEADER_CLOCK_DATA =
		29, /* u32 version 1, u32 clockid, u64 wall_ns, u64 clock_ns */
	HEADER_HYBRID_TOPOLOGY = 30,
	HEADER_PMU_CAPS = 31,
};

/* A string's room is a multiple of this, for perf to change it in place. */
#define PERFDATA_STRING_ALIGN 64

#define PERFDATA_BUILD_ID_MAX_BYTES 20
/* In header.misc: id_bytes is set (perf ≥ 5.11); before, ids had 20 bytes. */
#define PERFDATA_MISC_BUILD_ID_SIZE (1 << 15)

struct perfdata_build_id {
	struct perf_event_header header; /* type PERFDATA_RECORD_HEADER_BUILD_ID */
	int32_t pid; /* -1: the file is on the recorded machine itself, not a guest */
	uint8_t id[PERFDATA_BUILD_ID_MAX_BYTES];
	uint8_t id_bytes;
	uint8_t pad[3];
	char path[]; /* NUL-terminated, padded to PERFDATA_STRING_ALIGN */
};

_Static_assert(sizeof(struct perfdata_build_id) == 36, "on disk");

/* PERF_RECORD_LOST: records that found no room in the kernel's ring */
struct perfdata_lost {
	struct perf_event_header header;
	uint64_t id; /* of the event */
	uint64_t nr_lost;
};

/* The kernel's PERF_RECORD_MMAP2 (linux/perf_event.h), up to its sample_id */
struct perfdata_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, bytes;
	uint64_t pgoff; /* in the file, bytes */
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, inode_generation;
		};
		struct { /* with PERF_RECORD_MISC_MMAP_BUILD_ID */
			uint8_t build_id_bytes;
			uint8_t reserved[3];
			uint8_t build_id[PERFDATA_BUILD_ID_MAX_BYTES];
		};
	};
	uint32_t prot, flags;
	char path[]; /* NUL-terminated, padded to 8 */
};

_Static_assert(sizeof(struct perfdata_mmap2) == 72, "linux/perf_event.h");

/*
 * Records that perf makes, not the kernel. libperf's perf/event.h has these
 * names beginning with PERF_.
 */
enum perfdata_record_type {
	PERFDATA_RECORD_USER_START = 64, /* the kernel's types are below */
	PERFDATA_RECORD_HEADER_ATTR = 64,
	PERFDATA_RECORD_HEADER_TRACING_DATA = 66, /* followed by the data */
	PERFDATA_RECORD_HEADER_BUILD_ID = 67,
	/* what comes later is not older than what came before the last but one */
	PERFDATA_RECORD_FINISHED_ROUND = 68,
	PERFDATA_RECORD_ID_INDEX = 69,
	PERFDATA_RECORD_AUXTRACE_INFO = 70,
	PERFDATA_RECORD_AUXTRACE = 71, /* struct perfdata_auxtrace */
	PERFDATA_RECORD_AUXTRACE_ERROR = 72,
	PERFDATA_RECORD_THREAD_MAP = 73,
	PERFDATA_RECORD_CPU_MAP = 74,
	PERFDATA_RECORD_EVENT_UPDATE = 78,
	PERFDATA_RECORD_TIME_CONV = 79,
	PERFDATA_RECORD_HEADER_FEATURE = 80,
	PERFDATA_RECORD_COMPRESSED = 81,
	PERFDATA_RECORD_FINISHED_INIT = 82,
	PERFDATA_RECORD_COMPRESSED2 = 83,
};

/* The start of an AUXTRACE record, which is followed by more than its size. */
struct perfdata_auxtrace {
	struct perf_event_header header;
	uint64_t payload_bytes; /* behind the record, before the next */
};

_Static_assert(sizeof(struct perfdata_auxtrace) == 16, "on disk");

#endif
