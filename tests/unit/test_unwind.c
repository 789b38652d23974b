// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The walk of the own stack against what glibc's backtrace() finds, which goes by
 * libgcc: unwind.c.
 *
 * What comes first of this program is taken for the library, and left out; so a walk
 * begins in a comparison that qsort(3) asks for.
 */
#include "unit.h"

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "gpu_log.h"
#include "unwind.h"

#define NOINLINE      __attribute__((noinline))
#define TRUNCATED     ((uint64_t)GPU_LOG_FRAME_TRUNCATED << 56)
#define MAX_BY_LIBGCC 400

/* Return addresses of functions are signed with either key, or not. */
#if defined(__aarch64__)
#define SIGNED_WITH_B __attribute__((target("branch-protection=pac-ret+b-key")))
#define UNSIGNED      __attribute__((target("branch-protection=none")))
#else
#define SIGNED_WITH_B
#define UNSIGNED
#endif

struct walked {
	uint64_t frames[UNWIND_MAX_FRAMES];
	uint64_t stack_pointers[UNWIND_MAX_FRAMES + 1];
	size_t nr, max;
	void *by_libgcc[MAX_BY_LIBGCC];
	int nr_by_libgcc;
};

static _Thread_local struct walked *walked;
static bool is_for_libgcc = true; /* it follows tables wherever they lead to */

static NOINLINE int walk_here(const void *a, const void *b)
{
	(void)a;
	(void)b;
	walked->nr = unwind__frames(walked->frames, walked->stack_pointers, walked->max);
	if (is_for_libgcc)
		walked->nr_by_libgcc = backtrace(walked->by_libgcc, MAX_BY_LIBGCC);
	return 0;
}

static NOINLINE int walk(void)
{
	int two[2] = {1, 2};

	qsort(two, 2, sizeof(*two), walk_here);
	return two[0];
}

/* A signal's frame has no call before it, and says so by 1 more. */
static bool is_same(uint64_t frame, const void *by_libgcc)
{
	return frame == (uintptr_t)by_libgcc || frame == (uintptr_t)by_libgcc + 1;
}

/* What backtrace() finds first: its caller, and behind a sanitizer's that one */
#if defined(__SANITIZE_ADDRESS__)
#define NR_SKIPPED 2
#else
#define NR_SKIPPED 1
#endif

static void check_frames(const struct walked *w, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (i + NR_SKIPPED >= (size_t)w->nr_by_libgcc ||
		    !is_same(w->frames[i], w->by_libgcc[i + NR_SKIPPED]))
			unit__fail(__FILE__, __LINE__, "frame %zu of %zu is %#lx", i, nr,
				   (unsigned long)w->frames[i]);
	}
}

static void check_whole(const struct walked *w)
{
	check_frames(w, w->nr);
	CHECK_EQ(w->nr + NR_SKIPPED, w->nr_by_libgcc);
	for (size_t i = 0; i + 1 < w->nr; i++)
		CHECK(w->stack_pointers[i] <= w->stack_pointers[i + 1]);
}

static void begin(struct walked *w, size_t max)
{
	static bool is_open;

	memset(w, 0, sizeof(*w));
	w->max = max;
	walked = w;
	if (!is_open)
		CHECK_EQ(unwind__init(), 0);
	is_open = true;
	backtrace(w->by_libgcc, 1); /* loads libgcc */
}

typedef int (*step_fn)(int depth, int (*leaf)(void));
static int step_signed(int depth, int (*leaf)(void));

/* With a frame whose size the caller's frame pointer doesn't tell */
static NOINLINE int step_alloca(int depth, int (*leaf)(void))
{
	volatile char *room = __builtin_alloca((size_t)(depth % 7 + 1) * 48);
	int ret;

	room[0] = (char)depth;
	ret = depth ? step_signed(depth - 1, leaf) : leaf();
	return ret + room[0];
}

UNSIGNED static NOINLINE int step_unsigned(int depth, int (*leaf)(void))
{
	volatile char room[40];

	room[depth % 40] = (char)depth;
	return (depth ? step_alloca(depth - 1, leaf) : leaf()) + room[depth % 40];
}

SIGNED_WITH_B static NOINLINE int step_b(int depth, int (*leaf)(void))
{
	volatile char room[1000];

	room[depth] = (char)depth;
	return (depth ? step_unsigned(depth - 1, leaf) : leaf()) + room[depth];
}

static NOINLINE int step_signed(int depth, int (*leaf)(void))
{
	volatile char room[8];

	room[depth % 8] = (char)depth;
	return (depth ? step_b(depth - 1, leaf) : leaf()) + room[depth % 8];
}

TEST(a_whole_stack_is_backtraces)
{
	static struct walked w;

	for (int depth = 0; depth < 30; depth++) {
		begin(&w, UNWIND_MAX_FRAMES);
		step_signed(depth, walk);
		CHECK(w.nr > (size_t)depth + 5);
		check_whole(&w);
		/* Again, now that all rules are known */
		begin(&w, UNWIND_MAX_FRAMES);
		step_signed(depth, walk);
		check_whole(&w);
	}
}

static void *walk_in_thread(void *w)
{
	begin(w, UNWIND_MAX_FRAMES);
	step_signed(9, walk);
	return NULL;
}

TEST(a_threads_stack_ends_where_it_started)
{
	static struct walked w;
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, walk_in_thread, &w), 0);
	pthread_join(thread, NULL);
	CHECK(w.nr >= 12);
	check_whole(&w);
}

TEST(a_deep_stack_is_truncated)
{
	static struct walked w;

	begin(&w, UNWIND_MAX_FRAMES);
	step_signed(300, walk);
	CHECK_EQ(w.nr, UNWIND_MAX_FRAMES);
	CHECK_EQ(w.frames[w.nr - 1], TRUNCATED);
	check_frames(&w, w.nr - 1);
	begin(&w, 10);
	step_signed(300, walk);
	CHECK_EQ(w.nr, 11);
	CHECK_EQ(w.frames[10], TRUNCATED);
	check_frames(&w, 10);
}

/* A function that calls nobody, and is interrupted: its caller is in no frame yet. */
static sigjmp_buf after_fault;

static void walk_in_handler(int signal)
{
	(void)signal;
	walk();
	siglongjmp(after_fault, 1);
}

static NOINLINE int fault(const volatile char *address)
{
	return *address;
}

static const volatile char *volatile nowhere = (const char *)16;

static NOINLINE int call_fault(void)
{
	return fault(nowhere) + 1;
}

static void walk_from_fault(struct walked *w, int flags)
{
	struct sigaction action = {.sa_handler = walk_in_handler, .sa_flags = flags};

	begin(w, UNWIND_MAX_FRAMES);
	CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
	if (!sigsetjmp(after_fault, 1))
		step_signed(6, call_fault);
	CHECK(w->nr >= 15);
}

TEST(a_signal_handlers_stack_goes_on_where_it_interrupted)
{
	static struct walked w;

	for (int i = 0; i < 2; i++) {
		walk_from_fault(&w, 0);
		check_whole(&w);
	}
}

TEST(a_signal_handler_may_have_a_stack_of_its_own)
{
	static char room[256 << 10];
	static struct walked w;
	stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};

	CHECK_EQ(sigaltstack(&stack, NULL), 0);
	walk_from_fault(&w, SA_ONSTACK);
	check_frames(&w, w.nr);
	CHECK_EQ(w.nr + NR_SKIPPED, w.nr_by_libgcc);
}

/* Calls the function that is its argument, with a frame pointer and no table. */
static const unsigned char jit_code[] = {
#if defined(__x86_64__)
	0x55, /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0x83, 0xec, 0x20, /* sub $32, %rsp */
	0xff, 0xd7, /* call *%rdi */
	0xc9, /* leave */
	0xc3, /* ret */
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbc, 0xa9, /* stp x29, x30, [sp, #-64]! */
	0xfd, 0x03, 0x00, 0x91, /* mov x29, sp */
	0x00, 0x00, 0x3f, 0xd6, /* blr x0 */
	0xfd, 0x7b, 0xc4, 0xa8, /* ldp x29, x30, [sp], #64 */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
#endif
};

static int (*jit)(int (*function)(void));

static NOINLINE int call_jit(void)
{
	return jit(walk) + 1;
}

TEST(code_without_tables_is_left_by_its_frame_pointer)
{
	static const step_fn steps[] = {step_signed, step_b, step_unsigned, step_alloca};
	static struct walked both[2];
	const struct walked *w = &both[1];
	size_t at, nr;
	void *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	memcpy(page, jit_code, sizeof(jit_code));
	__builtin___clear_cache(page, (char *)page + sizeof(jit_code));
	jit = (int (*)(int (*)(void)))(uintptr_t)page;

	for (size_t i = 0; i < 8; i++) {
		/* One place that calls both: not unrolled */
		for (volatile size_t j = 0; j < 2; j++) {
			begin(&both[j], UNWIND_MAX_FRAMES);
			steps[i / 2](5, j ? call_jit : walk);
		}
		check_whole(&both[0]);
		at = 0;
		while (at < w->nr && w->frames[at] - (uintptr_t)page > sizeof(jit_code))
			at++;
		/* Behind it, call_jit(), and then all that is in the other, too */
		CHECK(at + 2 < w->nr);
		nr = w->nr - at - 2;
		CHECK(nr >= 10 && nr < both[0].nr);
		CHECK_MEM(w->frames + at + 2, both[0].frames + both[0].nr - nr,
			  nr * sizeof(uint64_t));
	}
}

/* What is as hard on x86-64: tests/workloads/odd_stacks.c */
#if defined(__aarch64__)

#define PUSH "	stp x29, x30, [sp, #-32]!\n	mov x29, sp\n"
#define POP  "	ldp x29, x30, [sp], #32\n	ret\n"

/* A function of assembly that calls its argument, and where it ends */
#define DECLARE(name)                                                          \
	__attribute__((visibility("hidden"))) int name(int (*function)(void)); \
	extern const char name##_end[] __attribute__((visibility("hidden")))
#define BEGIN(name)                                                                      \
	".text\n.globl " #name ", " #name "_end\n.type " #name ", %function\n" #name ":" \
	"\n"
#define END(name) #name "_end:\n"

/* WHERE is what the table says of the caller's frame. */
#define LIAR(name, where)                                                    \
	DECLARE(name);                                                       \
	__asm__(BEGIN(name) "	.cfi_startproc\n" PUSH "	" where      \
			    "\n	.cfi_offset 29, -32\n	.cfi_offset 30, -24\n" \
			    "	blr x0\n" POP "	.cfi_endproc\n" END(name))

LIAR(lie_unmapped, ".cfi_def_cfa 31, 0x40000000");
LIAR(lie_register, ".cfi_def_cfa 19, 8");
LIAR(lie_near, ".cfi_def_cfa 31, 48");

/* No table, and garbage for a frame pointer */
DECLARE(lost);
__asm__(BEGIN(lost) PUSH "	mov x29, #0x5a58\n"
			 "	movk x29, #0x5a, lsl #48\n"
			 "	blr x0\n" POP END(lost));

static int (*odd)(int (*function)(void));

static NOINLINE int call_odd(void)
{
	return odd(walk) + 1;
}

/* Where the frame of ODD is, which ends at END */
static size_t find_odd(const struct walked *w, const char *end)
{
	size_t at = 0;

	while (at < w->nr &&
	       w->frames[at] - (uintptr_t)odd >= (uintptr_t)end - (uintptr_t)odd)
		at++;
	CHECK(at < w->nr);
	return at;
}

TEST(tables_that_lie_are_left_by_the_frame_pointer)
{
	static const struct {
		int (*function)(int (*function)(void));
		const char *end;
	} liars[] = {{lie_unmapped, lie_unmapped_end},
		     {lie_register, lie_register_end},
		     {lie_near, lie_near_end}};
	static struct walked both[2];
	const struct walked *w = &both[1];
	size_t at, nr;

	is_for_libgcc = false;
	for (size_t i = 0; i < 3; i++) {
		odd = liars[i].function;
		for (volatile size_t j = 0; j < 2; j++) {
			begin(&both[j], UNWIND_MAX_FRAMES);
			step_signed(5, j ? call_odd : walk);
		}
		at = find_odd(w, liars[i].end);
		nr = w->nr - at - 2;
		CHECK(nr >= 10 && nr < both[0].nr);
		CHECK_MEM(w->frames + at + 2, both[0].frames + both[0].nr - nr,
			  nr * sizeof(uint64_t));
	}
}

TEST(a_stack_that_leads_nowhere_is_truncated)
{
	static struct walked w;

	is_for_libgcc = false;
	odd = lost;
	begin(&w, UNWIND_MAX_FRAMES);
	step_signed(5, call_odd);
	CHECK_EQ(find_odd(&w, lost_end), w.nr - 2);
	CHECK_EQ(w.frames[w.nr - 1], TRUNCATED);
}

#endif
