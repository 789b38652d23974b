// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/uninjected.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/injection.h"
#include "util/proc.h"

/* No 64-bit process has its libraries below: the kernel's lowest place is TASK_SIZE / 3. */
#define END_OF_32_BITS (1ull << 32)

/* As many as Linux has types, and more */
#define MAX_AUXV 64

/* The kernel's word to the dynamic loader, and through it to the driver. 0 or -errno */
static int read_secure(pid_t pid, bool *ret)
{
	Elf64_auxv_t values[MAX_AUXV];
	char path[64];
	ssize_t nr;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	nr = read(fd, values, sizeof(values));
	close(fd);
	*ret = false;
	for (ssize_t i = 0; i < nr / (ssize_t)sizeof(*values); i++)
		if (values[i].a_type == AT_SECURE)
			*ret = values[i].a_un.a_val;
	return 0;
}

/* Not if it may not be looked at: who doesn't know says nothing. */
static bool is_file_missing(pid_t pid, const char *library)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, library);
	return access(path, F_OK) && errno == ENOENT;
}

/* Without memory of its own, a zombie looks as if it had no environment and no files. */
static bool is_there(pid_t pid)
{
	char path[64], exe[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, exe, sizeof(exe)) >= 0;
}

/* As far as it is true: the process may come to its end meanwhile. */
static enum uninjected_why look(pid_t pid, char ret_other[PATH_MAX])
{
	char injected[PATH_MAX];
	bool is_secure = false;
	int err;

	err = read_secure(pid, &is_secure);
	if (!err && is_secure)
		return UNINJECTED_SECURE;
	if (!err)
		err = proc__read_environment(pid, INJECTION_VARIABLE, injected,
					     sizeof(injected));
	if (err == -EACCES || err == -EPERM)
		return UNINJECTED_UNREADABLE;
	if (err == -ENODATA)
		return UNINJECTED_CLEARED;
	if (err)
		return UNINJECTED_UNKNOWN;
	if (!injection__is_ours(injected)) {
		memcpy(ret_other, injected, strlen(injected) + 1);
		return *injected ? UNINJECTED_OTHER : UNINJECTED_CLEARED;
	}
	if (!is_file_missing(pid, injected))
		return UNINJECTED_NO_INIT;
	memcpy(ret_other, injected, strlen(injected) + 1);
	return UNINJECTED_NO_FILE;
}

enum uninjected_why uninjected__look(pid_t pid, uint64_t address,
				     char ret_other[PATH_MAX])
{
	enum uninjected_why why;

	*ret_other = '\0';
	if (address < END_OF_32_BITS)
		return UNINJECTED_32_BIT;
	why = look(pid, ret_other);
	if (why != UNINJECTED_UNREADABLE && !is_there(pid))
		return UNINJECTED_UNKNOWN;
	return why;
}
