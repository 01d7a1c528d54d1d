/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_SOURCE_SOURCE_H
#define D9_TRACE_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Bytes of a trace from a file, a pipe or standard input ("-"), plain, gzip or zstd (told by its magic,
 * any number of members), or of the files of a set (source_set.h) one behind the other. Constant memory. One
 * thread at a time.
 */
struct source;

/*
 * Opens @path for reading. Refuses a terminal, and directories that hold no set. On failure prints one line that
 * names the file and the remedy. 0, or -errno. Free with source_close().
 */
int source_open(const char *path, struct source **out);

/* Takes over @fd (closed by source_close()); @name is copied and used in messages only. */
int source_open_fd(int fd, const char *name, struct source **out);

/* Closes the file. NULL is fine. */
void source_close(struct source *src);

/*
 * Has the signature of dial9_read_fn; @src is a struct source. Up to @sz plain bytes into @buf:
 * > 0 count, 0 at the end for now (a growing file may give more later), -EBADMSG when the packed
 * data is damaged, other -errno from the kernel.
 */
ssize_t source_read(void *src, void *buf, size_t sz);

/* What to call the input in a message: the path, or "standard input". Borrowed. */
const char *source_name(const struct source *src);

/*
 * What to call the file that is read, and how many plain bytes came before it: those of a set are read one behind the
 * other. Of anything else as source_name(), and 0.
 */
const char *source_place(const struct source *src, uint64_t *before);

/* True when it is a set of files of which one was missing or bad, as far as that was met: what is read tells of it. */
bool source_has_holes(const struct source *src);
/* True when one of the files that were met was damaged or no trace, which was told. */
bool source_is_damaged(const struct source *src);

/*
 * Only what is missing in a set and between its files: to @put, as segments of a trace that tell of it, and lines as
 * source_read() prints them. Takes the files of @set over. 0, or the first that @put returned.
 */
struct source_set;
typedef int (*source_put_fn)(void *ctx, const void *data, size_t sz);
int source_missing(struct source_set *set, source_put_fn put, void *ctx);

/* The number of the first file of a set; 0 of anything else. */
uint64_t source_first_number(const struct source *src);

/* True when source_rewind() can work: the input is a regular file, or a set of them. */
bool source_is_regular(const struct source *src);

/* The descriptor that bytes are read from: its offset tells how far reading has got. Borrowed. -1 of a set. */
int source_fd(const struct source *src);

/*
 * Before the first byte: of a set, read only files that may have events between these times, and each only once if they
 * are small. Until source_rewind() files of the 30 seconds after @to_ns are read too, for their symbols. False: all files
 * are read.
 */
bool source_restrict(struct source *src, uint64_t from_ns, uint64_t to_ns);

/* Back to the first byte. 0, or -errno (-ESPIPE on pipes). */
int source_rewind(struct source *src);

/* True when the input is packed and ends inside a member: the rest was cut off. */
bool source_is_cut(const struct source *src);

/* What it is packed with, for messages: "gzip" or "zstd". */
const char *source_packing(const struct source *src);

/* True when the bytes are packed, so that offsets of the trace are not offsets of the file. */
bool source_is_packed(const struct source *src);

/* After an end: true when there was not a byte before it. */
bool source_is_empty(const struct source *src);

/* The one line that every command has for an input of no bytes. */
void source_tell_empty(const char *name);

#endif /* D9_TRACE_SOURCE_SOURCE_H */
