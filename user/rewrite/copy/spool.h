/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_COPY_SPOOL_H
#define D9_REWRITE_COPY_SPOOL_H

#include "rewrite/copy/cut_out.h"
#include "trace/source/source.h"

/* Whether @path is a regular file; "-": standard input. */
bool spool_is_regular(const char *path);
/* Whether @path can be opened again by name: a regular file, or a missing one, which opening reports. */
bool spool_has_name(const char *path);
/* The same, or a directory with a set of files. */
bool spool_can_reopen(const char *path);
/* A temporary file without a name: its descriptor, or -errno after one line. @word: the command. */
int spool_temp(const char *word);
/* Writes to the descriptor at @ctx: 0, or -errno after one line. */
int spool_write(void *ctx, const void *data, size_t sz);

/* The type of an input. */
enum spool_found {
	SPOOL_EMPTY, /* no bytes */
	SPOOL_TRACE,
	SPOOL_OTHER,
};

/*
 * Copies the uncompressed bytes of @src to @out: all bytes of a trace. Other input: the first bytes with @any, none
 * without. @out NULL: only finds the type. 0, -ENODATA after one line if @src cannot be read, or the result of
 * write().
 */
int spool_copy(struct source *src, const struct cut_out *out, bool any, enum spool_found *found);
/*
 * Opens @path for reading it several times. If it is not a regular file, copies it uncompressed to a temporary file
 * without a name; copies only the first bytes if it is not a trace, and a damaged one up to the damage, after one line:
 * source_is_damaged(). @word: the command, for messages. 0, or -errno after one line. Free with source_close().
 */
int spool_open(const char *word, const char *path, struct source **out);

#endif /* D9_REWRITE_COPY_SPOOL_H */
