// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/caller.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PYTHON_PREFIX "py::"

#define NR(array) (sizeof(array) / sizeof(*(array)))

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool has_any_prefix(const char *text, const char *const *prefixes, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (has_prefix(text, prefixes[i]))
			return true;
	return false;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Directories where nobody has the code that he is working on */
static bool is_in_library_directory(const char *path)
{
	static const char *const roots[] = {
		"/lib/",	   "/lib32/",	  "/lib64/",	   "/usr/lib/",
		"/usr/lib32/",	   "/usr/lib64/", "/usr/libexec/", "/usr/local/lib/",
		"/usr/local/cuda", "/nix/store/",
	};

	return has_any_prefix(path, roots, NR(roots)) ||
	       strstr(path, "/site-packages/") || strstr(path, "/dist-packages/");
}

/* Of CUDA, of the system, and of what is made of CUDA, wherever it was unpacked */
static bool is_library_file(const char *path)
{
	static const char *const files[] = {
		"libcu",	 "libnv",   "libnccl",	  "libtorch",	  "libc10",
		"libtensorflow", "libonnx", "libxla",	  "libpython",	  "libc.so",
		"libc-2.",	 "libm.so", "libpthread", "libstdc++",	  "libc++",
		"libgcc_s",	 "libgomp", "libiomp",	  "libomp",	  "libffi",
		"libtbb",	 "libmpi",  "ld-linux",	  "libperf-gpu-",
	};

	return has_any_prefix(base_of(path), files, NR(files));
}

static bool is_interpreter(const char *path)
{
	const char *base = base_of(path);

	if (!strcmp(base, "node"))
		return true;
	if (!has_prefix(base, "python"))
		return false;
	base += strlen("python");
	return !base[strspn(base, "0123456789.")];
}

static bool is_own_file(const char *path)
{
	if (!path || *path == '[') /* [vdso] */
		return false;
	return !is_in_library_directory(path) && !is_library_file(path) &&
	       !is_interpreter(path);
}

/* What programs contain, and did not write */
static bool is_foreign_function(const char *text)
{
	static const char *const prefixes[] = {
		"__cuda",      "__device_stub__", "cudart::", "__nv_",	    "std::",
		"__gnu_cxx::", "thrust::",	  "cub::",    "void std::",
	};

	return has_any_prefix(text, prefixes, NR(prefixes)) ||
	       (has_prefix(text, "cuda") && isupper((unsigned char)text[4])) ||
	       !strcmp(text, "_start");
}

/* "/usr/lib/python3.12/asyncio/events.py" is below a root above; others aren't. */
static bool is_standard_module(const char *path)
{
	const char *python = strstr(path, "/lib/python");

	return has_prefix(path, "<frozen ") ||
	       (python && isdigit((unsigned char)python[11]));
}

static bool is_own_python(const char *path)
{
	if (!path) /* entered at a prompt, or made by exec() */
		return true;
	return !is_in_library_directory(path) && !is_standard_module(path);
}

/* Where the file that "py::NAME:FILE" ends in begins; names have no colon. */
static const char *python_file(const struct frame_name *name)
{
	const char *colon = strchr(name->text + strlen(PYTHON_PREFIX), ':');

	return colon ? colon + 1 : NULL;
}

bool caller__is_own(const struct frame_name *name)
{
	switch (name->class) {
	case FRAME_CLASS_PYTHON:
		return is_own_python(has_prefix(name->text, PYTHON_PREFIX)
					     ? python_file(name)
					     : name->file);
	case FRAME_CLASS_NATIVE:
		return is_own_file(name->file) && !is_foreign_function(name->text);
	default:
		return false;
	}
}

void caller__write(const struct frame_name *name, char *ret, size_t bytes)
{
	const char *text = name->text, *file;

	if (name->class != FRAME_CLASS_PYTHON || !has_prefix(text, PYTHON_PREFIX)) {
		snprintf(ret, bytes, "%s", text);
		return;
	}
	file = python_file(name);
	text += strlen(PYTHON_PREFIX);
	if (file)
		snprintf(ret, bytes, "%.*s (%s)", (int)(file - 1 - text), text,
			 base_of(file));
	else
		snprintf(ret, bytes, "%s", text);
}
