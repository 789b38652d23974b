// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * After "SQLite Schema Reference" of the Nsight Systems User Guide. Columns of nsys' that
 * nothing is known for are left out, but for those that its own reports ask for (nsys stats
 * --report cuda_gpu_trace and others), which are NULL; those that its schema has without
 * NOT NULL may be.
 */
#include "sink/nsys_tables.h"

#define PLACE_COLUMNS                                                               \
	"start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, " \
	"contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "                   \
	"correlationId INTEGER, globalPid INTEGER, "

const struct nsys_table_format nsys_tables[NR_NSYS_TABLES] = {
	[NSYS_STRINGS] = {"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT", 2,
			  0},
	[NSYS_KERNEL] = {"CUPTI_ACTIVITY_KIND_KERNEL",
			 PLACE_COLUMNS
			 "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, "
			 "mangledName INTEGER, registersPerThread INTEGER NOT NULL, "
			 "gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER "
			 "NOT NULL, "
			 "blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, "
			 "blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, "
			 "dynamicSharedMemory INTEGER NOT NULL, graphNodeId INTEGER, "
			 "greenContextId INTEGER",
			 20, 1},
	[NSYS_MEMCPY] =
		{"CUPTI_ACTIVITY_KIND_MEMCPY",
		 PLACE_COLUMNS
		 "bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, "
		 "dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER, "
		 "graphNodeId INTEGER, greenContextId INTEGER",
		 14, 1},
	[NSYS_MEMSET] = {"CUPTI_ACTIVITY_KIND_MEMSET",
			 PLACE_COLUMNS "bytes INTEGER NOT NULL, graphNodeId INTEGER, "
				       "memKind INTEGER, greenContextId INTEGER, "
				       "value INTEGER",
			 10, 2},
	[NSYS_SYNC] = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
		       PLACE_COLUMNS "syncType INTEGER NOT NULL", 8, 0},
	[NSYS_RUNTIME] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
			  "start INTEGER NOT NULL, end INTEGER NOT NULL, "
			  "globalTid INTEGER, correlationId INTEGER, "
			  "nameId INTEGER NOT NULL, callchainId INTEGER, "
			  "returnValue INTEGER",
			  6, 1},
	[NSYS_CALLCHAINS] = {"CUDA_CALLCHAINS",
			     "id INTEGER NOT NULL, symbol INTEGER, module INTEGER, "
			     "unresolved INTEGER, stackDepth INTEGER NOT NULL",
			     5, 0},
	[NSYS_ALLOC] = {"CUDA_GPU_MEMORY_USAGE_EVENTS",
			"start INTEGER NOT NULL, globalPid INTEGER NOT NULL, "
			"deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
			"address INTEGER NOT NULL, bytes INTEGER NOT NULL, "
			"memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, "
			"name TEXT, correlationId INTEGER, streamId INTEGER",
			11, 0},
	[NSYS_NVTX] = {"NVTX_EVENTS",
		       "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "
		       "rangeId INTEGER, text TEXT, globalTid INTEGER, "
		       "endGlobalTid INTEGER, textId INTEGER, domainId INTEGER",
		       9, 0},
	[NSYS_GPU] =
		{"TARGET_INFO_GPU",
		 "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, "
		 "totalMemory INTEGER, smCount INTEGER, uuid TEXT, cuDevice INTEGER, "
		 "computeMajor INTEGER, computeMinor INTEGER",
		 9, 0},
	[NSYS_CUDA_DEVICE] = {"TARGET_INFO_CUDA_DEVICE",
			      "gpuId INTEGER, cudaId INTEGER NOT NULL, "
			      "pid INTEGER NOT NULL, uuid TEXT NOT NULL, "
			      "numMultiprocessors INTEGER NOT NULL",
			      5, 0},
	[NSYS_START_TIME] = {"TARGET_INFO_SESSION_START_TIME",
			     "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT", 1, 2},
	[NSYS_DETAILS] = {"ANALYSIS_DETAILS",
			  "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, "
			  "startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL",
			  4, 0},
	[NSYS_PROCESSES] = {"PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT", 3,
			    0},
	[NSYS_THREAD_NAMES] = {"ThreadNames",
			       "nameId INTEGER NOT NULL, priority INTEGER, "
			       "globalTid INTEGER",
			       3, 0},
	[NSYS_MEMCPY_KINDS] = {"ENUM_CUDA_MEMCPY_OPER",
			       "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT",
			       3, 0},
	[NSYS_MEMORY_KINDS] = {"ENUM_CUDA_MEM_KIND",
			       "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT",
			       3, 0},
	[NSYS_SYNC_KINDS] = {"ENUM_CUPTI_SYNC_TYPE",
			     "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT", 3,
			     0},
};

#define COPY(id, name, label)                                              \
	{                                                                  \
		NSYS_MEMCPY_KINDS, (id), "CUDA_MEMCPY_KIND_" name, (label) \
	}
#define MEMORY(id, name, label)                                                   \
	{                                                                         \
		NSYS_MEMORY_KINDS, (id), "CUDA_MEMOPR_MEMORY_KIND_" name, (label) \
	}
#define SYNC(id, name, label)                                                       \
	{                                                                           \
		NSYS_SYNC_KINDS, (id), "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_" name, \
			(label)                                                     \
	}

const struct nsys_enum nsys_enums[] = {
	COPY(0, "UNKNOWN", "Unknown"),
	COPY(1, "HTOD", "Host-to-Device"),
	COPY(2, "DTOH", "Device-to-Host"),
	COPY(3, "HTOA", "Host-to-Array"),
	COPY(4, "ATOH", "Array-to-Host"),
	COPY(5, "ATOA", "Array-to-Array"),
	COPY(6, "ATOD", "Array-to-Device"),
	COPY(7, "DTOA", "Device-to-Array"),
	COPY(8, "DTOD", "Device-to-Device"),
	COPY(9, "HTOH", "Host-to-Host"),
	COPY(10, "PTOP", "Peer-to-Peer"),
	MEMORY(0, "PAGEABLE", "Pageable"),
	MEMORY(1, "PINNED", "Pinned"),
	MEMORY(2, "DEVICE", "Device"),
	MEMORY(3, "ARRAY", "Array"),
	MEMORY(4, "MANAGED", "Managed"),
	MEMORY(5, "DEVICE_STATIC", "Device Static"),
	MEMORY(6, "MANAGED_STATIC", "Managed Static"),
	MEMORY(7, "UNKNOWN", "Unknown"),
	SYNC(0, "UNKNOWN", "Unknown"),
	SYNC(1, "EVENT_SYNCHRONIZE", "Event sync"),
	SYNC(2, "STREAM_WAIT_EVENT", "Stream wait event"),
	SYNC(3, "STREAM_SYNCHRONIZE", "Stream sync"),
	SYNC(4, "CONTEXT_SYNCHRONIZE", "Context sync"),
};

const unsigned int nsys_nr_enums = sizeof(nsys_enums) / sizeof(*nsys_enums);
