// SPDX-License-Identifier: GPL-2.0-or-later
/* Which of a job's processes this is: rank.c */
#include "unit.h"

#include "rank.h"

/* NAME, VALUE, ..., NULL: what lookup() finds */
static const char *const *variables;

static const char *lookup(const char *name)
{
	for (const char *const *it = variables; *it; it += 2)
		if (!strcmp(*it, name))
			return it[1];
	return NULL;
}

#define READ(ret, ...)                                             \
	(variables = (const char *const[]){__VA_ARGS__, NULL},     \
	 *(ret) = (struct gpu_log_rank){.rank = 99, .source = 99}, \
	 rank__read(lookup, ret))

static void expect(const char *source, const struct gpu_log_rank *rank, uint32_t number,
		   uint32_t local, uint32_t nr)
{
	CHECK(source);
	CHECK_EQ(rank->rank, number);
	CHECK_EQ(rank->local_rank, local);
	CHECK_EQ(rank->nr_ranks, nr);
}

TEST(torchrun)
{
	struct gpu_log_rank rank;
	const char *source =
		READ(&rank, "RANK", "5", "LOCAL_RANK", "1", "WORLD_SIZE", "8");

	expect(source, &rank, 5, 1, 8);
	CHECK_STR(source, "RANK");
	expect(READ(&rank, "RANK", "0"), &rank, 0, UINT32_MAX, 0);
}

TEST(mpi)
{
	struct gpu_log_rank rank;

	expect(READ(&rank, "OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_LOCAL_RANK", "2",
		    "OMPI_COMM_WORLD_SIZE", "4"),
	       &rank, 3, 2, 4);
	expect(READ(&rank, "PMI_RANK", "7", "MPI_LOCALRANKID", "3", "PMI_SIZE", "16"),
	       &rank, 7, 3, 16);
	expect(READ(&rank, "PMIX_RANK", "2", "MPI_LOCALRANKID", "0"), &rank, 2, 0, 0);
	expect(READ(&rank, "PMIX_RANK", "2"), &rank, 2, UINT32_MAX, 0);
}

TEST(slurm)
{
	struct gpu_log_rank rank;

	expect(READ(&rank, "SLURM_PROCID", "12", "SLURM_LOCALID", "4", "SLURM_NTASKS",
		    "32"),
	       &rank, 12, 4, 32);
}

TEST(who_starts_the_processes_comes_first)
{
	struct gpu_log_rank rank;

	/* srun torchrun: a task for each host */
	expect(READ(&rank, "SLURM_PROCID", "1", "SLURM_LOCALID", "0", "SLURM_NTASKS", "2",
		    "RANK", "11", "LOCAL_RANK", "3", "WORLD_SIZE", "16"),
	       &rank, 11, 3, 16);
	/* mpirun of Open MPI, which uses PMIx, in an sbatch script */
	expect(READ(&rank, "SLURM_PROCID", "0", "PMIX_RANK", "6", "OMPI_COMM_WORLD_RANK",
		    "5", "OMPI_COMM_WORLD_SIZE", "8"),
	       &rank, 5, UINT32_MAX, 8);
	/* The numbers of another starter are no company for a rank. */
	expect(READ(&rank, "LOCAL_RANK", "9", "SLURM_PROCID", "3"), &rank, 3, UINT32_MAX,
	       0);
}

TEST(what_is_no_number_is_no_rank)
{
	static const char *const bad[] = {"",	 "-1", "+1",	     " 1", "1 ",
					  "0x1", "a",  "4294967295", "1.0"};
	struct gpu_log_rank rank;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK(!READ(&rank, "RANK", bad[i], "LOCAL_RANK", "1"));
		CHECK_EQ(rank.rank, 99);
		expect(READ(&rank, "RANK", bad[i], "SLURM_PROCID", "1"), &rank, 1,
		       UINT32_MAX, 0);
		expect(READ(&rank, "RANK", "4294967294", "LOCAL_RANK", bad[i]), &rank,
		       4294967294, UINT32_MAX, 0);
	}
}
