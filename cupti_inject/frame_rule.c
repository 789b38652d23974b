// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_rule.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "cfi_program.h"
#include "frame_label.h"
#include "frame_step.h"
#include "stack_memory.h"
#include "unwind_library.h"

/* Words of tables read for a rule: a CIE and an FDE of any real function are less. */
#define MAX_TABLE_READS 100000

static struct unwind_library libunwind;
static unw_addr_space_t libunwind_space;

#if __GLIBC_PREREQ(2, 35)
/* Not linked, so that the library can be loaded with an older glibc, too */
static int (*find_object)(void *address, struct dl_find_object *ret);
#endif

/* ---- what libunwind is given ---- */

struct learning {
	uint64_t pc;
	struct frame_rule *rule;
	bool has_start; /* only an object that is mapped from start on is looked at */
	uint64_t start;
	/* the object that pc is in, and its tables; valid in dl_iterate_phdr() only */
	const struct dl_phdr_info *object;
	const ElfW(Phdr) * segment; /* last read from */
	unsigned int nr_reads;
	unw_dyn_info_t table;
	bool has_entry; /* the table has one for pc */
	struct cfi_program program; /* of that entry */
};

static bool segment__has(const struct learning *learning, const ElfW(Phdr) * phdr,
			 uint64_t address, uint64_t bytes)
{
	uint64_t start = learning->object->dlpi_addr + phdr->p_vaddr;

	return phdr->p_type == PT_LOAD && phdr->p_flags & PF_R && address >= start &&
	       address - start <= phdr->p_memsz &&
	       bytes <= phdr->p_memsz - (address - start);
}

/* Is an address in what the dynamic linker has mapped of the object? */
static bool learning__has(struct learning *learning, uint64_t address, uint64_t bytes)
{
	const struct dl_phdr_info *object = learning->object;

	if (learning->segment &&
	    segment__has(learning, learning->segment, address, bytes))
		return true;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		if (segment__has(learning, &object->dlpi_phdr[i], address, bytes)) {
			learning->segment = &object->dlpi_phdr[i];
			return true;
		}
	}
	return false;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value,
		      int is_write, void *data)
{
	struct learning *learning = data;

	(void)space;
	if (is_write)
		return -UNW_EINVAL;
	if (label__read(address, value))
		return 0;
	if (ARCH_READS_CODE && address == learning->pc) {
		*value = 0;
		return 0;
	}
	/* An aligned word that a segment ends in is in its last page all the same. */
	if (address & 7 || !learning__has(learning, address, 1) ||
	    ++learning->nr_reads > MAX_TABLE_READS)
		return -UNW_EINVAL;
	memcpy(value, (const void *)(uintptr_t)address, sizeof(*value));
	if (ARCH_SIGNS_RETURNS)
		*value = cfi_program__hide(&learning->program, address, *value);
	return 0;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
		      int is_write, void *data)
{
	struct learning *learning = data;
	unsigned int reg = 0;

	(void)space;
	if (is_write)
		return -UNW_EREADONLYREG;
	if (number == ARCH_UNW_PC) {
		*value = learning->pc;
		return 0;
	}
	while (reg < FRAME_NR_REGISTERS && frame_step_registers[reg] != number)
		reg++;
	*value = label__of_register(reg);
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value,
			int is_write, void *data)
{
	(void)space;
	(void)number;
	(void)value;
	(void)is_write;
	(void)data;
	return -UNW_EBADREG;
}

/*
 * libunwind's own description of an entry begins with these, in all versions that there
 * are with this soname; they are believed only if they lie in the object.
 */
struct entry_info {
	unw_word_t cie_start, cie_end; /* its instructions */
	unw_word_t fde_start, fde_end;
};

static void learning__scan_program(struct learning *learning, const unw_proc_info_t *info)
{
	const struct entry_info *entry = info->unwind_info;

	if (info->format == UNW_INFO_FORMAT_TABLE && entry &&
	    entry->fde_start <= entry->fde_end &&
	    learning__has(learning, entry->fde_start, entry->fde_end - entry->fde_start))
		cfi_program__scan(&learning->program, entry->fde_start,
				  entry->fde_end - entry->fde_start);
}

static int find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *info,
			  int need_unwind_info, void *data)
{
	struct learning *learning = data;
	int ret;

	if (pc < learning->table.start_ip || pc >= learning->table.end_ip)
		return -UNW_ENOINFO;
	ret = libunwind.search_table(space, pc, &learning->table, info, need_unwind_info,
				     data);
	learning->has_entry = ret >= 0;
	if (ARCH_SIGNS_RETURNS && ret >= 0 && need_unwind_info)
		learning__scan_program(learning, info);
	return ret;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *data)
{
	(void)space;
	(void)info;
	(void)data;
}

static int get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *address, void *data)
{
	(void)space;
	(void)address;
	(void)data;
	return -UNW_ENOINFO;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *data)
{
	(void)space;
	(void)cursor;
	(void)data;
	return -UNW_EINVAL;
}

/* ---- a step ---- */

static void learning__step(struct learning *learning)
{
	struct frame_rule *rule = learning->rule;
	unw_cursor_t cursor;
	int ret;

	if (libunwind.init_remote(&cursor, libunwind_space, learning))
		return;
	ret = libunwind.step(&cursor);
	/* Without an entry it has guessed, by what it would find on a stack. */
	if (!learning->has_entry)
		return;
	if (!ret)
		rule->head.kind = FRAME_END;
	else if (ret > 0 &&
		 frame_step__rule(&libunwind, &cursor, learning->program.is_plain, rule))
		rule->head.kind = FRAME_TABLE;
}

/* ---- finding the tables ---- */

/*
 * .eh_frame_hdr: its place is in the program headers. Only in the form that linkers
 * write, with a table that can be searched:
 *
 *   u8 version = 1, u8 encodings[3], s32 eh_frame, u32 nr_entries,
 *   { s32 start, s32 fde } entries[], from the section's own address
 */
#define EH_FRAME_HDR_BYTES   12
#define EH_PE_PCREL_SDATA4   0x1b
#define EH_PE_UDATA4	     0x03
#define EH_PE_DATAREL_SDATA4 0x3b

static bool learning__find_table(struct learning *learning)
{
	const struct dl_phdr_info *object = learning->object;
	const ElfW(Phdr) *phdr = NULL;
	unsigned char header[EH_FRAME_HDR_BYTES];
	uint64_t address;
	uint32_t nr_entries;

	for (int i = 0; i < object->dlpi_phnum && !phdr; i++) {
		if (object->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			phdr = &object->dlpi_phdr[i];
	}
	if (!phdr)
		return false;
	address = object->dlpi_addr + phdr->p_vaddr;
	if (!learning__has(learning, address, sizeof(header)))
		return false;
	memcpy(header, (const void *)(uintptr_t)address, sizeof(header));
	memcpy(&nr_entries, header + 8, sizeof(nr_entries));
	if (header[0] != 1 || header[1] != EH_PE_PCREL_SDATA4 ||
	    header[2] != EH_PE_UDATA4 || header[3] != EH_PE_DATAREL_SDATA4 ||
	    !learning__has(learning, address, sizeof(header) + nr_entries * 8ull))
		return false;
	learning->table.u.rti.segbase = address;
	learning->table.u.rti.table_data = address + sizeof(header);
	learning->table.u.rti.table_len = nr_entries; /* of 8 bytes, as words */
	learning->table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	return true;
}

static bool is_in_object(uint64_t address, uint64_t bytes, void *data)
{
	return learning__has(data, address, bytes);
}

static bool is_in_memory(uint64_t address, uint64_t bytes, void *data)
{
	(void)data;
	if (address + bytes < address)
		return false;
	for (uint64_t word = address & ~7ull; word < address + bytes; word += 8) {
		if (!stack_memory__is_readable(word))
			return false;
	}
	return true;
}

/* dl_iterate_phdr(): while it runs, the object can't be closed. */
static int learn_from_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct learning *learning = data;
	const ElfW(Phdr) * phdr;

	(void)size;
	if (learning->has_start && info->dlpi_addr != learning->start)
		return 0;
	learning->object = info;
	learning->segment = NULL;
	if (!learning__has(learning, learning->pc, 1))
		return 0;
	phdr = learning->segment;
	learning->rule->head.kind = FRAME_CHAIN;
	if (arch__learn_code(learning->pc, is_in_object, learning, learning->rule))
		return 1;
	if (learning__has(learning, learning->pc + 1 - ARCH_CALL_BYTES, ARCH_CALL_BYTES))
		learning->rule->head.is_after_call = arch__ends_in_call(
			(const unsigned char *)(uintptr_t)(learning->pc + 1));
	learning->table.start_ip = info->dlpi_addr + phdr->p_vaddr;
	learning->table.end_ip = learning->table.start_ip + phdr->p_memsz;
	if (learning__find_table(learning))
		learning__step(learning);
	return 1;
}

/* What isn't in a file that was loaded may be code that was compiled at run time. */
static void learn_from_memory(uint64_t pc, struct frame_rule *rule)
{
	if (arch__learn_code(pc, is_in_memory, NULL, rule) || pc < ARCH_CALL_BYTES ||
	    !is_in_memory(pc + 1 - ARCH_CALL_BYTES, ARCH_CALL_BYTES, NULL))
		return;
	rule->head.kind = FRAME_CHAIN;
	rule->head.is_after_call =
		arch__ends_in_call((const unsigned char *)(uintptr_t)(pc + 1));
}

/*
 * glibc 2.35 and newer know at once where the object that has an address is mapped, or
 * that there is none. That is to be found in the list all the same, under its lock,
 * but without a look at the program headers of 500 others: a fourth of the time.
 *
 * Returns false if there is none.
 */
static bool find_object_start(uint64_t pc, struct learning *learning)
{
#if __GLIBC_PREREQ(2, 35)
	struct dl_find_object object;

	if (!find_object)
		return true;
	if (find_object((void *)(uintptr_t)pc, &object))
		return false;
	learning->has_start = true;
	learning->start = (uintptr_t)object.dlfo_map_start;
#else
	(void)pc;
	(void)learning;
#endif
	return true;
}

/* Files that aren't linked to start at 0, as are programs at fixed addresses */
static bool learn_from_any_object(struct learning *learning)
{
	if (!learning->has_start)
		return false;
	learning->has_start = false;
	return dl_iterate_phdr(learn_from_object, learning);
}

void frame_rule__learn(uint64_t pc, struct frame_rule *ret)
{
	struct learning learning = {.pc = pc, .rule = ret};

	*ret = (struct frame_rule){.head = {.kind = FRAME_NONE}};
	if (!find_object_start(pc, &learning) ||
	    (!dl_iterate_phdr(learn_from_object, &learning) &&
	     !learn_from_any_object(&learning)))
		learn_from_memory(pc, ret);
}

/* ---- opening libunwind ---- */

int frame_rule__open(void)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
	};
	struct learning nothing = {};
	int err;

	err = unwind_library__open(&libunwind);
	if (err)
		return err;
	/* Without caches of libunwind's, which aren't told of closed libraries */
	libunwind_space = libunwind.create_addr_space(&accessors, 0);
	if (!libunwind_space)
		return -ENOENT;
#if __GLIBC_PREREQ(2, 35)
	find_object = (int (*)(void *, struct dl_find_object *))(
		uintptr_t)dlsym(RTLD_DEFAULT, "_dl_find_object");
#endif
	unwind_library__start(&libunwind, libunwind_space, &nothing);
	return 0;
}
