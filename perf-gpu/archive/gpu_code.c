// SPDX-License-Identifier: GPL-2.0-or-later
#include "archive/gpu_code.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* __nv_relfatbin: of code that is linked on the device (nvcc -rdc) */
static bool is_gpu_code(const char *name)
{
	return name && (!strcmp(name, ".nv_fatbin") || !strcmp(name, "__nv_relfatbin"));
}

static int compare_ranges(const void *a, const void *b)
{
	const struct byte_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* False if it is no such section, or not one in the file. */
static bool read_section(Elf *elf, Elf_Scn *section, size_t names, size_t bytes,
			 struct byte_range *ret)
{
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    !is_gpu_code(elf_strptr(elf, names, header.sh_name)) ||
	    header.sh_offset > bytes || header.sh_size > bytes - header.sh_offset)
		return false;
	*ret = (struct byte_range){header.sh_offset, header.sh_offset + header.sh_size};
	return true;
}

/* Of those that overlap, one */
static size_t join(struct byte_range *ranges, size_t nr)
{
	size_t nr_joined = 0;

	qsort(ranges, nr, sizeof(*ranges), compare_ranges);
	for (size_t i = 0; i < nr; i++) {
		struct byte_range *last = nr_joined ? &ranges[nr_joined - 1] : NULL;

		if (!last || ranges[i].start > last->end)
			ranges[nr_joined++] = ranges[i];
		else if (ranges[i].end > last->end)
			last->end = ranges[i].end;
	}
	return nr_joined;
}

int gpu_code__find(Elf *elf, size_t bytes, struct byte_range **ret, size_t *ret_nr)
{
	struct byte_range *ranges;
	size_t nr_sections, names, nr = 0;
	Elf_Scn *section = NULL;

	*ret = NULL;
	*ret_nr = 0;
	if (elf_getshdrnum(elf, &nr_sections) || elf_getshdrstrndx(elf, &names) ||
	    !nr_sections)
		return 0;
	ranges = calloc(nr_sections, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	while (nr < nr_sections && (section = elf_nextscn(elf, section)))
		nr += read_section(elf, section, names, bytes, &ranges[nr]);
	*ret_nr = nr ? join(ranges, nr) : 0;
	*ret = ranges;
	return 0;
}
