// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/interpreter.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a kernel reads of a script's first line (BINPRM_BUF_SIZE, Linux 5.1) */
#define MAX_LINE_BYTES 256
#define MAX_SEGMENTS   256

/* The file that would be executed; false: there is none. */
static bool find_file(const char *command, char ret[PATH_MAX])
{
	const char *folder = getenv("PATH");
	size_t bytes;

	if (strchr(command, '/')) {
		snprintf(ret, PATH_MAX, "%s", command);
		return !access(ret, X_OK);
	}
	for (; folder; folder = folder[bytes] ? folder + bytes + 1 : NULL) {
		bytes = strcspn(folder, ":");
		if (bytes >= PATH_MAX)
			continue;
		snprintf(ret, PATH_MAX, "%.*s/%s", bytes ? (int)bytes : 1,
			 bytes ? folder : ".", command);
		if (!access(ret, X_OK))
			return true;
	}
	return false;
}

/* Of "#! /usr/bin/env python3": /usr/bin/env */
static bool read_script(int fd, char ret[PATH_MAX])
{
	char line[MAX_LINE_BYTES + 1];
	ssize_t nr = pread(fd, line, MAX_LINE_BYTES, 0);
	const char *at = line + 2;
	size_t bytes;

	if (nr < 2 || memcmp(line, "#!", 2))
		return false;
	line[nr] = '\0';
	at += strspn(at, " \t");
	bytes = strcspn(at, " \t\n");
	snprintf(ret, PATH_MAX, "%.*s", (int)bytes, at);
	return bytes;
}

static bool read_elf(int fd, char ret[PATH_MAX])
{
	size_t nr_segments = 0;
	GElf_Phdr segment;
	bool is_there = false;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return false;
	if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &nr_segments) ||
	    nr_segments > MAX_SEGMENTS)
		nr_segments = 0;
	for (size_t i = 0; i < nr_segments && !is_there; i++)
		is_there = gelf_getphdr(elf, (int)i, &segment) &&
			   segment.p_type == PT_INTERP && segment.p_filesz &&
			   segment.p_filesz <= PATH_MAX &&
			   pread(fd, ret, segment.p_filesz, (off_t)segment.p_offset) ==
				   (ssize_t)segment.p_filesz &&
			   !ret[segment.p_filesz - 1];
	elf_end(elf);
	return is_there;
}

bool interpreter__is_missing(const char *command, char ret[PATH_MAX])
{
	char file[PATH_MAX], needed[PATH_MAX];
	bool is_missing;
	int fd;

	if (!find_file(command, file))
		return false;
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	is_missing = (read_script(fd, needed) || read_elf(fd, needed)) &&
		     access(needed, F_OK) != 0;
	close(fd);
	if (is_missing)
		memcpy(ret, needed, strlen(needed) + 1);
	return is_missing;
}
