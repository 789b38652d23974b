/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorded machine's address spaces and thread names, replayed from the
 * side-band of a perf.data (MMAP, MMAP2, COMM, FORK, EXIT) in time order.
 * One thread.
 */
#ifndef PERF_GPU_SYMBOL_MACHINE_H
#define PERF_GPU_SYMBOL_MACHINE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/build_id.h"
#include "symbol/dso.h"
#include "symbol/maps.h"
#include "symbol/perf_map.h"
#include "symbol/symbol_store.h"

struct machine;

/**
 * machine__new - a machine without a process
 * @symfs: folder that stands for its root; NULL: its files are where they were
 * @ret:   released by machine__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int machine__new(const char *symfs, struct machine **ret);
void machine__delete(struct machine *machine); /* NULL is fine */

/* As symbol_files__set_store(). Call ahead of the questions. */
void machine__set_store(struct machine *machine, const struct symbol_store *store);

/**
 * machine__set_build_id - which build was mapped from a path
 * @path: as in MMAP records; copied
 *
 * What an MMAP2 record says itself goes before it. Call ahead of the records.
 *
 * Return: 0 or -ENOMEM.
 */
int machine__set_build_id(struct machine *machine, const char *path,
			  const struct build_id *id);

/* As symbol_files__set_origin(). Call ahead of the questions. */
void machine__set_origin(struct machine *machine, const struct perf_map_origin *origin);

/**
 * machine__for_each_dso - call a function for each file that was mapped, by its path
 * @visit: 0: go on; else that is returned
 */
int machine__for_each_dso(const struct machine *machine,
			  int (*visit)(struct dso *dso, void *context), void *context);

/* Files that symbols were looked for in, and that are another build by now. */
size_t machine__nr_stale_files(const struct machine *machine);

/**
 * machine__process - apply a side-band record
 * @record: any record; those that aren't side-band are ignored, data mappings
 *          (not executable) too. A FORK copies the parent's maps, a COMM with
 *          PERF_RECORD_MISC_COMM_EXEC drops the process's maps.
 *
 * Return: 0, -ENOMEM, -EINVAL for a record too short or with an unterminated
 * name. Prints nothing.
 */
int machine__process(struct machine *machine, const struct perf_event_header *record);

/* The map of @pid that holds @ip, or NULL; valid until the next process(). */
const struct map *machine__find_map(const struct machine *machine, uint32_t pid,
				    uint64_t ip);

/* Counts up with each change of any process's maps: until then they are the same. */
uint64_t machine__nr_map_changes(const struct machine *machine);

/* Name of a thread, else of its process, else "" (valid as above). */
const char *machine__comm(const struct machine *machine, uint32_t pid, uint32_t tid);

/* Counts up with each change of any thread's name: until then they are the same. */
uint64_t machine__nr_comm_changes(const struct machine *machine);

/*
 * How often @pid has called exec so far: its maps before don't count any more.
 * A pid that is used again counts like an exec.
 */
uint32_t machine__nr_execs(const struct machine *machine, uint32_t pid);

/*
 * Path of the program that @pid runs, or NULL; lives as long as the machine. It is what was
 * mapped first: the kernel maps the program ahead of its loader (load_elf_binary()), and
 * /proc/PID/maps, from which the maps of a running process come, has it at the lowest
 * address.
 */
const char *machine__program(const struct machine *machine, uint32_t pid);

#endif
