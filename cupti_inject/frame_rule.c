// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_rule.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "marker.h"
#include "stack_memory.h"

/* The number that libunwind's descriptors get at least, if the process may have it */
#define LOWEST_FD 100
/* Words of tables read for a rule: a CIE and an FDE of any real function are less. */
#define MAX_TABLE_READS 100000

#define TEXT_(text)	text
#define TEXT(text)	TEXT_(#text)
#define EXPAND(text)	TEXT(text)
#define LIBUNWIND_HOST	"libunwind-" EXPAND(UNW_TARGET) ".so.8"
#define UNWIND_NAME(fn) "_U" EXPAND(UNW_TARGET) "_" fn

/* libunwind's numbers of our registers */
static const unw_regnum_t register_numbers[FRAME_NR_REGISTERS] = {
	[FRAME_SP] = UNW_TDEP_SP,
#if defined(__x86_64__)
	[FRAME_FP] = UNW_X86_64_RBP,	    [FRAME_OTHER] = UNW_X86_64_RBX,
	[FRAME_OTHER + 1] = UNW_X86_64_R12, [FRAME_OTHER + 2] = UNW_X86_64_R13,
	[FRAME_OTHER + 3] = UNW_X86_64_R14, [FRAME_OTHER + 4] = UNW_X86_64_R15,
#elif defined(__aarch64__)
	[FRAME_FP] = UNW_AARCH64_X29,
	[FRAME_OTHER] = UNW_AARCH64_X19,
#endif
};

static struct {
	unw_addr_space_t (*create_addr_space)(unw_accessors_t *, int);
	int (*init_remote)(unw_cursor_t *, unw_addr_space_t, void *);
	int (*step)(unw_cursor_t *);
	int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
	int (*search_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
			    unw_proc_info_t *, int, void *);
	unw_addr_space_t space;
} libunwind;

#if __GLIBC_PREREQ(2, 35)
/* Not linked, so that the library can be loaded with an older glibc, too */
static int (*find_object)(void *address, struct dl_find_object *ret);
#endif

/* ---- labels ---- */

/*
 * A label is a value that no process has, and says what it was made of:
 *
 *   63    62       61..56        55..0
 *   ┌──────┬────────┬─────────────┬──────────────────────────────────────────┐
 *   │ word │ second │ register +1 │ MIDDLE + offset                          │
 *   └──────┴────────┴─────────────┴──────────────────────────────────────────┘
 *   word    no: register + offset. Yes: the word at register + offset, whose offset
 *           is multiplied by WORD_SCALE, so that what is added to it can be told
 *   second  the word at an address that was such a word, plus an offset
 */
#define LABEL_WORD   (1ull << 63)
#define LABEL_SECOND (1ull << 62)
#define MIDDLE	     (1ull << 55)
#define WORD_SCALE   65536

struct label {
	bool is_word, is_second;
	unsigned int reg; /* enum frame_register; FRAME_NR_REGISTERS: another */
	int64_t offset;
};

static uint64_t label__of_register(unsigned int reg)
{
	return (uint64_t)(reg + 1) << 56 | MIDDLE;
}

static bool label__parse(uint64_t value, struct label *ret)
{
	unsigned int reg = (unsigned int)(value >> 56) & 0x3f;

	if (!reg || reg > FRAME_NR_REGISTERS + 1)
		return false;
	*ret = (struct label){
		.is_word = value & LABEL_WORD,
		.is_second = value & LABEL_SECOND,
		.reg = reg - 1,
		.offset = (int64_t)(value & ((1ull << 56) - 1)) - (int64_t)MIDDLE,
	};
	return true;
}

/* What is at an address that is a label. */
static bool label__read(uint64_t address, uint64_t *ret)
{
	struct label label;

	if (!label__parse(address, &label) || label.is_second)
		return false;
	if (label.is_word) {
		*ret = address | LABEL_SECOND;
		return true;
	}
	if (label.offset > INT32_MAX || label.offset < INT32_MIN)
		return false;
	*ret = (label__of_register(label.reg) + (uint64_t)(label.offset * WORD_SCALE)) |
	       LABEL_WORD;
	return true;
}

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
	/* An aligned word that a segment ends in is in its last page all the same. */
	if (address & 7 || !learning__has(learning, address, 1) ||
	    ++learning->nr_reads > MAX_TABLE_READS)
		return -UNW_EINVAL;
	memcpy(value, (const void *)(uintptr_t)address, sizeof(*value));
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
	if (number == UNW_TDEP_IP) {
		*value = learning->pc;
		return 0;
	}
	while (reg < FRAME_NR_REGISTERS && register_numbers[reg] != number)
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

/* ---- from a step to a rule ---- */

/*
 * Where a word is that was read in a step: an offset in words, and from what.
 * CFA is the label that the CFA has.
 */
static bool parse_place(uint64_t value, uint64_t cfa, unsigned int *ret_base,
			int16_t *ret_offset)
{
	struct label word, base;
	int64_t bytes;

	if (!label__parse(value, &word) || !label__parse(cfa, &base) || !word.is_word)
		return false;
	if (word.is_second) {
		if (!base.is_word || word.reg != base.reg)
			return false;
		bytes = word.offset - base.offset;
		*ret_base = FRAME_FROM_CFA;
	} else {
		if (word.offset % WORD_SCALE)
			return false;
		bytes = word.offset / WORD_SCALE;
		if (!base.is_word && word.reg == base.reg) {
			bytes -= base.offset;
			*ret_base = FRAME_FROM_CFA;
		} else if (word.reg == FRAME_SP) {
			*ret_base = FRAME_FROM_SP;
		} else if (word.reg == FRAME_FP) {
			*ret_base = FRAME_FROM_FP;
		} else {
			return false;
		}
	}
	if (bytes % 8 || bytes / 8 <= INT16_MIN || bytes / 8 > INT16_MAX)
		return false;
	*ret_offset = (int16_t)(bytes / 8);
	return true;
}

static bool parse_cfa(uint64_t value, struct frame_rule *rule)
{
	struct label cfa;
	int64_t offset;

	if (!label__parse(value, &cfa) || cfa.is_second || cfa.reg >= FRAME_NR_REGISTERS)
		return false;
	offset = cfa.offset;
	if (cfa.is_word) {
		/* Something was added to the word: no compiler does that. */
		if (offset % WORD_SCALE)
			return false;
		offset /= WORD_SCALE;
	}
	if (offset < INT32_MIN || offset > INT32_MAX)
		return false;
	rule->head.cfa_register = cfa.reg & 0xf;
	rule->head.is_cfa_indirect = cfa.is_word;
	rule->head.cfa_offset = (int32_t)offset;
	return true;
}

/* What became of a register that functions save for their callers */
static bool parse_saved(unsigned int reg, uint64_t value, uint64_t cfa,
			struct frame_rule *rule, bool *has_base)
{
	int16_t *saved = reg == FRAME_FP ? &rule->head.saved_fp
					 : &rule->saved_others[reg - FRAME_OTHER];
	unsigned int base;

	*saved = FRAME_SAME;
	if (value == label__of_register(reg))
		return true;
	if (!parse_place(value, cfa, &base, saved))
		return false;
	if (*has_base && base != rule->saved_base)
		return false;
	rule->saved_base = (uint8_t)base;
	*has_base = true;
	return true;
}

/* The cursor has made a step. Returns false if no rule can say what it was. */
static bool parse_step(unw_cursor_t *cursor, struct frame_rule *rule)
{
	unw_word_t cfa, value;
	bool has_base = false;
	unsigned int base;

	if (libunwind.get_reg(cursor, UNW_TDEP_SP, &cfa) || !parse_cfa(cfa, rule) ||
	    libunwind.get_reg(cursor, UNW_TDEP_IP, &value) ||
	    !parse_place(value, cfa, &base, &rule->return_offset))
		return false;
	rule->return_base = (uint8_t)base;
	/* A call leaves it below the CFA; who was interrupted had no call. */
	rule->head.is_interrupted = base == FRAME_FROM_SP;
	for (unsigned int reg = FRAME_FP; reg < FRAME_NR_REGISTERS; reg++) {
		/* One that has no value any more is as good as unchanged. */
		if (libunwind.get_reg(cursor, register_numbers[reg], &value))
			value = label__of_register(reg);
		if (!parse_saved(reg, value, cfa, rule, &has_base))
			return false;
	}
	rule->head.is_plain =
		rule->head.cfa_register < FRAME_OTHER && !rule->head.is_cfa_indirect &&
		rule->return_base == FRAME_FROM_CFA && rule->return_offset == -1 &&
		(rule->head.saved_fp == FRAME_SAME || rule->saved_base == FRAME_FROM_CFA);
	return true;
}

static void learning__step(struct learning *learning)
{
	struct frame_rule *rule = learning->rule;
	unw_cursor_t cursor;
	int ret;

	if (libunwind.init_remote(&cursor, libunwind.space, learning))
		return;
	ret = libunwind.step(&cursor);
	/* Without an entry it has guessed, by what it would find on a stack. */
	if (!learning->has_entry)
		return;
	if (!ret)
		rule->head.kind = FRAME_END;
	else if (ret > 0 && parse_step(&cursor, rule))
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

/*
 * Do the bytes before END end in a call instruction?
 *
 *   x86-64   e8 and 4 bytes, or ff /2 with the bytes its ModRM byte asks for
 *   arm64    bl, blr
 */
static bool ends_in_call(const unsigned char *end)
{
#if defined(__x86_64__)
	if (end[-5] == 0xe8)
		return true;
	for (int length = 2; length <= 7; length++) {
		const unsigned char *instruction = end - length;
		unsigned int mod = instruction[1] >> 6, rm = instruction[1] & 7;
		bool has_sib = mod != 3 && rm == 4;
		int wanted = 2 + has_sib;

		if (instruction[0] != 0xff || (instruction[1] & 0x38) != 0x10)
			continue;
		if (mod == 1)
			wanted += 1;
		else if (mod == 2 || (!mod && rm == 5) ||
			 (!mod && has_sib && (instruction[2] & 7) == 5))
			wanted += 4;
		if (wanted == length)
			return true;
	}
	return false;
#elif defined(__aarch64__)
	uint32_t instruction;

	memcpy(&instruction, end - 4, sizeof(instruction));
	return (instruction & 0xfc000000) == 0x94000000 ||
	       (instruction & 0xfffffc1f) == 0xd63f0000;
#endif
}

#define CALL_BYTES 8 /* that ends_in_call() may look at */

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
	if (learning__has(learning, learning->pc + 1 - CALL_BYTES, CALL_BYTES))
		learning->rule->head.is_after_call = ends_in_call(
			(const unsigned char *)(uintptr_t)(learning->pc + 1));
	learning->table.start_ip = info->dlpi_addr + phdr->p_vaddr;
	learning->table.end_ip = learning->table.start_ip + phdr->p_memsz;
	if (learning__find_table(learning))
		learning__step(learning);
	return 1;
}

/*
 * CPython 3.12 calls each function of Python's from a copy of these few instructions, if
 * it was asked to (PYTHONPERFSUPPORT). They have no frame pointer, as those of 3.13 and
 * on arm64 do, and no table.
 */
static void learn_trampoline(uint64_t pc, struct frame_rule *rule)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
		0xff, 0xd1, /* call *%rcx */
		0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
		0xc3, /* ret */
	};
	const uint64_t start = pc - 5;

	for (size_t i = 0; i < sizeof(code); i += sizeof(uint64_t)) {
		if (!stack_memory__is_readable((start + i) & ~7ull))
			return;
	}
	if (!stack_memory__is_readable((start + sizeof(code) - 1) & ~7ull) ||
	    memcmp((const void *)(uintptr_t)start, code, sizeof(code)))
		return;
	rule->head.kind = FRAME_TABLE;
	rule->head.cfa_register = FRAME_SP;
	rule->head.cfa_offset = 16;
	rule->head.saved_fp = FRAME_SAME;
	rule->head.is_plain = true;
	rule->return_base = FRAME_FROM_CFA;
	rule->return_offset = -1;
	for (size_t i = 0; i < sizeof(rule->saved_others) / sizeof(*rule->saved_others);
	     i++)
		rule->saved_others[i] = FRAME_SAME;
#else
	(void)pc;
	(void)rule;
#endif
}

/* What isn't in a file that was loaded may be code that was compiled at run time. */
static void learn_from_memory(uint64_t pc, struct frame_rule *rule)
{
	uint64_t first = (pc + 1 - CALL_BYTES) & ~7ull;

	if (pc < CALL_BYTES || !stack_memory__is_readable(first) ||
	    !stack_memory__is_readable(pc & ~7ull))
		return;
	rule->head.kind = FRAME_CHAIN;
	rule->head.is_after_call =
		ends_in_call((const unsigned char *)(uintptr_t)(pc + 1));
	learn_trampoline(pc, rule);
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

/* dlopen() of NAME in the folder of this library, or else anywhere */
static void *open_library(const char *name)
{
	const char *slash = NULL;
	void *handle = NULL;
	Dl_info info;
	char *path;

	if (dladdr((const void *)(uintptr_t)perf_gpu_launch, &info) && info.dli_fname)
		slash = strrchr(info.dli_fname, '/');
	if (slash && asprintf(&path, "%.*s/%s", (int)(slash - info.dli_fname),
			      info.dli_fname, name) >= 0) {
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		free(path);
	}
	return handle ? handle : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static int resolve(void *handle)
{
	const struct {
		const char *name;
		void *ret;
	} functions[] = {
		{UNWIND_NAME("create_addr_space"), &libunwind.create_addr_space},
		{UNWIND_NAME("init_remote"), &libunwind.init_remote},
		{UNWIND_NAME("step"), &libunwind.step},
		{UNWIND_NAME("get_reg"), &libunwind.get_reg},
		{UNWIND_NAME("dwarf_search_unwind_table"), &libunwind.search_table},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return -ENOENT;
		memcpy(functions[i].ret, &function, sizeof(function));
	}
	return 0;
}

/*
 * libunwind opens a pipe when it is first used, to test addresses with, and we don't
 * let it test any. It would stay at the lowest numbers, which a program may count on,
 * so these are all taken meanwhile.
 */
static void start_libunwind(void)
{
	struct learning nothing = {};
	int taken[LOWEST_FD], nr_taken = 0;
	unw_cursor_t cursor;
	int fd;

	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd < LOWEST_FD) {
		taken[nr_taken++] = fd;
		fd = fcntl(taken[0], F_DUPFD_CLOEXEC, 0);
	}
	if (fd >= 0)
		close(fd);
	libunwind.init_remote(&cursor, libunwind.space, &nothing);
	while (nr_taken > 0)
		close(taken[--nr_taken]);
}

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
	void *handle;
	int err;

	/* The one for any stack needs the one for the own stack. */
	if (!open_library("libunwind.so.8"))
		return -ENOENT;
	handle = open_library(LIBUNWIND_HOST);
	if (!handle)
		return -ENOENT;
	err = resolve(handle);
	if (err)
		return err;
	/* Without caches of libunwind's, which aren't told of closed libraries */
	libunwind.space = libunwind.create_addr_space(&accessors, 0);
	if (!libunwind.space)
		return -ENOENT;
#if __GLIBC_PREREQ(2, 35)
	find_object = (int (*)(void *, struct dl_find_object *))(
		uintptr_t)dlsym(RTLD_DEFAULT, "_dl_find_object");
#endif
	start_libunwind();
	return 0;
}
