// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/tallies.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_memory.h"
#include "record/unwritten.h"

/* Anybody who knows the session can send: each takes a mapping. */
#define MAX_TALLIES 16384
/*
 * How many are looked at for each that comes, since what is in their memory takes room when
 * they have ended, too.
 */
#define LOOKS_PER_TALLY 4

struct tally {
	struct tally_owner owner;
	const struct log_memory *memory;
	bool is_completed; /* what was in its blocks is written, as far as can be */
	bool is_forgotten; /* only its counts are mapped still */
};

/* Else reading it could be our end. */
static bool is_tally(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && (seals & LOG_MEMORY_SEALS) == LOG_MEMORY_SEALS &&
	       !fstat(fd, &st) && st.st_size == sizeof(struct log_memory);
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

/* Return: that was done now. */
static bool complete_if_ended(const struct tallies *tallies, struct tally *tally)
{
	if (tally->is_completed || !tallies->spool || !has_ended(tally->owner.pid))
		return false;
	unwritten__write(tally->memory, tallies->spool, tallies->session, &tally->owner);
	tally->is_completed = true;
	return true;
}

/* The same, where recording goes on: but for the counts, its memory isn't needed any more. */
static void forget_if_ended(const struct tallies *tallies, struct tally *tally)
{
	const size_t kept = offsetof(struct log_memory, block);

	if (!complete_if_ended(tallies, tally))
		return;
	munmap((char *)(uintptr_t)tally->memory + kept, sizeof(struct log_memory) - kept);
	tally->is_forgotten = true;
}

int tallies__new(struct tallies *tallies, const struct tally_owner *owner)
{
	const size_t nr = tallies->nr;
	int fd, err = 0;

	fd = memfd_create(LOG_MEMORY_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, sizeof(struct log_memory)) ||
	    fcntl(fd, F_ADD_SEALS, LOG_MEMORY_SEALS))
		err = -errno;
	if (!err) {
		tallies__add(tallies, owner, fd);
		err = tallies->nr > nr ? 0 : -ENOSPC;
	}
	if (!err)
		return fd;
	close(fd);
	return err;
}

void tallies__add(struct tallies *tallies, const struct tally_owner *owner, int fd)
{
	void *map;

	if (tallies->nr == MAX_TALLIES || !is_tally(fd) || make_room(tallies))
		return;
	map = mmap(NULL, sizeof(struct log_memory), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return;
	for (int i = 0; i < LOOKS_PER_TALLY && tallies->nr; i++)
		forget_if_ended(tallies,
				&tallies->tallies[tallies->next++ % tallies->nr]);
	tallies->tallies[tallies->nr++] = (struct tally){.owner = *owner, .memory = map};
}

void tallies__complete(struct tallies *tallies, uint64_t log_id)
{
	for (size_t i = 0; i < tallies->nr; i++)
		if (tallies->tallies[i].owner.log_id == log_id)
			forget_if_ended(tallies, &tallies->tallies[i]);
}

void tallies__complete_all(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->nr; i++)
		complete_if_ended(tallies, &tallies->tallies[i]);
}

int tallies__find(const struct tallies *tallies, uint64_t log_id,
		  struct tally_counts *ret)
{
	for (size_t i = 0; i < tallies->nr; i++) {
		const struct tally *tally = &tallies->tallies[i];

		if (tally->owner.log_id != log_id)
			continue;
		if (!has_ended(tally->owner.pid))
			return -EBUSY;
		ret->nr_launches = __atomic_load_n(&tally->memory->tally.nr_launches,
						   __ATOMIC_RELAXED);
		ret->nr_records = __atomic_load_n(&tally->memory->tally.nr_records,
						  __ATOMIC_RELAXED);
		return 0;
	}
	return -ENOENT;
}

void tallies__release(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->nr; i++) {
		const struct tally *tally = &tallies->tallies[i];

		munmap((void *)(uintptr_t)tally->memory,
		       tally->is_forgotten ? offsetof(struct log_memory, block)
					   : sizeof(*tally->memory));
	}
	free(tallies->tallies);
	tallies->tallies = NULL;
	tallies->nr = tallies->next = 0;
}
