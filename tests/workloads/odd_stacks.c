/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches from stacks that are hard to walk, and ends with status 0 if it lives to:
 *
 *   lie-unmapped    below a function whose unwind table says that its caller's frame is
 *   lie-register    where nothing is mapped; where a register points that is 8;
 *   lie-near        some words further out than it is; each keeps a frame pointer
 *   lie-lost        the first again, but with garbage for a frame pointer
 *   garbage         with garbage in the frame pointer, which the tables don't need
 *   realigned       below a function that finds its frame through a saved register
 *   ucontext        in coroutines of makecontext(3)
 *   coroutines      in coroutines that a few instructions without tables switch to, as
 *                   boost.context's do; new stacks all the time
 *   coroutine-lost  in one whose outermost return address is garbage
 *   signal          in a signal handler on its own stack
 *   jit             through code made at run time, with a frame pointer
 *   jit-lost        the same without, and garbage for a frame pointer
 *   deep            below 10,000 calls
 *   exact N         with N frames of its own: of recurse(), below main()
 *   close A B       through the libraries A and B, opened and closed in turn, so that B
 *                   gets the place of A; other threads launch all the time
 *   small           in a thread with the smallest stack; prints the bytes that it used
 *
 * Built without frame pointers. x86-64 and the stand-in for CUDA only.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "plain_cuda.h"

#define NOINLINE    __attribute__((noinline))
#define STACK_BYTES (256 << 10)
#define NR_THREADS  2
#define NR_ROUNDS   20

/* So that a call isn't the last thing in a function, and made a jump */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

void launch_one(void);
NOINLINE void launch_one(void)
{
	plain_kernel__launch(1);
	NO_TAIL_CALL();
}

/* ---- tables that lie, and frame pointers that aren't ---- */

void lie_unmapped(void), lie_register(void), lie_near(void), lie_lost(void);
void garbage(void), realigned(void);

/* Keeps a frame pointer, and TABLE is what its unwind table says instead. */
#define LIAR(name, prologue, table)                           \
	".globl " name "\n"                                   \
	".type " name ", @function\n" name ":\n"              \
	"	.cfi_startproc\n" table "	push %rbp\n"        \
	"	mov %rsp, %rbp\n"                                   \
	"	push %rbx\n"                                        \
	"	sub $8, %rsp\n" prologue "	call launch_one\n" \
	"	add $8, %rsp\n"                                     \
	"	pop %rbx\n"                                         \
	"	pop %rbp\n"                                         \
	"	ret\n"                                              \
	"	.cfi_endproc\n"                                     \
	".size " name ", . - " name "\n"

__asm__(".text\n" LIAR("lie_unmapped", "", ".cfi_def_cfa %rsp, 0x40000000\n") LIAR(
	"lie_register", "mov $8, %ebx\n",
	".cfi_def_cfa %rbx, 0\n") LIAR("lie_near", "", ".cfi_def_cfa %rsp, 24\n")
		LIAR("lie_lost", "mov $0xdeadbeef1235, %rbp\n",
		     ".cfi_def_cfa %rsp, 0x40000000\n") ".globl garbage\n"
							".type garbage, @function\n"
							"garbage:\n"
							"	.cfi_startproc\n"
							"	push %rbp\n"
							"	.cfi_def_cfa_offset 16\n"
							"	.cfi_offset %rbp, -16\n"
							"	mov $0xdeadbeefdeadbeef, "
							"%rbp\n"
							"	call launch_one\n"
							"	pop %rbp\n"
							"	.cfi_def_cfa_offset 8\n"
							"	ret\n"
							"	.cfi_endproc\n"
							".size garbage, . - garbage\n"
							/* As gcc does it where it needs both an aligned stack and all of rbp's kin */
							".globl realigned\n"
							".type realigned, @function\n"
							"realigned:\n"
							"	.cfi_startproc\n"
							"	push %r13\n"
							"	.cfi_def_cfa_offset 16\n"
							"	.cfi_offset %r13, -16\n"
							"	lea 16(%rsp), %r13\n"
							"	.cfi_def_cfa %r13, 0\n"
							"	and $-64, %rsp\n"
							"	sub $64, %rsp\n"
							"	call "
							"launch_below_realigned\n"
							"	lea -16(%r13), %rsp\n"
							"	.cfi_def_cfa %rsp, 16\n"
							"	pop %r13\n"
							"	.cfi_def_cfa_offset 8\n"
							"	ret\n"
							"	.cfi_endproc\n"
							".size realigned, . - "
							"realigned\n");

/* Has saved the register that realigned() is found by. */
void launch_below_realigned(void);
NOINLINE void launch_below_realigned(void)
{
	__asm__ volatile("xor %%r13d, %%r13d" ::: "r13");
	launch_one();
	NO_TAIL_CALL();
}

/* ---- coroutines ---- */

static ucontext_t main_context, coroutine_context;

static void run_ucontext(void)
{
	launch_one();
	swapcontext(&coroutine_context, &main_context);
}

static int use_ucontext(void)
{
	for (int i = 0; i < NR_ROUNDS; i++) {
		char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (stack == MAP_FAILED || getcontext(&coroutine_context))
			return 1;
		coroutine_context.uc_stack.ss_sp = stack;
		coroutine_context.uc_stack.ss_size = STACK_BYTES;
		makecontext(&coroutine_context, run_ucontext, 0);
		swapcontext(&main_context, &coroutine_context);
		munmap(stack, STACK_BYTES);
	}
	return 0;
}

/* Saves where we are in *FROM, and goes on at TO. */
void switch_stacks(void **from, void *to);
__asm__(".text\n"
	".globl switch_stacks\n"
	".type switch_stacks, @function\n"
	"switch_stacks:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size switch_stacks, . - switch_stacks\n");

static _Thread_local void *main_stack, *coroutine_stack;

NOINLINE static void run_coroutine(void)
{
	for (;;) {
		launch_one();
		switch_stacks(&coroutine_stack, main_stack);
	}
}

/* A stack as switch_stacks() leaves one; OUTERMOST is run_coroutine()'s return address. */
static void prepare_coroutine(char *stack, uint64_t outermost)
{
	uint64_t *top = (uint64_t *)(void *)(stack + STACK_BYTES) - 10;

	memset(top, 0x5a, 10 * sizeof(*top));
	top[6] = (uintptr_t)run_coroutine;
	top[7] = outermost;
	coroutine_stack = top;
}

static void *use_coroutines_in_thread(void *outermost)
{
	for (int i = 0; i < NR_ROUNDS; i++) {
		char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (stack == MAP_FAILED)
			return (void *)1;
		prepare_coroutine(stack, (uintptr_t)outermost);
		switch_stacks(&main_stack, coroutine_stack);
		switch_stacks(&main_stack, coroutine_stack);
		munmap(stack, STACK_BYTES);
	}
	return NULL;
}

static int use_coroutines(uint64_t outermost)
{
	pthread_t threads[NR_THREADS];
	void *failed;
	int status = 0;

	for (int i = 0; i < NR_THREADS; i++)
		if (pthread_create(&threads[i], NULL, use_coroutines_in_thread,
				   (void *)(uintptr_t)outermost))
			return 1;
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], &failed);
		status |= failed != NULL;
	}
	return status;
}

/* ---- signals ---- */

static void on_signal(int signal)
{
	(void)signal;
	launch_one();
	NO_TAIL_CALL();
}

NOINLINE static void interrupted(void)
{
	__asm__ volatile("int3");
}

static int use_signal(void)
{
	static char stack[STACK_BYTES];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	if (sigaltstack(&alternate, NULL) || sigaction(SIGTRAP, &action, NULL))
		return 1;
	/* CUDA isn't to be initialized in a signal handler. */
	cudaFree(NULL);
	for (int i = 0; i < NR_ROUNDS; i++)
		interrupted();
	return 0;
}

/* ---- code made at run time ---- */

static const unsigned char code_with_frame[] = {
	0x55, /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0xff, 0xd7, /* call *%rdi */
	0x5d, /* pop %rbp */
	0xc3, /* ret */
};

static const unsigned char code_without_frame[] = {
	0x55, /* push %rbp */
	0xbd, 0x35, 0x12, 0xef, 0xbe, /* mov $0xbeef1235, %ebp */
	0xff, 0xd7, /* call *%rdi */
	0x5d, /* pop %rbp */
	0xc3, /* ret */
};

NOINLINE static int use_jit(const unsigned char *code, size_t bytes)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*call)(void (*)(void));

	if (memory == MAP_FAILED)
		return 1;
	memcpy(memory, code, bytes);
	call = (void (*)(void (*)(void)))(uintptr_t)memory;
	for (int i = 0; i < NR_ROUNDS; i++)
		call(launch_one);
	return 0;
}

/* ---- many frames ---- */

NOINLINE static void recurse(unsigned long nr_frames)
{
	if (nr_frames > 1)
		recurse(nr_frames - 1);
	else
		plain_kernel__launch(1);
	NO_TAIL_CALL();
}

/* ---- libraries that are closed ---- */

static atomic_bool is_over;

static void *launch_all_the_time(void *unused)
{
	(void)unused;
	while (!is_over)
		recurse(20);
	return NULL;
}

static int use_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*call)(void (*)(void));

	call = library ? (void (*)(void (*)(void)))(uintptr_t)dlsym(library, "call_back")
		       : NULL;
	if (!call) {
		fprintf(stderr, "odd_stacks: %s\n", dlerror());
		return 1;
	}
	printf("%p\n", (void *)(uintptr_t)call);
	call(launch_one);
	return dlclose(library);
}

static int use_libraries(const char *a, const char *b)
{
	pthread_t threads[NR_THREADS];
	int status = 0;

	for (int i = 0; i < NR_THREADS; i++)
		if (pthread_create(&threads[i], NULL, launch_all_the_time, NULL))
			return 1;
	for (int i = 0; i < NR_ROUNDS; i++)
		status |= use_library(i % 2 ? b : a);
	is_over = true;
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	return status;
}

/* ---- a small stack ---- */

static void *launch_in_thread(void *unused)
{
	(void)unused;
	recurse(1);
	return NULL;
}

/* Only what a launch takes once the process has initialized CUDA */
static int use_small_stack(void)
{
	size_t bytes = PTHREAD_STACK_MIN, unused = 0;
	unsigned char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	if (stack == MAP_FAILED)
		return 1;
	plain_kernel__launch(1);
	memset(stack, 0xa5, bytes);
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, stack, bytes) ||
	    pthread_create(&thread, &attr, launch_in_thread, NULL) ||
	    pthread_join(thread, NULL))
		return 1;
	while (unused < bytes && stack[unused] == 0xa5)
		unused++;
	printf("%zu\n", bytes - unused);
	return 0;
}

static void repeat(void (*call)(void))
{
	for (int i = 0; i < NR_ROUNDS; i++)
		call();
}

static int run(const char *what, char **arguments)
{
	static const struct {
		const char *name;
		void (*call)(void);
	} calls[] = {
		{"lie-unmapped", lie_unmapped}, {"lie-register", lie_register},
		{"lie-near", lie_near},		{"lie-lost", lie_lost},
		{"garbage", garbage},		{"realigned", realigned},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (!strcmp(what, calls[i].name)) {
			repeat(calls[i].call);
			return 0;
		}
	}
	if (!strcmp(what, "ucontext"))
		return use_ucontext();
	if (!strcmp(what, "coroutines"))
		return use_coroutines(0);
	if (!strcmp(what, "coroutine-lost"))
		return use_coroutines(0x123456789abc);
	if (!strcmp(what, "signal"))
		return use_signal();
	if (!strcmp(what, "jit"))
		return use_jit(code_with_frame, sizeof(code_with_frame));
	if (!strcmp(what, "jit-lost"))
		return use_jit(code_without_frame, sizeof(code_without_frame));
	if (!strcmp(what, "small"))
		return use_small_stack();
	if (!strcmp(what, "deep"))
		recurse(10000);
	else if (!strcmp(what, "exact") && arguments[0])
		recurse(strtoul(arguments[0], NULL, 10));
	else if (!strcmp(what, "close") && arguments[0] && arguments[1])
		return use_libraries(arguments[0], arguments[1]);
	else
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	int status = argc > 1 ? run(argv[1], argv + 2) : 2;

	if (status == 2)
		fprintf(stderr, "usage: odd_stacks WHAT, as its source lists it\n");
	return status;
}
