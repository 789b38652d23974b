/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings whose recorder was killed (SIGKILL, a crash of the machine), or could not
 * finish for want of room or memory: what it had written so far, perf.data's records and the processes' logs, becomes a
 * recording. One thread.
 */
#ifndef PERF_GPU_RECORD_RECOVER_H
#define PERF_GPU_RECORD_RECOVER_H

/**
 * recover__run - make a recording of what a dead recorder has left
 * @path: of the perf.data that it was making, or its spool, FILE.gpu.spool.XXXXXX
 * @ret_path: room for PATH_MAX: the perf.data that there is now; written on success only
 *
 * What it was, what was found and what is lost is told, as at the end of `record`. A
 * recording that is in the way becomes FILE.old. What was left is removed.
 *
 * Return: 0 or a negative errno, printed; what was left is then as it was.
 */
int recover__run(const char *path, char *ret_path);

/* Tell in one line, if there is something that recover__run(path) could recover. */
void recover__tell(const char *path);

#endif
