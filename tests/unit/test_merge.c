// SPDX-License-Identifier: GPL-2.0-or-later
/* Merging recordings: pids, clocks, records of logs and of perf.data */
#include <errno.h>
#include <zlib.h>

#include "gpu_log_build.h"
#include "merge/log_records.h"
#include "merge/merge_sidecar.h"
#include "merge/plan.h"
#include "merge/repeats.h"
#include "merge/records.h"
#include "merge/shift.h"
#include "unit.h"
#include "util/log.h"
#include "util/pid_set.h"

static const struct shift shift = {.time_ns = 1000000, .pid = 100000};

TEST(pids_of_nobody_and_times_unknown_stay)
{
	CHECK_EQ(shift__pid(&shift, 4711), 104711u);
	CHECK_EQ(shift__pid(&shift, 0), 0u);
	CHECK_EQ(shift__pid(&shift, UINT32_MAX), UINT32_MAX);
	CHECK_EQ(shift__time(&shift, 5), 1000005u);
	CHECK_EQ(shift__time(&shift, 0), 0u);
	CHECK_EQ(shift__time(&shift, UINT64_MAX - 1), UINT64_MAX);
}

TEST(pid_sets_meet_in_what_both_have)
{
	static struct pid_set one, other;

	CHECK_EQ(pid_set__add(&one, 1), 0);
	CHECK_EQ(pid_set__add(&one, 70000), 0);
	CHECK_EQ(pid_set__add(&other, 2), 0);
	CHECK_EQ(pid_set__add(&other, 69999), 0);
	CHECK(!pid_set__meets(&one, &other));
	CHECK_EQ(pid_set__add_all(&other, &one, 1), 0);
	CHECK(!pid_set__meets(&one, &other));
	CHECK_EQ(other.highest, 70001u);
	CHECK_EQ(pid_set__add(&other, 0), 0);
	CHECK_EQ(pid_set__add(&one, 0), 0);
	CHECK(!pid_set__meets(&one, &other));
	CHECK_EQ(pid_set__add_all(&other, &one, 0), 0);
	CHECK(pid_set__meets(&one, &other));
	pid_set__release(&one);
	CHECK_EQ(one.highest, 0u);
	CHECK(!pid_set__meets(&one, &other));
	pid_set__release(&other);
}

/* --- the plan ------------------------------------------------------------------------ */

static struct merge_input inputs[3];
static struct merge_input *all[] = {&inputs[0], &inputs[1], &inputs[2]};

static void forget_comm_hosts(void)
{
	for (size_t i = 0; i < 3; i++) {
		free(inputs[i].comm_host);
		inputs[i].comm_host = NULL;
	}
}

static void make_inputs(void)
{
	static const char *const paths[] = {"a", "b", "c"};

	log_verbosity = -1;
	for (size_t i = 0; i < 3; i++) {
		inputs[i].path = paths[i];
		inputs[i].session = i + 1;
		inputs[i].host = "node1";
		inputs[i].arch = "x86_64";
	}
}

TEST(plan_puts_all_on_the_clock_that_runs_longest)
{
	make_inputs();
	inputs[0].boot_ns = 1700000000000000000;
	inputs[1].boot_ns = 1600000000000000000;
	inputs[2].boot_ns = 1700000000000000005;
	CHECK_EQ(merge_plan__make(all, 3, true), 0);
	CHECK_EQ(inputs[0].shift.time_ns, 100000000000000000u);
	CHECK_EQ(inputs[1].shift.time_ns, 0u);
	CHECK_EQ(inputs[2].shift.time_ns, 100000000000000005u);
}

TEST(plan_leaves_the_last_digits_of_pids)
{
	make_inputs();
	pid_set__add(&inputs[0].pids, 4711);
	pid_set__add(&inputs[0].pids, 31000);
	pid_set__add(&inputs[1].pids, 4711);
	pid_set__add(&inputs[2].pids, 4711);
	pid_set__add(&inputs[2].pids, 12);
	CHECK_EQ(merge_plan__make(all, 3, true), 0);
	CHECK_EQ(inputs[0].shift.pid, 0u);
	CHECK_EQ(inputs[1].shift.pid, 40000u);
	CHECK_EQ(inputs[2].shift.pid, 50000u);
}

TEST(plan_leaves_pids_alone_that_are_no_others)
{
	make_inputs();
	pid_set__add(&inputs[0].pids, 1);
	pid_set__add(&inputs[1].pids, 2);
	pid_set__add(&inputs[2].pids, 3);
	CHECK_EQ(merge_plan__make(all, 3, true), 0);
	CHECK_EQ(inputs[1].shift.pid, 0u);
	CHECK_EQ(inputs[2].shift.pid, 0u);
}

TEST(plan_ends_where_pids_do)
{
	make_inputs();
	pid_set__add(&inputs[0].pids, 1147483647);
	pid_set__add(&inputs[1].pids, 1147483647);
	CHECK_EQ(merge_plan__make(all, 3, true), -ERANGE);
}

/* Parts of one recording, which end one after the other, named in another order */
TEST(plan_puts_parts_in_their_order)
{
	make_inputs();
	inputs[0].session = inputs[2].session = 7;
	inputs[0].recorder.end_monotonic_ns = 200;
	inputs[2].recorder.end_monotonic_ns = 100;
	inputs[0].boot_ns = 5002;
	inputs[2].boot_ns = 5000;
	inputs[1].boot_ns = 5001;
	pid_set__add(&inputs[0].pids, 12);
	pid_set__add(&inputs[2].pids, 13);
	pid_set__add(&inputs[1].pids, 13);
	CHECK_EQ(merge_plan__make(all, 3, true), 0);
	CHECK(all[0] == &inputs[2] && all[1] == &inputs[0] && all[2] == &inputs[1]);
	CHECK(inputs[2].next_part == &inputs[0] && !inputs[0].next_part);
	CHECK(inputs[0].whole == &inputs[2] && inputs[2].whole == &inputs[2]);
	CHECK(merge_input__has_parts(&inputs[0]) && !merge_input__has_parts(&inputs[1]));
	/* Each part tells of all losses until its end. */
	inputs[2].recorder.nr_lost_sideband = 5;
	inputs[0].recorder.nr_lost_sideband = 7;
	inputs[1].recorder.nr_lost_sideband = 3;
	CHECK_EQ(merge_input__lost_sideband(&inputs[2]), 7);
	CHECK_EQ(merge_input__lost_sideband(&inputs[0]), 0);
	CHECK_EQ(merge_input__lost_sideband(&inputs[1]), 3);
	/* One clock, as it was in the end, and one set of pids, which the third meets */
	CHECK_EQ(inputs[0].shift.time_ns, 1u);
	CHECK_EQ(inputs[2].shift.time_ns, 1u);
	CHECK_EQ(inputs[0].shift.pid, 0u);
	CHECK_EQ(inputs[2].shift.pid, 0u);
	CHECK(inputs[1].shift.pid);
}

TEST(plan_refuses_what_overlaps)
{
	make_inputs();
	inputs[2].session = 1;
	inputs[2].recorder.end_monotonic_ns = 100;
	inputs[2].recorder.is_window = 1;
	CHECK_EQ(merge_plan__make(all, 3, true), -EEXIST);
}

TEST(repeats_come_as_often_as_they_were)
{
	struct repeats repeats = {0};

	CHECK_EQ(repeats__take(&repeats, 1, 0), 0);
	CHECK_EQ(repeats__take(&repeats, 1, 0), 0);
	CHECK_EQ(repeats__take(&repeats, 2, 0), 0);
	CHECK_EQ(repeats__take(&repeats, 1, 1), 1);
	CHECK_EQ(repeats__take(&repeats, 1, 1), 1);
	CHECK_EQ(repeats__take(&repeats, 1, 1), 0);
	CHECK_EQ(repeats__take(&repeats, 1ull << 32 | 2, 1), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(repeats__take(&repeats, 1, 2), 1);
	CHECK_EQ(repeats__take(&repeats, 1, 2), 0);
	CHECK_EQ(repeats__take(&repeats, 2, 2), 1);
	repeats__release(&repeats);
	CHECK_EQ(repeats__take(&repeats, 1, 3), 0);
	repeats__release(&repeats);
}

TEST(plan_refuses_the_same_twice)
{
	uint64_t one[] = {7, 8}, other[] = {9, 7};

	make_inputs();
	inputs[2].session = 1;
	CHECK_EQ(merge_plan__make(all, 3, true), -EEXIST);
	make_inputs();
	inputs[0].log_ids = one;
	inputs[0].nr_logs = 2;
	inputs[2].log_ids = other;
	inputs[2].nr_logs = 1;
	CHECK_EQ(merge_plan__make(all, 3, true), 0);
	inputs[2].nr_logs = 2;
	CHECK_EQ(merge_plan__make(all, 3, true), -EEXIST);
}

TEST(plan_refuses_two_architectures)
{
	make_inputs();
	inputs[0].arch = "";
	inputs[2].arch = "aarch64";
	CHECK_EQ(merge_plan__make(all, 3, true), -EINVAL);
}

TEST(plan_names_hosts_where_there_are_several)
{
	char *hosts;

	make_inputs();
	CHECK_EQ(merge_plan__make(all, 3, true), 0);
	CHECK(!inputs[0].comm_host);
	inputs[1].host = "node2.a.org";
	inputs[2].host = "node2.b.org";
	CHECK_EQ(merge_plan__make(all, 3, false), 0);
	CHECK(!inputs[0].comm_host);
	CHECK_EQ(merge_plan__make(all, 3, true), 0);
	CHECK_STR(inputs[0].comm_host, "node1");
	CHECK_STR(inputs[1].comm_host, "node2.a.org");
	CHECK_STR(inputs[2].comm_host, "node2.b.org");
	inputs[0].host = "";
	inputs[2].host = "node2.a.org,node3";
	forget_comm_hosts();
	CHECK_EQ(merge_plan__make(all, 3, true), 0);
	CHECK(!inputs[0].comm_host);
	CHECK_STR(inputs[1].comm_host, "node2");
	CHECK(!inputs[2].comm_host);
	CHECK_EQ(merge_plan__hosts(all, 3, &hosts), 2);
	CHECK_STR(hosts, "node2.a.org,node3");
	free(hosts);
	forget_comm_hosts();
}

/* --- logs ------------------------------------------------------------------------------ */

static uint64_t room[UINT16_MAX / 8 + 1];

#define REC(type_, body)                              \
	{                                             \
		.type = (type_), .size = sizeof(body) \
	}

TEST(log_records_get_other_times_and_pids)
{
	const struct gpu_log_process process = {
		.rec = REC(GPU_LOG_PROCESS, process), .pid = 5, .ppid = 4, .start_ns = 7};
	const struct gpu_log_kernel kernel = {.rec = REC(GPU_LOG_KERNEL, kernel),
					      .shape = 5,
					      .correlation_id = 6,
					      .start_ns = 7};
	const struct gpu_log_activity activity = {.rec = REC(GPU_LOG_ACTIVITY, activity),
						  .correlation_id = 5,
						  .start_ns = 6,
						  .end_ns = 7,
						  .bytes = 8};
	const struct gpu_log_nvtx nvtx = {.rec = REC(GPU_LOG_NVTX, nvtx),
					  .time_ns = 7,
					  .range = 6,
					  .tid = 5,
					  .name = 4};
	struct gpu_log_process *new_process = (void *)room;
	struct gpu_log_kernel *new_kernel = (void *)room;
	struct gpu_log_activity *new_activity = (void *)room;
	struct gpu_log_nvtx *new_nvtx = (void *)room;

	CHECK_EQ(log_record__rewrite(&process.rec, &shift, room), 0);
	CHECK_EQ(new_process->pid, 100005u);
	CHECK_EQ(new_process->ppid, 100004u);
	CHECK_EQ(new_process->start_ns, 1000007u);
	CHECK_EQ(log_record__rewrite(&kernel.rec, &shift, room), 0);
	CHECK_EQ(new_kernel->correlation_id, 6u);
	CHECK_EQ(new_kernel->start_ns, 1000007u);
	CHECK_EQ(new_kernel->end_ns, 0u);
	CHECK_EQ(log_record__rewrite(&activity.rec, &shift, room), 0);
	CHECK_EQ(new_activity->correlation_id, 5u);
	CHECK_EQ(new_activity->start_ns, 1000006u);
	CHECK_EQ(new_activity->end_ns, 1000007u);
	CHECK_EQ(new_activity->bytes, 8u);
	CHECK_EQ(log_record__rewrite(&nvtx.rec, &shift, room), 0);
	CHECK_EQ(new_nvtx->time_ns, 1000007u);
	CHECK_EQ(new_nvtx->range, 6u);
	CHECK_EQ(new_nvtx->tid, 100005u);
}

TEST(log_records_that_are_short_or_unknown_are_refused)
{
	struct gpu_log_kernel kernel = {.rec = REC(GPU_LOG_KERNEL, kernel)};
	struct gpu_log_record unknown = {.type = 999, .size = 8};

	kernel.rec.size -= 8;
	CHECK_EQ(log_record__rewrite(&kernel.rec, &shift, room), -EINVAL);
	CHECK_EQ(log_record__rewrite(&unknown, &shift, room), -ENOTSUP);
	/* Not of a log in a sidecar */
	unknown.type = GPU_LOG_LAUNCH;
	CHECK_EQ(log_record__rewrite(&unknown, &shift, room), -ENOTSUP);
}

/* A piece of a jitdump, of @nr functions; its inflated bytes are in @data. */
static void make_piece(unsigned char *data, size_t nr, struct gpu_log_jit *piece)
{
	const size_t code_bytes = sizeof(struct gpu_log_jit_code) + 8;
	uLongf deflated_bytes = 60000;

	memset(data, 0, nr * code_bytes);
	for (size_t i = 0; i < nr; i++) {
		struct gpu_log_jit_code code = {.time_ns = i,
						.address = 64 * i,
						.bytes = 64,
						.index = i * 2654435761u,
						.nr_bytes = 7};

		memcpy(data + i * code_bytes, &code, sizeof(code));
		memcpy(data + i * code_bytes + sizeof(code), "f123456", 8);
	}
	CHECK_EQ(compress(piece->deflated, &deflated_bytes, data, nr * code_bytes), Z_OK);
	*piece = (struct gpu_log_jit){
		.rec = {.type = GPU_LOG_JIT,
			.size = (uint16_t)((sizeof(*piece) + deflated_bytes + 7) & ~7ul)},
		.kind = GPU_LOG_JIT_CODE,
		.offset = 3,
		.nr_bytes = (uint32_t)(nr * code_bytes),
		.nr_deflated_bytes = (uint32_t)deflated_bytes,
	};
}

TEST(times_of_jit_code_are_inside_of_a_piece)
{
	static uint64_t from[UINT16_MAX / 8 + 1];
	static unsigned char data[GPU_LOG_JIT_MAX_BYTES], got[GPU_LOG_JIT_MAX_BYTES];
	struct gpu_log_jit *piece = (void *)from, *rewritten = (void *)room;
	const size_t nr = 1200, code_bytes = sizeof(struct gpu_log_jit_code) + 8;
	uLongf bytes = sizeof(got);

	make_piece(data, nr, piece);
	CHECK_EQ(log_record__rewrite(&piece->rec, &shift, room), 0);
	CHECK_EQ(rewritten->rec.size % 8, 0);
	CHECK_EQ(rewritten->offset, 3u);
	CHECK_EQ(uncompress(got, &bytes, rewritten->deflated,
			    rewritten->nr_deflated_bytes),
		 Z_OK);
	CHECK_EQ(bytes, nr * code_bytes);
	for (size_t i = 0; i < nr; i++) {
		struct gpu_log_jit_code code;

		memcpy(&code, got + i * code_bytes, sizeof(code));
		CHECK_EQ(code.time_ns, i ? i + shift.time_ns : 0);
		code.time_ns = i;
		CHECK_MEM(&code, data + i * code_bytes, sizeof(code));
	}
	piece->deflated[20] ^= 0x55;
	CHECK_EQ(log_record__rewrite(&piece->rec, &shift, room), -EINVAL);
	/* A perf map's text has no times, and stays. */
	piece->kind = GPU_LOG_JIT_PERF_MAP;
	CHECK_EQ(log_record__rewrite(&piece->rec, &shift, room), 0);
	CHECK_MEM(piece, rewritten, piece->rec.size);
}

/* --- the sidecar ------------------------------------------------------------------------ */

#define NR_BROKEN 30

/* Blocks with a process, and a kernel that is too short */
static void save_broken_blocks(const char *path)
{
	const struct {
		struct gpu_log_record head;
		uint32_t pad;
	} too_short = {};
	struct log_build build = {.session = 7};

	for (uint64_t i = 1; i <= NR_BROKEN; i++) {
		build.log_id = i;
		log_build__process(&build, 42, "app");
		LOG_BUILD_ADD(&build, GPU_LOG_KERNEL, too_short);
		log_build__end_block(&build);
	}
	CHECK_EQ(log_build__save(&build, path), 0);
	log_build__release(&build);
}

static size_t count_lines(FILE *file)
{
	size_t nr = 0;

	rewind(file);
	for (int c; (c = getc(file)) != EOF;)
		nr += c == '\n';
	return nr;
}

TEST(many_broken_blocks_are_told_of_in_few_lines)
{
	char dir[] = P_tmpdir "/perf-gpu-unit.XXXXXX", from[64], to[64];
	struct merge_input input = {.sidecar_path = from, .has_origins = true};
	struct merge_input *const one[] = {&input};
	struct merge_sidecar *sidecar;
	FILE *said = tmpfile();

	CHECK(said);
	CHECK(mkdtemp(dir));
	snprintf(from, sizeof(from), "%s/from", dir);
	snprintf(to, sizeof(to), "%s/to", dir);
	save_broken_blocks(from);
	CHECK_EQ(sidecar_file__open(from, &input.sidecar), 0);
	CHECK_EQ(merge_sidecar__open(to, 8, &sidecar), 0);
	CHECK_EQ(dup2(fileno(said), STDERR_FILENO), STDERR_FILENO);
	CHECK_EQ(merge_sidecar__add(sidecar, &input), 0);
	CHECK_EQ(merge_sidecar__end(sidecar, one, 1), 0);
	/* Ten, and how many others there are */
	CHECK_EQ(count_lines(said), 11);
	/* What precedes the kernels is there. */
	CHECK(merge_sidecar__bytes(sidecar) >
	      NR_BROKEN *
		      (sizeof(struct gpu_log_block) + sizeof(struct gpu_log_process)));
	merge_sidecar__close(sidecar);
	sidecar_file__close(input.sidecar);
	CHECK_EQ(unlink(from), 0);
	CHECK_EQ(rmdir(dir), 0);
}
