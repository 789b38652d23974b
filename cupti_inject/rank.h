/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of a job's processes this is, as who started it says in the environment.
 * Stateless; any thread.
 *
 *   | by              | rank                 | on its host                | of so many           |
 *   |-----------------|----------------------|----------------------------|----------------------|
 *   | torchrun        | RANK                 | LOCAL_RANK                 | WORLD_SIZE           |
 *   | Open MPI        | OMPI_COMM_WORLD_RANK | OMPI_COMM_WORLD_LOCAL_RANK | OMPI_COMM_WORLD_SIZE |
 *   | MPICH, Intel    | PMI_RANK             | MPI_LOCALRANKID            | PMI_SIZE             |
 *   | PMIx            | PMIX_RANK            | MPI_LOCALRANKID            |                      |
 *   | Slurm           | SLURM_PROCID         | SLURM_LOCALID              | SLURM_NTASKS         |
 *
 * The first whose rank is a number is taken, with its own other two: who starts the
 * processes themselves comes before what starts the starter, which gives all processes
 * of a host the same number (torchrun or mpirun within a Slurm job).
 */
#ifndef PERF_GPU_INJECT_RANK_H
#define PERF_GPU_INJECT_RANK_H

#include "gpu_log.h"

struct log;

/* As getenv(); may return NULL. */
typedef const char *rank_lookup(const char *name);

/**
 * rank__read - the rank that variables give
 * @lookup: of a variable
 * @ret:    rank, local_rank and nr_ranks; written on success only
 *
 * Return: the variable that had the rank, or NULL if none has one.
 */
const char *rank__read(rank_lookup *lookup, struct gpu_log_rank *ret);

/* Write the rank of this process, if its environment has one. */
void rank__tell(struct log *log);

#endif
