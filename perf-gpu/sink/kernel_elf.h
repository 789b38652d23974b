/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file whose functions are the frames that are no code in memory: kernels,
 * API functions, [unattributed]. Mapped into every process of a perf.data, it makes
 * all readers of it show their names. One thread.
 */
#ifndef PERF_GPU_SINK_KERNEL_ELF_H
#define PERF_GPU_SINK_KERNEL_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "sink/elf_image.h"

struct kernel_elf;

/*
 * What the mapping looks like. The address is no canonical one, so nothing of the
 * process is there. The length is said before it is known how many names there
 * will be: it is room for 16 million.
 */
#define KERNEL_ELF_MAP_ADDRESS 0x0100000000000000ull
#define KERNEL_ELF_MAP_BYTES   (1ull << 30)
#define KERNEL_ELF_MAP_OFFSET  ELF_IMAGE_TEXT_OFFSET

/**
 * kernel_elf__new - begin the file DIRECTORY/[GPU_Kernel]
 * @directory: made if it isn't there
 * @ret:       released by kernel_elf__delete(); written on success only
 *
 * A file that is there stays as it is up to kernel_elf__commit().
 *
 * Return: 0 or a negative errno, printed.
 */
int kernel_elf__new(const char *directory, struct kernel_elf **ret);

/* Where the file will be: absolute, without symbolic links. */
const char *kernel_elf__path(const struct kernel_elf *elf);

/**
 * kernel_elf__address - where a name is in the mapping
 * @name: the same text has the same address; copied
 * @ret:  within the function, neither at its start nor at its end, so that
 *        readers that look one byte before an address find it, too
 *
 * Return: 0, -ENOMEM, -E2BIG if the mapping is full; printed.
 */
int kernel_elf__address(struct kernel_elf *elf, const char *name, uint64_t *ret);

/**
 * kernel_elf__write - write the file, under a temporary name
 * @arch: of the recording: readers take all files of a process for one machine's
 * @ret_build_id: depends on the names and their order alone
 *
 * Return: 0 or a negative errno, printed.
 */
int kernel_elf__write(struct kernel_elf *elf, const struct arch *arch,
		      uint8_t ret_build_id[ELF_IMAGE_BUILD_ID_BYTES]);

/* Give the file its name, after kernel_elf__write(). 0 or -errno, printed. */
int kernel_elf__commit(struct kernel_elf *elf);
/* Undo that: what had the name has it again. */
void kernel_elf__take_back(struct kernel_elf *elf);

/* Release; without commit, remove what was made. NULL is fine. */
void kernel_elf__delete(struct kernel_elf *elf);

#endif
