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

/* Makes a file in it with all that is left to read of a descriptor, which it closes. */
static inline void temp_dir_put(const char *dir, const char *name, int from)
{
	char path[256], data[4096];
	ssize_t n;
	int to;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	to = open(path, O_WRONLY | O_CREAT, 0600);
	if (to < 0)
		abort();
	while ((n = read(from, data, sizeof(data))) > 0)
		if (write(to, data, (size_t)n) != n)
			abort();
	close(from);
	close(to);
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
