// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu record: run a command; perf.data and perf.data.gpu of its GPU work. */
#include "builtin.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/injection.h"
#include "record/output_path.h"
#include "record/parse.h"
#include "record/record.h"
#include "util/gpu_events.h"
#include "util/log.h"
#include "util/usage.h"

enum {
	OPT_CALL_GRAPH = USAGE_LONG_ONLY,
	OPT_MAX_STACK,
	OPT_PYTHON,
	OPT_CONTROL,
	OPT_CAPTURE_RANGE,
	OPT_DURATION,
	OPT_NVTX,
	OPT_PROBE,
	OPT_SHARE,
	OPT_STACKS,
	OPT_RUN_AS,
	OPT_MAX_SIZE,
	OPT_SWITCH_OUTPUT,
	OPT_SWITCH_MAX_FILES,
	OPT_OVERWRITE
};

static const struct usage_option options[] = {
	{'o', "output", "file",
	 "write to <file> (perf.data), and to <file>.gpu; in its name, %h is the host, "
	 "%r "
	 "the rank in a job, %p the recorder's process id, %% a %"},
	{'e', "event", "list",
	 "record these events (gpu-kernel,gpu-memcpy,gpu-memset; 'perf-gpu list' has "
	 "all); "
	 "or +<event>,-<event> on top of the default"},
	{OPT_NVTX, "nvtx", NULL,
	 "record the ranges that the program marks with NVTX, for --label nvtx"},
	{OPT_CALL_GRAPH, "call-graph", "mode",
	 "how stacks are walked: unwind (by libunwind, in the command; the default), fp "
	 "(frame pointers), dwarf[,<bytes>] (the stack is copied: 8192 bytes, 65528 at "
	 "most)"},
	{OPT_MAX_STACK, "max-stack", "frames",
	 "how many frames of a stack are kept, from the launch on: 1 to 127 (127)"},
	{OPT_PYTHON, "python", "mode",
	 "how Python's functions get into stacks: walk (the interpreter's frames are "
	 "walked; the default), trampoline (CPython 3.12 and later makes native code for "
	 "each), off"},
	{'p', "pid", "pid",
	 "record a process that waits for it (see 'perf-gpu wait'), or several with "
	 "commas between them, until it ends, Ctrl-C comes, or the command has run"},
	{'D', "delay", "ms",
	 "wait so long before recording begins; -1: until a command says enable"},
	{OPT_DURATION, "duration", "time",
	 "record for so many seconds, or ms, m, h or d with that unit, once recording "
	 "has "
	 "begun; the command goes on unrecorded, and is waited for"},
	{OPT_CONTROL, "control", "way",
	 "take the commands enable, disable, ping, snapshot and stop from "
	 "fd:<fd>[,<ack-fd>] or "
	 "fifo:<path>[,<ack-path>]"},
	{OPT_CAPTURE_RANGE, "capture-range", "range",
	 "cudaProfilerApi: record only what each process launches between "
	 "cudaProfilerStart() and cudaProfilerStop(), each time that it calls them; none "
	 "(the default): all"},
	{OPT_PROBE, "probe", "what",
	 "what tells of launches: marker (our library in the command; the default), api "
	 "(probes on what libcuda exports, for a command that the library can't get "
	 "into; "
	 "with --call-graph dwarf, the default then, or fp), none (probes of another "
	 "recorder, which is the command and writes perf.data: only the GPU records are "
	 "written)"},
	{OPT_SHARE, "share", NULL,
	 "leave CUPTI to another profiler that the command uses, now or later, as "
	 "torch.profiler: launches are recorded by --probe api, and what the GPU did "
	 "only "
	 "where CUPTI has room for several"},
	{OPT_STACKS, "stacks", "way",
	 "how stacks get out of the command: uprobe (through the kernel, with BPF), "
	 "process (into a file of the process's own: no privilege is needed), auto "
	 "(uprobe where it may; the default)"},
	{OPT_RUN_AS, "run-as", "user",
	 "run the command as this user, when the recorder is root"},
	{'m', "mmap-pages", "pages",
	 "size of each CPU's ring buffer, in pages or with a unit B, K, M or G "
	 "(16M with up to 8 CPUs, 8M with up to 16, 4M with more, and less with more "
	 "than 128)"},
	{OPT_MAX_SIZE, "max-size", "size",
	 "stop when the recording has so much (B, K, M or G); the command goes on"},
	{OPT_SWITCH_OUTPUT, "switch-output", "=mode",
	 "write several files, each with the time behind its name: another at SIGUSR2 "
	 "(signal, the default), at a size (B, K, M, G), or after a time (s, m, h, d)"},
	{OPT_SWITCH_MAX_FILES, "switch-max-files", "number",
	 "with --switch-output, keep so many files, the newest"},
	{OPT_OVERWRITE, "overwrite", "=time,size",
	 "keep in memory only the newest so long, in at most so much (10s,256M), and "
	 "write "
	 "it at the end, and for each file of --switch-output"},
	{'q', "quiet", NULL, "print errors only"},
	{'v', "verbose", NULL,
	 "print what is done; twice: libbpf's and libperf's messages too"},
	{0},
};

/* Of perf record */
static const struct usage_hint hints[] = {
	{'g', "stacks are always recorded; --call-graph says how"},
	{'c',
	 "each launch is recorded, so there is no count; nsys' -c cudaProfilerApi is "
	 "--capture-range=cudaProfilerApi"},
	{'F', "each launch is recorded, so there is no frequency"},
	{'a', "a process has to be named: a command, or -p"},
	{0},
};

static const struct usage usage = {
	.command = "record",
	.synopsis = "[<options>] [--] <command> [<args>]\n"
		    "-p <pid> [<options>] [[--] <command> [<args>]]",
	.summary = "Run a command, and record which stacks launch its GPU work",
	.options = options,
	.stops_at_operand = true,
	.hints = hints,
};

static int take_call_graph(struct record_options *opts, const char *text)
{
	if (!parse__call_graph(text, &opts->stack))
		return 0;
	return usage__error(
		&usage,
		"--call-graph takes unwind, fp or dwarf[,<bytes>] with 1 to %d "
		"bytes, not %s",
		CALL_GRAPH_MAX_DWARF_BYTES, text);
}

static int take_max_stack(struct record_options *opts, const char *text)
{
	if (!parse__max_stack(text, &opts->stack.max_frames))
		return 0;
	return usage__error(&usage, "--max-stack takes 1 to %d frames, not %s",
			    MAX_STACK_FRAMES, text);
}

static int take_python(struct record_options *opts, const char *text)
{
	if (!parse__python(text, &opts->stack.python))
		return 0;
	return usage__error(&usage, "--python takes walk, trampoline or off, not %s",
			    text);
}

static int take_pids(struct record_options *opts, const char *text)
{
	pid_t *pids;
	int err;

	err = parse__pids(text, &pids, &opts->nr_pids);
	if (err == -ENOMEM) {
		pr_err("no memory for -p");
		return EXIT_FAILURE;
	}
	if (err)
		return usage__error(&usage,
				    "-p takes process ids, with commas between them, "
				    "not %s",
				    text);
	free((void *)opts->pids);
	opts->pids = pids;
	return 0;
}

static int take_delay(struct record_options *opts, const char *text)
{
	if (!parse__delay(text, &opts->delay_ms))
		return 0;
	return usage__error(&usage, "-D takes milliseconds, or -1, not %s", text);
}

static int take_duration(struct record_options *opts, const char *text)
{
	if (!parse__duration(text, &opts->duration_ms))
		return 0;
	return usage__error(
		&usage,
		"--duration takes seconds, or a time with the unit ms, s, m, h "
		"or d, such as 500ms, not %s",
		text);
}

static int take_control(struct record_options *opts, const char *text)
{
	static struct control_fd control_fd;
	int err;

	if (opts->control_fd)
		control_fd__close(opts->control_fd);
	opts->control_fd = NULL;
	err = control_fd__open(text, &control_fd);
	if (err == -EINVAL)
		return usage__error(&usage,
				    "--control takes fd:<fd>[,<ack-fd>] or "
				    "fifo:<path>[,<ack-path>], not %s",
				    text);
	if (err)
		return EXIT_FAILURE;
	opts->control_fd = &control_fd;
	return 0;
}

static int take_capture_range(struct record_options *opts, const char *text)
{
	if (!parse__capture_range(text, &opts->has_capture_range))
		return 0;
	return usage__error(
		&usage, "--capture-range takes cudaProfilerApi or none, not %s", text);
}

static int take_probe(struct record_options *opts, const char *text)
{
	if (!parse__probe(text, &opts->probe))
		return 0;
	return usage__error(&usage, "--probe takes marker, api or none, not %s", text);
}

static int take_stacks(struct record_options *opts, const char *text)
{
	if (!parse__stacks(text, &opts->stacks))
		return 0;
	return usage__error(&usage, "--stacks takes auto, uprobe or process, not %s",
			    text);
}

static int take_mmap_pages(struct record_options *opts, const char *text)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (!parse__mmap_pages(text, page_bytes, &opts->nr_pages))
		return 0;
	return usage__error(
		&usage,
		"-m takes a number of pages, or a size such as 512K or 4M, up "
		"to 1G, not %s",
		text);
}

static int take_max_size(struct record_options *opts, const char *text)
{
	if (!parse__max_size(text, &opts->max_bytes))
		return 0;
	return usage__error(&usage,
			    "--max-size takes a number with the unit B, K, M or G, such "
			    "as 100M, not %s",
			    text);
}

/* Several lists are one, as perf has it. Return: 0, or the exit status. */
static int take_events(struct record_options *opts, const char *text)
{
	const uint32_t before = opts->has_events ? opts->events : 0;
	const bool is_change = *text == '+' || *text == '-';

	if (gpu_events__parse(text, &opts->events))
		return USAGE_STATUS;
	if (!is_change)
		opts->events |= before;
	opts->has_events = true;
	return 0;
}

static int take_switch_output(struct record_options *opts, const char *text)
{
	if (!switch_options__parse(text, &opts->switching))
		return 0;
	return usage__error(
		&usage,
		"--switch-output takes signal, a size (B, K, M or G) or a time "
		"(s, m, h or d), not %s",
		text);
}

static int take_max_files(struct record_options *opts, const char *text)
{
	if (!switch_options__parse_max_files(text, &opts->switching))
		return 0;
	return usage__error(&usage, "--switch-max-files takes a number from 1 on, not %s",
			    text);
}

static int take_overwrite(struct record_options *opts, const char *text)
{
	switch (switch_options__parse_overwrite(text, &opts->switching)) {
	case 0:
		return 0;
	case -ERANGE:
		return usage__error(
			&usage, "--overwrite takes a size of 4M at least, not %s", text);
	default:
		return usage__error(
			&usage,
			"--overwrite takes a time (s, m, h or d), a size (B, K, "
			"M or G) or both, as 10s,256M, not %s",
			text);
	}
}

/* Return: 0, or the exit status. */
static int take_option(struct record_options *opts, int key)
{
	switch (key) {
	case 'o':
		if (!strcmp(optarg, "-"))
			return usage__error(&usage,
					    "-o - is not supported: a recording is "
					    "two files, not a stream");
		opts->output = optarg;
		return 0;
	case 'e':
		return take_events(opts, optarg);
	case OPT_NVTX:
		opts->records_nvtx = true;
		return 0;
	case OPT_PROBE:
		return take_probe(opts, optarg);
	case OPT_SHARE:
		opts->shares = true;
		return 0;
	case OPT_CALL_GRAPH:
		return take_call_graph(opts, optarg);
	case OPT_MAX_STACK:
		return take_max_stack(opts, optarg);
	case OPT_PYTHON:
		return take_python(opts, optarg);
	case 'p':
		return take_pids(opts, optarg);
	case 'D':
		return take_delay(opts, optarg);
	case OPT_DURATION:
		return take_duration(opts, optarg);
	case OPT_CONTROL:
		return take_control(opts, optarg);
	case OPT_CAPTURE_RANGE:
		return take_capture_range(opts, optarg);
	case OPT_STACKS:
		return take_stacks(opts, optarg);
	case OPT_RUN_AS:
		opts->run_as = optarg;
		return 0;
	case OPT_MAX_SIZE:
		return take_max_size(opts, optarg);
	case OPT_SWITCH_OUTPUT:
		return take_switch_output(opts, optarg);
	case OPT_SWITCH_MAX_FILES:
		return take_max_files(opts, optarg);
	case OPT_OVERWRITE:
		return take_overwrite(opts, optarg);
	case 'm':
		return take_mmap_pages(opts, optarg);
	case 'q':
		log_verbosity = -1;
		return 0;
	case 'v':
		log_verbosity = log_verbosity < 0 ? 1 : log_verbosity + 1;
		return 0;
	default:
		return USAGE_STATUS;
	}
}

/* Is something asked for that only our library's marker has? */
static bool needs_marker(const struct record_options *opts)
{
	return opts->nr_pids || opts->delay_ms || opts->control_fd ||
	       opts->has_capture_range || opts->stacks == STACKS_PROCESS ||
	       opts->stack.call_graph == CALL_GRAPH_UNWIND ||
	       opts->stack.python == PYTHON_WALK;
}

/*
 * Where another library is injected already, ours gets nowhere: left to us, it is probes
 * on the API. Return: 0, or the exit status.
 */
static int settle_probe(struct record_options *opts)
{
	if (opts->shares && opts->nr_pids)
		return usage__error(&usage, "--share is for a command, not for -p");
	if (opts->shares && opts->probe != LAUNCH_PROBE_DEFAULT &&
	    opts->probe != LAUNCH_PROBE_API)
		return usage__error(&usage,
				    "--share has only --probe api: the other probes "
				    "need CUPTI");
	if (opts->probe != LAUNCH_PROBE_DEFAULT)
		return 0;
	if (opts->shares || (injection__is_taken() && !needs_marker(opts)))
		opts->probe = LAUNCH_PROBE_API;
	else
		opts->probe = LAUNCH_PROBE_MARKER;
	return 0;
}

/* What goes with the other kinds of probes? Return: 0, or the exit status. */
static int check_probe(const struct record_options *opts)
{
	const char *api = opts->shares ? "--share" : "--probe api";
	enum call_graph call_graph = opts->stack.call_graph;

	if (opts->probe == LAUNCH_PROBE_API && call_graph == CALL_GRAPH_UNWIND)
		return usage__error(&usage,
				    "%s takes --call-graph dwarf or fp: the kernel sees "
				    "the stack, not the command",
				    api);
	if (opts->probe == LAUNCH_PROBE_API && (opts->delay_ms || opts->control_fd))
		return usage__error(&usage,
				    "%s can't be switched on and off by --delay or "
				    "--control",
				    api);
	if (opts->probe != LAUNCH_PROBE_MARKER && opts->has_capture_range)
		return usage__error(
			&usage, "--capture-range has only --probe marker: other probes "
				"don't see when the program wants it");
	if (opts->probe == LAUNCH_PROBE_NONE && opts->duration_ms)
		return usage__error(&usage,
				    "--probe none takes no --duration: how long it "
				    "records is the other recorder's");
	if (opts->probe == LAUNCH_PROBE_NONE && call_graph != CALL_GRAPH_DEFAULT)
		return usage__error(&usage, "--probe none takes no --call-graph: stacks "
					    "are the other recorder's");
	if (opts->probe == LAUNCH_PROBE_NONE && opts->stacks == STACKS_UPROBE)
		return usage__error(&usage, "--probe none takes no --stacks: they are "
					    "the other recorder's");
	return 0;
}

/*
 * Without our library's marker, nobody walks the stack in the command. Return: 0, or
 * the exit status.
 */
static int settle_stacks(struct record_options *opts)
{
	int status = settle_probe(opts);
	bool is_marker = opts->probe == LAUNCH_PROBE_MARKER;

	if (!status)
		status = check_probe(opts);
	if (status)
		return status;
	if (opts->stacks == STACKS_PROCESS && !is_marker)
		return usage__error(&usage,
				    "--stacks process has only --probe marker: the "
				    "kernel is not asked");
	if (opts->stacks == STACKS_PROCESS &&
	    opts->stack.call_graph != CALL_GRAPH_DEFAULT &&
	    opts->stack.call_graph != CALL_GRAPH_UNWIND)
		return usage__error(&usage, "--stacks process has only --call-graph "
					    "unwind: the kernel is not asked");
	if (opts->stack.call_graph != CALL_GRAPH_DEFAULT)
		return 0;
	opts->stack.call_graph = is_marker ? CALL_GRAPH_UNWIND : CALL_GRAPH_DWARF;
	opts->stack.dwarf_bytes = CALL_GRAPH_DWARF_BYTES;
	return 0;
}

/* Is what is asked for to be had of what is recorded? 0, or the exit status. */
static int check_target(const struct record_options *opts, bool has_command)
{
	if (opts->delay_ms < 0 && !opts->control_fd)
		return usage__error(&usage,
				    "-D -1 waits for --control to say when to begin: "
				    "give that, too");
	if (!opts->nr_pids)
		return has_command ? 0 : usage__error(&usage, "no command to record");
	if (opts->probe != LAUNCH_PROBE_MARKER)
		return usage__error(&usage, "-p has only --probe marker");
	if (opts->run_as)
		return usage__error(&usage, "--run-as is for a command that is recorded, "
					    "not for -p");
	if (opts->stack.python == PYTHON_TRAMPOLINE)
		return usage__error(&usage,
				    "--python trampoline has to be there from the "
				    "start: it is not for -p");
	return 0;
}

/* "perf-gpu" and argv; NULL without memory. */
static const char **full_cmdline(int argc, const char **argv)
{
	const char **cmdline = calloc((size_t)argc + 2, sizeof(*cmdline));

	if (!cmdline)
		return NULL;
	cmdline[0] = "perf-gpu";
	memcpy(cmdline + 1, argv, (size_t)argc * sizeof(*argv));
	return cmdline;
}

/* What the library doesn't walk has no functions of Python's but by trampolines. */
static int settle_python(struct record_options *opts)
{
	bool is_walked = opts->probe == LAUNCH_PROBE_MARKER &&
			 opts->stack.call_graph == CALL_GRAPH_UNWIND;

	if (opts->stack.python == PYTHON_WALK && !is_walked)
		return usage__error(&usage, "--python walk needs --call-graph unwind and "
					    "--probe marker; trampoline doesn't");
	if (opts->stack.python == PYTHON_DEFAULT)
		opts->stack.python = is_walked ? PYTHON_WALK : PYTHON_OFF;
	return 0;
}

/* Files are parts of what our library's marker tells. Return: 0, or the exit status. */
static int check_switching(const struct record_options *opts)
{
	if (opts->switching.max_files && !opts->switching.is_switched)
		return usage__error(&usage, "--switch-max-files is for --switch-output");
	if (!switch_options__any(&opts->switching))
		return 0;
	if (opts->max_bytes)
		return usage__error(
			&usage, "--max-size has no part in several files, or the newest: "
				"use --switch-max-files, or --overwrite=<size>");
	if (opts->probe == LAUNCH_PROBE_MARKER)
		return 0;
	return usage__error(
		&usage,
		"%s has only --probe marker: what other probes tell is joined by "
		"time, which a file may cut in two",
		opts->switching.is_switched ? "--switch-output" : "--overwrite");
}

/* What follows from all options together. Return: 0, or the exit status. */
static int settle_options(struct record_options *opts, bool has_command)
{
	int status = settle_stacks(opts);

	if (!status)
		status = settle_python(opts);
	if (!status)
		status = check_target(opts, has_command);
	if (!status)
		status = check_switching(opts);
	return status;
}

int cmd_record(int argc, const char **argv)
{
	struct record_options opts = {
		.output = "perf.data",
		.events = GPU_LOG_DEFAULT_EVENTS,
		.stack = {.call_graph = CALL_GRAPH_DEFAULT},
	};
	const char **cmdline = NULL;
	char output[PATH_MAX];
	int key, status;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		status = EXIT_SUCCESS;
		if (key == USAGE_HELP)
			goto out;
		status = take_option(&opts, key);
		if (status)
			goto out;
	}
	status = settle_options(&opts, optind < argc);
	if (status)
		goto out;
	status = EXIT_FAILURE;
	if (output_path__expand(opts.output, output))
		goto out;
	opts.output = output;
	cmdline = full_cmdline(argc, argv);
	if (!cmdline) {
		pr_err("no memory for the command line");
		goto out;
	}
	opts.command = argv + optind;
	opts.cmdline = cmdline;
	record__run(&opts, &status);
out:
	if (opts.control_fd)
		control_fd__close(opts.control_fd);
	free(cmdline);
	free((void *)opts.pids);
	return status;
}
