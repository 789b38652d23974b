// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that does a little of everything that a GPU can be seen doing, each by a
 * function of its own, and says what that was: check_events.py compares it with what
 * was recorded. Everything has its truth by construction: bytes that were copied or
 * allocated, kernels that spin for a known time, so that who waits for one waits that
 * long, and what is queued behind one is queued that long.
 *
 * A line for each, with tabs between the fields, "-" for what isn't known:
 *
 *   did  EVENT  UNIT  COUNT  KNOWN  LEAST  MOST  LEAF  FUNCTION  [MAKER]
 *
 *   did  gpu-memcpy  bytes  2  2097176  -  -  HtoD pinned  copy_htod_pinned
 *   did  gpu-sync    ns     1  50000000  49992519  50088345  stream  wait_for_stream
 *
 * There are COUNT samples of LEAF below FUNCTION, whose periods add up to KNOWN: exactly
 * if that is bytes. Time is at least LEAST and at most MOST, by the program's own clock
 * around what it did, and KNOWN by construction, but for what CUDA itself takes.
 *
 * usage: event_truth [-o FILE] [PART ...]     all parts, or those of the table below
 *        event_truth -d                       what kernels take, for the stand-in
 *        event_truth -m                       what they move, likewise
 *
 * The stand-in doesn't know what the CPU touches: there, touches does something else.
 */
#include "event_truth.h"

#include <string.h>
#include <unistd.h>

static FILE *out;

static void print_number(long n)
{
	if (n == NONE)
		fprintf(out, "\t-");
	else
		fprintf(out, "\t%ld", n);
}

void fact__print(const struct fact *fact)
{
	fprintf(out, "did\t%s\t%s", fact->event, fact->unit);
	print_number(fact->count);
	print_number(fact->known);
	print_number(fact->least);
	print_number(fact->most);
	fprintf(out, "\t%s\t%s", fact->leaf, fact->function);
	if (fact->maker)
		fprintf(out, "\t%s", fact->maker);
	fputc('\n', out);
}

void did_in_graph(const char *event, const char *leaf, const char *function,
		  const char *maker, long nr, long bytes)
{
	const struct fact fact = {event, "bytes", leaf, function, maker, nr, bytes,
				  NONE, NONE};

	fact__print(&fact);
}

void did(const char *event, const char *leaf, const char *function, long nr, long bytes)
{
	did_in_graph(event, leaf, function, NULL, nr, bytes);
}

/* ---- kernels of a known length ---- */

__device__ static void spin(long ns)
{
	unsigned long start, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - start < (unsigned long)ns);
}

extern "C" __global__ void spin_short()
{
	spin(SHORT_NS);
}

extern "C" __global__ void spin_long()
{
	spin(LONG_NS);
}

extern "C" __global__ void spin_cover()
{
	spin(COVER_NS);
}

extern "C" __global__ void nothing()
{
}

static struct {
	const char *name, *function;
	const void *kernel;
	long ns; /* NONE: not known */
	long nr_launches;
} kernels[] = {
	{"spin_short", "run_short", (const void *)spin_short, SHORT_NS, 0},
	{"spin_long", "run_long", (const void *)spin_long, LONG_NS, 0},
	{"spin_cover", "run_cover", (const void *)spin_cover, COVER_NS, 0},
	{"nothing", "run_nothing", (const void *)nothing, NONE, 0},
};

/* The check behind the launch is what keeps the call from being a jump. */
KNOWN_FUNCTION void run_short(cudaStream_t stream)
{
	spin_short<<<1, 1, 0, stream>>>();
	CHECK(cudaGetLastError());
	kernels[0].nr_launches++;
}

KNOWN_FUNCTION void run_long(cudaStream_t stream)
{
	spin_long<<<1, 1, 0, stream>>>();
	CHECK(cudaGetLastError());
	kernels[1].nr_launches++;
}

KNOWN_FUNCTION void run_cover(cudaStream_t stream)
{
	spin_cover<<<1, 1, 0, stream>>>();
	CHECK(cudaGetLastError());
	kernels[2].nr_launches++;
}

KNOWN_FUNCTION void run_nothing(cudaStream_t stream)
{
	nothing<<<1, 1, 0, stream>>>();
	CHECK(cudaGetLastError());
	kernels[3].nr_launches++;
}

void load_kernels(void)
{
	for (auto &k : kernels) {
		struct cudaFuncAttributes attributes;

		CHECK(cudaFuncGetAttributes(&attributes, k.kernel));
	}
}

void print_kernels(void)
{
	for (auto &k : kernels) {
		long known = k.ns == NONE ? NONE : k.nr_launches * k.ns;
		const struct fact fact = {"gpu-kernel", "ns", k.name, k.function, NULL,
					  k.nr_launches, known, known, NONE};

		if (k.nr_launches)
			fact__print(&fact);
	}
}

static void print_durations(void)
{
	for (auto &k : kernels)
		if (k.ns != NONE)
			printf("%s %ld\n", k.name, k.ns);
}

/* ---- the parts ---- */

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{"copies", do_copies},
	{"memsets", do_memsets},
	{"graphs", do_graphs},
	{"peers", do_peers},
	{"allocations", do_allocations},
	{"waits", do_waits},
	{"gaps", do_gaps},
	{"calls", do_calls},
	{"queues", do_queues},
	{"faults", do_faults},
	{"touches", do_touches},
};

#define NR_PARTS (sizeof(parts) / sizeof(*parts))

static int usage(void)
{
	fprintf(stderr, "usage: event_truth [-o FILE] [PART ...] | -d | -m\nparts:");
	for (auto &part : parts)
		fprintf(stderr, " %s", part.name);
	fprintf(stderr, "\n");
	return 2;
}

static bool is_part(const char *name)
{
	for (auto &part : parts)
		if (!strcmp(part.name, name))
			return true;
	return false;
}

/* All are, if none is. */
static bool is_wanted(const char *name, char **wanted)
{
	bool is_any = !*wanted;

	for (; *wanted; wanted++)
		is_any |= !strcmp(*wanted, name);
	return is_any;
}

int main(int argc, char **argv)
{
	int option;

	out = stdout;
	while ((option = getopt(argc, argv, "o:dm")) != -1) {
		if (option == 'd') {
			print_durations();
			return 0;
		}
		if (option == 'm') {
			print_migrations();
			return 0;
		}
		if (option == 'o')
			out = fopen(optarg, "w");
		if (option == '?' || !out)
			return usage();
	}
	for (int i = optind; i < argc; i++)
		if (!is_part(argv[i]))
			return usage();
	CHECK(cudaFree(NULL));
	load_kernels();
	for (auto &part : parts)
		if (is_wanted(part.name, argv + optind))
			part.run();
	print_kernels();
	return fclose(out) ? 1 : 0;
}
