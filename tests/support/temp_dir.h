/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SUPPORT_TEMP_DIR_H
#define D9_TESTS_SUPPORT_TEMP_DIR_H

/* A directory of a test, in memory where that is possible: writing to a disk takes long. */
#include <assert.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Makes a new one: its path. */
static inline void temp_dir_make(char *path, size_t sz)
{
	snprintf(path, sz, "%s/d9-test-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(path))
		abort();
}

static inline int temp_dir_remove_one(const char *path, const struct stat *st, int type,
				      struct FTW *at)
{
	return remove(path);
}

/* With everything in it; it need not exist. */
static inline void temp_dir_remove(const char *path)
{
	nftw(path, temp_dir_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif /* D9_TESTS_SUPPORT_TEMP_DIR_H */
