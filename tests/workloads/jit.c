/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JIT compiler: makes a function in memory, through which it launches, says so as
 * profilers expect it, and makes another one in the same place.
 *
 *   jit [-m] [-d] [-n LAUNCHES] [-x WHAT] [-l] [-e HOW]
 *
 *   -m  names in /tmp/perf-PID.map
 *   -d  names in ./jit-PID.dump
 *   -x  what becomes of the names: late (they are written at the end), remove (the map
 *       is, at the end), link (it is a symbolic link), fifo, garbage (is written into
 *       it, before and behind the names)
 *   -l  waits before it ends, until the injected library has written what it launched
 *   -e  ends by exit, _exit or kill
 *
 * The functions are called jit_first and jit_second. Prints "jit PID ADDRESS". Stand-in
 * for CUDA only.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fault_log.h"
#include "plain_cuda.h"

/* Calls the function whose address is in its last 8 bytes, with a frame pointer. */
#if defined(__x86_64__)
static const unsigned char code[] = {
	0x55, /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
	0xff, 0x15, 0x06, 0x00, 0x00, 0x00, /* call *6(%rip) */
	0x5d, /* pop %rbp */
	0xc3, /* ret */
	0x90, 0x90, 0x90, 0x90,
};
#elif defined(__aarch64__)
static const uint32_t code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0x58000090, /* ldr x16, 16 bytes on */
	0xd63f0200, /* blr x16 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#else
#error "what is the code of a call, on this architecture?"
#endif

#define CODE_BYTES (sizeof(code) + 8)

static unsigned long nr_launches = 100;
static const char *what = "";
static char map_path[64];
static FILE *map, *dump;

/* The barriers keep calls from becoming jumps: these frames are looked for. */
static void launch(void)
{
	plain_kernel__launch(nr_launches);
	__asm__ volatile("");
}

static void open_map(void)
{
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	unlink(map_path);
	if (!strcmp(what, "link") && symlink("jit.target", map_path))
		exit(1);
	if (!strcmp(what, "fifo") && mkfifo(map_path, 0600))
		exit(1);
	map = fopen(!strcmp(what, "link")   ? "jit.target"
		    : !strcmp(what, "fifo") ? "/dev/null"
					    : map_path,
		    "w");
	if (!map)
		exit(1);
	if (!strcmp(what, "garbage"))
		fprintf(map, "%*s\n\n 12 34\nzz z z\n-1 -1 minus\n%0999d 1 x\n", 100000,
			"", 7);
}

/* Its header, and the mapping by which it is found. */
static void open_dump(void)
{
	struct {
		uint32_t magic, version, nr_bytes, elf_machine, pad, pid;
		uint64_t time, flags;
	} header = {0x4a695444, 1, sizeof(header), 62, 0, (uint32_t)getpid(), 0, 0};
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	dump = fopen(path, "w+");
	if (!dump || fwrite(&header, sizeof(header), 1, dump) != 1 ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) ==
		    MAP_FAILED)
		exit(1);
}

static void tell_dump(const void *address, const char *name)
{
	struct {
		uint32_t type, nr_bytes;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, address, nr_code_bytes, index;
	} load = {
		.nr_bytes = (uint32_t)(sizeof(load) + strlen(name) + 1 + CODE_BYTES),
		.pid = (uint32_t)getpid(),
		.vma = (uintptr_t)address,
		.address = (uintptr_t)address,
		.nr_code_bytes = CODE_BYTES,
	};
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	load.time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	fwrite(&load, sizeof(load), 1, dump);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(address, CODE_BYTES, 1, dump);
	if (strcmp(what, "late"))
		fflush(dump);
}

/* Compile at @address, tell, and run. */
__attribute__((noinline)) static void run(char *address, const char *name)
{
	void (*target)(void) = launch;
	void (*function)(void);

	if (mprotect(address, 4096, PROT_READ | PROT_WRITE))
		exit(1);
	memcpy(address, code, sizeof(code));
	memcpy(address + sizeof(code), &target, sizeof(target));
	if (mprotect(address, 4096, PROT_READ | PROT_EXEC))
		exit(1);
	__builtin___clear_cache(address, address + CODE_BYTES);
	if (map) {
		fprintf(map, "%lx %zx %s\n", (unsigned long)address, CODE_BYTES, name);
		if (strcmp(what, "late"))
			fflush(map);
	}
	if (dump)
		tell_dump(address, name);
	memcpy(&function, &address, sizeof(function));
	function();
	__asm__ volatile("");
}

static void end(const char *how)
{
	if (!strcmp(what, "garbage"))
		fprintf(map, "1 2");
	if (!strcmp(what, "remove"))
		unlink(map_path);
	fflush(NULL);
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	exit(0);
}

int main(int argc, char **argv)
{
	const char *how = "exit";
	bool is_logged = false;
	char *address;
	int option;

	address = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	while ((option = getopt(argc, argv, "mdn:x:le:")) != -1) {
		if (option == 'm')
			map_path[0] = '/';
		else if (option == 'd')
			open_dump();
		else if (option == 'n')
			nr_launches = strtoul(optarg, NULL, 10);
		else if (option == 'x')
			what = optarg;
		else if (option == 'l')
			is_logged = true;
		else if (option == 'e')
			how = optarg;
		else
			goto usage;
	}
	if (address == MAP_FAILED)
		return 1;
	if (map_path[0])
		open_map();
	printf("jit %d %lx\n", getpid(), (unsigned long)address);
	fflush(stdout);
	run(address, "jit_first");
	run(address, "jit_second");
	if (is_logged)
		fault_log__wait(2 * nr_launches);
	end(how);
usage:
	fprintf(stderr,
		"usage: jit [-m] [-d] [-n LAUNCHES] [-x late|remove|link|fifo|garbage] "
		"[-l] [-e exit|_exit|kill]\n");
	return 2;
}
