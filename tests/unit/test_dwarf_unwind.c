// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks of this very process, copied as the kernel copies them, against what glibc's
 * backtrace() finds; and states that no process can have.
 */
#include "unit.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <ucontext.h>

#include "gpu_log.h"
#include "own_machine.h"
#include "unwind/dwarf_unwind.h"

#define STACK_BYTES 65536
#define TRUNCATED   ((uint64_t)GPU_LOG_FRAME_TRUNCATED << 56)

#if defined(__x86_64__)
#define ARCH	   "x86_64"
#define PERF_REGS  0xff0fffull
#define NR_SAMPLED 20
#elif defined(__aarch64__)
#define ARCH	   "aarch64"
#define PERF_REGS  ((1ull << 33) - 1)
#define NR_SAMPLED 33
#endif

static const struct perf_event_attr attr = {
	.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	.sample_regs_user = PERF_REGS,
};

/* What a sample has: registers in perf's order, then the stack. */
struct raw_state {
	uint64_t abi;
	uint64_t regs[NR_SAMPLED];
	uint64_t stack_bytes;
	unsigned char stack[STACK_BYTES];
	uint64_t nr_valid;
};

struct taken {
	struct raw_state raw;
	void *frames[64]; /* by backtrace(), from the same function */
	int nr_frames;
};

static void fill_regs(struct raw_state *raw, const ucontext_t *context)
{
#if defined(__x86_64__)
	static const int order[NR_SAMPLED] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX,
					      REG_RSI, REG_RDI, REG_RBP, REG_RSP,
					      REG_RIP, REG_EFL, REG_ERR, REG_ERR,
					      REG_R8,  REG_R9,	REG_R10, REG_R11,
					      REG_R12, REG_R13, REG_R14, REG_R15};

	for (size_t i = 0; i < NR_SAMPLED; i++)
		raw->regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
#else
	memcpy(raw->regs, context->uc_mcontext.regs, 31 * sizeof(uint64_t));
	raw->regs[31] = context->uc_mcontext.sp;
	raw->regs[32] = context->uc_mcontext.pc;
#endif
}

static uint64_t stack_pointer(const struct raw_state *raw)
{
	return raw->regs[ARCH[0] == 'x' ? 7 : 31];
}

/* The end of the mapping that @address is in: behind it nothing can be copied. */
static uint64_t end_of_mapping(uint64_t address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t start, end, found = 0;
	char line[1024];

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    start <= address && address < end)
			found = end;
	fclose(maps);
	return found;
}

/* By the kernel, as in a sample: what lies between objects is nobody's to read. */
static void copy_stack(struct raw_state *raw, uint64_t sp)
{
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	CHECK_EQ(pread(memory, raw->stack, raw->nr_valid, (off_t)sp), raw->nr_valid);
	close(memory);
}

/* A sanitizer's own backtrace() is in what it finds: @caller comes second. */
static __attribute__((always_inline)) inline void take_frames(struct taken *taken,
							      void *caller)
{
	int nr = backtrace(taken->frames, 64), skip = 0;

	while (skip + 1 < nr && taken->frames[skip + 1] != caller)
		skip++;
	taken->nr_frames = nr - skip;
	memmove(taken->frames, taken->frames + skip,
		(size_t)taken->nr_frames * sizeof(*taken->frames));
}

static __attribute__((noinline)) void take(struct taken *taken)
{
	ucontext_t context;
	uint64_t sp, left_bytes;

	memset(taken, 0, sizeof(*taken));
	take_frames(taken, __builtin_return_address(0));
	getcontext(&context);
	fill_regs(&taken->raw, &context);
	sp = stack_pointer(&taken->raw);
	left_bytes = end_of_mapping(sp) - sp;
	taken->raw.abi = PERF_SAMPLE_REGS_ABI_64;
	taken->raw.stack_bytes = STACK_BYTES;
	taken->raw.nr_valid = left_bytes < STACK_BYTES ? left_bytes : STACK_BYTES;
	copy_stack(&taken->raw, sp);
}

/* So that there is something to walk, and it isn't optimized away. */
static __attribute__((noinline)) int take_deep(struct taken *taken, int depth)
{
	volatile char room[8];

	room[depth % 8] = (char)depth;
	if (depth)
		return take_deep(taken, depth - 1) + room[depth % 8];
	take(taken);
	return room[0];
}

static void *take_in_thread(void *taken)
{
	take_deep(taken, 5);
	return NULL;
}

static int parse(const struct raw_state *raw, struct user_state *ret)
{
	return user_state__parse(arch__find(ARCH), &attr, raw, sizeof(*raw), ret);
}

struct fixture {
	struct machine *machine;
	struct dwarf_unwind *unwind;
	uint64_t frames[DWARF_UNWIND_MAX_FRAMES];
	int nr;
};

static void setup(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	CHECK_EQ(machine__new(NULL, &fixture->machine), 0);
	CHECK_EQ(dwarf_unwind__new(fixture->machine, arch__find(ARCH), &fixture->unwind),
		 0);
}

static void teardown(struct fixture *fixture)
{
	dwarf_unwind__delete(fixture->unwind);
	machine__delete(fixture->machine);
}

static void walk(struct fixture *fixture, const struct raw_state *raw)
{
	struct user_state state;

	CHECK_EQ(parse(raw, &state), 0);
	fixture->nr = dwarf_unwind__walk(fixture->unwind, (uint32_t)getpid(), &state,
					 fixture->frames);
	CHECK(fixture->nr >= 1 && fixture->nr <= DWARF_UNWIND_MAX_FRAMES);
}

/* The first one is where in the function it was taken, which differs. */
static void check_frames(const struct fixture *fixture, const struct taken *taken, int nr)
{
	for (int i = 1; i < nr; i++)
		CHECK_EQ(fixture->frames[i], (uintptr_t)taken->frames[i]);
}

TEST(whole_stack_is_backtraces)
{
	static struct taken taken;
	struct fixture fixture;

	setup(&fixture);
	own_machine__fill(fixture.machine);
	take_deep(&taken, 5);
	CHECK(taken.nr_frames > 8);
	/* Again, with tables that were read before. */
	for (int i = 0; i < 3; i++) {
		walk(&fixture, &taken.raw);
		CHECK_EQ(fixture.nr, taken.nr_frames);
		check_frames(&fixture, &taken, fixture.nr);
	}
	teardown(&fixture);
}

TEST(stack_of_a_thread_ends_where_it_starts)
{
	static struct taken taken;
	struct fixture fixture;
	pthread_t thread;

	setup(&fixture);
	CHECK_EQ(pthread_create(&thread, NULL, take_in_thread, &taken), 0);
	pthread_join(thread, NULL);
	own_machine__fill(fixture.machine);
	walk(&fixture, &taken.raw);
	CHECK_EQ(fixture.nr, taken.nr_frames);
	check_frames(&fixture, &taken, fixture.nr);
	teardown(&fixture);
}

TEST(short_copy_is_truncated)
{
	static struct taken taken;
	struct fixture fixture;
	int nr_before = 0;

	setup(&fixture);
	own_machine__fill(fixture.machine);
	take_deep(&taken, 5);
	for (uint64_t bytes = 0; bytes < STACK_BYTES; bytes += 8) {
		taken.raw.nr_valid = bytes;
		walk(&fixture, &taken.raw);
		if (fixture.nr == taken.nr_frames)
			break;
		CHECK_EQ(fixture.frames[fixture.nr - 1], TRUNCATED);
		check_frames(&fixture, &taken, fixture.nr - 1);
		CHECK(fixture.nr >= nr_before);
		nr_before = fixture.nr;
	}
	CHECK_EQ(fixture.nr, taken.nr_frames);
	CHECK(nr_before > 5);
	teardown(&fixture);
}

TEST(unknown_code_is_truncated)
{
	static struct taken taken;
	struct fixture fixture;

	setup(&fixture);
	take_deep(&taken, 5);
	walk(&fixture, &taken.raw);
	CHECK_EQ(fixture.nr, 2);
	CHECK_EQ(fixture.frames[1], TRUNCATED);
	/* A library is loaded: the same process goes on from there. */
	own_machine__fill(fixture.machine);
	walk(&fixture, &taken.raw);
	CHECK_EQ(fixture.nr, taken.nr_frames);
	teardown(&fixture);
}

TEST(file_of_another_build_is_not_used)
{
	const struct build_id other = build_id__make("other", 5);
	static struct taken taken;
	struct fixture fixture;
	char path[512] = "";

	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	setup(&fixture);
	CHECK_EQ(machine__set_build_id(fixture.machine, path, &other), 0);
	own_machine__fill(fixture.machine);
	take_deep(&taken, 5);
	walk(&fixture, &taken.raw);
	CHECK_EQ(fixture.nr, 2);
	CHECK_EQ(fixture.frames[1], TRUNCATED);
	teardown(&fixture);
}

TEST(file_that_is_replaced_is_forgotten)
{
	static struct taken taken;
	struct fixture fixture;
	uint64_t page;

	setup(&fixture);
	own_machine__fill(fixture.machine);
	take_deep(&taken, 5);
	walk(&fixture, &taken.raw);
	CHECK_EQ(fixture.nr, taken.nr_frames);
	page = (uint64_t)take_deep & ~(uint64_t)4095;
	own_machine__map(fixture.machine, (uint32_t)getpid(), page, page + 4096, 0,
			 "/nowhere/other.so");
	walk(&fixture, &taken.raw);
	CHECK(fixture.nr < taken.nr_frames);
	CHECK_EQ(fixture.frames[fixture.nr - 1], TRUNCATED);
	teardown(&fixture);
}

TEST(mutated_states_end)
{
	static struct taken taken;
	static struct raw_state raw;
	struct fixture fixture;
	uint64_t *words = (uint64_t *)&raw;

	setup(&fixture);
	own_machine__fill(fixture.machine);
	take_deep(&taken, 20);
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		int nr_changes = 1 + (int)(random() % 8);

		raw = taken.raw;
		while (nr_changes--) {
			/* One of the registers, as often as one of the stack */
			size_t at =
				1 + (size_t)random() % (random() % 2 ? NR_SAMPLED
								     : NR_SAMPLED + 512);
			size_t from = 1 + (size_t)random() % (NR_SAMPLED + 512);

			if (at == 1 + NR_SAMPLED)
				continue;
			words[at] = random() % 2 ? words[from]
						 : (uint64_t)random() << (random() % 33);
		}
		walk(&fixture, &raw);
		for (int k = 1; k < fixture.nr - 1; k++)
			CHECK(machine__find_map(fixture.machine, (uint32_t)getpid(),
						fixture.frames[k] - 1));
	}
	walk(&fixture, &taken.raw);
	CHECK_EQ(fixture.nr, taken.nr_frames);
	teardown(&fixture);
}

TEST(deep_stack_is_truncated)
{
	static struct taken taken;
	struct fixture fixture;

	setup(&fixture);
	own_machine__fill(fixture.machine);
	take_deep(&taken, 200);
	walk(&fixture, &taken.raw);
	CHECK_EQ(fixture.nr, DWARF_UNWIND_MAX_FRAMES);
	CHECK_EQ(fixture.frames[fixture.nr - 1], TRUNCATED);
	teardown(&fixture);
}

TEST(state_is_read_within_its_bounds)
{
	static struct taken taken;
	const struct arch *arch = arch__find(ARCH);
	struct perf_event_attr other = attr;
	struct user_state state;
	uint64_t word, sp;

	take(&taken);
	for (size_t bytes = 0; bytes < sizeof(taken.raw); bytes += 4)
		CHECK_EQ(user_state__parse(arch, &attr, &taken.raw, bytes, &state),
			 -EINVAL);
	CHECK_EQ(parse(&taken.raw, &state), 0);
	sp = stack_pointer(&taken.raw);
	CHECK(user_state__read(&state, sp, &word));
	CHECK_MEM(&word, taken.raw.stack, 8);
	CHECK(!user_state__read(&state, sp - 1, &word));
	CHECK(user_state__read(&state, sp + taken.raw.nr_valid - 8, &word));
	CHECK(!user_state__read(&state, sp + taken.raw.nr_valid - 7, &word));
	CHECK(!user_state__read(&state, UINT64_MAX, &word));

	taken.raw.nr_valid = UINT64_MAX;
	CHECK_EQ(parse(&taken.raw, &state), 0);
	CHECK(!user_state__read(&state, sp + STACK_BYTES - 7, &word));
	other.sample_regs_user &= ~(1ull << arch->perf_sp);
	CHECK_EQ(user_state__parse(arch, &other, &taken.raw, sizeof(taken.raw), &state),
		 -ENOTSUP);
	other = attr;
	other.sample_type = PERF_SAMPLE_REGS_USER;
	CHECK_EQ(user_state__parse(arch, &other, &taken.raw, 8 + 8 * NR_SAMPLED, &state),
		 0);
	CHECK(!user_state__read(&state, sp, &word));
	taken.raw.abi = PERF_SAMPLE_REGS_ABI_32;
	CHECK_EQ(parse(&taken.raw, &state), -ENOTSUP);
	taken.raw.abi = PERF_SAMPLE_REGS_ABI_NONE;
	CHECK_EQ(parse(&taken.raw, &state), -ENODATA);
	CHECK(!arch__find("s390x"));
	CHECK(!arch__find(NULL));
}
