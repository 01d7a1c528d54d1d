// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where trace bytes come from. Owns the file descriptor and, for gzip, the inflate state; knows
 * nothing of dial9, so that `dump`, the trace reader and tests can all put a decoder behind it.
 *
 * Compression is told by the first two bytes and not by the name, because traces arrive through
 * pipes too. Those bytes are read into our own buffer first; a plain file is then read straight
 * into the caller's buffer once that is empty. A gzip input may be several members in a row, as
 * rotated segments that were concatenated are. The end of input is never final: a caller that
 * follows a growing file simply asks again, so inflate is kept where it stopped.
 */
#include "trace/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/log.h"

#define SOURCE_BUF_SIZE (64 * 1024)

enum source_mode { SOURCE_UNKNOWN, SOURCE_PLAIN, SOURCE_GZIP };

struct source {
	int fd;
	bool regular;
	off_t start; /* standard input may have been read from before us */
	bool in_member; /* inflate has begun a member and not seen its end */
	enum source_mode mode;
	bool any; /* some byte has been handed out */
	int failed; /* an error that came with the last good bytes, for the next call */
	char *name;
	z_stream z;
	size_t pos, len; /* unread part of buf */
	uint8_t buf[SOURCE_BUF_SIZE];
};

static int check_fd(int fd, const char *name, bool *regular)
{
	struct stat st;
	int err;

	if (fstat(fd, &st)) {
		err = -errno;
		log_error("cannot read %s: %s", name, strerror(-err));
		return err;
	}
	if (S_ISDIR(st.st_mode)) {
		log_error("cannot read %s: it is a directory (name a trace file in it)", name);
		return -EISDIR;
	}
	if (isatty(fd)) {
		log_error("cannot read %s: it is a terminal (name a trace file, or pipe one in)",
			  name);
		return -ENOTTY;
	}
	*regular = S_ISREG(st.st_mode);
	return 0;
}

int source_open_fd(int fd, const char *name, struct source **out)
{
	bool regular = false;
	struct source *src;
	int err;

	err = check_fd(fd, name, &regular);
	if (err) {
		close(fd);
		return err;
	}
	src = xcalloc(1, sizeof(*src));
	src->fd = fd;
	src->regular = regular;
	src->start = regular ? lseek(fd, 0, SEEK_CUR) : 0;
	src->name = xstrdup(name);
	*out = src;
	return 0;
}

int source_open(const char *path, struct source **out)
{
	int fd, err;

	if (!strcmp(path, "-")) {
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		path = "standard input";
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (fd < 0) {
		err = -errno;
		log_error("cannot open %s: %s%s", *path ? path : "''", strerror(-err),
			  err == -ENOENT ? " (record one first: sudo dial9-prof -p PID)" :
			  err == -EACCES ? " (a trace is its owner's alone: try sudo)" :
					   "");
		return err;
	}
	return source_open_fd(fd, path, out);
}

void source_close(struct source *src)
{
	if (!src)
		return;
	if (src->mode == SOURCE_GZIP)
		inflateEnd(&src->z);
	close(src->fd);
	free(src->name);
	free(src);
}

static ssize_t read_retry(int fd, void *buf, size_t sz)
{
	ssize_t n;

	do {
		n = read(fd, buf, sz);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Adds to the buffer behind what is unread; 1 got some, 0 end for now, -errno. */
static int fill(struct source *src)
{
	ssize_t n;

	if (src->pos == src->len)
		src->pos = src->len = 0;
	n = read_retry(src->fd, src->buf + src->len, sizeof(src->buf) - src->len);
	if (n <= 0)
		return (int)n;
	src->len += (size_t)n;
	return 1;
}

/*
 * Pipes hand over single bytes if they like, so ask until there are two or no more. 1 when the
 * mode is known, 0 when there is nothing yet, -errno.
 */
static int detect(struct source *src)
{
	int ret;

	while (src->len - src->pos < 2) {
		ret = fill(src);
		if (ret < 0)
			return ret;
		if (ret == 0)
			break;
	}
	if (src->pos == src->len)
		return 0;
	if (src->len - src->pos < 2 || src->buf[src->pos] != 0x1f ||
	    src->buf[src->pos + 1] != 0x8b) {
		src->mode = SOURCE_PLAIN;
		return 1;
	}
	memset(&src->z, 0, sizeof(src->z));
	if (inflateInit2(&src->z, 16 + MAX_WBITS) != Z_OK)
		return -ENOMEM;
	src->mode = SOURCE_GZIP;
	return 1;
}

static ssize_t read_plain(struct source *src, void *buf, size_t sz)
{
	size_t have = src->len - src->pos;

	if (!have)
		return read_retry(src->fd, buf, sz);
	if (sz > have)
		sz = have;
	memcpy(buf, src->buf + src->pos, sz);
	src->pos += sz;
	return (ssize_t)sz;
}

/* One call of inflate over what is buffered; bytes produced, or -errno. */
static ssize_t inflate_some(struct source *src, void *buf, size_t sz)
{
	int ret;

	src->z.next_in = src->buf + src->pos;
	src->z.avail_in = (uInt)(src->len - src->pos);
	src->z.next_out = buf;
	src->z.avail_out = (uInt)sz;
	src->in_member = true;
	ret = inflate(&src->z, Z_NO_FLUSH);
	src->pos = src->len - src->z.avail_in;
	if (ret == Z_STREAM_END) {
		src->in_member = false;
		if (inflateReset(&src->z) != Z_OK)
			return -EBADMSG;
	} else if (ret == Z_MEM_ERROR) {
		return -ENOMEM;
	} else if (ret != Z_OK && ret != Z_BUF_ERROR) {
		src->failed = -EBADMSG;
	}
	if (src->failed && src->z.avail_out == sz)
		return src->failed;
	return (ssize_t)(sz - src->z.avail_out);
}

static ssize_t read_gzip(struct source *src, void *buf, size_t sz)
{
	ssize_t n;

	if (src->failed)
		return src->failed;
	if (sz > UINT32_MAX / 2)
		sz = UINT32_MAX / 2;
	for (;;) {
		/* inflate may hold output back, so a member in progress is asked without input too */
		if (src->in_member || src->pos < src->len) {
			n = inflate_some(src, buf, sz);
			if (n)
				return n;
		}
		if (src->pos < src->len)
			continue;
		n = fill(src);
		if (n <= 0)
			return n;
	}
}

ssize_t source_read(void *ctx, void *buf, size_t sz)
{
	struct source *src = ctx;
	ssize_t n;
	int ret;

	if (!sz)
		return 0;
	if (src->mode == SOURCE_UNKNOWN) {
		ret = detect(src);
		if (ret <= 0)
			return ret;
	}
	n = src->mode == SOURCE_GZIP ? read_gzip(src, buf, sz) : read_plain(src, buf, sz);
	src->any |= n > 0;
	return n;
}

const char *source_name(const struct source *src)
{
	return src->name;
}

bool source_is_regular(const struct source *src)
{
	return src->regular;
}

int source_fd(const struct source *src)
{
	return src->fd;
}

int source_rewind(struct source *src)
{
	if (lseek(src->fd, src->start, SEEK_SET) < 0)
		return -errno;
	if (src->mode == SOURCE_GZIP)
		inflateEnd(&src->z);
	src->mode = SOURCE_UNKNOWN;
	src->in_member = src->any = false;
	src->failed = 0;
	src->pos = src->len = 0;
	return 0;
}

bool source_is_cut(const struct source *src)
{
	return src->mode == SOURCE_GZIP && src->in_member;
}

bool source_is_gzip(const struct source *src)
{
	return src->mode == SOURCE_GZIP;
}

bool source_is_empty(const struct source *src)
{
	return !src->any && !src->failed && !source_is_cut(src);
}

void source_tell_empty(const char *name)
{
	log_error("%s is empty (was anything recorded?)", name);
}
