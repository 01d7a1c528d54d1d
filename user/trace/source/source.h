/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_SOURCE_SOURCE_H
#define D9_TRACE_SOURCE_SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Bytes of a trace from a file, a pipe or standard input ("-"), plain, gzip or zstd (detected by
 * magic, any number of members), or of the files of a set (source_set.h) in order. Constant memory.
 * One thread at a time.
 */
struct source;

/* What `record` writes and the readers open if no file is named. */
#define SOURCE_DEFAULT_FILE "dial9.bin"

/*
 * Opens @path for reading. Refuses a terminal, and directories without a set. On failure prints one
 * line with the file and what to do. 0, or -errno. Free with source_close().
 */
int source_open(const char *path, struct source **out);
/* The same, after all of it was read once: what is wrong with files of a set is not printed again. */
int source_open_again(const char *path, struct source **out);

/* Reads files of a set (source_set_of()) in order; @name is for messages; @again as above. */
void source_open_files(const char *name, const char *const *paths, size_t cnt, bool again,
		       struct source **out);

/* Owns @fd (closed by source_close()); @name is copied and used in messages only. */
int source_open_fd(int fd, const char *name, struct source **out);

/* After *stop is set, and at once if a signal ends a wait, source_read() returns -EINTR. @stop is borrowed. */
void source_stop_on(struct source *src, const volatile sig_atomic_t *stop);

/* Closes the file. NULL is ignored. */
void source_close(struct source *src);

/*
 * Has the signature of dial9_read_fn; @src is a struct source. Up to @sz plain bytes into @buf: > 0
 * count, 0 at the end for now (a growing file may have more later), -EBADMSG if compressed data is
 * damaged, other -errno from the kernel.
 */
ssize_t source_read(void *src, void *buf, size_t sz);

/* The input's name in messages: the path, or "standard input". Borrowed. */
const char *source_name(const struct source *src);

/*
 * The name of the file being read, and the number of plain bytes before it in a set. For other
 * inputs source_name(), and 0.
 */
const char *source_place(const struct source *src, uint64_t *before);

/*
 * Whether it is a set in which a file was missing or bad so far; the bytes read include a loss for
 * it.
 */
bool source_has_holes(const struct source *src);
/* Whether a file so far was damaged or not a trace, which was printed. */
bool source_is_damaged(const struct source *src);
/* From now on source_is_damaged(): @src is a copy of a damaged input up to the damage. */
void source_mark_damaged(struct source *src);

/*
 * Only the gaps in a set and between its files: passes them to @put as generated segments, and
 * prints the lines of source_read(). Owns the files of @set. 0, or the first nonzero result of
 * @put.
 */
struct source_set;
typedef int (*source_put_fn)(void *ctx, const void *data, size_t sz);
int source_missing(struct source_set *set, source_put_fn put, void *ctx);

/* The number of the first file of a set; 0 for other inputs. */
uint64_t source_first_number(const struct source *src);

/* Whether source_rewind() works: the input is a regular file, or a set of them. */
bool source_is_regular(const struct source *src);

/* The descriptor of the input: its offset is the reading position. Borrowed. -1 for a set. */
int source_fd(const struct source *src);

/*
 * Call it before the first read. In a set, reads only files that may have events in this time
 * range, and small ones only once. Until source_rewind() files of the 30 seconds after @to_ns are
 * read too, for their symbols. False: all files are read.
 */
bool source_restrict(struct source *src, uint64_t from_ns, uint64_t to_ns);

/* Back to the first byte. 0, or -errno (-ESPIPE on pipes). */
int source_rewind(struct source *src);

/* Whether compressed input ended inside a member: it is truncated. */
bool source_is_cut(const struct source *src);

/* The compression, for messages: "gzip" or "zstd". */
const char *source_packing(const struct source *src);

/* Whether the input is compressed, so that offsets of the trace are not offsets of the file. */
bool source_is_packed(const struct source *src);

/* After the end: whether there was no byte before it. */
bool source_is_empty(const struct source *src);

/* If it is a perf.data file, prints one line with what to do, and returns true. Not for pipes. */
bool source_print_perf_data(const struct source *src);

/* Prints the message of every command for an empty input. */
void source_print_empty(const char *name);

#endif /* D9_TRACE_SOURCE_SOURCE_H */
