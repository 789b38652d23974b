// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files are told to libdwfl when a stack goes through them, not all at once: of
 * the 500 libraries of a Python process, stacks touch 20, and each one is an open
 * file.
 *
 * libdwfl takes a module's lowest address for that of the file's first segment, which
 * is where the unwind tables count from. The map with code tells it: the offset in
 * the file that is mapped at an address, and the address that the file has for
 * the offset.
 *
 * Invariant: no two modules overlap. Nobody tells what a process unmaps, so where they
 * would, the older one is gone.
 */
#include "unwind/modules.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>

#include "symbol/dso.h"
#include "unwind/tables.h"

/* libdwfl may close what it gets, so it gets one reference more. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name,
		    Dwarf_Addr base, char **ret_name, Elf **ret_elf)
{
	(void)module;
	(void)name;
	(void)base;
	(void)ret_name;
	*ret_elf = elf_begin(-1, ELF_C_READ_MMAP_PRIVATE, *userdata);
	return -1;
}

/* Unwind tables are in the file itself; a debug file is a gigabyte to read. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			  Dwarf_Addr base, const char *path, const char *link,
			  GElf_Word crc, char **ret_name)
{
	(void)module;
	(void)userdata;
	(void)name;
	(void)base;
	(void)path;
	(void)link;
	(void)crc;
	(void)ret_name;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
};

int modules__init(struct modules *modules, const struct machine *machine, uint32_t pid,
		  uint16_t elf_machine)
{
	*modules = (struct modules){
		.machine = machine,
		.pid = pid,
		.elf_machine = elf_machine,
		.dwfl = dwfl_begin(&callbacks),
	};
	return modules->dwfl ? 0 : -ENOMEM;
}

void modules__release(struct modules *modules)
{
	if (modules->dwfl)
		dwfl_end(modules->dwfl);
	free(modules->entries);
}

/* Tell libdwfl of all of them; those that it had keep what it read. */
static int modules__report(struct modules *modules)
{
	int err = 0;

	dwfl_report_begin(modules->dwfl);
	for (size_t i = 0; i < modules->nr; i++) {
		struct module *module = &modules->entries[i];
		void **userdata;

		module->reported = dwfl_report_module(
			modules->dwfl, dso__path(module->dso), module->low, module->high);
		if (!module->reported) {
			err = -ENOMEM;
			break;
		}
		dwfl_module_info(module->reported, &userdata, NULL, NULL, NULL, NULL,
				 NULL, NULL);
		*userdata = module->elf;
	}
	dwfl_report_end(modules->dwfl, NULL, NULL);
	return err;
}

static bool module__is_mapped(const struct module *module, const struct modules *modules)
{
	const struct map *map =
		machine__find_map(modules->machine, modules->pid, module->start);

	return map && map->dso == module->dso && map->start == module->start &&
	       map->end == module->high;
}

int modules__refresh(struct modules *modules)
{
	uint64_t nr_map_changes = machine__nr_map_changes(modules->machine);
	size_t nr = 0;

	if (modules->nr_map_changes == nr_map_changes)
		return 0;
	modules->nr_map_changes = nr_map_changes;
	for (size_t i = 0; i < modules->nr; i++) {
		if (module__is_mapped(&modules->entries[i], modules))
			modules->entries[nr++] = modules->entries[i];
	}
	if (nr == modules->nr)
		return 0;
	modules->nr = nr;
	return modules__report(modules);
}

/* A file made by `objcopy --only-keep-debug` has the headers of code, but none. */
static bool has_code(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR &&
		    header.sh_type == SHT_NOBITS)
			return false;
	}
	return true;
}

/* Where the file has its first segment, as libdwfl counts. */
static int first_address(Elf *elf, uint64_t *ret)
{
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		return -ENOENT;
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		*ret = header.p_vaddr & -header.p_align;
		return 0;
	}
	return -ENOENT;
}

static int modules__make(const struct modules *modules, const struct map *map,
			 uint64_t address, struct module *ret)
{
	struct module module = {.high = map->end, .start = map->start, .dso = map->dso};
	uint64_t in_file, first;
	GElf_Ehdr header;

	module.elf = dso__elf(map->dso);
	if (!module.elf || !gelf_getehdr(module.elf, &header) ||
	    header.e_machine != modules->elf_machine || !has_code(module.elf) ||
	    dso__address(map->dso, address - map->start + map->pgoff, &in_file) ||
	    first_address(module.elf, &first) || first > in_file ||
	    in_file - first > address)
		return -ENOENT;
	module.low = address - (in_file - first);
	if (module.low > map->start)
		return -ENOENT;
	*ret = module;
	return 0;
}

static int modules__reserve(struct modules *modules)
{
	size_t nr = modules->nr_allocated ? 2 * modules->nr_allocated : 16;
	struct module *entries;

	if (modules->nr < modules->nr_allocated)
		return 0;
	entries = reallocarray(modules->entries, nr, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	modules->entries = entries;
	modules->nr_allocated = nr;
	return 0;
}

static bool module__has_tables(const struct module *module)
{
	Dwarf_Addr bias;

	return dwfl_module_eh_cfi(module->reported, &bias) ||
	       dwfl_module_dwarf_cfi(module->reported, &bias);
}

int modules__add(struct modules *modules, uint64_t address)
{
	const struct map *map =
		machine__find_map(modules->machine, modules->pid, address);
	struct module new;
	size_t nr = 0;
	int err;

	if (!map)
		return -ENOENT;
	for (size_t i = 0; i < modules->nr; i++) {
		if (modules->entries[i].start == map->start)
			return modules->entries[i].has_tables ? 0 : -ENOENT;
	}
	err = modules__make(modules, map, address, &new);
	if (!err)
		err = modules__reserve(modules);
	if (err)
		return err;
	for (size_t i = 0; i < modules->nr; i++) {
		const struct module *old = &modules->entries[i];

		if (old->high <= new.low || old->low >= new.high)
			modules->entries[nr++] = *old;
	}
	modules->entries[nr++] = new;
	modules->nr = nr;
	err = modules__report(modules);
	if (err)
		return err;
	modules->entries[nr - 1].has_tables =
		tables__are_bounded(new.elf) &&
		module__has_tables(&modules->entries[nr - 1]);
	return modules->entries[nr - 1].has_tables ? 0 : -ENOENT;
}
