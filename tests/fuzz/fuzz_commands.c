// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whole commands, on recordings of any bytes: a perf.data and its sidecar go through
 * everything from their readers to each output. A command either succeeds and leaves its
 * output, or fails and leaves nothing.
 *
 *   u8 run         which of those below; 255: one after another
 *   u8 0[3]
 *   u32 bytes      of the sidecar
 *   sidecar, perf.data
 *
 * (scripts/pack-recording.py makes such). Checksums and the session of the sidecar are
 * put right first, else a changed byte would only ever show that they are looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "builtin.h"
#include "fuzz.h"
#include "gpu_log.h"
#include "perfdata/format.h"
#include "util/log.h"
#include "util/usage.h"

#define HEAD_BYTES 8
#define MAX_ARGS   16
#define ALL_RUNS   255

/* All are run in a folder of their own. symfs: no file of this machine is looked at. */
static const struct run {
	int (*command)(int argc, const char **argv);
	const char *argv[MAX_ARGS];
	const char *output; /* NULL: stdout */
} runs[] = {
	{cmd_script, {"script", "-q", "--symfs", "symfs"}, NULL},
	{cmd_script,
	 {"script", "-q", "--symfs", "symfs", "-F",
	  "+pid,srcline,device,stream,context,graph,nvtx,rank,bytes", "--threads",
	  "stream", "--names", "short"},
	 NULL},
	{cmd_script,
	 {"script", "-q", "--symfs", "symfs", "--folded", "--label",
	  "device,stream,context,graph,nvtx,rank", "--label-at", "root", "--names",
	  "mangled"},
	 NULL},
	{cmd_script,
	 {"script", "-q", "--symfs", "symfs", "--folded", "--weight", "bytes"},
	 NULL},
	{cmd_report, {"report", "-q", "--symfs", "symfs"}, NULL},
	{cmd_report, {"report", "-v", "--symfs", "symfs", "--json"}, NULL},
	{cmd_report,
	 {"report", "-q", "--symfs", "symfs", "--csv", "--by",
	  "device,stream,process,rank"},
	 NULL},
	{cmd_flamegraph,
	 {"flamegraph", "-q", "--symfs", "symfs", "-o", "out/a"},
	 "out/a"},
	{cmd_flamegraph,
	 {"flamegraph", "-q", "--symfs", "symfs", "--svg", "-o", "out/a",
	  "--differential", "perf.data"},
	 "out/a"},
	{cmd_export,
	 {"export", "-q", "--symfs", "symfs", "--chrome", "-o", "out/a"},
	 "out/a"},
	{cmd_export,
	 {"export", "-q", "--symfs", "symfs", "--speedscope", "-o", "out/a"},
	 "out/a"},
	{cmd_export,
	 {"export", "-q", "--symfs", "symfs", "--firefox", "-o", "out/a"},
	 "out/a"},
	{cmd_inject, {"inject", "-q", "--symfs", "symfs", "-o", "out/a"}, "out/a"},
	{cmd_inject,
	 {"inject", "-q", "--symfs", "symfs", "-o", "out/a", "--keep-cpu", "--unwind",
	  "--graph-stacks", "capture"},
	 "out/a"},
	{cmd_merge, {"merge", "-q", "-o", "out/a", "perf.data", "other.data"}, "out/a"},
#ifdef HAVE_PROTOBUF_C
	{cmd_export,
	 {"export", "-q", "--symfs", "symfs", "--perfetto", "-o", "out/a"},
	 "out/a"},
	{cmd_export,
	 {"export", "-q", "--symfs", "symfs", "--pprof", "-o", "out/a"},
	 "out/a"},
#endif
#ifdef HAVE_SQLITE3
	{cmd_export,
	 {"export", "-q", "--symfs", "symfs", "--sqlite", "-o", "out/a"},
	 "out/a"},
#endif
	/* Without libarchive it fails, and leaves nothing. */
	{cmd_archive, {"archive", "-q", "--symfs", "symfs", "-o", "out/a"}, "out/a"},
};

#define NR_RUNS (sizeof(runs) / sizeof(*runs))

static char folder[PATH_MAX];
static int null_fd;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* libFuzzer and corpora have paths relative to the first folder: we go to ours and back. */
static int first_folder;

static void setup(void)
{
	first_folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	snprintf(folder, sizeof(folder), "%s/test-perf-gpu.XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
	if (first_folder < 0 || null_fd < 0 || !mkdtemp(folder))
		abort();
	atexit(remove_folder);
	if (chdir(folder) || mkdir("symfs", 0700) || fchdir(first_folder))
		abort();
	log_verbosity = -1;
}

static void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
		abort();
}

static bool is_launch(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       attr->config == PERF_COUNT_SW_BPF_OUTPUT && attr->config1;
}

/* The same in pipe mode, where events are records */
static size_t find_session_of_pipe(const uint8_t *data, size_t size)
{
	struct perf_event_header record;
	struct perf_event_attr attr;

	for (size_t at = PERFDATA_PIPE_HEADER_BYTES;
	     at < size && sizeof(record) + sizeof(attr) <= size - at; at += record.size) {
		memcpy(&record, data + at, sizeof(record));
		memcpy(&attr, data + at + sizeof(record), sizeof(attr));
		if (record.type == PERFDATA_RECORD_HEADER_ATTR && is_launch(&attr))
			return at + sizeof(record) +
			       offsetof(struct perf_event_attr, config1);
		if (record.size < sizeof(record))
			return 0;
	}
	return 0;
}

/* Where the first event of launches names its session, 0 if there is none. */
static size_t find_session(const uint8_t *data, size_t size)
{
	struct perfdata_file_header header;
	struct perf_event_attr attr;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, data, sizeof(header));
	if (header.size == PERFDATA_PIPE_HEADER_BYTES)
		return find_session_of_pipe(data, size);
	if (header.attrs.offset > size ||
	    header.attrs.size > size - header.attrs.offset || !header.attr_size)
		return 0;
	for (uint64_t at = 0;
	     at <= header.attrs.size && sizeof(attr) <= header.attrs.size - at;
	     at += header.attr_size) {
		memcpy(&attr, data + header.attrs.offset + at, sizeof(attr));
		if (is_launch(&attr))
			return header.attrs.offset + at +
			       offsetof(struct perf_event_attr, config1);
		if (header.attr_size > size)
			return 0;
	}
	return 0;
}

/* With nothing on stdout, where a corpus' results are */
static int run_quietly(const struct run *run)
{
	const char *argv[MAX_ARGS + 1] = {NULL};
	int argc = 0, status, saved;

	while (argc < MAX_ARGS && run->argv[argc]) {
		argv[argc] = run->argv[argc];
		argc++;
	}
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	if (dup2(null_fd, STDOUT_FILENO) < 0)
		abort();
	usage__restart();
	status = run->command(argc, argv);
	log_verbosity = -1;
	fflush(stdout);
	if (saved >= 0) {
		dup2(saved, STDOUT_FILENO);
		close(saved);
	} else {
		close(STDOUT_FILENO);
	}
	return status;
}

static bool is_empty_folder(const char *path)
{
	return rmdir(path) == 0 && mkdir(path, 0700) == 0;
}

static void try(const struct run *run)
{
	int status;

	if (mkdir("out", 0700))
		abort();
	status = run_quietly(run);
	if (status != EXIT_SUCCESS && status != EXIT_FAILURE) {
		fprintf(stderr, "%s ends with %d\n", run->argv[0], status);
		abort();
	}
	if (status == EXIT_FAILURE && !is_empty_folder("out")) {
		fprintf(stderr, "%s fails, and leaves something\n", run->argv[0]);
		abort();
	}
	if (status == EXIT_SUCCESS && run->output && access(run->output, F_OK)) {
		fprintf(stderr, "%s succeeds, and writes nothing\n", run->argv[0]);
		abort();
	}
	if (nftw("out", remove_one, 16, FTW_DEPTH | FTW_PHYS))
		abort();
}

/* The recording, and another one that only has another session and logs, in our folder */
static void write_recordings(uint8_t *sidecar, size_t sidecar_bytes, uint8_t *perfdata,
			     size_t perfdata_bytes)
{
	const size_t session_at = find_session(perfdata, perfdata_bytes);
	uint64_t session = 0;

	if (session_at)
		memcpy(&session, perfdata + session_at, sizeof(session));
	fuzz_log__mend(sidecar, sidecar_bytes, session, 0);
	write_file("perf.data.gpu", sidecar, sidecar_bytes);
	write_file("perf.data", perfdata, perfdata_bytes);
	session ^= 1ull << 32;
	if (session_at)
		memcpy(perfdata + session_at, &session, sizeof(session));
	fuzz_log__mend(sidecar, sidecar_bytes, session, 1ull << 32);
	write_file("other.data.gpu", sidecar, sidecar_bytes);
	write_file("other.data", perfdata, perfdata_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t sidecar_bytes;
	uint8_t *copy, which;

	if (size < HEAD_BYTES)
		return 0;
	if (!null_fd)
		setup();
	which = data[0];
	memcpy(&sidecar_bytes, data + sizeof(uint32_t), sizeof(sidecar_bytes));
	data += HEAD_BYTES;
	size -= HEAD_BYTES;
	if (sidecar_bytes > size)
		return 0;
	copy = malloc(size + 1);
	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (chdir(folder))
		abort();
	write_recordings(copy, sidecar_bytes, copy + sidecar_bytes, size - sidecar_bytes);
	free(copy);
	for (size_t i = 0; i < NR_RUNS; i++)
		if (which == ALL_RUNS || which % NR_RUNS == i)
			try(&runs[i]);
	if (fchdir(first_folder))
		abort();
	return 0;
}
