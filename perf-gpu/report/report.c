// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "join/nvtx_ranges.h"
#include "report/caller_finder.h"
#include "sidecar/sidecar_thread.h"
#include "util/gpu_events.h"
#include "util/hash_index.h"
#include "util/key_sums.h"
#include "util/sum.h"

/* A row that was added to a short while ago, in the place that its leaf's text gives it */
struct known_row {
	const char *leaf; /* the text's address, which stays; NULL: none */
	uint32_t group, event, row;
};

#define NR_KNOWN_ROWS 1024

struct report_table {
	const struct sidecar *sidecar;
	const struct machine *machine;
	struct frame_names *names;
	struct caller_finder *finder;
	struct sidecar_thread *finding_gpus; /* NULL: it isn't done */
	struct hash_index groups, rows, shapes;
	struct known_row known_rows[NR_KNOWN_ROWS];
	size_t nr_allocated_groups, nr_allocated_rows, nr_allocated_shapes;
	struct key_sums callers; /* by row, and the id of their name */
	struct key_sums ranges; /* by row, and the index in sidecar.nvtx */
};

int report__new(unsigned int by, bool has_shapes, struct report **ret)
{
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return -ENOMEM;
	report->by = by;
	report->has_shapes = has_shapes && !(by & REPORT_BY_NVTX);
	report->table = calloc(1, sizeof(*report->table));
	if (!report->table) {
		free(report);
		return -ENOMEM;
	}
	*ret = report;
	return 0;
}

void report__stop(struct report *report)
{
	sidecar_thread__delete(report->table->finding_gpus);
	report->table->finding_gpus = NULL;
}

void report__delete(struct report *report)
{
	struct report_table *table;

	if (!report)
		return;
	report__stop(report);
	table = report->table;
	for (size_t i = 0; i < report->nr_rows; i++)
		spread__release(&report->rows[i].spread);
	free(report->rows);
	free(report->groups);
	free(report->callers);
	free(report->shapes);
	free(report->gpus);
	hash_index__release(&table->groups);
	hash_index__release(&table->rows);
	key_sums__release(&table->callers);
	key_sums__release(&table->ranges);
	hash_index__release(&table->shapes);
	caller_finder__delete(table->finder);
	frame_names__delete(table->names);
	free(table);
	free(report);
}

static int find_gpus(const struct sidecar *sidecar, void *data)
{
	struct report *report = data;

	return gpu_time__find(sidecar, report->by & REPORT_BY_STREAM, &report->gpus,
			      &report->nr_gpus);
}

/* Only if all that makes a GPU busy was recorded */
static int begin_gpus(struct report *report)
{
	struct report_table *table = report->table;
	uint32_t wanted = gpu_log_kinds_of(GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_IDLE));
	uint32_t kinds = 0;

	for (size_t i = 0; i < table->sidecar->nr_logs; i++)
		kinds |= table->sidecar->logs[i].kinds;
	report->has_gpus = (kinds & wanted) == wanted;
	if (!report->has_gpus)
		return 0;
	return sidecar_thread__new(table->sidecar, find_gpus, report,
				   &table->finding_gpus);
}

int report__start(struct report *report, const struct sink_input *input)
{
	struct report_table *table = report->table;

	table->sidecar = input->sidecar;
	table->machine = input->machine;
	if (begin_gpus(report) || frame_names__new(input, &table->names))
		return -ENOMEM;
	return caller_finder__new(table->names, &table->finder);
}

/* The kernel that a row is about, or NULL */
static const struct frame_name *kernel_of(const struct report_row *row)
{
	bool is_kernel =
		row->event == GPU_LOG_EVENT_KERNEL || row->event == GPU_LOG_EVENT_QUEUE;

	return is_kernel ? row->leaf : NULL;
}

const char *report_leaf__name(uint32_t event, const struct frame_name *leaf)
{
	const char *prefix = gpu_events[event].leaf;
	size_t bytes = strlen(prefix);

	if (strncmp(leaf->text, prefix, bytes) != 0 || !leaf->text[bytes])
		return leaf->text;
	return leaf->text + bytes;
}

const char *report_row__name(const struct report_row *row)
{
	return row->is_range ? row->leaf->text : report_leaf__name(row->event, row->leaf);
}

bool report__is_in_bytes(uint32_t event)
{
	return *gpu_events[event].unit == 'b';
}

bool report__has_rate(uint32_t event)
{
	return event == GPU_LOG_EVENT_MEMCPY || event == GPU_LOG_EVENT_MEMSET ||
	       event == GPU_LOG_EVENT_FAULT;
}

/* Room for one item more in an array, which is zeroed; NULL without memory. */
static void *append(void *array, size_t *nr, size_t *nr_allocated, size_t item_bytes)
{
	void **place = array;
	char *items = *place;

	if (*nr == *nr_allocated) {
		size_t new_nr = *nr ? 2 * *nr : 64;

		items = reallocarray(items, new_nr, item_bytes);
		if (!items)
			return NULL;
		*place = items;
		*nr_allocated = new_nr;
	}
	return memset(items + (*nr)++ * item_bytes, 0, item_bytes);
}

/* --- groups ------------------------------------------------------------------------- */

static struct report_group group_of(const struct report *report,
				    const struct gpu_sample *sample)
{
	struct report_group group = {.device = -1, .stream = -1, .pid = -1, .rank = -1};
	const struct gpu_labels *labels = sample->labels;

	if (labels && report->by & REPORT_BY_DEVICE)
		group.device = labels->device;
	if (labels && report->by & REPORT_BY_STREAM)
		group.stream = labels->stream;
	if (labels && report->by & REPORT_BY_RANK)
		group.rank = labels->rank;
	if (report->by & REPORT_BY_PROCESS)
		group.pid = sample->pid;
	return group;
}

static bool is_same_group(const struct report_group *a, const struct report_group *b)
{
	return a->device == b->device && a->stream == b->stream && a->pid == b->pid &&
	       a->rank == b->rank;
}

static int find_group(struct report *report, const struct gpu_sample *sample,
		      uint32_t *ret)
{
	struct report_table *table = report->table;
	struct report_group new = group_of(report, sample), *place;
	uint64_t hash = hash__mix(hash__mix((uint64_t) new.device, (uint64_t) new.stream),
				  hash__mix((uint64_t) new.pid, (uint64_t) new.rank));
	struct hash_cursor cursor = hash_index__find(&table->groups, hash);

	while (hash_index__next(&table->groups, &cursor, ret))
		if (is_same_group(&report->groups[*ret], &new))
			return 0;
	*ret = (uint32_t)report->nr_groups;
	if (new.pid >= 0)
		snprintf(new.comm, sizeof(new.comm), "%s",
			 machine__comm(table->machine, sample->pid, sample->pid));
	place = append(&report->groups, &report->nr_groups, &table->nr_allocated_groups,
		       sizeof(*place));
	if (!place)
		return -ENOMEM;
	*place = new;
	return hash_index__add(&table->groups, hash, *ret);
}

/* --- rows --------------------------------------------------------------------------- */

static int look_up_row(struct report *report, uint32_t event,
		       const struct frame_name *leaf, uint32_t group, uint32_t *ret)
{
	struct report_table *table = report->table;
	struct report_row *row;
	struct hash_cursor cursor;
	uint64_t hash;

	hash = hash__mix(hash__mix(group, event), leaf->id);
	cursor = hash_index__find(&table->rows, hash);
	while (hash_index__next(&table->rows, &cursor, ret)) {
		row = &report->rows[*ret];
		if (row->leaf == leaf && row->group == group && row->event == event)
			return 0;
	}
	*ret = (uint32_t)report->nr_rows;
	row = append(&report->rows, &report->nr_rows, &table->nr_allocated_rows,
		     sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->group = group;
	row->event = event;
	row->leaf = leaf;
	return hash_index__add(&table->rows, hash, *ret);
}

static int find_row(struct report *report, const struct gpu_sample *sample, uint32_t *ret)
{
	const char *leaf = sample->frames[0].name;
	struct known_row *known =
		&report->table->known_rows[hash__mix(sample->event, (uintptr_t)leaf) %
					   NR_KNOWN_ROWS];
	const struct frame_name *name;
	uint32_t group;

	if (find_group(report, sample, &group))
		return -ENOMEM;
	if (known->leaf && known->leaf == leaf && known->group == group &&
	    known->event == sample->event) {
		*ret = known->row;
		return 0;
	}
	if (frame_names__of(report->table->names, sample, 0, &name) ||
	    look_up_row(report, sample->event, name, group, ret))
		return -ENOMEM;
	*known = (struct known_row){
		.leaf = leaf, .group = group, .event = sample->event, .row = *ret};
	return 0;
}

/* --- callers ------------------------------------------------------------------------ */

static int add_caller(struct report *report, uint32_t row,
		      const struct gpu_sample *sample)
{
	struct report_table *table = report->table;
	const struct frame_name *name;

	if (caller_finder__find(table->finder, sample, kernel_of(&report->rows[row]),
				report_row__name(&report->rows[row]), &name))
		return -ENOMEM;
	return key_sums__add(&table->callers, row, name->id, sample->period);
}

static int list_callers(struct report *report)
{
	struct key_sums *sums = &report->table->callers;

	if (key_sums__settle(sums))
		return -ENOMEM;
	report->callers = calloc(sums->nr + 1, sizeof(*report->callers));
	if (!report->callers)
		return -ENOMEM;
	for (size_t i = 0; i < sums->nr; i++)
		report->callers[i] = (struct report_caller){
			.row = (uint32_t)sums->items[i].a,
			.name = frame_names__at(report->table->names,
						(uint32_t)sums->items[i].b),
			.nr = sums->items[i].nr,
			.period = sums->items[i].sum,
		};
	report->nr_callers = sums->nr;
	key_sums__release(sums);
	return 0;
}

/* --- NVTX ranges ---------------------------------------------------------------------- */

/* What stands for a range in the sums of a row that is none */
#define NO_RANGE UINT64_MAX

/* @nr, of ranges: how many of those that are open are before this one */
static bool is_within_itself(const struct gpu_labels *labels, size_t nr)
{
	const struct sidecar_nvtx *range = labels->ranges[nr];

	while (nr--) {
		if (!strcmp(labels->ranges[nr]->name, range->name) &&
		    !strcmp(labels->ranges[nr]->domain, range->domain))
			return true;
	}
	return false;
}

static int find_range_row(struct report *report, const struct gpu_sample *sample,
			  uint32_t group, const struct sidecar_nvtx *range, uint32_t *ret)
{
	char text[NVTX_RANGE_MAX_BYTES + NVTX_RANGE_MAX_DOMAIN_BYTES + 2];
	const char *none = sample->has_launch ? "[no NVTX range]" : "[unattributed]";
	const struct frame_name *name;

	if (range && !nvtx_range__name(range, text, sizeof(text)))
		snprintf(text, sizeof(text), "[unnamed]");
	/* Classes tell them from ranges of such names. */
	if (frame_names__get(report->table->names, range ? text : none, NULL,
			     range ? FRAME_CLASS_LABEL : FRAME_CLASS_ROOT, &name) ||
	    look_up_row(report, sample->event, name, group, ret))
		return -ENOMEM;
	report->rows[*ret].is_range = range != NULL;
	return 0;
}

/* What a row has but for how its values are spread; @is_own: no other row has it */
static void count_sample(struct report_row *row, const struct gpu_sample *sample,
			 bool is_own)
{
	const struct sidecar_activity *activity = sample->activity;

	row->nr++;
	if (is_own)
		sum__add(&row->own, sample->period);
	if (report__has_rate(sample->event) && activity) {
		sum__add(&row->ns, activity->end_ns - activity->start_ns);
		sum__add(&row->bytes, activity->bytes);
	}
}

static int add_to_range(struct report *report, const struct gpu_sample *sample,
			uint32_t row, uint64_t range, bool is_innermost)
{
	struct report_table *table = report->table;
	const struct frame_name *leaf;

	count_sample(&report->rows[row], sample, is_innermost);
	if (frame_names__of(table->names, sample, 0, &leaf) ||
	    key_sums__add(&table->callers, row, leaf->id, sample->period))
		return -ENOMEM;
	return key_sums__add(&table->ranges, row, range, sample->period);
}

/* To each range that is open, once: to the outermost of those that have one name. */
static int add_to_ranges(struct report *report, const struct gpu_sample *sample)
{
	const struct gpu_labels *labels = sample->labels;
	uint32_t group, row, innermost;

	if (find_group(report, sample, &group))
		return -ENOMEM;
	if (!labels->nr_ranges) {
		if (find_range_row(report, sample, group, NULL, &row))
			return -ENOMEM;
		return add_to_range(report, sample, row, NO_RANGE, true);
	}
	if (find_range_row(report, sample, group, labels->ranges[labels->nr_ranges - 1],
			   &innermost))
		return -ENOMEM;
	for (size_t i = 0; i < labels->nr_ranges; i++) {
		const struct sidecar_nvtx *range = labels->ranges[i];

		if (is_within_itself(labels, i))
			continue;
		if (find_range_row(report, sample, group, range, &row) ||
		    add_to_range(report, sample, row,
				 (uint64_t)(range - report->table->sidecar->nvtx),
				 row == innermost))
			return -ENOMEM;
	}
	return 0;
}

/* What each time that a range was open comes to */
static int spread_ranges(struct report *report)
{
	struct key_sums *sums = &report->table->ranges;

	if (key_sums__settle(sums))
		return -ENOMEM;
	for (size_t i = 0; i < sums->nr; i++) {
		const struct key_sum *sum = &sums->items[i];

		if (spread__add(&report->rows[sum->a].spread, sum->sum))
			return -ENOMEM;
	}
	key_sums__release(sums);
	return 0;
}

/* --- shapes ------------------------------------------------------------------------- */

static struct report_shape shape_of(uint32_t row, const struct sidecar_shape *shape)
{
	return (struct report_shape){
		.row = row,
		.grid = {shape->grid[0], shape->grid[1], shape->grid[2]},
		.block = {shape->block[0], shape->block[1], shape->block[2]},
		.registers_per_thread = shape->registers_per_thread,
		.static_shared_bytes = shape->static_shared_bytes,
		.dynamic_shared_bytes = shape->dynamic_shared_bytes,
	};
}

/* They differ in nothing before nr, and have no padding there. */
#define SHAPE_KEY_BYTES offsetof(struct report_shape, nr)
_Static_assert(SHAPE_KEY_BYTES == 10 * sizeof(uint32_t), "no padding");

static int add_shape(struct report *report, uint32_t row, const struct gpu_sample *sample)
{
	struct report_table *table = report->table;
	struct report_shape new, *shape;
	struct hash_cursor cursor;
	uint32_t words[SHAPE_KEY_BYTES / sizeof(uint32_t)];
	uint64_t hash = 0;
	uint32_t id;

	if (!report->has_shapes || sample->event != GPU_LOG_EVENT_KERNEL ||
	    !sample->shape)
		return 0;
	new = shape_of(row, sample->shape);
	memcpy(words, &new, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		hash = hash__mix(hash, words[i]);
	cursor = hash_index__find(&table->shapes, hash);
	while (hash_index__next(&table->shapes, &cursor, &id)) {
		shape = &report->shapes[id];
		if (!memcmp(shape, &new, SHAPE_KEY_BYTES))
			goto found;
	}
	id = (uint32_t)report->nr_shapes;
	shape = append(&report->shapes, &report->nr_shapes, &table->nr_allocated_shapes,
		       sizeof(*shape));
	if (!shape || hash_index__add(&table->shapes, hash, id))
		return -ENOMEM;
	*shape = new;
found:
	shape->nr++;
	sum__add(&shape->period, sample->period);
	return 0;
}

/* --- the whole ------------------------------------------------------------------------ */

int report__add(struct report *report, const struct gpu_sample *sample)
{
	uint32_t id;

	if (report->by & REPORT_BY_NVTX)
		return add_to_ranges(report, sample);
	if (find_row(report, sample, &id))
		return -ENOMEM;
	count_sample(&report->rows[id], sample, true);
	if (spread__add(&report->rows[id].spread, sample->period) ||
	    add_caller(report, id, sample))
		return -ENOMEM;
	return add_shape(report, id, sample);
}

static int compare_callers(const void *a, const void *b)
{
	const struct report_caller *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->period != y->period)
		return x->period > y->period ? -1 : 1;
	return strcmp(x->name->text, y->name->text);
}

static int compare_shapes(const void *a, const void *b)
{
	const struct report_shape *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->period != y->period)
		return x->period > y->period ? -1 : 1;
	return memcmp(x, y, SHAPE_KEY_BYTES);
}

/* Empty arrays are NULL, which qsort(3) isn't to be given. */
static void sort(void *array, size_t nr, size_t item_bytes,
		 int (*compare)(const void *, const void *))
{
	if (nr)
		qsort(array, nr, item_bytes, compare);
}

static void find_parts(struct report *report)
{
	for (size_t i = 0; i < report->nr_callers; i++) {
		struct report_row *row = &report->rows[report->callers[i].row];

		if (!row->nr_callers++)
			row->first_caller = i;
	}
	for (size_t i = 0; i < report->nr_shapes; i++) {
		struct report_row *row = &report->rows[report->shapes[i].row];

		if (!row->nr_shapes++)
			row->first_shape = i;
	}
}

int report__finish(struct report *report)
{
	if (list_callers(report) || spread_ranges(report))
		return -ENOMEM;
	sort(report->callers, report->nr_callers, sizeof(*report->callers),
	     compare_callers);
	sort(report->shapes, report->nr_shapes, sizeof(*report->shapes), compare_shapes);
	find_parts(report);
	return report->has_gpus ? sidecar_thread__wait(report->table->finding_gpus) : 0;
}
