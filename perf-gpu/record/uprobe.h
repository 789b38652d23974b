/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A BPF program on places of a file: through a uprobe_multi link where the kernel has it
 * (Linux 6.6; it is content with CAP_BPF and CAP_PERFMON), else through perf events.
 * One thread.
 */
#ifndef PERF_GPU_RECORD_UPROBE_H
#define PERF_GPU_RECORD_UPROBE_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/failure.h"

/* The enum of linux/bpf.h that the headers beside libbpf 1.1 don't know yet */
#define UPROBE_ATTACH_TYPE_MULTI 48

struct uprobe {
	int multi_fd; /* -1: none */
	struct bpf_link **links;
	size_t nr_links;
};

#define UPROBE_NONE ((struct uprobe){.multi_fd = -1})

/**
 * uprobe__attach - have a program run wherever a file's code is executed
 * @program:  loaded; for a link, with UPROBE_ATTACH_TYPE_MULTI as its expected attach type
 * @is_multi: through one link, else through perf events
 * @path:     of the file
 * @offsets, @nr: places in it
 * @ret:      released by uprobe__release(); written on success only
 *
 * Return: 0 or a negative errno, not printed.
 */
int uprobe__attach(const struct bpf_program *program, bool is_multi, const char *path,
		   const uint64_t *offsets, size_t nr, struct uprobe *ret);

/* Detach. It is UPROBE_NONE then. */
void uprobe__release(struct uprobe *uprobe);

/* Why the kernel refused @what with @err, and what to do. Return: @err, or nearly so. */
int uprobe__explain(struct failure *failure, int err, const char *what);

#endif
