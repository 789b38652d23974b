// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a recording of as many launches as are asked for, as `perf-gpu record` writes it:
 * perf.data through the recorder's own output, the logs through the format's own structs.
 *
 *   threads, a CPU and a stream each ── launches ── a ring for each CPU ── rounds ── perf.data
 *                                          │
 *                                          └─ kernels ── a buffer for each thread ── log
 *
 * What a real recording's readers have to cope with is there: launches of other CPUs are
 * out of order within a round, kernels of other threads within the log, and ids go up
 * through all of them. Stacks go through the injected library, CUPTI, the driver and the
 * runtime, and then through functions of programs that are given (this one, by default),
 * whose symbols are to be found. All is made of a pseudo-random sequence: the same again.
 *
 *   realistic   500 stacks of 40 frames, each below some caller of another; 200 kernels
 *   distinct    (-d) every stack is another, of frames that have nothing to do with each
 *               other: no two launches can share any work
 *
 * usage: make_recording [-d] [-t THREADS] NR_LAUNCHES PERF_DATA [PROGRAM...]
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu_log_build.h"
#include "launch_event.h"
#include "record/output.h"
#include "record/task_records.h"

#define PID	    4711
#define SESSION	    0x5ca1e5ca1e5ca1e5
#define LOG_ID	    0xbe4cbe4cbe4cbe4c
#define FIRST_NS    1000000000000
#define REALTIME_NS 1790000000000000000

#define MAX_THREADS	  64
#define NR_FRAMES	  40
#define NR_STACKS	  500
#define NR_KERNELS	  200
#define NR_COPIES	  20 /* one in so many launches is a copy to the device */
#define MAX_CALL_SITES	  4096
#define ROUND_NS	  50000000 /* the recorder drains the rings so often */
#define INTERVAL_NS	  20000 /* between two launches of a thread */
#define LATENCY_NS	  4000 /* from a launch to its kernel's start, on an idle GPU */
#define KERNELS_IN_BUFFER 2600 /* of CUPTI's, for which the library has 512 KiB each */

#define API_LAUNCH 0x030000d3u
#define API_COPY   0x03000029u

/* What is dropped from the stacks that are shown, innermost first */
static const char *const driver_files[] = {
	"/usr/local/lib/perf-gpu/libperf-gpu-inject.so",
	"/usr/local/cuda/lib64/libcupti.so.13",
	"/usr/local/cuda/lib64/libcupti.so.13",
	"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
	"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
	"/usr/local/cuda/lib64/libcudart.so.13",
};
#define NR_DRIVER_FRAMES (sizeof(driver_files) / sizeof(*driver_files))

struct ring {
	unsigned char *data; /* struct launch_frames of one size, behind each other */
	size_t nr, nr_allocated;
};

#define LAUNCH_BYTES (sizeof(struct launch_frames) + NR_FRAMES * sizeof(uint64_t))

/* A thread, and its stream */
struct worker {
	uint64_t next_ns; /* of its launch */
	uint64_t busy_ns; /* until then its stream has work */
	struct ring ring;
	struct gpu_log_activity
		done[KERNELS_IN_BUFFER]; /* or kernels, which are shorter */
	size_t nr_done;
};

struct maker {
	bool is_distinct;
	unsigned int nr_threads;
	const char *path;
	uint64_t random;
	uint64_t call_sites[MAX_CALL_SITES];
	size_t nr_call_sites;
	uint64_t driver_frames[NR_DRIVER_FRAMES];
	uint64_t stacks[NR_STACKS][NR_FRAMES];
	uint32_t durations_ns[NR_KERNELS];
	uint64_t next_map;
	struct output *output;
	struct log_build log;
	int log_fd;
	uint64_t nr_launches, last_ns;
	struct worker workers[MAX_THREADS];
};

static void die(const char *what, const char *path, int err)
{
	fprintf(stderr, "make_recording: %s %s: %s\n", what, path, strerror(-err));
	exit(1);
}

static void die_if(int err)
{
	if (err) /* which is printed */
		exit(1);
}

/* SplitMix64 (Steele, Lea, Flood 2014) */
static uint64_t draw(struct maker *maker)
{
	uint64_t z = maker->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t draw_below(struct maker *maker, uint64_t limit)
{
	return draw(maker) % limit;
}

/* --- what is mapped -------------------------------------------------------------------- */

/* Returns where it begins. */
static uint64_t add_map(struct maker *maker, const char *path, uint64_t offset,
			uint64_t bytes)
{
	const struct gpu_log_map map = {
		.prot = PROT_READ | PROT_EXEC,
		.start = maker->next_map,
		.bytes = bytes,
		.offset = offset,
		.major = 8,
		.inode = maker->next_map >> 24,
	};
	char buffer[sizeof(map) + PATH_MAX];
	struct gpu_log_map *record = (void *)buffer;

	memcpy(record, &map, sizeof(map));
	record->nr_bytes = (uint32_t)snprintf(record->path, PATH_MAX, "%s", path);
	die_if(task_records__map(maker->output, PID, record, FIRST_NS));
	maker->next_map += (bytes + 0xffffff) & ~0xffffffull;
	return map.start;
}

static void map_driver(struct maker *maker)
{
	for (size_t i = 0; i < NR_DRIVER_FRAMES; i++) {
		uint64_t start = i && !strcmp(driver_files[i], driver_files[i - 1])
					 ? maker->driver_frames[i - 1]
					 : add_map(maker, driver_files[i], 0, 1 << 20);

		maker->driver_frames[i] = start + 0x1230;
	}
}

/* Where code is: the last executable segment, of which programs have one */
static bool find_code(Elf *elf, GElf_Phdr *ret)
{
	size_t nr;
	bool is_found = false;
	GElf_Phdr segment;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_flags & PF_X) {
			*ret = segment;
			is_found = true;
		}
	return is_found;
}

/* A return address in each function that is long enough */
static void add_call_sites(struct maker *maker, Elf *elf, Elf_Scn *section,
			   const GElf_Shdr *header, const GElf_Phdr *code, uint64_t start)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t nr = data ? header->sh_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < nr && maker->nr_call_sites < MAX_CALL_SITES; i++) {
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_size < 64 ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_value < code->p_vaddr ||
		    symbol.st_value + symbol.st_size > code->p_vaddr + code->p_filesz)
			continue;
		/* Parts of functions, which readers call by different names */
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (!name || strchr(name, '.'))
			continue;
		maker->call_sites[maker->nr_call_sites++] =
			start + symbol.st_value - code->p_vaddr + 16 +
			draw_below(maker, symbol.st_size - 16);
	}
}

static void map_program(struct maker *maker, const char *path)
{
	char *absolute = realpath(path, NULL);
	int fd = absolute ? open(absolute, O_RDONLY | O_CLOEXEC) : -1;
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Phdr code = {0};
	uint64_t start;

	if (fd < 0)
		die("cannot open", path, -errno);
	if (!elf || !find_code(elf, &code))
		die("no program:", path, -ENOEXEC);
	start = add_map(maker, absolute, code.p_offset, code.p_filesz);
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			add_call_sites(maker, elf, section, &header, &code, start);
	elf_end(elf);
	close(fd);
	free(absolute);
}

/* The process, its threads, and what is mapped in it */
static void write_process(struct maker *maker, char **programs)
{
	static char self[] = "/proc/self/exe";
	static char *only_self[] = {self, NULL};
	const struct task main_task = {PID, PID};

	if (!*programs)
		programs = only_self;
	die_if(task_records__comm(maker->output, main_task, "train", true, FIRST_NS));
	maker->next_map = 0x550000000000;
	for (; *programs; programs++)
		map_program(maker, *programs);
	if (!maker->nr_call_sites)
		die("no symbols in the programs", "given", -ENOEXEC);
	maker->next_map = 0x7f0000000000;
	map_driver(maker);
	for (uint32_t i = 1; i < maker->nr_threads; i++)
		die_if(task_records__fork(maker->output, (struct task){PID, PID + i},
					  main_task, FIRST_NS));
	die_if(output__finish_round(maker->output));
}

/* --- stacks ---------------------------------------------------------------------------- */

static void make_frames(struct maker *maker, uint64_t *frames, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		frames[i] = maker->call_sites[draw_below(maker, maker->nr_call_sites)];
}

/* Each has its outer frames from one before it. */
static void make_stacks(struct maker *maker)
{
	for (size_t i = 0; i < NR_STACKS; i++) {
		uint64_t *frames = maker->stacks[i];
		size_t nr_own = NR_FRAMES - NR_DRIVER_FRAMES;

		memcpy(frames, maker->driver_frames, sizeof(maker->driver_frames));
		if (i) {
			memcpy(frames, maker->stacks[draw_below(maker, i)],
			       sizeof(maker->stacks[i]));
			nr_own = 1 + draw_below(maker, nr_own - 1);
		}
		make_frames(maker, frames + NR_DRIVER_FRAMES, nr_own);
	}
}

/* --- the log --------------------------------------------------------------------------- */

static void save_block(struct maker *maker)
{
	struct log_build *log = &maker->log;

	log_build__end_block(log);
	for (size_t at = 0; at < log->bytes;) {
		ssize_t written = write(maker->log_fd, log->data + at, log->bytes - at);

		if (written <= 0)
			die("cannot write GPU records of", maker->path, -errno);
		at += (size_t)written;
	}
	log->bytes = log->block = 0;
}

static uint32_t kernel_duration(struct maker *maker, size_t kernel)
{
	/* As the GPU's clock has it: in steps of 32 ns */
	return maker->durations_ns[kernel] + 32 * (uint32_t)draw_below(maker, 16);
}

/* Every thread has a stream, and each kernel runs in each of them. */
static void write_shapes(struct maker *maker)
{
	struct log_build *log = &maker->log;
	uint32_t names[NR_KERNELS], id = 0;

	for (uint32_t i = 0; i < NR_KERNELS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "_Z10kernel_%03uIfLi%uEEvPT_PKS0_i", i,
			 1u << i % 8);
		names[i] = log_build__string(log, name);
		maker->durations_ns[i] = 800 + 32 * (uint32_t)draw_below(maker, 256);
	}
	for (uint32_t stream = 0; stream < maker->nr_threads; stream++) {
		const struct gpu_log_operation copy = {
			.operation = stream + 1,
			.kind = GPU_LOG_KIND_MEMCPY,
			.what = 1, /* HtoD */
			.src_kind = GPU_LOG_MEMORY_PINNED,
			.dst_kind = GPU_LOG_MEMORY_DEVICE,
			.is_async = 1,
			.context = 1,
			.stream = 7 + stream,
			.src_device = GPU_LOG_NO_DEVICE,
			.dst_device = GPU_LOG_NO_DEVICE,
		};

		LOG_BUILD_ADD(log, GPU_LOG_OPERATION, copy);
		for (uint32_t i = 0; i < NR_KERNELS; i++) {
			const struct gpu_log_shape shape = {
				.shape = ++id,
				.name = names[i],
				.context = 1,
				.stream = 7 + stream,
				.grid = {1 + i, 1, 1},
				.block = {32u << i % 6, 1, 1},
				.registers_per_thread = 16 + i % 200,
			};

			LOG_BUILD_ADD(log, GPU_LOG_SHAPE, shape);
		}
	}
}

static void begin_log(struct maker *maker)
{
	const struct gpu_log_process process = {
		.pid = PID,
		.ppid = 1,
		.start_ns = FIRST_NS,
		.cupti_version = 130001,
		.driver_version = 13000,
		.comm = "train",
	};
	const struct gpu_log_events events = {
		.events = GPU_LOG_DEFAULT_EVENTS,
		.kinds = gpu_log_kinds_of(GPU_LOG_DEFAULT_EVENTS),
	};
	struct log_build *log = &maker->log;
	struct gpu_log_device device = {.nr_multiprocessors = 132, .uuid = {1}};

	LOG_BUILD_ADD(log, GPU_LOG_PROCESS, process);
	LOG_BUILD_ADD(log, GPU_LOG_EVENTS, events);
	device.name = log_build__string(log, "Generated GPU");
	LOG_BUILD_ADD(log, GPU_LOG_DEVICE, device);
	log_build__api(log, API_LAUNCH, "cudaLaunchKernel");
	log_build__api(log, API_COPY, "cudaMemcpyAsync");
	write_shapes(maker);
	save_block(maker);
}

/* What CUPTI hands over at once */
static void flush_worker(struct maker *maker, struct worker *worker)
{
	for (size_t i = 0; i < worker->nr_done; i++) {
		struct gpu_log_activity *done = &worker->done[i];

		if (done->bytes)
			LOG_BUILD_ADD(&maker->log, GPU_LOG_ACTIVITY, *done);
		else
			log_build__add(&maker->log, GPU_LOG_KERNEL, done,
				       sizeof(struct gpu_log_kernel), NULL);
	}
	if (worker->nr_done)
		save_block(maker);
	worker->nr_done = 0;
}

static void end_log(struct maker *maker)
{
	const struct gpu_log_end end = {.nr_launches = maker->nr_launches};
	const struct gpu_log_recorder recorder = {
		.nr_cpus = maker->nr_threads,
		.nr_launches = maker->nr_launches,
		.realtime_ns = REALTIME_NS,
		.monotonic_ns = FIRST_NS,
		.end_realtime_ns = REALTIME_NS + maker->last_ns - FIRST_NS,
		.end_monotonic_ns = maker->last_ns,
	};

	for (unsigned int i = 0; i < maker->nr_threads; i++)
		flush_worker(maker, &maker->workers[i]);
	LOG_BUILD_ADD(&maker->log, GPU_LOG_END, end);
	save_block(maker);
	maker->log.log_id = 0;
	LOG_BUILD_ADD(&maker->log, GPU_LOG_RECORDER, recorder);
	save_block(maker);
}

/* --- launches -------------------------------------------------------------------------- */

static struct launch_frames *ring__append(struct ring *ring)
{
	if (ring->nr == ring->nr_allocated) {
		ring->nr_allocated = ring->nr ? 2 * ring->nr : 4096;
		ring->data = reallocarray(ring->data, ring->nr_allocated, LAUNCH_BYTES);
		if (!ring->data)
			die("cannot keep", "a round", -ENOMEM);
	}
	return (void *)(ring->data + ring->nr++ * LAUNCH_BYTES);
}

/* CPU by CPU, as the recorder reads its rings */
static void drain_rings(struct maker *maker)
{
	for (unsigned int i = 0; i < maker->nr_threads; i++) {
		struct ring *ring = &maker->workers[i].ring;

		for (size_t k = 0; k < ring->nr; k++)
			die_if(output__frames(maker->output,
					      ring->data + k * LAUNCH_BYTES,
					      LAUNCH_BYTES));
		ring->nr = 0;
	}
	die_if(output__finish_round(maker->output));
}

static void write_launch(struct maker *maker, unsigned int thread, bool is_copy)
{
	struct worker *worker = &maker->workers[thread];
	struct launch_frames *launch = ring__append(&worker->ring);

	*launch = (struct launch_frames){
		.time_ns = worker->next_ns,
		.pid = PID,
		.tid = PID + thread,
		.cpu = thread,
		.nr_frames = NR_FRAMES,
		.event = {.log_id = LOG_ID,
			  .correlation_id = maker->nr_launches,
			  .api = is_copy ? API_COPY : API_LAUNCH},
	};
	if (!maker->is_distinct) {
		memcpy(launch->frames, maker->stacks[draw_below(maker, NR_STACKS)],
		       sizeof(maker->stacks[0]));
		return;
	}
	memcpy(launch->frames, maker->driver_frames, sizeof(maker->driver_frames));
	make_frames(maker, launch->frames + NR_DRIVER_FRAMES,
		    NR_FRAMES - NR_DRIVER_FRAMES);
}

/* It runs when its stream is free, and is done before the next one of its stream. */
static void run_on_gpu(struct maker *maker, unsigned int thread, bool is_copy)
{
	struct worker *worker = &maker->workers[thread];
	size_t kernel = draw_below(maker, NR_KERNELS);
	struct gpu_log_activity *done = &worker->done[worker->nr_done++];
	uint64_t start_ns = worker->next_ns + LATENCY_NS;

	if (start_ns < worker->busy_ns)
		start_ns = worker->busy_ns;
	worker->busy_ns = start_ns + kernel_duration(maker, kernel);
	*done = (struct gpu_log_activity){
		.operation =
			is_copy ? thread + 1 : thread * NR_KERNELS + (uint32_t)kernel + 1,
		.correlation_id = maker->nr_launches,
		.start_ns = start_ns,
		.end_ns = worker->busy_ns,
		.bytes = is_copy ? 64 * kernel + 64 : 0,
	};
	if (worker->nr_done == KERNELS_IN_BUFFER)
		flush_worker(maker, worker);
	if (maker->last_ns < worker->busy_ns)
		maker->last_ns = worker->busy_ns;
}

/* The thread whose launch is next */
static unsigned int next_thread(const struct maker *maker)
{
	unsigned int next = 0;

	for (unsigned int i = 1; i < maker->nr_threads; i++)
		if (maker->workers[i].next_ns < maker->workers[next].next_ns)
			next = i;
	return next;
}

static void write_launches(struct maker *maker, uint64_t nr)
{
	uint64_t round_ns = FIRST_NS + ROUND_NS;

	for (unsigned int i = 0; i < maker->nr_threads; i++)
		maker->workers[i].next_ns = FIRST_NS + 1 + draw_below(maker, INTERVAL_NS);
	while (maker->nr_launches < nr) {
		unsigned int thread = next_thread(maker);
		struct worker *worker = &maker->workers[thread];
		bool is_copy = !draw_below(maker, NR_COPIES);

		for (; worker->next_ns >= round_ns; round_ns += ROUND_NS)
			drain_rings(maker);
		maker->nr_launches++;
		write_launch(maker, thread, is_copy);
		run_on_gpu(maker, thread, is_copy);
		worker->next_ns += INTERVAL_NS / 2 + draw_below(maker, INTERVAL_NS);
	}
	drain_rings(maker);
}

/* --- the whole ------------------------------------------------------------------------- */

static void make_recording(struct maker *maker, uint64_t nr, char **programs)
{
	static const char *const argv[] = {"perf-gpu", "record", "./train", NULL};
	const struct output_config config = {
		.path = maker->path,
		.argv = argv,
		.stack = {.call_graph = CALL_GRAPH_UNWIND},
		.session = SESSION,
		.clock = {.realtime_ns = REALTIME_NS, .monotonic_ns = FIRST_NS},
	};
	char sidecar[PATH_MAX];

	snprintf(sidecar, sizeof(sidecar), "%s.gpu", maker->path);
	maker->log_fd = open(sidecar, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (maker->log_fd < 0)
		die("cannot create", sidecar, -errno);
	die_if(output__open(&config, &maker->output));
	write_process(maker, programs);
	make_stacks(maker);
	begin_log(maker);
	write_launches(maker, nr);
	end_log(maker);
	die_if(output__commit(maker->output));
	output__close(maker->output);
	if (close(maker->log_fd))
		die("cannot write", sidecar, -errno);
}

static void free_maker(struct maker *maker)
{
	for (unsigned int i = 0; i < MAX_THREADS; i++)
		free(maker->workers[i].ring.data);
	log_build__release(&maker->log);
	free(maker);
}

int main(int argc, char **argv)
{
	struct maker *maker = calloc(1, sizeof(*maker));
	char *end = NULL;
	uint64_t nr = 0;
	int option;

	if (!maker)
		die("cannot begin", "anything", -ENOMEM);
	maker->nr_threads = 16;
	maker->random = 1;
	maker->log.session = SESSION;
	maker->log.log_id = LOG_ID;
	while ((option = getopt(argc, argv, "dt:")) != -1) {
		if (option == 'd')
			maker->is_distinct = true;
		else if (option == 't')
			maker->nr_threads = (unsigned int)strtoul(optarg, NULL, 10);
		else
			argc = 0;
	}
	if (argc - optind >= 2)
		nr = strtoull(argv[optind], &end, 10);
	if (!nr || *end || !maker->nr_threads || maker->nr_threads > MAX_THREADS) {
		fprintf(stderr, "usage: make_recording [-d] [-t THREADS] NR_LAUNCHES "
				"PERF_DATA [PROGRAM...]\n");
		return 2;
	}
	maker->path = argv[optind + 1];
	elf_version(EV_CURRENT);
	make_recording(maker, nr, argv + optind + 2);
	free_maker(maker);
	return 0;
}
