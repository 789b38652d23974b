// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that uses CUDA before it loads a Python, for itself alone (RTLD_LOCAL), as a
 * host of plug-ins does; stand-in for CUDA only.
 *
 *	python_embed LIBPYTHON SECONDS
 *
 * Launches from native code; loads LIBPYTHON, launches from a Python
 * function; waits SECONDS, for the injected library to look for Python again, and does
 * the same once more. Then it launches from a thread without
 * Python, and after Python has ended.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "plain_cuda.h"

/* A function of C for Python, as Python.h has it; the same in all versions */
struct method {
	const char *name;
	void *(*call)(void *self, void *arguments);
	int flags;
	const char *doc;
};

#define METHOD_WITHOUT_ARGUMENTS 4

static void *none; /* Python's None */
static void (*take_reference)(void *);

static void *launch_for_python(void *self, void *arguments)
{
	(void)self;
	(void)arguments;
	plain_kernel__launch(1);
	take_reference(none);
	return none;
}

static struct method launch_method = {"launch", launch_for_python,
				      METHOD_WITHOUT_ARGUMENTS, NULL};

static void *launch_in_thread(void *unused)
{
	(void)unused;
	plain_kernel__launch(1);
	return NULL;
}

static void *find(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (symbol)
		return symbol;
	fprintf(stderr, "%s\n", dlerror());
	exit(1);
}

static void add_method(void *library)
{
	void *(*new_function)(struct method *, void *, void *);
	void *(*add_module)(const char *);
	int (*set_attribute)(void *, const char *, void *);

	none = find(library, "_Py_NoneStruct");
	*(void **)&take_reference = find(library, "Py_IncRef");
	*(void **)&new_function = find(library, "PyCFunction_NewEx");
	*(void **)&add_module = find(library, "PyImport_AddModule");
	*(void **)&set_attribute = find(library, "PyObject_SetAttrString");
	if (set_attribute(add_module("__main__"), "launch",
			  new_function(&launch_method, NULL, NULL)))
		exit(1);
}

static void run(void *library, const char *name)
{
	int (*run_string)(const char *, void *);
	char code[128];

	*(void **)&run_string = find(library, "PyRun_SimpleStringFlags");
	snprintf(code, sizeof(code), "def %s():\n    launch()\n%s()\n", name, name);
	if (run_string(code, NULL))
		exit(1);
}

int main(int argc, char **argv)
{
	void (*initialize)(int);
	int (*finalize)(void);
	pthread_t thread;
	void *library;

	if (argc != 3)
		return 2;
	plain_kernel__launch(1);
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&initialize = find(library, "Py_InitializeEx");
	*(void **)&finalize = find(library, "Py_FinalizeEx");
	initialize(0);
	add_method(library);
	run(library, "early");
	sleep((unsigned int)atoi(argv[2]));
	run(library, "late");
	if (pthread_create(&thread, NULL, launch_in_thread, NULL) ||
	    pthread_join(thread, NULL))
		return 1;
	finalize();
	plain_kernel__launch(1);
	return 0;
}
