// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/tallies.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tally_page.h"

/* Anybody who knows the session can send: each takes a mapping. */
#define MAX_TALLIES 16384

struct tally {
	uint64_t log_id;
	pid_t pid;
	const struct tally_page *page;
};

/* Else reading it could be our end. */
static bool is_tally(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && (seals & TALLY_SEALS) == TALLY_SEALS && !fstat(fd, &st) &&
	       st.st_size == sizeof(struct tally_page);
}

static int make_room(struct tallies *tallies)
{
	struct tally *grown;

	if (tallies->nr & (tallies->nr - 1))
		return 0;
	grown = reallocarray(tallies->tallies, tallies->nr ? 2 * tallies->nr : 1,
			     sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	tallies->tallies = grown;
	return 0;
}

int tallies__new(struct tallies *tallies, uint64_t log_id, pid_t pid)
{
	const size_t nr = tallies->nr;
	int fd, err = 0;

	fd = memfd_create(TALLY_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, sizeof(struct tally_page)) ||
	    fcntl(fd, F_ADD_SEALS, TALLY_SEALS))
		err = -errno;
	if (!err) {
		tallies__add(tallies, log_id, pid, fd);
		err = tallies->nr > nr ? 0 : -ENOSPC;
	}
	if (!err)
		return fd;
	close(fd);
	return err;
}

void tallies__add(struct tallies *tallies, uint64_t log_id, pid_t pid, int fd)
{
	void *map;

	if (tallies->nr == MAX_TALLIES || !is_tally(fd) || make_room(tallies))
		return;
	map = mmap(NULL, sizeof(struct tally_page), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return;
	tallies->tallies[tallies->nr++] =
		(struct tally){.log_id = log_id, .pid = pid, .page = map};
}

/* Has a process ended, whether or not its parent has waited for it? */
static bool has_ended(pid_t pid)
{
	char path[32], text[256] = "";
	const char *state;
	ssize_t nr;
	int fd;

	if (!pid)
		return false;
	if (kill(pid, 0) && errno == ESRCH)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	nr = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[nr > 0 ? nr : 0] = '\0';
	state = strrchr(text, ')'); /* behind the name, which may have any letters */
	return state && !strncmp(state, ") Z", 3);
}

int tallies__find(const struct tallies *tallies, uint64_t log_id,
		  struct tally_counts *ret)
{
	for (size_t i = 0; i < tallies->nr; i++) {
		const struct tally *tally = &tallies->tallies[i];

		if (tally->log_id != log_id)
			continue;
		if (!has_ended(tally->pid))
			return -EBUSY;
		ret->nr_launches =
			__atomic_load_n(&tally->page->nr_launches, __ATOMIC_RELAXED);
		ret->nr_records =
			__atomic_load_n(&tally->page->nr_records, __ATOMIC_RELAXED);
		return 0;
	}
	return -ENOENT;
}

void tallies__release(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->nr; i++)
		munmap((void *)(uintptr_t)tallies->tallies[i].page,
		       sizeof(struct tally_page));
	free(tallies->tallies);
	*tallies = (struct tallies){};
}
