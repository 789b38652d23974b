// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Of event_truth, what takes time: waiting for the GPU, the GPU waiting, calls, queues.
 *
 * A bound on each side comes from the program's clock: a kernel that was launched after
 * some time and spins for 50 ms can't have ended before that time and 50 ms, and whoever
 * waited did so between two times.
 */
#include "event_truth.h"

#include <sys/resource.h>

#define NR_CALLS  20
#define NR_QUEUED 10

static cudaStream_t stream, other_stream;

static void need_streams(void)
{
	if (stream)
		return;
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&other_stream, cudaStreamNonBlocking));
}

static void took(const char *event, const char *leaf, const char *function, long nr,
		 long known, long least, long most)
{
	/* A thread that was stopped for long knows less than nothing. */
	const struct fact fact = {event, "ns", leaf, function, NULL, nr, known,
				  least < 0 ? 0 : least, most};

	fact__print(&fact);
}

static long nr_preemptions(void)
{
	struct rusage usage;

	CHECK(getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_nivcsw;
}

/* Between the program's clock and what CUPTI has for the call's begin: probes are in there. */
#define CALL_NS (5 * MS)

/*
 * What a wait has taken at least, which began at @before or later: if this thread had to leave
 * the CPU to another one since (@preemptions), perhaps much later.
 */
static long least_wait(long launch, long before, long preemptions)
{
	return nr_preemptions() == preemptions ? launch + LONG_NS - before - CALL_NS : 0;
}

/* ---- gpu-sync ---- */

KNOWN_FUNCTION void wait_for_stream(void)
{
	long launch = now_ns(), preemptions, before, after;

	run_long(stream);
	preemptions = nr_preemptions();
	before = now_ns();
	CHECK(cudaStreamSynchronize(stream));
	after = now_ns();
	took("gpu-sync", "stream", __func__, 1, LONG_NS,
	     least_wait(launch, before, preemptions), after - before);
}

KNOWN_FUNCTION void wait_for_event(void)
{
	long launch, preemptions, before, after;
	cudaEvent_t event;

	CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	launch = now_ns();
	run_long(stream);
	CHECK(cudaEventRecord(event, stream));
	preemptions = nr_preemptions();
	before = now_ns();
	CHECK(cudaEventSynchronize(event));
	after = now_ns();
	CHECK(cudaEventDestroy(event));
	took("gpu-sync", "event", __func__, 1, LONG_NS,
	     least_wait(launch, before, preemptions), after - before);
}

KNOWN_FUNCTION void wait_for_device(void)
{
	long launch = now_ns(), preemptions, before, after;

	run_long(stream);
	preemptions = nr_preemptions();
	before = now_ns();
	CHECK(cudaDeviceSynchronize());
	after = now_ns();
	took("gpu-sync", "context", __func__, 1, LONG_NS,
	     least_wait(launch, before, preemptions), after - before);
}

/* One stream waits for the other, on the GPU: this thread doesn't. */
KNOWN_FUNCTION void let_stream_wait(void)
{
	cudaEvent_t event;
	long before, after;

	CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	run_long(stream);
	CHECK(cudaEventRecord(event, stream));
	before = now_ns();
	CHECK(cudaStreamWaitEvent(other_stream, event, 0));
	after = now_ns();
	took("gpu-sync", "*", __func__, NONE, NONE, 0, after - before);
	CHECK(cudaEventDestroy(event));
}

void do_waits(void)
{
	need_streams();
	wait_for_stream();
	wait_for_event();
	wait_for_device();
	let_stream_wait();
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaStreamSynchronize(other_stream));
}

/* ---- gpu-idle ---- */

static long sleep_for(long ns)
{
	const struct timespec time = {ns / 1000000000, ns % 1000000000};
	long start = now_ns();

	while (now_ns() - start < ns)
		nanosleep(&time, NULL);
	return now_ns() - start;
}

static long compute_for(long ns)
{
	long start = now_ns();

	while (now_ns() - start < ns)
		;
	return now_ns() - start;
}

/* Ends the gap that was there before; the GPU has run a short kernel behind it. */
static long end_last_gap(void)
{
	long start = now_ns();

	run_short(stream);
	CHECK(cudaStreamSynchronize(stream));
	return start;
}

KNOWN_FUNCTION long late_by_sleep(void)
{
	long ns = sleep_for(LONG_NS);

	run_short(stream);
	return ns;
}

KNOWN_FUNCTION long late_by_work(void)
{
	long ns = compute_for(LONG_NS);

	run_short(stream);
	return ns;
}

KNOWN_FUNCTION long late_for_copy(char *to, const char *from, size_t bytes)
{
	long ns = sleep_for(LONG_NS);

	CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
	return ns;
}

/* @late_ns: 50 ms, or a little more; @busy_ns: of the GPU's, from @start to now */
static void say_late(const char *function, long late_ns, long start, long busy_ns)
{
	long end;

	CHECK(cudaStreamSynchronize(stream));
	end = now_ns();
	took("gpu-idle", "*", function, 1, late_ns, late_ns, end - start - busy_ns);
}

KNOWN_FUNCTION void do_late_copy(void)
{
	const size_t bytes = 4 * KIB;
	char *device, *host;
	long start, ns;

	CHECK(cudaMalloc((void **)&device, bytes));
	CHECK(cudaMallocHost((void **)&host, bytes));
	start = end_last_gap();
	ns = late_for_copy(device, host, bytes);
	say_late("late_for_copy", ns, start, SHORT_NS);
	CHECK(cudaFree(device));
	CHECK(cudaFreeHost(host));
	did("gpu-memcpy", "HtoD pinned", "late_for_copy", 1, bytes);
	did("gpu-alloc", "device", __func__, 1, bytes);
	did("gpu-alloc", "pinned", __func__, 1, bytes);
}

/* As late as the others, but for a GPU that has something else to do meanwhile. */
KNOWN_FUNCTION void late_but_covered(void)
{
	run_short(stream);
	CHECK(cudaStreamSynchronize(stream));
	sleep_for(LONG_NS);
	run_short(stream);
	CHECK(cudaStreamSynchronize(stream));
}

static void do_covered(void)
{
	long start, end;
	bool is_covered;

	start = now_ns();
	run_cover(other_stream);
	late_but_covered();
	is_covered = cudaStreamQuery(other_stream) == cudaErrorNotReady;
	CHECK(cudaStreamSynchronize(other_stream));
	end = now_ns();
	/* This thread was stopped for long, if it isn't. */
	took("gpu-idle", "*", "late_but_covered", is_covered ? 0 : NONE, NONE, 0,
	     is_covered ? 0 : end - start - COVER_NS);
}

void do_gaps(void)
{
	long start, ns;

	need_streams();
	start = end_last_gap();
	ns = late_by_sleep();
	say_late("late_by_sleep", ns, start, 2 * SHORT_NS);
	start = end_last_gap();
	ns = late_by_work();
	say_late("late_by_work", ns, start, 2 * SHORT_NS);
	do_late_copy();
	do_covered();
}

/* ---- gpu-launch ---- */

KNOWN_FUNCTION void call_often(void)
{
	long ns = 0;

	for (int i = 0; i < NR_CALLS; i++) {
		long before = now_ns();

		run_nothing(stream);
		ns += now_ns() - before;
	}
	CHECK(cudaStreamSynchronize(stream));
	took("gpu-launch", "cudaLaunchKernel", __func__, NR_CALLS, NONE, 1, ns);
}

/* The copy has to wait for what is before it in the stream, and the call for the copy. */
KNOWN_FUNCTION void call_that_waits(void)
{
	const size_t bytes = 4;
	long launch, preemptions, before, after;
	char *device, here[bytes];

	CHECK(cudaMalloc((void **)&device, bytes));
	launch = now_ns();
	run_long(NULL);
	preemptions = nr_preemptions();
	before = now_ns();
	CHECK(cudaMemcpy(here, device, bytes, cudaMemcpyDeviceToHost));
	after = now_ns();
	CHECK(cudaFree(device));
	took("gpu-launch", "cudaMemcpy", __func__, 1, LONG_NS,
	     least_wait(launch, before, preemptions), after - before);
	did("gpu-memcpy", "DtoH pageable", __func__, 1, bytes);
	did("gpu-alloc", "device", __func__, 1, bytes);
}

void do_calls(void)
{
	need_streams();
	call_often();
	call_that_waits();
}

/* ---- gpu-queue ---- */

KNOWN_FUNCTION void queue_behind(long launch)
{
	long before[NR_QUEUED], after[NR_QUEUED], end;
	long least = 0, most = 0;

	for (int i = 0; i < NR_QUEUED; i++) {
		before[i] = now_ns();
		run_nothing(stream);
		after[i] = now_ns();
	}
	CHECK(cudaStreamSynchronize(stream));
	end = now_ns();
	for (int i = 0; i < NR_QUEUED; i++) {
		least += launch + LONG_NS - after[i];
		most += end - before[i];
	}
	took("gpu-queue", "nothing", __func__, NR_QUEUED, NR_QUEUED * LONG_NS, least,
	     most);
}

void do_queues(void)
{
	long launch;

	need_streams();
	launch = now_ns();
	run_long(stream);
	queue_behind(launch);
}
