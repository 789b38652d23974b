// SPDX-License-Identifier: GPL-2.0-or-later
#include "open/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "open/injected.h"
#include "source/recording.h"
#include "util/log.h"

const struct usage_option open__options[] = {
	SOURCE_USAGE_INPUT_FILE, SOURCE_USAGE_GPU,
	SOURCE_USAGE_EVENTS,	 SOURCE_USAGE_LABELS,
	SOURCE_USAGE_THREADS,	 SOURCE_USAGE_STACKS,
	SOURCE_USAGE_VERBOSITY,	 {0},
};

static void tell_option(FILE *to, int key, const char *arg)
{
	if (key < USAGE_LONG_ONLY && strchr("igqv", key))
		return; /* files are told of by themselves */
	for (const struct usage_option *option = open__options; option->key; option++)
		if (option->key == key)
			fprintf(to, "%s: %s\n", option->name, option->arg ? arg : "yes");
}

static int parse(const struct usage *usage, int argc, const char **argv,
		 struct open_options *ret, FILE *chosen)
{
	int key;

	while ((key = usage__next(usage, argc, argv)) != USAGE_END) {
		if (key == USAGE_HELP)
			return EXIT_SUCCESS;
		if (key == USAGE_ERROR ||
		    source_options__take(&ret->source, usage, key, optarg))
			return USAGE_STATUS;
		tell_option(chosen, key, optarg);
	}
	if (optind < argc && strcmp(argv[optind - 1], "--") != 0)
		return usage__error(usage,
				    "unexpected argument %s: a recording is named by "
				    "-i, and what is for the program goes behind --",
				    argv[optind]);
	if (!strcmp(ret->source.perfdata_path, RECORDING_STDIN))
		return usage__error(usage,
				    "-i takes a file, not standard input: give that to "
				    "perf-gpu inject -i -, and open what comes of it");
	ret->args = argv + optind;
	return -1;
}

int open_options__parse(const struct usage *usage, int argc, const char **argv,
			struct open_options *ret)
{
	size_t bytes;
	FILE *chosen;
	int status;

	*ret = (struct open_options){.source = SOURCE_OPTIONS_DEFAULT};
	/* perf and hotspot would need the recorded machine's files, and show driver frames. */
	ret->source.unwind = true;
	chosen = open_memstream(&ret->chosen, &bytes);
	if (!chosen) {
		pr_err("no memory for the options");
		return EXIT_FAILURE;
	}
	status = parse(usage, argc, argv, ret, chosen);
	if (fclose(chosen)) {
		pr_err("no memory for the options");
		return EXIT_FAILURE;
	}
	return status;
}

void open_options__release(struct open_options *options)
{
	free(options->chosen);
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

int open__find_program(const char *name, const char *advice, char ret_path[PATH_MAX])
{
	const char *folder = getenv("PATH");
	char path[PATH_MAX];

	while (folder) {
		size_t length = strcspn(folder, ":");
		int bytes =
			snprintf(path, sizeof(path), "%.*s/%s", length ? (int)length : 1,
				 length ? folder : ".", name);

		if (bytes > 0 && (size_t)bytes < sizeof(path) && is_program(path)) {
			snprintf(ret_path, PATH_MAX, "%s", path);
			return 0;
		}
		folder = folder[length] ? folder + length + 1 : NULL;
	}
	pr_err("%s is not on PATH: %s", name, advice);
	return -ENOENT;
}

static size_t count(const char *const *words)
{
	size_t nr = 0;

	while (words[nr])
		nr++;
	return nr;
}

int open__run(const struct open_options *options, const char *program,
	      const char *symbols, const char *const *first)
{
	size_t nr_first = count(first), nr = 0;
	size_t nr_args = count((const char *const *)options->args);
	char path[PATH_MAX], folder[PATH_MAX + sizeof(".dso/symbols")];
	const char **args;
	int err;

	err = injected__update(&options->source, options->chosen, path);
	if (err)
		return err;
	args = calloc(nr_first + nr_args + 5, sizeof(*args));
	if (!args) {
		pr_err("no memory to run %s", program);
		return -ENOMEM;
	}
	args[nr++] = program;
	if (source_options__read_archive(&options->source)) {
		snprintf(folder, sizeof(folder), "%s.dso/symbols", path);
		args[nr++] = symbols;
		args[nr++] = folder;
	}
	for (size_t i = 0; i < nr_first; i++)
		args[nr++] = first[i];
	args[nr++] = path;
	for (size_t i = 0; i < nr_args; i++)
		args[nr++] = options->args[i];
	execv(program, (char *const *)args);
	err = -errno;
	pr_err("%s could not be run: %s", program, strerror(-err));
	free(args);
	return err;
}
