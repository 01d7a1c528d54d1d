/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_OUT_DIR_H
#define D9_BASE_OUT_DIR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Destination of several files: a new or empty directory. All files get their names at the end, when all
 * are complete; until then each has the suffix OUT_DIR_SUFFIX.
 */
struct out_dir;
struct out_dir_file;

#define OUT_DIR_SUFFIX ".tmp"

/*
 * Opens the directory, and creates it if needed; its parent must exist. Prints one line and returns -errno; -ENOTEMPTY
 * if it contains anything.
 */
int out_dir_open(const char *path, struct out_dir **out);
/* Unless committed, removes everything that was created; also a directory without files. NULL is allowed. */
void out_dir_free(struct out_dir *d);

/*
 * Creates a file, with the directories in its path, which is relative. Only its owner can read it. The directory owns
 * it. Prints one line (once) and returns -errno.
 */
int out_dir_file_new(struct out_dir *d, const char *path, struct out_dir_file **out);
/* Appends to a file, which is open only during the call. Prints one line (once) and returns -errno. */
int out_dir_append(struct out_dir_file *f, const void *data, size_t sz);
/*
 * Writes all files to the disk, and gives them their names. If that fails for any of them, none keeps its name. Prints
 * one line (once) and returns -errno, also after an earlier error.
 */
int out_dir_commit(struct out_dir *d);
/* The first error so far; 0: none. */
int out_dir_error(const struct out_dir *d);

#endif /* D9_BASE_OUT_DIR_H */
