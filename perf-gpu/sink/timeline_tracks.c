// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/timeline_tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash_index.h"
#include "util/log.h"

/* More at once overlap in the last one: no GPU runs so many kernels of a stream. */
#define MAX_BESIDE 256

struct known_track {
	struct track_key key;
	uint64_t end_ns; /* of the last slice that was put there by find_free() */
	struct timeline_track track;
	char *name; /* the track's */
};

struct timeline_tracks {
	const struct timeline_writer_ops *ops;
	void *writer;
	struct known_track *items; /* by id */
	size_t nr, nr_allocated;
	struct hash_index index;
};

static int no_memory(void)
{
	pr_err("no memory for the timeline; fewer events (-e) need less");
	return -ENOMEM;
}

int timeline_tracks__new(const struct timeline_writer_ops *ops, void *writer,
			 struct timeline_tracks **ret)
{
	struct timeline_tracks *tracks = calloc(1, sizeof(*tracks));

	if (!tracks)
		return no_memory();
	tracks->ops = ops;
	tracks->writer = writer;
	*ret = tracks;
	return 0;
}

void timeline_tracks__delete(struct timeline_tracks *tracks)
{
	if (!tracks)
		return;
	for (size_t i = 0; i < tracks->nr; i++)
		free(tracks->items[i].name);
	free(tracks->items);
	hash_index__release(&tracks->index);
	free(tracks);
}

static uint64_t hash_of(const struct track_key *key)
{
	uint64_t hash = hash__mix(key->of, key->gpu);

	hash = hash__mix(hash, (uint64_t)key->pid << 32 | key->tid);
	hash = hash__mix(hash, (uint64_t)key->context << 32 | key->stream);
	hash = hash__mix(hash, (uintptr_t)key->domain);
	return hash__mix(hash, key->sub);
}

static bool is_same(const struct track_key *a, const struct track_key *b)
{
	return a->of == b->of && a->gpu == b->gpu && a->pid == b->pid &&
	       a->tid == b->tid && a->context == b->context && a->stream == b->stream &&
	       a->domain == b->domain && a->sub == b->sub;
}

static int add(struct timeline_tracks *tracks, const struct track_key *key,
	       const struct timeline_track *new)
{
	struct timeline_track track = *new;
	char *name = strdup(new->name);

	if (!name)
		return no_memory();
	if (tracks->nr == tracks->nr_allocated) {
		size_t nr = tracks->nr ? 2 * tracks->nr : 64;
		struct known_track *items =
			reallocarray(tracks->items, nr, sizeof(*items));

		if (!items) {
			free(name);
			return no_memory();
		}
		tracks->items = items;
		tracks->nr_allocated = nr;
	}
	if (hash_index__add(&tracks->index, hash_of(key), (uint32_t)tracks->nr)) {
		free(name);
		return no_memory();
	}
	track.id = (uint32_t)tracks->nr;
	track.name = name;
	tracks->items[tracks->nr++] =
		(struct known_track){.key = *key, .track = track, .name = name};
	return tracks->ops->track(tracks->writer, &track);
}

bool timeline_tracks__has(const struct timeline_tracks *tracks,
			  const struct track_key *key, uint32_t *ret_track)
{
	struct hash_cursor cursor = hash_index__find(&tracks->index, hash_of(key));
	uint32_t id;

	while (hash_index__next(&tracks->index, &cursor, &id)) {
		if (is_same(&tracks->items[id].key, key)) {
			*ret_track = id;
			return true;
		}
	}
	return false;
}

int timeline_tracks__find(struct timeline_tracks *tracks, const struct track_key *key,
			  const struct timeline_track *new, uint32_t *ret_track)
{
	int err;

	if (timeline_tracks__has(tracks, key, ret_track))
		return 0;
	err = add(tracks, key, new);
	if (!err)
		*ret_track = (uint32_t)tracks->nr - 1;
	return err;
}

int timeline_tracks__find_free(struct timeline_tracks *tracks, struct track_key *key,
			       const struct timeline_track *new, uint64_t start_ns,
			       uint64_t end_ns, uint32_t *ret_track)
{
	struct timeline_track first;
	uint32_t id;

	for (key->sub = 0;; key->sub++) {
		int err = timeline_tracks__find(tracks, key, new, &id);

		if (err)
			return err;
		first = tracks->items[id].track;
		new = &first;
		if (tracks->items[id].end_ns <= start_ns || key->sub == MAX_BESIDE)
			break;
	}
	if (tracks->items[id].end_ns < end_ns)
		tracks->items[id].end_ns = end_ns;
	*ret_track = id;
	return 0;
}
