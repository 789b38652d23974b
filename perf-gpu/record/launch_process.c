// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/launch_process.h"

#include <errno.h>
#include <search.h>
#include <string.h>

#include "record/task_records.h"
#include "util/log.h"

static struct task main_task(uint32_t pid)
{
	return (struct task){.pid = pid, .tid = pid};
}

void launch_process__init(struct launch_process *process,
			  const struct launch_reader *reader,
			  struct pid_namespaces *namespaces)
{
	uint32_t offset =
		pid_namespaces__offset(namespaces, launch_reader__namespace(reader));

	*process = (struct launch_process){.process = *launch_reader__process(reader),
					   .pid_offset = offset};
	process->process.pid += offset;
	process->process.ppid += offset;
}

int launch_process__begin(const struct launch_process *process, struct output *output,
			  uint64_t time_ns)
{
	const struct gpu_log_process *of = &process->process;
	const struct task task = main_task(of->pid);
	int err = 0;

	if (of->is_forked)
		err = task_records__fork(output, task, main_task(of->ppid), time_ns);
	if (!err)
		err = task_records__comm(output, task, of->comm, !of->is_forked, time_ns);
	return err;
}

static int compare_tids(const void *a, const void *b)
{
	const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return (x > y) - (x < y);
}

static void ignore_tid(void *tid)
{
	(void)tid;
}

static int write_thread(struct launch_process *process, struct output *output,
			const struct gpu_log_thread *thread, uint64_t time_ns)
{
	const struct task task = {.pid = process->process.pid,
				  .tid = thread->tid + process->pid_offset};
	const void *key = (const void *)(uintptr_t)thread->tid;
	int err = 0;

	if (task.tid != task.pid && !tfind(key, &process->tids, compare_tids)) {
		if (!tsearch(key, &process->tids, compare_tids)) {
			pr_err("no memory for the threads of process %u", task.pid);
			return -ENOMEM;
		}
		err = task_records__fork(output, task, main_task(task.pid), time_ns);
	}
	if (err)
		return err;
	return task_records__comm(output, task, thread->comm, false, time_ns);
}

/* The launch is the reader's, which gives it out again for another of its stack. */
static int write_launch(const struct launch_process *process, struct output *output,
			const struct launch_frames *launch)
{
	const size_t bytes =
		sizeof(*launch) + launch->nr_frames * sizeof(*launch->frames);
	struct {
		struct launch_frames launch;
		uint64_t frames[LAUNCH_MAX_FRAMES];
	} moved;

	if (!process->pid_offset)
		return output__frames(output, launch, bytes);
	memcpy(&moved, launch, bytes);
	moved.launch.pid += process->pid_offset;
	moved.launch.tid += process->pid_offset;
	return output__frames(output, &moved, bytes);
}

int launch_process__write(struct launch_process *process, struct output *output,
			  const struct logged_event *event)
{
	switch (event->kind) {
	case LOGGED_LAUNCH:
		return write_launch(process, output, event->launch);
	case LOGGED_MAP:
		return task_records__map(output, process->process.pid, event->map,
					 event->time_ns);
	case LOGGED_THREAD:
		return write_thread(process, output, event->thread, event->time_ns);
	}
	return 0;
}

int launch_process__end(const struct launch_process *process, struct output *output,
			uint64_t time_ns)
{
	return task_records__exit(output, main_task(process->process.pid),
				  main_task(process->process.ppid), time_ns);
}

void launch_process__release(struct launch_process *process)
{
	tdestroy(process->tids, ignore_tid);
	process->tids = NULL;
}
