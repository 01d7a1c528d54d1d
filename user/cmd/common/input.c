// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens trace files, detects their format, and makes them readable twice.
 *
 * Formats read in two passes, which pipes do not allow. So the bytes read from a pipe are kept in a nameless
 * temporary file, which costs disk and no memory. Only bytes that were read are copied: a pipe may have no end. A
 * followed capture is read in one pass. The first bytes, read to detect the format, are kept and returned again. At
 * the end of the existing bytes the reader waits.
 *
 * A gzip file is ambiguous: it may be a compressed trace, or a trace whose own container is gzip. So formats check
 * the compressed bytes first.
 */
#include "cmd/common/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "trace/source/source.h"

#define HEAD_SIZE (64 * 1024)
#define FOLLOW_MS 100
#define DIAL9_MAGIC "TRC"
#define DIAL9_MAGIC_SZ 4

const char *const input_from_names[] = {
	[INPUT_AUTO] = "auto",
	[INPUT_TONBANDGERAET] = "tonbandgeraet",
	[INPUT_HEPH] = "heph",
	[INPUT_APITRACE] = "apitrace",
	[INPUT_PERF_DATA] = "perf-data",
	[INPUT_DIAL9] = "dial9",
	NULL,
};

struct input {
	struct foreign_input foreign;
	char *name;
	int fd;
	off_t start;
	int pipe; /* what fd has been copied from so far, or -1 */
	off_t pos, copied; /* in fd, while there is a pipe */
	struct source *source; /* unpacks gzip; NULL: bytes as they are */
	struct input_follow follow;
	bool following, regular, is_dial9, may_be_dial9, is_empty;
	char *head; /* while following: the first bytes */
	size_t head_sz, head_pos;
};

/* ---- reading ----------------------------------------------------------------------------------- */

static ssize_t read_once(int fd, void *buf, size_t sz)
{
	ssize_t n;

	do {
		n = read(fd, buf, sz);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* From the copy as far as it goes, then from the pipe into both. */
static ssize_t pipe_read(struct input *in, void *buf, size_t sz)
{
	ssize_t n;
	int err;

	if (in->pos < in->copied) {
		n = pread(in->fd, buf, sz, in->pos);
		if (n < 0)
			return -errno;
	} else {
		n = read_once(in->pipe, buf, sz);
		err = n > 0 ? file_write(in->fd, buf, (size_t)n) : 0;
		if (err)
			return err;
		in->copied += n > 0 ? n : 0;
	}
	in->pos += n > 0 ? n : 0;
	return n;
}

static ssize_t plain_read(void *ctx, void *buf, size_t sz)
{
	struct input *in = ctx;

	return in->pipe >= 0 ? pipe_read(in, buf, sz) : read_once(in->fd, buf, sz);
}

static ssize_t unpack_read(void *ctx, void *buf, size_t sz)
{
	return source_read(((struct input *)ctx)->source, buf, sz);
}

/* Signals end the wait, so that a stop is seen at once. */
static ssize_t wait_read(struct input *in, void *buf, size_t sz)
{
	struct pollfd pfd = { .fd = in->fd, .events = POLLIN };
	struct timespec pause = { .tv_nsec = FOLLOW_MS * 1000000L };
	bool printed = false;

	while (!*in->follow.stop) {
		ssize_t n;

		if (in->regular || poll(&pfd, 1, 0) > 0) {
			n = read_once(in->fd, buf, sz);
			if (n || !in->regular)
				return n;
		}
		if (!printed && in->follow.idle)
			in->follow.idle(in->follow.ctx);
		printed = true;
		if (in->regular)
			nanosleep(&pause, NULL);
		else
			poll(&pfd, 1, FOLLOW_MS);
	}
	return 0;
}

static ssize_t follow_read(void *ctx, void *buf, size_t sz)
{
	struct input *in = ctx;
	size_t n = in->head_sz - in->head_pos;

	if (!n)
		return wait_read(in, buf, sz);
	n = n < sz ? n : sz;
	memcpy(buf, in->head + in->head_pos, n);
	in->head_pos += n;
	return (ssize_t)n;
}

static bool is_packed(const char *p, size_t sz)
{
	return (sz >= 2 && !memcmp(p, "\x1f\x8b", 2)) ||
	       (sz >= 4 && !memcmp(p, "\x28\xb5\x2f\xfd", 4));
}

static int rewind_input(void *ctx)
{
	struct input *in = ctx;

	if (in->source)
		return source_rewind(in->source);
	if (in->pipe >= 0) {
		in->pos = 0;
		return 0;
	}
	return lseek(in->fd, in->start, SEEK_SET) < 0 ? -errno : 0;
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* Directories of perf record have the files "data", and with --threads "data.0" and so on. */
static bool has_file(const char *dir, const char *name)
{
	struct buf path = { 0 };
	bool has;

	buf_printf(&path, "%s/%s", dir, name);
	has = !access(buf_cstr(&path), F_OK);
	buf_free(&path);
	return has;
}

bool input_part(const char *dir, size_t i, struct buf *path)
{
	struct buf name = { 0 };
	bool has = has_file(dir, "data.0");

	buf_addstr(&name, "data");
	if (i)
		buf_printf(&name, ".%zu", i - 1);
	has = has && has_file(dir, buf_cstr(&name));
	buf_clear(path);
	buf_printf(path, "%s/%s", dir, buf_cstr(&name));
	buf_cstr(path);
	buf_free(&name);
	return has;
}

/* How many files it has besides the one with the header. */
static size_t count_parts(const char *dir)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char **names;
	const int cnt = fd < 0 ? -1 : file_names(fd, false, &names);
	uint64_t number;
	size_t parts = 0;

	for (int i = 0; i < cnt; i++)
		parts += str_starts(names[i], "data.") &&
			 !str_parse_u64(names[i] + 5, UINT64_MAX, &number);
	if (cnt >= 0)
		file_names_free(names, cnt);
	if (fd >= 0)
		close(fd);
	return parts;
}

int input_each_part(const char *dir, struct buf *path,
		    int (*open)(void *ctx, char *path, size_t number), void *ctx)
{
	size_t cnt;
	int err = 0;

	for (cnt = 0; !err && input_part(dir, cnt, path); cnt++)
		err = open(ctx, path->data, cnt);
	return err ?: count_parts(dir) >= cnt ? -ENODATA : 0;
}

static int refuse_directory(const char *dir)
{
	if (has_file(dir, "data.0"))
		log_error("cannot read %s: it is a directory of perf record --threads; use "
			  "dial9-prof convert %s -o FILE to convert it to dial9",
			  dir, dir);
	else if (has_file(dir, "data"))
		log_error("cannot read %s: it is a directory; name its file %s/data", dir, dir);
	else
		log_error("cannot read %s: it is a directory; name a trace file", dir);
	return -EINVAL;
}

/* A serial line is a terminal, too, but the controlling terminal is never followed. */
static int open_fd(const char *path, const char *name, bool following)
{
	struct stat st;
	int fd;

	fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) :
				 fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0) {
		int err = -errno;

		log_error("cannot open %s: %s", *name ? name : "''", strerror(-err));
		return err;
	}
	if (!isatty(fd) || (following && strcmp(path, "-"))) {
		if (!fstat(fd, &st) && !S_ISDIR(st.st_mode))
			return fd;
		close(fd);
		return refuse_directory(name);
	}
	log_error("cannot read %s: it is a terminal; name a trace file", name);
	close(fd);
	return -EINVAL;
}

/* From now on in->fd is a copy of what is read of the pipe. */
static int copy_pipe(struct input *in)
{
	int fd = file_temp();

	if (fd < 0)
		return fd;
	in->pipe = in->fd;
	in->fd = fd;
	return 0;
}

/* Copies the rest of the pipe, for callers that read the descriptor themselves. */
static int copy_rest(struct input *in)
{
	char *buf = xmalloc(HEAD_SIZE);
	ssize_t n;

	in->pos = in->copied;
	while ((n = pipe_read(in, buf, HEAD_SIZE)) > 0)
		;
	free(buf);
	if (n < 0)
		return (int)n;
	close(in->pipe);
	in->pipe = -1;
	return rewind_input(in);
}

/* Makes in->fd seekable, or reads the first bytes if it is followed. */
static int prepare(struct input *in)
{
	struct stat st;
	ssize_t n;

	in->regular = !fstat(in->fd, &st) && S_ISREG(st.st_mode);
	if (in->following) {
		in->head = xmalloc(HEAD_SIZE);
		n = wait_read(in, in->head, HEAD_SIZE);
		in->head_sz = n > 0 ? (size_t)n : 0;
		return n < 0 ? (int)n : 0;
	}
	if (!in->regular)
		return copy_pipe(in);
	in->start = lseek(in->fd, 0, SEEK_CUR);
	return in->start < 0 ? -errno : 0;
}

int input_open(const char *arg, const struct input_follow *follow, struct input **out)
{
	const char *name = strcmp(arg, "-") ? arg : "standard input";
	int fd = open_fd(arg, name, follow != NULL);
	struct input *in;
	int err;

	if (fd < 0)
		return fd;
	in = xcalloc(1, sizeof(*in));
	in->fd = fd;
	in->pipe = -1;
	in->name = xstrdup(name);
	in->following = follow;
	if (follow)
		in->follow = *follow;
	in->foreign = (struct foreign_input){ .name = in->name,
					      .read = follow ? follow_read : plain_read,
					      .rewind = follow ? NULL : rewind_input,
					      .ctx = in };
	err = prepare(in);
	if (err) {
		log_error("cannot read %s: %s", name, strerror(-err));
		input_close(in);
		return err;
	}
	*out = in;
	return 0;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	source_close(in->source);
	close(in->fd);
	if (in->pipe >= 0)
		close(in->pipe);
	free(in->head);
	free(in->name);
	free(in);
}

bool input_split_core(char *arg, uint32_t *core)
{
	char *at = strrchr(arg, '@');
	uint64_t n;

	if (!at || at == arg || !access(arg, F_OK) || str_parse_u64(at + 1, UINT32_MAX, &n))
		return false;
	*at = '\0';
	*core = (uint32_t)n;
	return true;
}

struct foreign_input *input_foreign(struct input *in)
{
	return &in->foreign;
}

/* ---- looking ----------------------------------------------------------------------------------- */

static bool is_dial9(const char *p, size_t sz)
{
	return sz >= DIAL9_MAGIC_SZ && !memcmp(p, DIAL9_MAGIC, DIAL9_MAGIC_SZ);
}

/* As much of the head as there is; the input is at its first byte before and after. */
static size_t read_head(struct input *in, char *head, bool *whole)
{
	size_t sz = 0;
	ssize_t n = 1;

	while (sz < HEAD_SIZE && n > 0) {
		n = in->foreign.read(in, head + sz, HEAD_SIZE - sz);
		sz += n > 0 ? (size_t)n : 0;
	}
	*whole = n <= 0;
	rewind_input(in);
	return sz;
}

static const struct foreign_format *detect_format(struct input *in, const char *head, size_t sz,
						  bool whole)
{
	in->is_empty = !sz;
	in->is_dial9 = is_dial9(head, sz);
	in->may_be_dial9 = in->is_dial9 || (sz < DIAL9_MAGIC_SZ && !memcmp(head, DIAL9_MAGIC, sz));
	return in->is_dial9 ? NULL : foreign_detect(head, sz, whole);
}

static const struct foreign_format *detect_head(struct input *in, char *head)
{
	const struct foreign_format *format;
	bool whole;
	size_t sz;
	int fd;

	if (in->pipe >= 0 && copy_rest(in))
		return NULL;
	fd = fcntl(in->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || source_open_fd(fd, in->name, &in->source))
		return NULL;
	in->foreign.read = unpack_read;
	sz = read_head(in, head, &whole);
	format = detect_format(in, head, sz, whole);
	if (format || in->is_dial9)
		return format;
	source_close(in->source);
	in->source = NULL;
	in->foreign.read = plain_read;
	rewind_input(in);
	return NULL;
}

const struct foreign_format *input_detect(struct input *in)
{
	const struct foreign_format *format;
	char *head;
	bool whole;
	size_t sz;

	if (in->following)
		return detect_format(in, in->head, in->head_sz, false);
	head = xmalloc(HEAD_SIZE);
	sz = read_head(in, head, &whole);
	format = detect_format(in, head, sz, whole);
	if (!format && is_packed(head, sz))
		format = detect_head(in, head);
	free(head);
	return format;
}

bool input_is_dial9(const struct input *in)
{
	return in->is_dial9;
}

bool input_may_be_dial9(const struct input *in)
{
	return in->may_be_dial9;
}

bool input_is_empty(const struct input *in)
{
	return in->is_empty;
}

/* The first bytes of a pipe, left in it. Waits until they are enough, or no start of a magic. */
static size_t peek_pipe(int fd, char head[DIAL9_MAGIC_SZ])
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int copy[2];
	ssize_t n = 0;

	if (pipe2(copy, O_CLOEXEC))
		return 0;
	while (poll(&pfd, 1, -1) > 0) {
		n = tee(fd, copy[1], DIAL9_MAGIC_SZ, 0);
		if (n > 0)
			n = read_once(copy[0], head, (size_t)n);
		if (n <= 0 || n == DIAL9_MAGIC_SZ || memcmp(head, DIAL9_MAGIC, (size_t)n) ||
		    (pfd.revents & POLLHUP))
			break;
		/* Those bytes are still there, so poll() would return at once. */
		poll(NULL, 0, FOLLOW_MS);
	}
	close(copy[0]);
	close(copy[1]);
	return n > 0 ? (size_t)n : 0;
}

int input_hold_stdin(void)
{
	char magic[DIAL9_MAGIC_SZ], *head;
	struct input *in;
	struct stat st;
	bool whole;
	size_t sz;
	int err;

	if (fstat(STDIN_FILENO, &st) || !S_ISFIFO(st.st_mode))
		return 0;
	sz = peek_pipe(STDIN_FILENO, magic);
	if (!sz || is_dial9(magic, sz))
		return 0;
	err = input_open("-", NULL, &in);
	if (err)
		return err;
	head = xmalloc(HEAD_SIZE);
	sz = read_head(in, head, &whole);
	/* if nothing can read it, the head is enough */
	if (is_packed(head, sz) || foreign_detect(head, sz, false))
		err = copy_rest(in);
	free(head);
	if (!err && (lseek(in->fd, 0, SEEK_SET) < 0 || dup2(in->fd, STDIN_FILENO) < 0))
		err = -errno;
	if (err)
		log_error("cannot read standard input: %s", strerror(-err));
	input_close(in);
	return err;
}
