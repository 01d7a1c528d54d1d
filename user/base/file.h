/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_FILE_H
#define D9_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Appends a whole file, or its first max bytes, to out, and terminates out. path is relative to
 * dirfd (AT_FDCWD: the working directory). Prints nothing. 0 or -errno; after an error, out keeps
 * the bytes read so far.
 */
int file_read(int dirfd, const char *path, size_t max, struct buf *out);

/* Opens a temporary file without a name, in $TMPDIR if set. Returns a descriptor or -errno. */
int file_temp(void);
/* The directory of these files, for messages. */
const char *file_temp_dir(void);

/*
 * Opens /dev/null with these flags. If there is no /dev/null, opens an empty file that cannot grow:
 * reads return 0, writes fail. Returns a descriptor or -errno.
 */
int file_null(int flags);

/* Writes all bytes. 0 or -errno; -ENOSPC if the file takes no more bytes. */
int file_write(int fd, const void *data, size_t sz);

/*
 * The names in an open directory, sorted, with numbers compared by value. Skips names that start
 * with a dot unless @hidden is set. Returns their number or -errno.
 */
int file_names(int dir, bool hidden, char ***names);
void file_names_free(char **names, int cnt);

/*
 * Opens the file of a descriptor again, with its own position at the start. Returns a descriptor or
 * -errno.
 */
int file_reopen(int fd);

#endif /* D9_BASE_FILE_H */
