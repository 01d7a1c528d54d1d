/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading and writing whole files, and temporary files. Files such as those in /proc have no size
 * before they are read, so reading goes on to their end. The end may never come, so each caller
 * passes a limit.
 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"

/* Most files in /proc are short, and are read often. */
#define SMALL_CHUNK 4096UL
#define CHUNK 65536UL

int file_read(int dirfd, const char *path, size_t max, struct buf *out)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	size_t left = max, want;
	ssize_t n;
	int err;

	if (fd < 0)
		return -errno;
	do {
		want = max - left < 2 * SMALL_CHUNK ? SMALL_CHUNK : CHUNK;
		want = left < want ? left : want;
		n = read(fd, buf_reserve(out, want), want);
		if (n > 0) {
			out->len += n;
			left -= n;
		}
	} while (n > 0 || (n < 0 && errno == EINTR));
	err = n < 0 ? -errno : 0;
	buf_cstr(out);
	close(fd);
	return err;
}

const char *file_temp_dir(void)
{
	const char *dir = getenv("TMPDIR");

	if (dir)
		return dir;
	return access("/var/tmp", W_OK) ? "/tmp" : "/var/tmp";
}

int file_temp(void)
{
	const char *dir = file_temp_dir();
	char path[4096];
	int fd;

	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if ((size_t)snprintf(path, sizeof(path), "%s/dial9-prof.XXXXXX", dir) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

int file_null(int flags)
{
	int fd = open("/dev/null", flags), err;

	if (fd >= 0)
		return fd;
	fd = memfd_create("null", MFD_ALLOW_SEALING | (flags & O_CLOEXEC ? MFD_CLOEXEC : 0));
	if (fd < 0)
		return -errno;
	err = fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) ?
		      -errno :
		      0;
	if (err)
		close(fd);
	return err ? err : fd;
}

int file_write(int fd, const void *data, size_t sz)
{
	const char *p = data;

	while (sz) {
		const ssize_t n = write(fd, p, sz);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		p += n;
		sz -= (size_t)n;
	}
	return 0;
}

/* ---- directories -------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

void file_names_free(char **names, int cnt)
{
	for (int i = 0; i < cnt; i++)
		free(names[i]);
	free(names);
}

static int read_names(DIR *d, bool hidden, char ***names)
{
	const struct dirent *e;
	char **list = NULL;
	int cnt = 0;

	for (errno = 0; (e = readdir(d)); errno = 0) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    (!hidden && e->d_name[0] == '.'))
			continue;
		list = xreallocarray(list, cnt + 1, sizeof(*list));
		list[cnt++] = xstrdup(e->d_name);
	}
	if (errno) {
		const int err = -errno;

		file_names_free(list, cnt);
		return err;
	}
	if (cnt)
		qsort(list, cnt, sizeof(*list), compare_names);
	*names = list;
	return cnt;
}

int file_names(int dir, bool hidden, char ***names)
{
	/* a separate open file: reading moves the position, and closedir() closes it */
	const int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int cnt;

	if (!d) {
		cnt = -errno;
		if (fd >= 0)
			close(fd);
		return cnt;
	}
	cnt = read_names(d, hidden, names);
	closedir(d);
	return cnt;
}

int file_reopen(int fd)
{
	char self[32];
	int copy;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	copy = open(self, O_RDONLY | O_CLOEXEC);
	return copy < 0 ? -errno : copy;
}
