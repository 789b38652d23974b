/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are not whole yet. Each is made beside the place that it is for, under a name
 * of its own, and is renamed at the end. If a signal ends the command before (Ctrl-C,
 * SIGTERM, a terminal that is closed), what was made is removed, and the command ends by
 * that signal, as shells expect. Of SIGKILL, the temporary files remain.
 *
 * A file that would be too large for the user's limit fails with -EFBIG, and its command
 * goes on to say so.
 *
 * Signals that were ignored stay so (nohup); what blocks them (record) decides for itself
 * when to end. A forked child removes nothing.
 *
 * For one thread; all others must have these signals blocked.
 */
#ifndef PERF_GPU_UTIL_TEMPORARY_H
#define PERF_GPU_UTIL_TEMPORARY_H

#include <signal.h>
#include <stdbool.h>

/**
 * temporary__make - an empty file, open for writing, of mode 0600, and the user's who is
 * behind sudo (util/owner.h)
 * @template: ends in XXXXXX, which is replaced; the name that the others take
 *
 * Return: its descriptor, or the negative errno of mkostemp(3), not printed.
 */
int temporary__make(char *template);

/* Give it its name. Return: 0, or the negative errno of rename(2): it is still there. */
int temporary__rename(const char *temporary, const char *path);

/**
 * temporary__replace - give it, or a folder of any name, the name for now
 * @ret_has_old: what had the name has @temporary's now, and goes as it would
 *
 * For who has several files to name: temporary__take_back() undoes it, @temporary is removed
 * in the end.
 *
 * Return: 0, or the negative errno of rename(2): it is still there.
 */
int temporary__replace(const char *temporary, const char *path, bool *ret_has_old);
void temporary__take_back(const char *temporary, const char *path, bool has_old);

/* It stays, under this name, whatever ends the command. */
void temporary__keep(const char *temporary);

/* Remove it. */
void temporary__remove(const char *temporary);

/**
 * temporary__make_folder - a folder that others may read, which goes if it stays empty
 *
 * Return: 0, or the negative errno of mkdir(2), not printed: -EEXIST: it was there, and
 * stays.
 */
int temporary__make_folder(const char *path);
void temporary__keep_folder(const char *path);
void temporary__remove_folder(const char *path);

/**
 * temporary__hold - put signals off, around what must be done as a whole
 * @ret_mask: for temporary__release(), at which they arrive
 */
void temporary__hold(sigset_t *ret_mask);
void temporary__release(const sigset_t *mask);

/* Has one come that will end the command then? To stop early what takes long. */
bool temporary__must_end(void);

#endif
