// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pprof's profile.proto, gzipped (perf-gpu/proto/pprof_profile.proto): for go tool pprof,
 * Pyroscope, Parca and others.
 *
 * Each event has two types of samples, how many and how long (or large): gpu_kernel_count
 * in "count", gpu_kernel in "nanoseconds". Samples with the same stack and labels are one.
 * Frames become functions and locations of the same number; a file of native code is a
 * mapping, which says that its functions are named already.
 *
 * What readers ask for, beside the format:
 *
 *   Pyroscope   no "-" in a type's name (pkg/validation of its source), a type of periods,
 *               and labels that are texts: it drops numbers
 *   pprof       the main program's mapping first: it is shown as File
 *   Parca       functions, locations and mappings with the numbers 1, 2, 3, ... in the
 *               order that they are written in (pkg/normalizer)
 *   all         no label that is the number 0, which the format can't tell from none
 *
 * Strings are written when they are first used, samples at the end: memory grows with
 * distinct stacks and labels.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pprof_profile.pb-c.h"
#include "sink/byte_cache.h"
#include "sink/event_unit.h"
#include "sink/export.h"
#include "sink/pprof_labels.h"
#include "sink/proto_file.h"
#include "sink/proto_put.h"
#include "sink/stack_fold.h"
#include "sink/utf8_text.h"
#include "util/gpu_events.h"
#include "util/key_sums.h"
#include "util/log.h"

/* STACK_MAX_FRAMES and labels, and more */
#define MAX_FRAMES	512
#define MAX_LABELS	8
#define MAX_STACK_BYTES (MAX_FRAMES * PROTO_PUT_NUMBER)
#define MAX_LABEL_BYTES (3 * PROTO_PUT_NUMBER)

/* Fields of what is written for each sample, as the .proto numbers them */
enum {
	PROFILE_SAMPLE = 2,
	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
};

/* Equal samples, of which there is one in the output: the key of their sum */
struct pprof_sample {
	uint32_t leaf; /* id of its name */
	uint32_t stack; /* without the leaf: in fold */
	uint32_t event;
	uint32_t labels; /* in sets */
	uint64_t nr, period;
};

struct pprof {
	struct sink sink; /* first: what ops get is this */
	enum event_weight weight;
	struct proto_file *file;
	const struct sidecar *sidecar;
	const struct machine *machine;
	struct frame_names *names;
	struct stack_fold *fold;
	struct frame_names *strings; /* ids are those of the string table */
	struct frame_names *files; /* of mappings, whose ids are one more */
	uint32_t events;
	struct pprof_label_sets sets;
	struct key_sums samples; /* by leaf and stack, event and labels */
	/* Encoded, once there are no more of them: by set, by node */
	struct byte_cache labels, stacks;
	uint32_t *locations; /* by name's id: its number; 0: it is in no stack */
	uint64_t first_ns, last_ns;
	const char *program; /* path of the first sample's; NULL: not known */
};

static int no_memory(void)
{
	pr_err("no memory to add up stacks");
	return -ENOMEM;
}

static int write_profile(struct pprof *pprof, const Pprof__Profile *profile)
{
	return proto_file__write(pprof->file, &profile->base);
}

/* --- strings ---------------------------------------------------------------------------- */

/* The index of a text in the string table, where it is put if it isn't there */
static int string_of(struct pprof *pprof, const char *text, int64_t *ret)
{
	size_t nr = frame_names__nr(pprof->strings);
	const struct frame_name *name;
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	char *copy;
	int err;

	if (frame_names__get(pprof->strings, text, NULL, FRAME_CLASS_NATIVE, &name))
		return no_memory();
	*ret = name->id;
	if (name->id < nr)
		return 0;
	copy = utf8_text__copy(text);
	if (!copy)
		return no_memory();
	profile.n_string_table = 1;
	profile.string_table = &copy;
	err = write_profile(pprof, &profile);
	free(copy);
	return err;
}

/* --- samples ---------------------------------------------------------------------------- */

static int pprof__sample(struct sink *sink, const struct gpu_sample *sample)
{
	struct pprof *pprof = (struct pprof *)sink;
	const struct frame_name *leaf;
	uint32_t labels, stack;

	if (pprof_label_sets__of(&pprof->sets, pprof->names, sample, &labels) ||
	    stack_fold__stack(pprof->fold, sample, NULL, &stack) ||
	    frame_names__of(pprof->names, sample, 0, &leaf) ||
	    key_sums__add(&pprof->samples, (uint64_t)leaf->id << 32 | stack,
			  (uint64_t)sample->event << 32 | labels, sample->period))
		return no_memory();
	if (!pprof->program)
		pprof->program = machine__program(pprof->machine, sample->pid);
	if (!pprof->first_ns || sample->time_ns < pprof->first_ns)
		pprof->first_ns = sample->time_ns;
	if (sample->time_ns > pprof->last_ns)
		pprof->last_ns = sample->time_ns;
	return 0;
}

/* --- writing ------------------------------------------------------------------------------ */

/* Where an event's types of samples are: its number's, and behind it its sum's */
static size_t index_of(const struct pprof *pprof, uint32_t event)
{
	uint32_t before = pprof->events & (GPU_LOG_EVENT_BIT(event) - 1);

	return 2 * (size_t)__builtin_popcount(before);
}

/* The name of an event's type, with a suffix */
static int type_of(struct pprof *pprof, uint32_t event, const char *suffix, int64_t *ret)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%s", gpu_events[event].name, suffix);
	for (char *at = strchr(text, '-'); at; at = strchr(at, '-'))
		*at = '_';
	return string_of(pprof, text, ret);
}

static const char *unit_of(const struct pprof *pprof, uint32_t event)
{
	return event_unit__is_bytes(event, pprof->weight) ? "bytes" : "nanoseconds";
}

static int write_type(struct pprof *pprof, uint32_t event, const char *suffix,
		      const char *unit)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT, *types = &type;
	int err = type_of(pprof, event, suffix, &type.type);

	if (!err)
		err = string_of(pprof, unit, &type.unit);
	if (err)
		return err;
	profile.n_sample_type = 1;
	profile.sample_type = &types;
	return write_profile(pprof, &profile);
}

static int write_types(struct pprof *pprof)
{
	int err = 0;

	for (uint32_t i = 0; i < GPU_LOG_NR_EVENTS && !err; i++) {
		if (!(pprof->events & GPU_LOG_EVENT_BIT(i)))
			continue;
		err = write_type(pprof, i, "_count", "count");
		if (!err)
			err = write_type(pprof, i, "", unit_of(pprof, i));
	}
	return err;
}

/* A sample's labels, encoded: the same for all samples of a set */
struct labels {
	uint8_t bytes[MAX_LABELS * MAX_LABEL_BYTES];
	size_t nr_bytes;
};

static int add_label(struct pprof *pprof, struct labels *labels, const char *key,
		     const char *text, int64_t number)
{
	uint8_t body[MAX_LABEL_BYTES], *at = body;
	int64_t key_string, text_string;
	int err;

	if (!text && number < 0)
		return 0;
	err = string_of(pprof, key, &key_string);
	if (!err && text)
		err = string_of(pprof, text, &text_string);
	if (err)
		return err;
	at = proto_put__number(at, LABEL_KEY, (uint64_t)key_string);
	at = text ? proto_put__number(at, LABEL_STR, (uint64_t)text_string)
		  : proto_put__number(at, LABEL_NUM, (uint64_t)number);
	at = proto_put__bytes(labels->bytes + labels->nr_bytes, SAMPLE_LABEL, body,
			      (size_t)(at - body));
	labels->nr_bytes = (size_t)(at - labels->bytes);
	return 0;
}

/* A number that may be 0, with a word before it; negative: none */
static int add_worded_label(struct pprof *pprof, struct labels *labels, const char *key,
			    const char *word, int64_t number)
{
	char text[64];

	if (number < 0)
		return 0;
	snprintf(text, sizeof(text), "%s %" PRId64, word, number);
	return add_label(pprof, labels, key, text, 0);
}

static int make_labels(struct pprof *pprof, const struct pprof_labels *set,
		       struct labels *labels)
{
	int err = add_label(pprof, labels, "process", set->process->text, 0);

	if (!err)
		err = add_label(pprof, labels, "pid", NULL, set->pid);
	if (!err)
		err = add_label(pprof, labels, "tid", NULL, set->tid);
	if (!err)
		err = add_worded_label(pprof, labels, "device", "GPU", set->device);
	if (!err)
		err = add_label(pprof, labels, "stream", NULL, set->stream);
	if (!err)
		err = add_worded_label(pprof, labels, "rank", "rank", set->rank);
	if (!err && set->nvtx)
		err = add_label(pprof, labels, "nvtx", set->nvtx->text, 0);
	return err;
}

/* NULL: printed */
static const struct cached_bytes *labels_of(struct pprof *pprof, uint32_t set)
{
	const struct pprof_labels *key = &pprof->sets.items[set];
	const struct cached_bytes *known = byte_cache__find(&pprof->labels, key);
	struct labels labels = {.nr_bytes = 0};

	if (known)
		return known;
	if (make_labels(pprof, key, &labels))
		return NULL;
	known = byte_cache__add(&pprof->labels, key, labels.bytes, labels.nr_bytes);
	if (!known)
		no_memory();
	return known;
}

static uint64_t clamp(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : number;
}

/* The locations of a stack without its leaf, encoded; NULL without memory */
static const struct cached_bytes *stack_of(struct pprof *pprof, uint32_t stack)
{
	/* No node is added any more, so none moves. */
	const struct stack_node *key = stack_fold__node(pprof->fold, stack);
	const struct cached_bytes *known = byte_cache__find(&pprof->stacks, key);
	uint8_t packed[MAX_STACK_BYTES], *end = packed;
	size_t nr = 0;

	if (known)
		return known;
	for (uint32_t node = stack; node != STACK_FOLD_NO_NODE && nr++ < MAX_FRAMES;
	     node = stack_fold__node(pprof->fold, node)->parent)
		end = proto_put__varint(
			end,
			pprof->locations[stack_fold__node(pprof->fold, node)->name->id]);
	return byte_cache__add(&pprof->stacks, key, packed, (size_t)(end - packed));
}

/* NULL without memory */
static uint8_t *put_locations(struct pprof *pprof, uint8_t *at,
			      const struct pprof_sample *sample)
{
	static const struct cached_bytes nothing;
	const struct cached_bytes *stack = &nothing;
	uint8_t leaf[PROTO_PUT_NUMBER];
	size_t leaf_bytes =
		(size_t)(proto_put__varint(leaf, pprof->locations[sample->leaf]) - leaf);

	if (sample->stack != STACK_FOLD_NO_NODE)
		stack = stack_of(pprof, sample->stack);
	if (!stack)
		return NULL;
	at = proto_put__length(at, SAMPLE_LOCATION_ID, leaf_bytes + stack->nr_bytes);
	at = (uint8_t *)mempcpy(at, leaf, leaf_bytes);
	return (uint8_t *)mempcpy(at, stack->bytes, stack->nr_bytes);
}

/* How many and how much of its own event, and 0 of all others */
static uint8_t *put_values(const struct pprof *pprof, uint8_t *at,
			   const struct pprof_sample *sample)
{
	size_t nr_values = 2 * (size_t)__builtin_popcount(pprof->events);
	size_t own = index_of(pprof, sample->event);
	uint8_t packed[2 * GPU_LOG_NR_EVENTS * PROTO_PUT_NUMBER], *end = packed;

	for (size_t i = 0; i < nr_values; i++) {
		if (i == own)
			end = proto_put__varint(end, clamp(sample->nr));
		else
			end = proto_put__varint(end,
						i == own + 1 ? clamp(sample->period) : 0);
	}
	return proto_put__bytes(at, SAMPLE_VALUE, packed, (size_t)(end - packed));
}

static int write_sample(struct pprof *pprof, const struct pprof_sample *sample)
{
	uint8_t body[MAX_STACK_BYTES + (2 * GPU_LOG_NR_EVENTS + 3) * PROTO_PUT_NUMBER +
		     sizeof(struct labels)];
	uint8_t head[PROTO_PUT_NUMBER], *at;
	const struct cached_bytes *labels = labels_of(pprof, sample->labels);
	int err;

	if (!labels)
		return -ENOMEM;
	at = put_locations(pprof, body, sample);
	if (!at)
		return no_memory();
	at = put_values(pprof, at, sample);
	at = (uint8_t *)mempcpy(at, labels->bytes, labels->nr_bytes);
	err = proto_file__write_bytes(
		pprof->file, head,
		(size_t)(proto_put__length(head, PROFILE_SAMPLE, (size_t)(at - body)) -
			 head));
	return err ? err
		   : proto_file__write_bytes(pprof->file, body, (size_t)(at - body));
}

/* The mapping of a file, which is written when it is first asked for */
static int write_mapping(struct pprof *pprof, const char *path, uint64_t *ret_id)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;
	const struct frame_name *known;
	size_t nr = frame_names__nr(pprof->files);
	int err;

	if (frame_names__get(pprof->files, path, NULL, FRAME_CLASS_ROOT, &known))
		return no_memory();
	*ret_id = known->id + 1;
	if (known->id < nr)
		return 0;
	mapping.id = *ret_id;
	mapping.has_functions = true;
	err = string_of(pprof, path, &mapping.filename);
	profile.n_mapping = 1;
	profile.mapping = &mappings;
	return err ? err : write_profile(pprof, &profile);
}

static int write_location(struct pprof *pprof, const struct frame_name *name)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *locations = &location;
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions = &function;
	Pprof__Line line = PPROF__LINE__INIT, *lines = &line;
	int err = string_of(pprof, name->text, &function.name);

	location.id = function.id = line.function_id = pprof->locations[name->id];
	function.system_name = function.name;
	if (!err && name->class == FRAME_CLASS_PYTHON && name->file)
		err = string_of(pprof, name->file, &function.filename);
	else if (!err && name->file)
		err = write_mapping(pprof, name->file, &location.mapping_id);
	location.n_line = 1;
	location.line = &lines;
	profile.n_location = profile.n_function = 1;
	profile.location = &locations;
	profile.function = &functions;
	return err ? err : write_profile(pprof, &profile);
}

static int number_locations(struct pprof *pprof)
{
	size_t nr = frame_names__nr(pprof->names);
	uint32_t last = 0;

	pprof->locations = calloc(nr ? nr : 1, sizeof(*pprof->locations));
	if (!pprof->locations)
		return no_memory();
	for (uint32_t i = 0; i < nr; i++)
		if (frame_names__at(pprof->names, i)->class != FRAME_CLASS_ROOT)
			pprof->locations[i] = ++last;
	return 0;
}

static int write_locations(struct pprof *pprof)
{
	uint64_t first_mapping;
	int err = 0;

	if (pprof->program)
		err = write_mapping(pprof, pprof->program, &first_mapping);
	for (uint32_t i = 0; i < frame_names__nr(pprof->names) && !err; i++)
		if (pprof->locations[i])
			err = write_location(pprof, frame_names__at(pprof->names, i));
	return err;
}

static int write_rest(struct pprof *pprof)
{
	const struct sidecar_recorder *recorder = &pprof->sidecar->recorder;
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
	uint32_t first = event_unit__first(pprof->events);
	int err = type_of(pprof, first, "", &profile.default_sample_type);

	period.type = profile.default_sample_type;
	if (!err)
		err = string_of(pprof, unit_of(pprof, first), &period.unit);
	profile.period_type = &period;
	profile.period = 1;
	if (recorder->is_there)
		profile.time_nanos = (int64_t)(recorder->realtime_ns + pprof->first_ns -
					       recorder->monotonic_ns);
	profile.duration_nanos = (int64_t)(pprof->last_ns - pprof->first_ns);
	return err ? err : write_profile(pprof, &profile);
}

static int write_samples(struct pprof *pprof)
{
	int err = 0;

	if (key_sums__settle(&pprof->samples))
		return no_memory();
	for (size_t i = 0; i < pprof->samples.nr && !err; i++) {
		const struct key_sum *sum = &pprof->samples.items[i];
		const struct pprof_sample sample = {
			.leaf = (uint32_t)(sum->a >> 32),
			.stack = (uint32_t)sum->a,
			.event = (uint32_t)(sum->b >> 32),
			.labels = (uint32_t)sum->b,
			.nr = sum->nr,
			.period = sum->sum,
		};

		err = write_sample(pprof, &sample);
	}
	return err;
}

static int pprof__finish(struct sink *sink)
{
	struct pprof *pprof = (struct pprof *)sink;
	int err = number_locations(pprof);

	if (!err)
		err = write_types(pprof);
	if (!err)
		err = write_samples(pprof);
	if (!err)
		err = write_locations(pprof);
	if (!err)
		err = write_rest(pprof);
	return err ? err : proto_file__finish(pprof->file);
}

/* --- the sink -------------------------------------------------------------------------- */

static int pprof__start(struct sink *sink, const struct sink_input *input)
{
	struct pprof *pprof = (struct pprof *)sink;
	const struct sink_input nothing = {.machine = NULL};
	int64_t empty;

	pprof->sidecar = input->sidecar;
	pprof->machine = input->machine;
	pprof->events = input->events;
	if (frame_names__new(input, &pprof->names) ||
	    frame_names__new(&nothing, &pprof->strings) ||
	    frame_names__new(&nothing, &pprof->files) ||
	    stack_fold__new(pprof->names, &pprof->fold))
		return no_memory();
	return string_of(pprof, "", &empty);
}

static void pprof__delete(struct sink *sink)
{
	struct pprof *pprof = (struct pprof *)sink;

	if (!pprof)
		return;
	proto_file__close(pprof->file);
	stack_fold__delete(pprof->fold);
	frame_names__delete(pprof->strings);
	frame_names__delete(pprof->files);
	frame_names__delete(pprof->names);
	pprof_label_sets__release(&pprof->sets);
	key_sums__release(&pprof->samples);
	byte_cache__release(&pprof->labels);
	byte_cache__release(&pprof->stacks);
	free(pprof->locations);
	free(pprof);
}

int sink_pprof__new(const struct export_options *options, struct sink **ret)
{
	static const struct sink_ops ops = {
		.start = pprof__start,
		.sample = pprof__sample,
		.finish = pprof__finish,
		.delete = pprof__delete,
	};
	struct pprof *pprof = calloc(1, sizeof(*pprof));
	int err;

	if (!pprof)
		return no_memory();
	pprof->sink.ops = &ops;
	pprof->weight = options->weight;
	err = proto_file__open(options->path, true, &pprof->file);
	if (err) {
		free(pprof);
		return err;
	}
	*ret = &pprof->sink;
	return 0;
}
