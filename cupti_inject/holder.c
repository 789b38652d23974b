// SPDX-License-Identifier: GPL-2.0-or-later
#include "holder.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What cuptiSubscribe_v2() puts before the name that a subscriber gives itself */
#define CUPTI_PREFIX "CUPTI for "
/* What a subscriber is called that gave itself none */
#define CUPTI_NAMELESS "CUPTI"

/*
 * By names of files in the tools' own packages. DCGM isn't among them: it reads counters
 * of the device, from a process of its own, and takes no subscriber's place.
 */
static const struct holder_library libraries[] = {
	{"libToolsInjection", "Nsight Systems (nsys)", true},
	{"libcuda-injection.so", "Nsight Compute (ncu)", true},
	{"libTreeLauncherTargetInjection", "Nsight Compute (ncu)", true},
	{"libInterceptorInjectionTarget", "Compute Sanitizer or Nsight", true},
	{"libsanitizer-collection.so", "Compute Sanitizer", true},
	{"libsanitizer-public.so", "Compute Sanitizer", true},
	{"libcudadebugger.so", "cuda-gdb", true},
	{"libcupti_trace_injection", "CUPTI's sample cupti_trace_injection", true},
	{"libparcagpucupti", "Parca", true},
	{"libhpcrun", "HPCToolkit", true},
	{"libTAU", "TAU", true},
	{"libscorep", "Score-P", true},
	{"libproton.so", "Proton, of Triton", false},
	{"libkineto.so", "torch.profiler (Kineto)", false},
	{"libtorch_cpu.so", "torch.profiler (Kineto)", false},
	{"libtorch_cuda.so", "torch.profiler (Kineto)", false},
	{"xla_cuda_plugin.so", "the profiler of JAX", false},
	{"libtensorflow_framework.so", "the profiler of TensorFlow", false},
};

static const char *name_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const struct holder_library *holder__of_library(const char *path)
{
	const char *name = name_of_file(path);

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (!strncmp(name, libraries[i].prefix, strlen(libraries[i].prefix)))
			return &libraries[i];
	return NULL;
}

/* The beginning of a file of /proc, as text. 0 or -errno */
static int read_beginning(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes;

	if (fd < 0)
		return -errno;
	bytes = read(fd, ret, size - 1);
	close(fd);
	if (bytes < 0)
		return -EIO;
	ret[bytes] = '\0';
	return 0;
}

bool holder__of_tracer(pid_t pid, char *ret, size_t size)
{
	char path[64], text[1024] = "", comm[32] = "a debugger";
	const char *line;
	int tracer;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	else
		snprintf(path, sizeof(path), "/proc/self/status");
	if (read_beginning(path, text, sizeof(text)))
		return false;
	line = strstr(text, "\nTracerPid:");
	tracer = line ? (int)strtol(line + strlen("\nTracerPid:"), NULL, 10) : 0;
	if (tracer <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/comm", tracer);
	if (!read_beginning(path, text, sizeof(text)) && *text) {
		text[strcspn(text, "\n")] = '\0';
		snprintf(comm, sizeof(comm), "%.16s", text);
	}
	snprintf(ret, size, "%s, pid %d", comm, tracer);
	return true;
}

struct found {
	const struct holder_library *library;
	char name[128]; /* of the file */
};

/* dl_iterate_phdr(): one in use before one that could be */
static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct holder_library *library = holder__of_library(info->dlpi_name);
	struct found *found = data;

	(void)size;
	if (!library ||
	    (found->library && found->library->is_in_use >= library->is_in_use))
		return 0;
	found->library = library;
	snprintf(found->name, sizeof(found->name), "%s", name_of_file(info->dlpi_name));
	return 0;
}

const struct holder_library *holder__possible(void)
{
	struct found found = {};

	dl_iterate_phdr(find_library, &found);
	return found.library;
}

void holder__describe(const char *subscriber, char *ret, size_t size)
{
	struct found found = {};
	char tracer[64];

	if (!strncmp(subscriber, CUPTI_PREFIX, strlen(CUPTI_PREFIX)))
		subscriber += strlen(CUPTI_PREFIX);
	if (*subscriber && strcmp(subscriber, CUPTI_NAMELESS) != 0) {
		snprintf(ret, size, " (%s)", subscriber);
		return;
	}
	dl_iterate_phdr(find_library, &found);
	if (found.library)
		snprintf(ret, size, " (%s: %s is loaded)", found.library->holder,
			 found.name);
	else if (holder__of_tracer(0, tracer, sizeof(tracer)))
		snprintf(ret, size, " (%s, traces it)", tracer);
	else
		*ret = '\0';
}
