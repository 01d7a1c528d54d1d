/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_COPY_SPOOL_H
#define D9_REWRITE_COPY_SPOOL_H

#include "rewrite/copy/cut_out.h"
#include "trace/source/source.h"

/* Whether what @path names, "-" for standard input, is a regular file. */
bool spool_is_regular(const char *path);
/* Whether @path is opened again by its name: a regular file, or nothing yet, which who opens it tells. */
bool spool_has_name(const char *path);
/* A temporary file without a name: its descriptor, or -errno after one line. @word is the command. */
int spool_temp(const char *word);
/* Writes into the one whose descriptor is at @ctx: 0, or -errno after one line. */
int spool_write(void *ctx, const void *data, size_t sz);

/* What an input begins as. */
enum spool_found {
	SPOOL_EMPTY, /* there is not a byte */
	SPOOL_TRACE,
	SPOOL_OTHER,
};

/*
 * Copies the plain bytes of @src to @out: all of a trace; of anything else the first ones with
 * @any, else none. If @out is NULL, only finds out
 * what it is. 0, -ENODATA after one line if @src cannot be read, or what write() returned.
 */
int spool_copy(struct source *src, const struct cut_out *out, bool any, enum spool_found *found);
/*
 * Opens @path so that it can be read more than once: what is no regular file is copied, unpacked, to a temporary
 * file without a name; of what is no trace not more than its first bytes. @word is the command, for messages. 0, or
 * -errno after one line. Free with source_close().
 */
int spool_open(const char *word, const char *path, struct source **out);

#endif /* D9_REWRITE_COPY_SPOOL_H */
