/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_FILE_H
#define D9_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Appends a whole file, or its first max bytes, to out, which is then terminated. path is relative to
 * dirfd (AT_FDCWD: the working directory). Silent, -errno; what was read before an error stays in out.
 */
int file_read(int dirfd, const char *path, size_t max, struct buf *out);

/* A temporary file without a name, in $TMPDIR if there is one: its descriptor, or -errno. */
int file_temp(void);

/*
 * /dev/null by these flags, or, where there is none, a file that is empty and stays so: reads find its end, writes
 * fail. A descriptor, or -errno.
 */
int file_null(int flags);

/* Writes all of it. 0, or -errno; -ENOSPC when nothing more is taken. */
int file_write(int fd, const void *data, size_t sz);

/*
 * The names in an open directory, without those that start with a dot unless hidden is set, sorted with numbers in them by value: their
 * count, or -errno.
 */
int file_names(int dir, bool hidden, char ***names);
void file_names_free(char **names, int cnt);

/* What a descriptor has open once more, to be read from its beginning at a place of its own: a descriptor, or -errno. */
int file_reopen(int fd);

#endif /* D9_BASE_FILE_H */
