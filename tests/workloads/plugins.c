/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugins ROUNDS LAUNCHES: opens plugin_a.so, launches kernels through its function,
 * closes it; does the same with plugin_b.so, which gets the same addresses; and so on.
 * Stand-in for CUDA only.
 *
 * Prints "plugin a ADDRESS" or "plugin b ADDRESS", of the function, in each round.
 */
#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "plain_cuda.h"
#include "plugin.h"

/* The plugins are beside the program. */
static void *open_plugin(char name)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 32);
	void *plugin;

	path[length > 0 ? length : 0] = '\0';
	sprintf(strrchr(path, '/') + 1, "plugin_%c.so", name);
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin) {
		fprintf(stderr, "plugins: %s\n", dlerror());
		exit(1);
	}
	return plugin;
}

static void run_plugin(char name, unsigned long nr_launches)
{
	void *plugin = open_plugin(name);
	char symbol[] = "run_in_plugin_?";
	plugin_fn *run;

	symbol[sizeof(symbol) - 2] = name;
	run = (plugin_fn *)dlsym(plugin, symbol);
	if (!run) {
		fprintf(stderr, "plugins: %s\n", dlerror());
		exit(1);
	}
	printf("plugin %c %p\n", name, (void *)run);
	run(plain_kernel__launch, nr_launches);
	dlclose(plugin);
}

int main(int argc, char **argv)
{
	unsigned long nr_rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;
	unsigned long nr_launches = argc > 2 ? strtoul(argv[2], NULL, 10) : 10;

	for (unsigned long i = 0; i < nr_rounds; i++)
		run_plugin(i % 2 ? 'b' : 'a', nr_launches);
	return 0;
}
