/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What starters of processes call their numbers: torchrun, Open MPI, MPICH and what descends
 * from it, PMIx, Slurm. The one that is nearest to the process comes first: srun may start
 * mpirun, and that torchrun.
 */
#ifndef PERF_GPU_INJECT_RANK_VARIABLES_H
#define PERF_GPU_INJECT_RANK_VARIABLES_H

/* Environment variables; NULL: it has none such */
struct rank_variables {
	const char *rank, *local_rank, *nr_ranks;
};

static const struct rank_variables rank_variables[] = {
	{"RANK", "LOCAL_RANK", "WORLD_SIZE"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
	{"PMIX_RANK", "MPI_LOCALRANKID", NULL},
	{"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
};

#define NR_RANK_VARIABLES (sizeof(rank_variables) / sizeof(*rank_variables))

#endif
