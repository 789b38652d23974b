/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rotation's parts share: rotation.c, rotation_kept.c, rotation_flight.c. */
#ifndef PERF_GPU_RECORD_ROTATION_INTERNAL_H
#define PERF_GPU_RECORD_ROTATION_INTERNAL_H

#include <limits.h>

#include "record/block_builder.h"
#include "record/jit_rescue.h"
#include "record/kept.h"
#include "record/log_tails.h"
#include "record/rotation.h"
#include "record/task_state.h"

/* One that was written, and that --switch-max-files may have removed */
struct rotation_file {
	char *path; /* of perf.data */
	uint64_t nr_launches;
	uint64_t perfdata_bytes, sidecar_bytes;
};

struct rotation {
	struct rotation_config config;
	struct log_tails tails;
	struct log_scan scan;
	struct task_state tasks; /* of before what is kept, or of all so far */
	/* Launches; of --overwrite, all records of the output. */
	struct kept_queue queue;
	struct kept_queue late; /* launches of before, without a record of the GPU */
	struct kept_index index; /* of launches in both */
	struct kept_queue blocks; /* of --overwrite */
	uint64_t newest_done_ns; /* of what blocks tell of */
	uint64_t size_cut_ns; /* up to here, what is kept was cut for lack of room */
	bool is_size_limited; /* that decided what the last file has, not the time */
	struct collection *collection; /* of the file */
	struct block_builder builder;
	uint32_t file; /* its number, from 1 on */
	uint64_t begin_ns; /* of the file */
	bool has_news; /* the file: losses of processes, or their messages */
	uint64_t begin_bytes; /* of what is of before, at its beginning */
	uint64_t begin_counted; /* of the same: of the builder's, open NVTX ranges */
	uint64_t looked_ns;
	bool is_looked; /* there is something to read */
	uint64_t nr_launches_before; /* in files before */
	uint64_t nr_broken_before; /* records that could not be read */
	uint64_t nr_cut_before; /* GPU records that logs have counted, and don't have */
	uint64_t nr_records; /* of the GPU, that belong to launches; so far */
	struct carrier_losses losses; /* told so far, or kept in the queue */
	struct rotation_counts counts;
	struct rotation_file
		*files; /* that are there, with max_files: the oldest first */
	size_t nr_files;
};

/* Launches of before, of files one after the other: 3 seconds at 50,000 a second */
#define SPLIT_QUEUE_BYTES (64u << 20)
/* Those that the GPU has done nothing for so far */
#define LATE_QUEUE_BYTES (16u << 20)
/* Of a process: samples of nodes */
#define MAKERS_MAX_BYTES (32u << 20)
/* Of all processes together: these, and what their logs defined */
#define STATES_MAX_BYTES (512u << 20)
/* How much longer launches are kept than the records of the GPU */
#define LAUNCH_MARGIN_NS 2000000000ull
/* Records of tasks can come so much later than others. */
#define TASK_LAG_NS 3000000000ull

/* rotation_kept.c: what is kept */

/* The output's keeper; 0 or a negative errno, printed. */
int rotation__take(void *ctx, const struct output_record *record);

/* log_tails__read()'s */
int rotation__take_block(void *ctx, struct log_tail *tail,
			 const struct gpu_log_block *block);

/* Let go what is too old, or too much. 0 or a negative errno, printed. */
int rotation__forget_old(struct rotation *rotation);

/* Launches that have made nodes of graphs: into the file, marked. */
int rotation__write_makers(struct rotation *rotation);

/*
 * rotation_flight.c: all that is kept, into the file. @recorder: of which it changes what
 * is of the file
 */
int rotation__write_kept(struct rotation *rotation, struct gpu_log_recorder *recorder);

/* rotation_files.c: the files' names, how many stay, and what is told of them */

struct file_names {
	char perfdata[PATH_MAX], sidecar[PATH_MAX];
};

/* Of the time. 0 or a negative errno, printed. */
int rotation__make_names(const struct rotation *rotation, struct file_names *ret);

/* Into the sums of all files, once it has its name. */
void rotation__count_file(struct rotation *rotation,
			  const struct gpu_log_recorder *recorder);
void rotation__tell_file(const struct rotation *rotation, const char *path,
			 const struct gpu_log_recorder *recorder);

/* With max_files: it is one more, and the oldest is removed. 0 or -ENOMEM, printed. */
int rotation__bound_files(struct rotation *rotation, const char *path,
			  uint64_t nr_launches);

/* With max_files, after the first: has the file nothing that the one before hasn't? */
bool rotation__is_idle_file(const struct rotation *rotation,
			    const struct carrier_losses *losses);

#endif
