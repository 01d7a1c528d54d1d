/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_OUT_FILE_H
#define D9_BASE_OUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Destination of the trace: a file or a pipe */
struct out_file;

/*
 * Opens an output. "-" is standard output; /dev/stdout, /dev/fd/N and similar paths are the open
 * file. A regular file that exists becomes PATH.old with the first write; -ETXTBSY if another
 * process has it open as its own output. Only its owner uid:gid
 * can read the new file (-1: unchanged). Other existing files, such as pipes and devices, are
 * written to directly. Prints one line and returns -errno.
 */
int out_file_open(const char *path, uid_t uid, gid_t gid, struct out_file **out);
/*
 * The same, but if a FIFO has no reader for wait_ns, prints one line and returns -ENXIO.
 * out_file_open() waits without limit.
 */
int out_file_open_within(const char *path, uid_t uid, gid_t gid, uint64_t wait_ns,
			 struct out_file **out);
/* Whether a pipe or a socket takes the bytes: its reader may stop reading. */
bool out_file_has_reader(const struct out_file *s);
/* Whether all writes so far succeeded. */
bool out_file_is_good(const struct out_file *s);

/*
 * Delays the file's name until out_file_commit(). If the program ends before that, no partial file
 * is left and an older file stays. Call before the first out_file_write().
 */
void out_file_hold(struct out_file *s);
/*
 * Gives the file its name. Prints one line and returns -errno. Does nothing without
 * out_file_hold().
 */
int out_file_commit(struct out_file *s);

/* The file is not a dial9 trace: messages do not promise that its first part is readable. */
void out_file_need_end(struct out_file *s);

/*
 * Whether writing to @output would overwrite @input: both are the same regular file. @output NULL
 * is standard output, and @input "-" is standard input. Prints one line if so. @word is the
 * command, for messages.
 */
bool out_file_is_input(const char *word, const char *output, const char *input);

/* Whether data written to descriptor @fd would mix with the trace at @path. */
bool out_file_is_descriptor(const char *path, int fd);

/* Whether the path means standard output. */
bool out_file_is_stdout(const char *path);

/*
 * Writes all bytes, or prints one line (once) and returns -errno. -EPIPE is silent: the reader has
 * enough. The signature is dial9_write_fn's; ctx is the out_file.
 */
int out_file_write(void *ctx, const void *data, size_t sz);

/*
 * Closes the file. Prints one line and returns -errno if the file system reports an error. Prints a
 * warning if the file was renamed. A file without any written byte is removed. NULL is allowed.
 */
int out_file_close(struct out_file *s);

/* Takes over a new file that is already open. @path is for messages. */
struct out_file *out_file_adopt_file(int fd, const char *path);
/*
 * Sets a function for a full file system (-ENOSPC or -EDQUOT). It returns 0 to retry, or the result
 * of out_file_write(); -ECANCELED prints no message.
 */
typedef int (*out_file_full_fn)(void *ctx, int err);
void out_file_set_full(struct out_file *s, out_file_full_fn fn, void *ctx);
/* After a failed write: cuts the file to its first @sz bytes, and appends @end if there is room. */
void out_file_cut(struct out_file *s, uint64_t sz, const void *end, size_t end_sz);

/*
 * Takes over an open descriptor, such as a socket; @name is for messages. If the reader goes away,
 * a message is printed: -ECONNRESET.
 */
struct out_file *out_file_adopt(int fd, const char *name);

/*
 * Limits the wait for a reader: after *give_up is set, out_file_write() to a pipe or a socket fails
 * with -ETIMEDOUT and a message within some tenths of a second. @give_up is borrowed.
 */
void out_file_wait_until(struct out_file *s, const volatile bool *give_up);

#endif
