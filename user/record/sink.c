// SPDX-License-Identifier: BSD-2-Clause
/*
 * sink.c - bytes to a file or a pipe
 *
 * The recorder runs as root in directories that belong to others, so a file is always made anew:
 * an old one is renamed, a link is never followed, and what is made is the caller's own (O_EXCL).
 */
#include "record/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"

struct sink {
	int fd;
	char *path;
	uint64_t bytes;
	bool failed;
};

static int output_error(const char *path, int err)
{
	log_error("record: cannot write %s: %s%s", path, strerror(-err),
		  err == -EACCES || err == -EROFS || err == -ENOENT ?
			  "; choose another file with -o" :
			  "");
	return err;
}

static int keep_old(const char *path)
{
	struct buf old = { 0 };
	int err;

	buf_printf(&old, "%s.old", path);
	err = rename(path, buf_cstr(&old)) ? -errno : 0;
	buf_free(&old);
	return err;
}

static int open_new(const char *path, uid_t uid, gid_t gid, int *fd)
{
	int err;

	*fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0)
		return -errno;
	if (uid != (uid_t)-1 && fchown(*fd, uid, gid)) {
		err = -errno;
		close(*fd);
		return err;
	}
	return 0;
}

/*
 * Names of what is open already. Those of the system are links, so they would be renamed otherwise;
 * a shell's >(COMMAND) is one of them as well.
 */
static bool names_descriptor(const char *path, int *fd)
{
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t n;
	size_t i;

	*fd = -1;
	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		*fd = STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		*fd = STDERR_FILENO;
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (strncmp(path, dirs[i], strlen(dirs[i])))
			continue;
		if (!str_parse_u64(path + strlen(dirs[i]), INT_MAX, &n))
			*fd = n;
		return true;
	}
	return *fd >= 0;
}

static int open_path(const char *path, uid_t uid, gid_t gid, int *fd)
{
	struct stat st;
	int err, named;

	if (names_descriptor(path, &named)) {
		*fd = fcntl(named, F_DUPFD_CLOEXEC, 3);
		return *fd < 0 ? -errno : 0;
	}
	if (lstat(path, &st))
		return errno == ENOENT ? open_new(path, uid, gid, fd) : -errno;
	if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) {
		err = keep_old(path);
		return err ? err : open_new(path, uid, gid, fd);
	}
	*fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return *fd < 0 ? -errno : 0;
}

int sink_open(const char *path, uid_t uid, gid_t gid, struct sink **out)
{
	struct sink *s;
	int fd, err;

	err = open_path(path, uid, gid, &fd);
	if (err)
		return output_error(path, err);
	s = xcalloc(1, sizeof(*s));
	s->fd = fd;
	s->path = xstrdup(strcmp(path, "-") ? path : "standard output");
	*out = s;
	return 0;
}

int sink_write(void *ctx, const void *data, size_t sz)
{
	struct sink *s = ctx;
	const char *p = data;
	ssize_t n;

	while (sz) {
		n = write(s->fd, p, sz);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int err = -errno;

			if (err != -EPIPE && !s->failed)
				output_error(s->path, err);
			s->failed = true;
			return err;
		}
		p += n;
		sz -= n;
		s->bytes += n;
	}
	return 0;
}

uint64_t sink_bytes(const struct sink *s)
{
	return s->bytes;
}

int sink_close(struct sink *s)
{
	int err = 0;

	if (!s)
		return 0;
	if (close(s->fd) && !s->failed)
		err = output_error(s->path, -errno);
	free(s->path);
	free(s);
	return err;
}
