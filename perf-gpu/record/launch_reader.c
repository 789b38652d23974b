// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/launch_reader.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/log_file.h"
#include "record/stack_table.h"
#include "record/time_window.h"
#include "util/gpu_log_cursor.h"
#include "util/gpu_log_sizes.h"
#include "util/sum.h"

/* The kernel's PID_MAX_LIMIT on 64-bit machines */
#define MAX_PID (4u << 20)

/* More than the kernel's NR_CPUS on any architecture; readers make arrays of CPUs. */
#define MAX_CPU 65535

/* Mappings and names that wait for the time of the launch behind them */
#define MAX_WAITING LAUNCH_READER_WINDOW

struct launch_reader {
	struct log_file file;
	struct gpu_log_cursor cursor; /* in the file's block */
	struct gpu_log_process process;
	uint64_t pid_namespace;
	uint64_t log_id;
	uint64_t base_ns; /* what launches count their time from */
	struct stack_table stacks;
	struct time_window window;
	struct time_entry *waiting; /* room for MAX_WAITING */
	size_t nr_waiting;
	void *given_out; /* copy of a record, in the event that was given out last */
	struct launch_reader_counts counts;
	bool has_end; /* GPU_LOG_END */
	int end; /* 1 while there may be more, else what launch_reader__next() ends with */
	struct launch_frames unknown; /* for a launch whose stack the log hasn't */
};

/* Return: 1 for a record, 0 at the end, or a negative errno. */
static int read_record(struct launch_reader *reader, const struct gpu_log_record **ret)
{
	int got;

	while (!(got = gpu_log_cursor__next(&reader->cursor, ret))) {
		got = log_file__next(&reader->file);
		if (got <= 0)
			return got;
		if (!reader->log_id)
			reader->log_id = reader->file.block->log_id;
		if (reader->log_id != reader->file.block->log_id)
			return -EINVAL;
		reader->cursor = gpu_log_cursor__new(log_file__payload(&reader->file),
						     reader->file.block->payload_bytes);
	}
	return got;
}

/* What may stand behind the process, which is its beginning too. */
static void look_for_namespace(struct launch_reader *reader)
{
	struct gpu_log_cursor cursor = reader->cursor;
	const struct gpu_log_namespace *namespace;
	const struct gpu_log_record *record;

	if (gpu_log_cursor__next(&cursor, &record) <= 0 ||
	    record->type != GPU_LOG_NAMESPACE || !gpu_log_record__is_whole(record))
		return;
	namespace = (const void *)record;
	reader->pid_namespace = namespace->pid_namespace;
}

static int read_process(struct launch_reader *reader)
{
	const struct gpu_log_record *record;
	int got;

	got = read_record(reader, &record);
	if (got <= 0)
		return got ? got : -ENODATA;
	if (record->type != GPU_LOG_PROCESS || !gpu_log_record__is_whole(record))
		return -EINVAL;
	memcpy(&reader->process, record, sizeof(reader->process));
	reader->process.comm[sizeof(reader->process.comm) - 1] = '\0';
	if (!reader->process.pid || reader->process.pid > MAX_PID ||
	    reader->process.ppid > MAX_PID)
		return -EINVAL;
	look_for_namespace(reader);
	reader->base_ns = reader->process.start_ns;
	reader->unknown.pid = reader->unknown.tid = reader->process.pid;
	reader->unknown.event.log_id = reader->log_id;
	return 0;
}

static int open_reader(int fd, uint64_t session, bool is_growing,
		       struct launch_reader **ret)
{
	struct log_file file = log_file__new(fd, session);
	struct launch_reader *reader;
	int err = -ENOMEM;

	reader = calloc(1, sizeof(*reader));
	if (!reader) {
		log_file__close(&file);
		return err;
	}
	reader->file = file;
	reader->file.is_growing = is_growing;
	reader->end = 1;
	reader->waiting = calloc(MAX_WAITING, sizeof(*reader->waiting));
	if (reader->waiting)
		err = read_process(reader);
	if (err) {
		launch_reader__close(reader);
		return err;
	}
	*ret = reader;
	return 0;
}

int launch_reader__open(int fd, uint64_t session, struct launch_reader **ret)
{
	return open_reader(fd, session, false, ret);
}

int launch_reader__open_growing(int fd, uint64_t session, struct launch_reader **ret)
{
	return open_reader(fd, session, true, ret);
}

void launch_reader__go_on(struct launch_reader *reader, bool is_growing)
{
	struct stat st;

	if (!fstat(reader->file.fd, &st))
		reader->file.limit = st.st_size;
	reader->file.is_growing = is_growing;
	if (!reader->end)
		reader->end = 1;
}

struct log_file *launch_reader__file(struct launch_reader *reader)
{
	return &reader->file;
}

uint64_t launch_reader__log_id(const struct launch_reader *reader)
{
	return reader->log_id;
}

bool launch_reader__has_end(const struct launch_reader *reader)
{
	return reader->has_end;
}

const struct gpu_log_process *launch_reader__process(const struct launch_reader *reader)
{
	return &reader->process;
}

uint64_t launch_reader__namespace(const struct launch_reader *reader)
{
	return reader->pid_namespace;
}

static uint32_t checked_tid(const struct launch_reader *reader, uint32_t tid)
{
	return tid && tid <= MAX_PID ? tid : reader->process.pid;
}

static int take_stack(struct launch_reader *reader, const struct gpu_log_stack *record)
{
	struct launch_frames *stack;
	uint32_t nr_frames;
	int err;

	if (record->nr_frames >
	    (record->rec.size - sizeof(*record)) / sizeof(*record->frames))
		return -EINVAL;
	nr_frames = record->nr_frames < LAUNCH_MAX_FRAMES ? record->nr_frames
							  : LAUNCH_MAX_FRAMES;
	err = stack_table__add(&reader->stacks, record->stack, nr_frames, &stack);
	if (err)
		/* Launches with an id that can't be will say that they have none. */
		return err == -EINVAL ? 0 : err;
	stack->pid = reader->process.pid;
	stack->tid = checked_tid(reader, record->tid);
	stack->event.log_id = reader->log_id;
	stack->event.api = record->api;
	memcpy(stack->frames, record->frames, nr_frames * sizeof(*record->frames));
	return 0;
}

/* Those that wait get into the window, at @time_ns at the latest. */
static int end_waiting(struct launch_reader *reader, uint64_t time_ns)
{
	for (size_t i = 0; i < reader->nr_waiting; i++) {
		struct time_entry *entry = &reader->waiting[i];
		int err;

		if (entry->time_ns > time_ns)
			entry->time_ns = time_ns;
		err = time_window__push(&reader->window, entry);
		if (err) {
			/* The window has taken over those before. */
			reader->nr_waiting -= i;
			memmove(reader->waiting, entry,
				reader->nr_waiting * sizeof(*entry));
			return err;
		}
	}
	reader->nr_waiting = 0;
	return 0;
}

static uint64_t time_of(const struct launch_reader *reader, int32_t offset_ns)
{
	uint64_t time_ns;

	if (!__builtin_add_overflow(reader->base_ns, offset_ns, &time_ns))
		return time_ns;
	return offset_ns < 0 ? 0 : UINT64_MAX;
}

static int take_launch(struct launch_reader *reader, const struct gpu_log_launch *record)
{
	struct time_entry entry = {.kind = LOGGED_LAUNCH};
	int err;

	entry.time_ns = time_of(reader, record->offset_ns);
	entry.correlation_id = record->correlation_id;
	entry.stack = record->stack;
	entry.cpu = record->cpu <= MAX_CPU ? record->cpu : 0;
	err = end_waiting(reader, entry.time_ns);
	return err ? err : time_window__push(&reader->window, &entry);
}

static int hold_back(struct launch_reader *reader, enum logged_kind kind,
		     uint64_t time_ns, const struct gpu_log_record *record)
{
	void *copy;
	int err;

	if (reader->nr_waiting == MAX_WAITING) {
		err = end_waiting(reader, UINT64_MAX);
		if (err)
			return err;
	}
	copy = malloc(record->size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, record, record->size);
	reader->waiting[reader->nr_waiting++] =
		(struct time_entry){.kind = kind, .time_ns = time_ns, .what = copy};
	return 0;
}

static int take_map(struct launch_reader *reader, const struct gpu_log_map *record)
{
	if (record->nr_bytes >= PATH_MAX ||
	    !gpu_log_record__text(&record->rec, record->path, record->nr_bytes) ||
	    record->bytes > UINT64_MAX - record->start)
		return -EINVAL;
	return hold_back(reader, LOGGED_MAP, record->time_ns, &record->rec);
}

static int take_thread(struct launch_reader *reader, const struct gpu_log_thread *record)
{
	struct gpu_log_thread copy;

	copy = *record;
	copy.rec.size = sizeof(copy);
	copy.tid = checked_tid(reader, record->tid);
	copy.comm[sizeof(copy.comm) - 1] = '\0';
	return hold_back(reader, LOGGED_THREAD, record->time_ns, &copy.rec);
}

static int take_record(struct launch_reader *reader, const struct gpu_log_record *record)
{
	const void *any = record;

	if (!gpu_log_record__is_whole(record))
		return -EINVAL;
	switch (record->type) {
	case GPU_LOG_STACK:
		return take_stack(reader, any);
	case GPU_LOG_TIME: {
		const struct gpu_log_time *time = any;

		reader->base_ns = time->time_ns;
		return 0;
	}
	case GPU_LOG_END:
		reader->has_end = true;
		return 0;
	case GPU_LOG_LAUNCH:
		return take_launch(reader, any);
	case GPU_LOG_THREAD:
		return take_thread(reader, any);
	case GPU_LOG_MAP:
		return take_map(reader, any);
	case GPU_LOG_LOSS: {
		const struct gpu_log_loss *loss = any;

		if (loss->kind == GPU_LOG_LOSS_LAUNCH)
			sum__add(&reader->counts.nr_lost, loss->nr_records);
		return 0;
	}
	default:
		return 0;
	}
}

static int fill_window(struct launch_reader *reader)
{
	const struct gpu_log_record *record;
	int err = 0;

	while (reader->end > 0 &&
	       time_window__nr(&reader->window) < LAUNCH_READER_WINDOW) {
		reader->end = read_record(reader, &record);
		if (reader->end > 0) {
			err = take_record(reader, record);
			if (err)
				reader->end = err;
		}
		if (reader->end <= 0)
			err = end_waiting(reader, UINT64_MAX);
	}
	return err == -ENOMEM ? err : 0;
}

static const struct launch_frames *make_launch(struct launch_reader *reader,
					       const struct time_entry *entry)
{
	struct launch_frames *launch = stack_table__find(&reader->stacks, entry->stack);

	if (!launch) {
		launch = &reader->unknown;
		reader->counts.nr_lost_stacks++;
	}
	launch->time_ns = entry->time_ns;
	launch->cpu = entry->cpu;
	launch->event.correlation_id = entry->correlation_id;
	return launch;
}

int launch_reader__next(struct launch_reader *reader, struct logged_event *ret)
{
	struct time_entry entry;
	int err;

	free(reader->given_out);
	reader->given_out = NULL;
	err = fill_window(reader);
	if (err)
		return err;
	if (!time_window__pop(&reader->window, &entry))
		return reader->end;

	*ret = (struct logged_event){.time_ns = entry.time_ns, .kind = entry.kind};
	switch (entry.kind) {
	case LOGGED_LAUNCH:
		ret->launch = make_launch(reader, &entry);
		break;
	case LOGGED_MAP:
		ret->map = entry.what;
		break;
	case LOGGED_THREAD:
		ret->thread = entry.what;
		break;
	}
	reader->given_out = entry.what;
	return 1;
}

struct launch_reader_counts launch_reader__counts(const struct launch_reader *reader)
{
	return reader->counts;
}

void launch_reader__close(struct launch_reader *reader)
{
	struct time_entry entry;

	if (!reader)
		return;
	while (time_window__pop(&reader->window, &entry))
		free(entry.what);
	for (size_t i = 0; i < reader->nr_waiting; i++)
		free(reader->waiting[i].what);
	free(reader->given_out);
	free(reader->waiting);
	time_window__release(&reader->window);
	stack_table__release(&reader->stacks);
	log_file__close(&reader->file);
	free(reader);
}
