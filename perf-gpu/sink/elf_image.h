/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file of functions that have a name and no code. Stateless; any thread. */
#ifndef PERF_GPU_SINK_ELF_IMAGE_H
#define PERF_GPU_SINK_ELF_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "util/arch.h"

#define ELF_IMAGE_TEXT_OFFSET	 0x1000 /* in the file: where function 0 is */
#define ELF_IMAGE_SYMBOL_BYTES	 64 /* from one function to the next */
#define ELF_IMAGE_BUILD_ID_BYTES 20

/**
 * elf_image__write - write such a file
 * @fd:    an empty file
 * @arch:  whose code it says it is
 * @names: of the functions, in the order of their addresses
 * @ret_build_id: depends on the names and their order alone; written on success
 *
 * Return: 0 or a negative errno, not printed: of write(2), -ENOMEM, -E2BIG for
 * 4 GiB of names.
 */
int elf_image__write(int fd, const struct arch *arch, const char *const *names,
		     size_t nr_names, uint8_t ret_build_id[ELF_IMAGE_BUILD_ID_BYTES]);

#endif
