/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What frames are called where they are shown, each name once, with a small number and
 * a class that viewers colour by:
 *
 *   code with a symbol          train_step, demangled, without parameters
 *   code without one            [libfoo.so], after its file; [unknown] without a file
 *   frames that are no code     as they are: cudaLaunchKernel, [GPU_Kernel]sgemm
 *
 * An address is looked up once per process, and again only where something else is mapped
 * by then: 10^7 samples with few distinct stacks cost few look-ups. Memory grows with
 * distinct addresses and names.
 *
 * One thread.
 */
#ifndef PERF_GPU_SINK_FRAME_NAMES_H
#define PERF_GPU_SINK_FRAME_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "sink/sink.h"
#include "symbol/dso.h"
#include "symbol/machine.h"

enum frame_class {
	FRAME_CLASS_NATIVE, /* code of the program's, a library's or a JIT compiler's */
	FRAME_CLASS_PYTHON,
	FRAME_CLASS_API, /* a function of CUDA's: cudaLaunchKernel */
	FRAME_CLASS_GPU, /* a leaf: what happened on, or was waited for from, the GPU */
	FRAME_CLASS_LABEL, /* [device 0], [CUDA graph], [unattributed], ... */
	FRAME_CLASS_ROOT, /* what the caller puts over stacks: a process, a thread */
	NR_FRAME_CLASSES,
};

/* Two that differ in any of text, file and class are two names. Never changed or moved. */
struct frame_name {
	const char *text; /* as it came from outside: may have any byte but NUL */
	/* Path of the code's file, or of a Python function's source; NULL: none known */
	const char *file;
	uint32_t id; /* 0, 1, 2, ... as they are first met */
	enum frame_class class;
};

/* Where an address is, and what is there */
struct code_place {
	const struct map *map; /* NULL: nothing is known to be mapped there */
	uint64_t offset; /* in the file; without a map, the address */
	const struct symbol *symbol; /* NULL: none */
	uint64_t address; /* of the symbol table; 0 without a map */
};

/* Look an address up, as the machine is now. */
struct code_place code_place__of(const struct machine *machine, uint32_t pid,
				 uint64_t ip);

struct frame_names;

/**
 * frame_names__new - without a name
 * @input: as in sink_ops.start(); machine and sidecar must outlive the names, and so must
 *         the texts of all frames that are asked for; sidecar may be NULL
 * @ret:   released by frame_names__delete(); written on success only
 *
 * Return: 0 or -ENOMEM, like all below that return an int.
 */
int frame_names__new(const struct sink_input *input, struct frame_names **ret);
void frame_names__delete(struct frame_names *names); /* NULL is fine */

/**
 * frame_names__of - the name of a frame
 * @sample: whose; the machine is as of this sample
 * @i:      index in sample->frames
 * @ret:    lives as long as @names
 */
int frame_names__of(struct frame_names *names, const struct gpu_sample *sample, size_t i,
		    const struct frame_name **ret);

/**
 * frame_names__get - the name of what is no frame of a sample's
 * @text, @file: copied; @file may be NULL
 */
int frame_names__get(struct frame_names *names, const char *text, const char *file,
		     enum frame_class class, const struct frame_name **ret);

/**
 * frame_names__comm - the name of a sample's thread, or ":TID", as perf has it
 */
int frame_names__comm(struct frame_names *names, const struct gpu_sample *sample,
		      const struct frame_name **ret);

/* How many there are, and the one with an id below that. */
size_t frame_names__nr(const struct frame_names *names);
const struct frame_name *frame_names__at(const struct frame_names *names, uint32_t id);

/* As machine__nr_map_changes(): until it changes, an address has the same name. */
uint64_t frame_names__epoch(const struct frame_names *names);

#endif
