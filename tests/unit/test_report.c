// SPDX-License-Identifier: GPL-2.0-or-later
/* How values are spread, how GPUs spend their time, who is a caller, what cells show. */
#include <math.h>
#include <string.h>

#include "gpu_log.h"
#include "join/idle.h"
#include "report/caller.h"
#include "report/cells.h"
#include "report/gpu_time.h"
#include "report/name_fit.h"
#include "report/order.h"
#include "report/report.h"
#include "report/spread.h"
#include "unit.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* --- values --------------------------------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Is the spread what a look at all values says? */
static void check_spread(uint64_t *values, size_t nr)
{
	struct spread spread = {0};
	long double mean = 0, squares = 0;
	struct half median;
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++) {
		CHECK_EQ(spread__add(&spread, values[i]), 0);
		sum += values[i];
	}
	mean = (long double)sum / (long double)nr;
	for (size_t i = 0; i < nr; i++)
		squares +=
			((long double)values[i] - mean) * ((long double)values[i] - mean);
	qsort(values, nr, sizeof(*values), compare_u64);
	CHECK_EQ(spread.nr, nr);
	CHECK_EQ(spread.sum, sum);
	CHECK_EQ(spread.min, values[0]);
	CHECK_EQ(spread.max, values[nr - 1]);
	CHECK_EQ(spread__median(&spread, &median), 0);
	CHECK_EQ(2 * median.whole + median.is_half,
		 values[(nr - 1) / 2] + values[nr / 2]);
	CHECK(fabs(spread__mean(&spread) - (double)mean) <= 1e-9 * (double)mean);
	if (nr > 1)
		CHECK(fabs(spread__deviation(&spread) -
			   sqrt((double)(squares / (long double)(nr - 1)))) <=
		      1e-9 * (double)mean);
	/* And it goes on after a question. */
	CHECK_EQ(spread__add(&spread, values[0]), 0);
	CHECK_EQ(spread.nr, nr + 1);
	spread__release(&spread);
}

TEST(a_spread_of_few_values)
{
	check_spread((uint64_t[]){7}, 1);
	check_spread((uint64_t[]){7, 8}, 2);
	check_spread((uint64_t[]){8, 7, 7}, 3);
	check_spread((uint64_t[]){1, 1000, 1, 1000}, 4);
}

TEST(a_spread_of_none_is_nothing)
{
	struct spread spread = {0};
	struct half median = {.whole = 1};

	CHECK_EQ(spread__median(&spread, &median), 0);
	CHECK_EQ(median.whole, 0);
	CHECK(spread__mean(&spread) == 0 && spread__deviation(&spread) == 0);
	spread__release(&spread);
}

TEST(a_spread_of_many_values_is_exact)
{
	enum { MANY = 200000 };
	uint64_t *values = calloc(MANY, sizeof(*values));
	uint64_t random = 1;

	/* All different; then few that repeat; then both, over many orders of magnitude */
	for (int round = 0; round < 3; round++)
		for (int odd = 0; odd < 2; odd++) {
			for (size_t i = 0; i < MANY; i++) {
				random = random * 6364136223846793005u + 1;
				values[i] = round == 0	 ? random >> 20
					    : round == 1 ? 700 + (random >> 55)
							 : random >> (20 + i % 40);
			}
			check_spread(values, MANY - (size_t)odd);
		}
	free(values);
}

TEST(a_spread_of_equal_values_takes_no_memory)
{
	struct spread spread = {0};

	for (uint64_t i = 0; i < 1000000; i++)
		CHECK_EQ(spread__add(&spread, 1000 + i % 100), 0);
	CHECK(spread.nr_slots * sizeof(*spread.pending) + spread.nr_bytes < 10000);
	spread__release(&spread);
}

TEST(different_values_take_a_few_bytes_each)
{
	struct spread spread = {0};
	struct half median;

	for (uint64_t i = 0; i < 1000000; i++)
		CHECK_EQ(spread__add(&spread, (i * 7919) % 1000003), 0);
	CHECK(spread.nr_slots * sizeof(*spread.pending) + spread.nr_bytes < 24000000);
	CHECK_EQ(spread__median(&spread, &median), 0);
	CHECK(spread.nr_bytes < 3000000);
	spread__release(&spread);
}

TEST(a_spread_of_huge_values_does_not_wrap)
{
	struct spread spread = {0};
	struct half median;

	for (int i = 0; i < 4; i++)
		CHECK_EQ(spread__add(&spread, UINT64_MAX - (i & 1)), 0);
	CHECK_EQ(spread.sum, UINT64_MAX);
	CHECK_EQ(spread__median(&spread, &median), 0);
	CHECK_EQ(median.whole, UINT64_MAX - 1);
	CHECK(median.is_half);
	CHECK(spread__deviation(&spread) >= 0);
	spread__release(&spread);
}

/* --- GPUs ------------------------------------------------------------------------------ */

static struct sidecar_log logs[] = {{.start_ns = 1}};
static struct sidecar_shape shapes[] = {
	{.kind = GPU_LOG_KIND_KERNEL, .name = ""},
	{.kind = GPU_LOG_KIND_MEMCPY, .name = ""},
	{.kind = GPU_LOG_KIND_MEMSET, .name = ""},
	{.kind = GPU_LOG_KIND_SYNC, .name = ""},
	{.kind = GPU_LOG_KIND_KERNEL, .name = "", .device = 1},
	{.kind = GPU_LOG_KIND_MEMCPY, .name = "", .device = GPU_LOG_NO_DEVICE},
};
static struct sidecar_device devices[] = {{.device = 0, .name = "A", .uuid = {1}},
					  {.device = 1, .name = "B", .uuid = {2}}};

static void find_gpus(struct sidecar_activity *activities, size_t nr,
		      struct gpu_time **ret, size_t *ret_nr)
{
	const struct sidecar sidecar = {
		.logs = logs,
		.nr_logs = NR(logs),
		.shapes = shapes,
		.nr_shapes = NR(shapes),
		.devices = devices,
		.nr_devices = NR(devices),
		.activities = activities,
		.nr_activities = nr,
	};
	struct devices *found;
	struct idle idle;
	size_t next = 0;

	CHECK_EQ(gpu_time__find(&sidecar, false, ret, ret_nr), 0);
	/* gpu-idle, and inject's lines, say the same. */
	CHECK_EQ(devices__new(&sidecar, &found), 0);
	CHECK_EQ(idle__find(&sidecar, found, &idle), 0);
	for (size_t i = 0; i < idle.nr_gpus; i++) {
		const struct idle_gpu *gpu = &idle.gpus[i];

		if (!gpu->nr_activities)
			continue;
		CHECK(next < *ret_nr);
		CHECK_EQ((*ret)[next].number, devices__shown_number(found, i));
		CHECK_EQ((*ret)[next].nr_activities, gpu->nr_activities);
		CHECK_EQ((*ret)[next].first_ns, gpu->first_ns);
		CHECK_EQ((*ret)[next].last_ns, gpu->last_ns);
		CHECK_EQ((*ret)[next].busy_ns, gpu->busy_ns);
		CHECK_EQ((*ret)[next].idle_ns, gpu->idle_ns);
		CHECK_EQ((*ret)[next++].nr_gaps, gpu->nr_gaps);
	}
	CHECK_EQ(next, *ret_nr);
	idle__release(&idle);
	devices__delete(found);
}

#define ON(the_shape, start, end)                                          \
	{                                                                  \
		.shape = (the_shape), .start_ns = (start), .end_ns = (end) \
	}

TEST(copies_beside_kernels_overlap)
{
	struct sidecar_activity activities[] = {
		ON(0, 100, 200), ON(1, 150, 300), ON(0, 250, 260), ON(0, 255, 280),
		ON(2, 300, 320), ON(1, 400, 410), ON(3, 1, 9999),  ON(4, 100, 150),
		ON(5, 1, 9999),	 ON(1, 0, 0),
	};
	struct gpu_time *gpus;
	size_t nr;

	find_gpus(activities, NR(activities), &gpus, &nr);
	CHECK_EQ(nr, 2);
	CHECK_STR(gpus[0].name, "A");
	CHECK_EQ(gpus[0].busy_ns, 200 + 20 + 10);
	CHECK_EQ(gpus[0].idle_ns, 80);
	CHECK_EQ(gpus[0].nr_gaps, 1);
	CHECK_EQ(gpus[0].kernels_ns, 100 + 30);
	CHECK_EQ(gpus[0].copies_ns, 150 + 10);
	CHECK_EQ(gpus[0].overlap_ns, 50 + 30);
	CHECK_EQ(gpus[1].kernels_ns, 50);
	CHECK_EQ(gpus[1].overlap_ns, 0);
	free(gpus);
}

TEST(each_stream_has_its_own_time)
{
	static struct sidecar_shape of_streams[] = {
		{.kind = GPU_LOG_KIND_KERNEL, .name = "", .stream = 7},
		{.kind = GPU_LOG_KIND_KERNEL, .name = "", .stream = 13},
	};
	struct sidecar_activity activities[] = {ON(0, 100, 200), ON(1, 150, 300),
						ON(0, 400, 450), ON(1, 300, 350)};
	const struct sidecar sidecar = {
		.logs = logs,
		.nr_logs = NR(logs),
		.shapes = of_streams,
		.nr_shapes = NR(of_streams),
		.activities = activities,
		.nr_activities = NR(activities),
	};
	struct gpu_time *gpus;
	size_t nr;

	CHECK_EQ(gpu_time__find(&sidecar, true, &gpus, &nr), 0);
	CHECK_EQ(nr, 3);
	CHECK_EQ(gpus[0].stream, -1);
	CHECK_EQ(gpus[0].busy_ns, 300);
	CHECK_EQ(gpus[0].idle_ns, 50);
	CHECK_EQ(gpus[1].stream, 7);
	CHECK_EQ(gpus[1].busy_ns, 150);
	CHECK_EQ(gpus[1].idle_ns, 200);
	CHECK_EQ(gpus[2].stream, 13);
	CHECK_EQ(gpus[2].busy_ns, 200);
	CHECK_EQ(gpus[2].nr_gaps, 0);
	free(gpus);
}

TEST(a_gpu_is_what_each_nanosecond_says)
{
	enum { LENGTH = 20000, MANY = 700 };
	static bool kernels[LENGTH], copies[LENGTH];
	static struct sidecar_activity activities[MANY];
	uint64_t random = 1, kernels_ns = 0, copies_ns = 0, overlap_ns = 0;
	struct gpu_time *gpus;
	size_t nr;

	for (size_t i = 0; i < MANY; i++) {
		uint64_t start, end;

		random = random * 6364136223846793005u + 1;
		start = 1 + (random >> 33) % (LENGTH - 100);
		end = start + (random >> 20) % 60;
		activities[i] =
			(struct sidecar_activity)ON((uint32_t)(i % 3), start, end);
		for (uint64_t ns = start; ns < end && i % 3 < 2; ns++)
			*(i % 3 ? &copies[ns] : &kernels[ns]) = true;
	}
	for (size_t ns = 0; ns < LENGTH; ns++) {
		kernels_ns += kernels[ns];
		copies_ns += copies[ns];
		overlap_ns += kernels[ns] && copies[ns];
	}
	find_gpus(activities, MANY, &gpus, &nr);
	CHECK_EQ(nr, 1);
	CHECK_EQ(gpus[0].kernels_ns, kernels_ns);
	CHECK_EQ(gpus[0].copies_ns, copies_ns);
	CHECK_EQ(gpus[0].overlap_ns, overlap_ns);
	CHECK(overlap_ns > 0 && overlap_ns < copies_ns);
	free(gpus);
}

/* --- callers ---------------------------------------------------------------------------- */

static bool is_own(enum frame_class class, const char *text, const char *file)
{
	const struct frame_name name = {.text = text, .file = file, .class = class};

	return caller__is_own(&name);
}

TEST(code_of_the_programs_own_is_told_from_libraries)
{
	static const struct {
		enum frame_class class;
		const char *text, *file;
		bool is_own;
	} cases[] = {
		{FRAME_CLASS_NATIVE, "main", "/home/me/app", true},
		{FRAME_CLASS_NATIVE, "main", "/usr/bin/app", true},
		{FRAME_CLASS_NATIVE, "[app]", "/opt/app/app", true},
		{FRAME_CLASS_NATIVE, "f", "/home/me/libmine.so", true},
		{FRAME_CLASS_NATIVE, "f", "/tmp/perf-12.map", true},
		{FRAME_CLASS_NATIVE, "f", "/usr/lib/x86_64-linux-gnu/libc.so.6", false},
		{FRAME_CLASS_NATIVE, "f", "/opt/conda/lib/libstdc++.so.6.0.30", false},
		{FRAME_CLASS_NATIVE, "f", "/opt/x/libcublasLt.so.13", false},
		{FRAME_CLASS_NATIVE, "f", "/opt/libtorch/lib/libtorch_cpu.so", false},
		{FRAME_CLASS_NATIVE, "f", "/v/lib/python3.12/site-packages/a/b.so",
		 false},
		{FRAME_CLASS_NATIVE, "f", "/usr/bin/python3.12", false},
		{FRAME_CLASS_NATIVE, "f", "/opt/bin/python_tool", true},
		{FRAME_CLASS_NATIVE, "f", "[vdso]", false},
		{FRAME_CLASS_NATIVE, "[unknown]", NULL, false},
		{FRAME_CLASS_NATIVE, "_start", "/home/me/app", false},
		{FRAME_CLASS_NATIVE, "cudaLaunchKernel<char>", "/home/me/app", false},
		{FRAME_CLASS_NATIVE, "cudart::f", "/home/me/app", false},
		{FRAME_CLASS_NATIVE, "__device_stub__Z1kv", "/home/me/app", false},
		{FRAME_CLASS_NATIVE, "cudaize", "/home/me/app", true},
		{FRAME_CLASS_NATIVE, "std::invoke", "/home/me/app", false},
		{FRAME_CLASS_NATIVE, "thrust::sort", "/home/me/app", false},
		{FRAME_CLASS_PYTHON, "py::f:/home/me/a.py", "/home/me/a.py", true},
		{FRAME_CLASS_PYTHON, "py::f:<stdin>", "<stdin>", true},
		{FRAME_CLASS_PYTHON, "py::f:<frozen runpy>", "<frozen runpy>", false},
		{FRAME_CLASS_PYTHON, "py::f:/usr/lib/python3.12/x.py", NULL, false},
		{FRAME_CLASS_PYTHON, "py::f:/o/lib/python3.9/x.py", NULL, false},
		{FRAME_CLASS_PYTHON, "py::f:/v/site-packages/t/m.py", NULL, false},
		{FRAME_CLASS_PYTHON, "py::f:train.py", "train.py", true},
		{FRAME_CLASS_API, "cudaLaunchKernel", NULL, false},
		{FRAME_CLASS_LABEL, "[CUDA graph]", NULL, false},
	};

	for (size_t i = 0; i < NR(cases); i++)
		if (is_own(cases[i].class, cases[i].text, cases[i].file) !=
		    cases[i].is_own)
			unit__fail(__FILE__, __LINE__, "%s in %s", cases[i].text,
				   cases[i].file ? cases[i].file : "nothing");
}

static const char *written(enum frame_class class, const char *text)
{
	static char ret[64];
	const struct frame_name name = {.text = text, .class = class};

	caller__write(&name, ret, sizeof(ret));
	return ret;
}

TEST(a_python_caller_has_its_file)
{
	CHECK_STR(written(FRAME_CLASS_PYTHON, "py::Block.forward:/a/b/model.py"),
		  "Block.forward (model.py)");
	CHECK_STR(written(FRAME_CLASS_PYTHON, "py::f:"), "f ()");
	CHECK_STR(written(FRAME_CLASS_PYTHON, "py::f"), "f");
	CHECK_STR(written(FRAME_CLASS_NATIVE, "ns::f<int>"), "ns::f<int>");
}

/* --- the report ---------------------------------------------------------------------------- */

#define FRAMES(array) .frames = (array), .nr_frames = NR(array)

TEST(rows_have_callers_shapes_and_groups)
{
	struct machine *machine;
	struct sidecar sidecar = {.logs = logs, .nr_logs = 1};
	struct sidecar_shape small = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
	struct sidecar_shape large = {.grid = {8, 1, 1}, .block = {32, 1, 1}};
	struct gpu_labels labels[] = {{.device = 0, .stream = 7, .rank = -1},
				      {.device = 0, .stream = 13, .rank = -1}};
	struct gpu_frame by_f[] = {{.name = "[GPU_Kernel]void k<1>(int)"},
				   {.name = "py::k:/x.py"},
				   {.name = "py::f:/x.py"}};
	struct gpu_frame by_g[] = {{.name = by_f[0].name}, {.name = "py::g:/x.py"}};
	struct gpu_frame by_none[] = {{.name = by_f[0].name}, {.name = "[unattributed]"}};
	struct gpu_frame bare[] = {{.name = "[GPU_Idle]"}};
	struct gpu_sample samples[] = {
		{FRAMES(by_f), .period = 10, .shape = &small, .labels = &labels[0]},
		{FRAMES(by_f), .period = 20, .shape = &large, .labels = &labels[0]},
		{FRAMES(by_g), .period = 40, .shape = &small, .labels = &labels[0]},
		{FRAMES(by_none), .period = 5, .shape = &small, .labels = &labels[1]},
		{FRAMES(bare), .period = 1, .event = GPU_LOG_EVENT_IDLE,
		 .labels = &labels[1], .tid = 77},
	};
	struct report_entry *entries;
	struct report *report;
	struct sink_input input = {.sidecar = &sidecar};

	CHECK_EQ(machine__new(NULL, &machine), 0);
	input.machine = machine;
	CHECK_EQ(report__new(REPORT_BY_STREAM, true, &report), 0);
	CHECK_EQ(report__start(report, &input), 0);
	for (size_t i = 0; i < NR(samples); i++)
		CHECK_EQ(report__add(report, &samples[i]), 0);
	CHECK_EQ(report__finish(report), 0);
	CHECK_EQ(report->nr_groups, 2);
	CHECK_EQ(report->nr_rows, 3);
	CHECK(!report->has_gpus); /* the log has recorded nothing */
	CHECK_EQ(report_order__new(report, REPORT_SORT_TOTAL, &entries), 0);

	CHECK_EQ(entries[0].group->stream, 7);
	CHECK_STR(report_row__name(entries[0].row), "void k<1>(int)");
	CHECK_EQ(entries[0].row->spread.sum, 70);
	CHECK_EQ(entries[0].event_total, 70);
	/* Called as the kernel is, k is taken for its stub. */
	CHECK_EQ(entries[0].row->nr_callers, 2);
	CHECK_STR(report->callers[entries[0].row->first_caller].name->text,
		  "py::g:/x.py");
	CHECK_EQ(report->callers[entries[0].row->first_caller + 1].period, 30);
	CHECK_EQ(entries[0].row->nr_shapes, 2);
	CHECK_EQ(report->shapes[entries[0].row->first_shape].period, 50);
	CHECK_EQ(report->shapes[entries[0].row->first_shape].nr, 2);

	CHECK_EQ(entries[1].group->stream, 13);
	CHECK_STR(report->callers[entries[1].row->first_caller].name->text,
		  "[unattributed]");
	CHECK_STR(report_row__name(entries[2].row), "[GPU_Idle]");
	CHECK_STR(report->callers[entries[2].row->first_caller].name->text,
		  "[thread :77]");
	free(entries);
	report__delete(report);
	machine__delete(machine);
}

/* The row of a name; there is one */
static const struct report_row *row_of(const struct report *report, const char *name,
				       bool is_range)
{
	for (size_t i = 0; i < report->nr_rows; i++)
		if (!strcmp(report_row__name(&report->rows[i]), name) &&
		    report->rows[i].is_range == is_range)
			return &report->rows[i];
	CHECK(!name);
	return NULL;
}

/* step 1 { k; fwd { k; step (recursion) { k } } } step 2 { k } k; one without its launch */
TEST(a_range_has_what_ran_within_it_once)
{
	static const struct sidecar_nvtx nvtx[] = {
		{.operation = GPU_LOG_NVTX_PUSH, .domain = "d", .name = "step"},
		{.operation = GPU_LOG_NVTX_PUSH, .domain = "", .name = "[GPU_Kernel]fwd"},
		{.operation = GPU_LOG_NVTX_PUSH, .domain = "d", .name = "step"},
		{.operation = GPU_LOG_NVTX_PUSH, .domain = "d", .name = "step"},
		{.operation = GPU_LOG_NVTX_PUSH, .domain = "", .name = "[no NVTX range]"},
		{.operation = GPU_LOG_NVTX_PUSH, .domain = "", .name = ""},
	};
	static const struct sidecar_nvtx *const nested[] = {&nvtx[0], &nvtx[1], &nvtx[2]};
	static const struct sidecar_nvtx *const next[] = {&nvtx[3]};
	static const struct sidecar_nvtx *const odd[] = {&nvtx[4], &nvtx[5]};
	const struct sidecar sidecar = {.nvtx = (struct sidecar_nvtx *)nvtx,
					.nr_nvtx = NR(nvtx)};
	struct gpu_labels labels[] = {
		{.ranges = nested, .nr_ranges = 1}, {.ranges = nested, .nr_ranges = 2},
		{.ranges = nested, .nr_ranges = 3}, {.ranges = next, .nr_ranges = 1},
		{.ranges = odd, .nr_ranges = 2},    {.nr_ranges = 0},
	};
	struct gpu_frame k[] = {{.name = "[GPU_Kernel]k"}};
	struct gpu_frame l[] = {{.name = "[GPU_Kernel]l"}};
	struct gpu_sample samples[] = {
		{FRAMES(k), .period = 1, .labels = &labels[0], .has_launch = true},
		{FRAMES(k), .period = 2, .labels = &labels[1], .has_launch = true},
		{FRAMES(l), .period = 4, .labels = &labels[2], .has_launch = true},
		{FRAMES(k), .period = 8, .labels = &labels[3], .has_launch = true},
		{FRAMES(k), .period = 16, .labels = &labels[4], .has_launch = true},
		{FRAMES(k), .period = 32, .labels = &labels[5], .has_launch = true},
		{FRAMES(k), .period = 64, .labels = &labels[5]},
	};
	struct sink_input input = {.sidecar = &sidecar};
	const struct report_row *row;
	struct report_entry *entries;
	struct machine *machine;
	struct report *report;

	CHECK_EQ(machine__new(NULL, &machine), 0);
	input.machine = machine;
	CHECK_EQ(report__new(REPORT_BY_NVTX, true, &report), 0);
	CHECK_EQ(report__start(report, &input), 0);
	for (size_t i = 0; i < NR(samples); i++)
		CHECK_EQ(report__add(report, &samples[i]), 0);
	CHECK_EQ(report__finish(report), 0);
	CHECK_EQ(report->nr_groups, 1);
	CHECK_EQ(report->nr_rows, 6);

	row = row_of(report, "d:step", true);
	CHECK_EQ(row->nr, 4);
	CHECK_EQ(row->spread.sum, 15);
	CHECK_EQ(row->own, 13);
	CHECK_EQ(row->spread.nr, 2);
	CHECK_EQ(row->spread.min, 7);
	CHECK_EQ(row->spread.max, 8);
	CHECK_EQ(row->nr_callers, 2);
	CHECK_STR(report_leaf__name(row->event, report->callers[row->first_caller].name),
		  "k");
	CHECK_EQ(report->callers[row->first_caller].period, 11);
	row = row_of(report, "[GPU_Kernel]fwd", true);
	CHECK_EQ(row->spread.sum, 6);
	CHECK_EQ(row->own, 2);
	CHECK_EQ(row->spread.nr, 1);
	CHECK_EQ(row_of(report, "[no NVTX range]", true)->spread.sum, 16);
	CHECK_EQ(row_of(report, "[no NVTX range]", true)->own, 0);
	CHECK_EQ(row_of(report, "[unnamed]", true)->own, 16);
	CHECK_EQ(row_of(report, "[no NVTX range]", false)->own, 32);
	CHECK_EQ(row_of(report, "[unattributed]", false)->own, 64);

	CHECK_EQ(report_order__new(report, REPORT_SORT_CALLS, &entries), 0);
	CHECK_STR(report_row__name(entries[0].row), "d:step");
	CHECK_EQ(entries[0].event_total, 127);
	free(entries);
	report__delete(report);
	machine__delete(machine);
}

/* A source that fails: nothing of the sidecar is read behind report__stop(). */
TEST(a_report_that_is_stopped_reads_no_more)
{
	enum { MANY = 100000 };
	struct sidecar_log log = {
		.start_ns = 1,
		.kinds = gpu_log_kinds_of(GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_IDLE)),
	};
	struct sidecar sidecar = {
		.logs = &log,
		.nr_logs = 1,
		.shapes = shapes,
		.nr_shapes = NR(shapes),
		.activities = calloc(MANY, sizeof(*sidecar.activities)),
		.nr_activities = MANY,
	};
	struct sink_input input = {.sidecar = &sidecar};
	struct machine *machine;
	struct report *report;

	CHECK(sidecar.activities != NULL);
	for (size_t i = 0; i < MANY; i++)
		sidecar.activities[i] =
			(struct sidecar_activity)ON(0, 1 + MANY - i, 9 + MANY - i);
	CHECK_EQ(machine__new(NULL, &machine), 0);
	input.machine = machine;
	CHECK_EQ(report__new(0, false, &report), 0);
	CHECK_EQ(report__start(report, &input), 0);
	CHECK(report->has_gpus);
	report__stop(report);
	free(sidecar.activities);
	CHECK_EQ(report->nr_gpus, 1);
	CHECK_EQ(report->gpus[0].nr_activities, MANY);
	report__delete(report);
	machine__delete(machine);
}

/* --- cells ------------------------------------------------------------------------------ */

TEST(figures_have_three_digits)
{
	struct cell cell;

	CHECK_STR(cell__duration(0, &cell), "0ns");
	CHECK_STR(cell__duration(999.4, &cell), "999ns");
	CHECK_STR(cell__duration(999.6, &cell), "1.00us");
	CHECK_STR(cell__duration(4644, &cell), "4.64us");
	CHECK_STR(cell__duration(58549000, &cell), "58.5ms");
	CHECK_STR(cell__duration(9.996e6, &cell), "10.0ms");
	CHECK_STR(cell__duration(999.6e6, &cell), "1.00s");
	CHECK_STR(cell__duration(86400e9, &cell), "86400s");
	CHECK_STR(cell__bytes(12, &cell), "12B");
	CHECK_STR(cell__bytes(1207440900, &cell), "1.21GB");
	CHECK_STR(cell__count(12608, &cell), "12,608");
	CHECK_STR(cell__count(9999999, &cell), "9,999,999");
	CHECK_STR(cell__count(12345678, &cell), "12.3M");
	CHECK_STR(cell__share(1, 3, &cell), "33.3%");
	CHECK_STR(cell__share(9999, 10000, &cell), "99.9%");
	CHECK_STR(cell__share(0, 0, &cell), "0.0%");
	CHECK_STR(cell__rate(45682, 1000, &cell), "45.7");
	CHECK_STR(cell__rate(1, 1000, &cell), "0.001");
	CHECK_STR(cell__rate(1, 0, &cell), "-");
}

static const char *cut(const char *text, size_t columns)
{
	static char ret[256];

	CHECK(cell__name(text, columns, ret, 4 * columns + 4) <= columns);
	return ret;
}

TEST(names_are_cut_in_the_middle)
{
	CHECK_STR(cut("sgemm", 20), "sgemm");
	CHECK_STR(cut("0123456789abcdef", 16), "0123456789abcdef");
	CHECK_STR(cut("0123456789abcdefg", 16), "0123456...bcdefg");
	CHECK_STR(cut("0123456789", 5), "01234");
	CHECK_STR(cut("", 5), "");
	/* Characters of several bytes, and of two columns, stay whole. */
	CHECK_STR(cut("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 4),
		  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
	CHECK_STR(cut("\xe6\xa0\xb8\xe6\xa0\xb8\xe6\xa0\xb8\xe6\xa0\xb8\xe6\xa0\xb8\xe6"
		      "\xa0\xb8",
		      9),
		  "\xe6\xa0\xb8...\xe6\xa0\xb8");
}

/* Those of a table in @columns, a line each; checks that none is wider */
static const char *fit(size_t columns, const char *const *names, size_t nr)
{
	static char ret[1024];
	struct fitted_name items[8] = {0};

	CHECK(nr <= NR(items));
	for (size_t i = 0; i < nr; i++)
		items[i] = (struct fitted_name){.name = names[i], .columns = columns};
	CHECK_EQ(names__fit(items, nr), 0);
	*ret = '\0';
	for (size_t i = 0; i < nr; i++) {
		char shown[256];

		CHECK(cell__name(items[i].ret, 1000, shown, sizeof(shown)) <= columns);
		snprintf(ret + strlen(ret), sizeof(ret) - strlen(ret), "%s\n",
			 items[i].ret);
	}
	names__release(items, nr);
	return ret;
}

#define FIT(columns, ...)                                \
	fit(columns, (const char *const[]){__VA_ARGS__}, \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

TEST(what_says_least_goes_from_a_name_first)
{
	static const char name[] = "void at::native::(anonymous namespace)::add<4, "
				   "at::native::Functor<float, "
				   "at::X>, std::array<char*, 3ul> >(int, "
				   "at::native::Functor<float, at::X>)";

	CHECK_STR(FIT(200, name),
		  "void at::native::(anonymous namespace)::add<4, "
		  "at::native::Functor<float, "
		  "at::X>, std::array<char*, 3ul> >(int, at::native::Functor<float, "
		  "at::X>)\n");
	CHECK_STR(FIT(115, name),
		  "at::native::(anonymous namespace)::add<4, at::native::Functor<float, "
		  "at::X>, std::array<char*, 3ul>>\n");
	CHECK_STR(FIT(90, name), "at::native::(anonymous namespace)::add<4, "
				 "Functor<float, X>, array<char*, 3ul>>\n");
	CHECK_STR(FIT(70, name), "at::native::(anonymous namespace)::add<4, "
				 "Functor<...>, array<...>>\n");
	CHECK_STR(FIT(40, name), "add<4, Functor<...>, array<...>>\n");
	CHECK_STR(FIT(20, name), "add<4, Fu...ay<...>>\n");
	/* A function of a function's, and a cast */
	CHECK_STR(FIT(60, "void k<a::Gelu(a::T&, a::U)::{lambda()#2}::operator()() "
			  "const::{lambda(float)#1}, (a::MODE)1>(int)"),
		  "k<Gelu(...)::{lambda()#2}::op...t::{lambda(...)#1}, (MODE)1>\n");
}

TEST(names_that_differ_look_different)
{
	/* In the middle of a name, and of nested arguments */
	CHECK_STR(FIT(40,
		      "sm80_gemm_f32_nt_n_tilesize64x64x8_stage3_aligna4_kernel__cublas",
		      "sm80_gemm_f32_nt_n_tilesize32x32x8_stage3_aligna4_kernel__cublas"),
		  "sm80_gem...tilesize64x64x8_s...l__cublas\n"
		  "sm80_gem...tilesize32x32x8_s...l__cublas\n");
	CHECK_STR(
		FIT(60,
		    "void cutlass::device_kernel<gemm::Universal<cute::tuple<int, int>, "
		    "Mma<Sm90Tma<7, cute::C<2>>, cute::C<64>>, half>>(Params)",
		    "void cutlass::device_kernel<gemm::Universal<cute::tuple<int, int>, "
		    "Mma<Sm90Tma<5, cute::C<2>>, cute::C<64>>, half>>(Params)"),
		"device_kernel<Universal<tuple<int...7, C<2>>, C<64>>, half>>\n"
		"device_kernel<Universal<tuple<int...5, C<2>>, C<64>>, half>>\n");
	/* In parameters, or namespaces */
	CHECK_STR(FIT(40, "void the_same_kernel<float>(float*, int, int, int, int)",
		      "void the_same_kernel<float>(half*, int, int, int, int)"),
		  "void the...float*, int, int,...int, int)\n"
		  "void the_sa...half*, int, int, int, int)\n");
	/* In more than there is room for */
	CHECK_STR(FIT(20, "aaaaaaaaaaaaaaaaaaaaaaaaaaXaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		      "aaaaaaaaaaaaaaaaaaaaaaaaaaYaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		      "aaaaaaaaaaaaaaaaaaaaaaaaaaZaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		  "aaaaaaaaa...aaaaaaaa\naaaaaaa...aaaaaaa #2\naaaaaaa...aaaaaaa #3\n");
	CHECK_STR(FIT(20, "k\001", "k\002", "k\001"), "k?\nk? #2\nk?\n");
	CHECK_STR(FIT(20, "k", "k"), "k\nk\n");
}

TEST(names_have_nothing_that_a_terminal_acts_on)
{
	CHECK_STR(cut("a\033[31mb\nc\x7f", 20), "a?[31mb?c?");
	CHECK_STR(cut("a\xc2\x9b"
		      "b",
		      20),
		  "a?b"); /* CSI in one character */
	CHECK_STR(cut("a\xe2\x80\xae"
		      "b",
		      20),
		  "a?b"); /* right to left */
	CHECK_STR(cut("\xff\xc3"
		      "a\xe6\xa0",
		      20),
		  "??a??");
	CHECK_STR(cut("\xc0\xaf\xed\xa0\x80", 20), "?????"); /* too long; half a pair */
}
