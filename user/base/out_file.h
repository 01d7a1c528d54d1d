/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_OUT_FILE_H
#define D9_BASE_OUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where the trace goes: a file, or a pipe. */
struct out_file;

/*
 * "-" is standard output, and /dev/stdout, /dev/fd/N and such are what is open there. A regular
 * file that exists becomes PATH.old as soon as there is something to write; the new one is private
 * to its owner, who is uid:gid (-1: left as created). Anything else that exists, such as a pipe or
 * a device, is written to as it is. Prints one line and returns -errno.
 */
int out_file_open(const char *path, uid_t uid, gid_t gid, struct out_file **out);
/* Whether all that was written so far is in it. */
bool out_file_is_good(const struct out_file *s);

/*
 * From here on a file takes its name not with the first bytes but by out_file_commit(): what ends before that
 * leaves no half of it, and any older one where it is. Before the first out_file_write().
 */
void out_file_hold(struct out_file *s);
/* Gives it its name. Prints one line and returns -errno. Without out_file_hold() it has it already. */
int out_file_commit(struct out_file *s);

/*
 * Whether what is written to @output, NULL for standard output, would take the place of what is read from @input, "-"
 * for standard input: they are one regular file. Prints one line then. @word is the command, for messages.
 */
bool out_file_is_input(const char *word, const char *output, const char *input);

/* Whether what is written to a descriptor would be amidst the trace, which goes to @path. */
bool out_file_is_descriptor(const char *path, int fd);

/* The path means standard output. */
bool out_file_is_stdout(const char *path);

/*
 * Writes all of it, or prints one line (once) and returns -errno. -EPIPE, when a reader has had
 * enough, is silent. The signature is dial9_write_fn's; ctx is the sink.
 */
int out_file_write(void *ctx, const void *data, size_t sz);

/*
 * Returns what the file system says at last, -errno, after one line. A file that nothing was written
 * to leaves no trace. NULL is allowed.
 */
int out_file_close(struct out_file *s);

/* A new file that is open already, which is taken over. @path names it in messages. */
struct out_file *out_file_take_file(int fd, const char *path);
/*
 * From here on @fn is called when a file finds no room (-ENOSPC or -EDQUOT). It returns 0 to try again, or what
 * out_file_write() is to fail with: without a message if that is -ECANCELED.
 */
typedef int (*out_file_full_fn)(void *ctx, int err);
void out_file_set_full(struct out_file *s, out_file_full_fn fn, void *ctx);
/* Cuts a file that could not be written to its first @sz bytes, and adds @end to them if there is room. */
void out_file_cut(struct out_file *s, uint64_t sz, const void *end, size_t end_sz);

/*
 * A descriptor that is open, such as a socket, which is taken over; @name is for messages. Who reads there
 * and goes away is an error with a line: -ECONNRESET.
 */
struct out_file *out_file_take(int fd, const char *name);

/*
 * From here on out_file_write() to a pipe or a socket ends with -ETIMEDOUT, after a line, some tenths of a second
 * after *give_up was set, instead of waiting for who reads. Borrowed.
 */
void out_file_wait_until(struct out_file *s, const volatile bool *give_up);

#endif
