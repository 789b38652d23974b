// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit.h"

#include <errno.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holder.h"

static const char *holder_of(const char *path)
{
	const struct holder_library *library = holder__of_library(path);

	return library ? library->holder : "";
}

TEST(holder_knows_libraries_by_their_names)
{
	CHECK_STR(holder_of("/opt/nvidia/nsight-systems/2025.3.2/target-linux-x64/"
			    "libToolsInjection64.so"),
		  "Nsight Systems (nsys)");
	CHECK_STR(holder_of("libToolsInjectionProxy64.so"), "Nsight Systems (nsys)");
	CHECK_STR(holder_of("/opt/nvidia/nsight-compute/target/"
			    "linux-desktop-glibc_2_11_3-x64/"
			    "libcuda-injection.so"),
		  "Nsight Compute (ncu)");
	CHECK_STR(holder_of("/usr/lib/x86_64-linux-gnu/libcudadebugger.so.1"),
		  "cuda-gdb");
	CHECK_STR(
		holder_of("/venv/lib/python3.12/site-packages/torch/lib/libtorch_cpu.so"),
		"torch.profiler (Kineto)");
	CHECK_STR(holder_of("/usr/lib/x86_64-linux-gnu/libcuda.so.1"), "");
	CHECK_STR(holder_of("/libToolsInjection64.so/libm.so.6"), "");
	CHECK_STR(holder_of(""), "");
}

TEST(holder_says_what_cupti_says)
{
	char text[256];

	holder__describe("CUPTI for nsys", text, sizeof(text));
	CHECK_STR(text, " (nsys)");
	holder__describe("Nsight Systems", text, sizeof(text));
	CHECK_STR(text, " (Nsight Systems)");
	holder__describe("CUPTI", text, sizeof(text));
	CHECK_STR(text, "");
	holder__describe("", text, sizeof(text));
	CHECK_STR(text, "");
}

/* Load a copy of libm under another name. */
static void load_as(const char *name)
{
	char command[512], folder[] = "/tmp/test-holder.XXXXXX", path[128];
	void *handle = dlopen("libm.so.6", RTLD_NOW);
	Dl_info info;

	CHECK(handle && mkdtemp(folder));
	CHECK(dladdr(dlsym(handle, "cosh"), &info));
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	snprintf(command, sizeof(command), "cp '%s' '%s'", info.dli_fname, path);
	CHECK_EQ(system(command), 0);
	CHECK(dlopen(path, RTLD_NOW | RTLD_LOCAL));
	unlink(path);
	rmdir(folder);
}

TEST(holder_guesses_by_what_is_loaded)
{
	char text[256];

	CHECK(!holder__possible());
	load_as("libtorch_cpu.so");
	CHECK(holder__possible() && !holder__possible()->is_in_use);
	holder__describe("CUPTI", text, sizeof(text));
	CHECK_STR(text, " (torch.profiler (Kineto): libtorch_cpu.so is loaded)");
	/* One that is there only if it is used, before one that may be idle */
	load_as("libToolsInjection64.so");
	holder__describe("", text, sizeof(text));
	CHECK_STR(text, " (Nsight Systems (nsys): libToolsInjection64.so is loaded)");
	/* A name is better than a guess. */
	holder__describe("CUPTI for other", text, sizeof(text));
	CHECK_STR(text, " (other)");
}

/* It isn't for want of room that a text ends. */
TEST(holder_keeps_to_the_room_there_is)
{
	char text[8];

	holder__describe("CUPTI for somebody with a long name", text, sizeof(text));
	CHECK_STR(text, " (someb");
}

TEST(holder_finds_a_debugger)
{
	char text[64], wanted[64];
	pid_t pid;
	int status;

	CHECK(!holder__of_tracer(0, text, sizeof(text)));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(errno == ENOSYS ? UNIT_STATUS_SKIP : 1);
		raise(SIGSTOP);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == UNIT_STATUS_SKIP)
		SKIP("there is no ptrace here: an emulator has none");
	CHECK(holder__of_tracer(pid, text, sizeof(text)));
	snprintf(wanted, sizeof(wanted), ", pid %d", (int)getpid());
	CHECK(strstr(text, wanted));
	CHECK(!strncmp(text, "test_holder", 11));
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK(!holder__of_tracer(pid, text, sizeof(text)));
}
