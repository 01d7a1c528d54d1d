// SPDX-License-Identifier: BSD-2-Clause
/*
 * out_file.c - writes bytes to a file or a pipe
 *
 * The recorder runs as root in directories of other users. So it always creates a new file
 * (O_EXCL), renames an old file, and never follows a link. The file gets its name with the first
 * bytes, so a recording that cannot start keeps the older file. If the file system supports it, the
 * file has no name until then, so a killed recorder leaves no file.
 *
 * A new file is locked until it is closed. A locked file is not renamed, so no writer loses its
 * name to another. The kernel releases the lock of a killed process.
 */
#include "base/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"

enum { LOOK_MS = 100, TRIES = 8 };

struct out_file {
	int fd;
	char *path;
	bool fresh; /* new file without its final name; until then its name is @made */
	char *made; /* temporary name, or NULL if it has none */
	uid_t uid; /* owner of the file; -1: unchanged */
	gid_t gid;
	bool named; /* file that we created and that should have a name */
	bool held; /* gets its name at out_file_commit() */
	bool written; /* has at least one byte */
	bool failed;
	bool needs_end; /* without its end the file is incomplete */
	bool is_socket;
	out_file_full_fn full; /* NULL: a full file system is an error at once */
	void *full_ctx;
	const volatile bool *give_up; /* NULL: waits for the reader without limit */
};

static int output_error(const char *path, int err)
{
	if (err == -EIDRM) {
		log_error("cannot write %s: the file was removed; the recording is lost", path);
		return err;
	}
	if (err == -ETXTBSY) {
		log_error("another dial9-prof is writing %s; choose another -o", path);
		return err;
	}
	if (err == -ENXIO) {
		log_error("cannot write %s: no process reads it; start the reader first", path);
		return err;
	}
	if (err == -EPROTONOSUPPORT) {
		log_error("cannot write %s: it is a socket; record -o unix:%s connects to it", path,
			  path);
		return err;
	}
	if (err == -ETIMEDOUT || err == -ECONNRESET) {
		log_error("cannot write %s: %s; the data sent before is readable", path,
			  err == -ETIMEDOUT ? "the other end does not read" :
					      "the other end closed the connection");
		return err;
	}
	log_error("cannot write %s: %s%s", path, strerror(-err),
		  err == -EACCES || err == -EROFS || err == -ENOENT || err == -EISDIR ?
			  "; choose another file with -o" :
			  "");
	return err;
}

static bool is_file(const char *path, int fd)
{
	struct stat st, now;

	return !fstat(fd, &st) && !lstat(path, &now) && st.st_dev == now.st_dev &&
	       st.st_ino == now.st_ino;
}

/*
 * Locks the file of that name, so that no other writer renames it. *fd is -1 if there is none, or it cannot be
 * locked at all. -ETXTBSY: another process writes it.
 */
static int lock_present(const char *path, int *fd)
{
	struct stat st;
	int tries = TRIES;

	*fd = -1;
	while (tries-- && !lstat(path, &st) && S_ISREG(st.st_mode)) {
		*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
		if (*fd < 0)
			return 0;
		if (flock(*fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
			close(*fd);
			*fd = -1;
			return -ETXTBSY;
		}
		if (is_file(path, *fd))
			return 0;
		/* renamed since it was opened: lock the file that has the name now */
		close(*fd);
		*fd = -1;
	}
	return 0;
}

static int check_in_use(const char *path)
{
	int fd, err = lock_present(path, &fd);

	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Checks at open whether PATH can become PATH.old: the rename itself comes later, with the first
 * bytes.
 */
static int check_present(const char *path)
{
	struct buf old = { 0 };
	struct stat st;
	int err = check_in_use(path);

	if (err)
		return output_error(path, err);
	buf_printf(&old, "%s.old", path);
	if (!lstat(buf_cstr(&old), &st) && S_ISDIR(st.st_mode))
		err = output_error(buf_cstr(&old), -EISDIR);
	buf_free(&old);
	return err;
}

static int keep_old(const char *path)
{
	struct buf old = { 0 };
	int fd, err = lock_present(path, &fd);

	buf_printf(&old, "%s.old", path);
	if (!err && rename(path, buf_cstr(&old)) && errno != ENOENT)
		err = -errno;
	buf_free(&old);
	if (fd >= 0)
		close(fd);
	return err;
}

static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? xstrndup(path, slash - path + 1) : xstrdup(".");
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	free(dir);
	return fd;
}

static int make_named(struct out_file *s)
{
	struct buf name = { 0 };

	buf_printf(&name, "%s.XXXXXX", s->path);
	buf_cstr(&name);
	s->fd = mkostemp(name.data, O_CLOEXEC);
	if (s->fd < 0) {
		int err = -errno;

		buf_free(&name);
		return err;
	}
	s->made = buf_steal(&name);
	return 0;
}

/* Not all file systems have locks. */
static int own_and_lock(const struct out_file *s)
{
	(void)flock(s->fd, LOCK_EX | LOCK_NB);
	return s->uid != (uid_t)-1 && fchown(s->fd, s->uid, s->gid) ? -errno : 0;
}

/* Tries to create a file without a name; errors of file systems without that feature differ. */
static int make_new(struct out_file *s)
{
	int err = 0;

	s->fresh = s->named = true;
	s->fd = open_nameless(s->path);
	if (s->fd < 0)
		err = make_named(s);
	return err ? err : own_and_lock(s);
}

bool out_file_is_stdout(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

static bool stat_regular(const char *path, int fd, struct stat *st)
{
	return !(fd >= 0 ? fstat(fd, st) : stat(path, st)) && S_ISREG(st->st_mode);
}

bool out_file_is_input(const char *word, const char *output, const char *input)
{
	const bool to_stdout = !output || out_file_is_stdout(output);
	struct stat in, out;

	if (!stat_regular(input, strcmp(input, "-") ? -1 : STDIN_FILENO, &in) ||
	    !stat_regular(output, to_stdout ? STDOUT_FILENO : -1, &out) ||
	    in.st_dev != out.st_dev || in.st_ino != out.st_ino)
		return false;
	log_error("%s: cannot overwrite the input, %s; choose another file with -o", word,
		  strcmp(input, "-") ? input : "which is standard input");
	return true;
}

bool out_file_is_descriptor(const char *path, int fd)
{
	struct stat out, other;

	if ((out_file_is_stdout(path) ? fstat(STDOUT_FILENO, &out) : stat(path, &out)) ||
	    fstat(fd, &other))
		return false;
	return out.st_dev == other.st_dev && out.st_ino == other.st_ino &&
	       (S_ISREG(out.st_mode) || S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode));
}

/*
 * Finds the descriptor that a path names (/dev/fd/N, a shell's >(COMMAND)). Such paths are links,
 * which would be renamed otherwise.
 */
static bool names_descriptor(const char *path, int *fd)
{
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t n;
	size_t i;

	*fd = -1;
	if (out_file_is_stdout(path))
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

/* Without a reader, a FIFO can only be opened by a call that waits for one. */
static int open_for_reader(const char *path, uint64_t wait_ns)
{
	const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;
	const struct timespec step = { .tv_nsec = LOOK_MS * 1000000L };
	const uint64_t deadline = clock_mono_ns() + wait_ns;
	int fd;

	if (!wait_ns)
		return open(path, flags);
	while ((fd = open(path, flags | O_NONBLOCK)) < 0)
		if (errno != ENXIO || clock_mono_ns() > deadline || nanosleep(&step, NULL))
			return -1;
	if (fcntl(fd, F_SETFL, O_WRONLY)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Checks the file again after opening it: a pipe may have been replaced by a link. */
static int open_present(const char *path, uint64_t wait_ns, int *fd)
{
	struct stat st;

	*fd = open_for_reader(path, wait_ns);
	if (*fd < 0)
		return -errno;
	if (!fstat(*fd, &st) && !S_ISREG(st.st_mode))
		return 0;
	close(*fd);
	return -EEXIST;
}

static int open_path(struct out_file *s, uint64_t wait_ns)
{
	struct stat st;
	int named;

	if (names_descriptor(s->path, &named)) {
		s->fd = fcntl(named, F_DUPFD_CLOEXEC, 3);
		return s->fd < 0 ? -errno : 0;
	}
	if (lstat(s->path, &st))
		return errno == ENOENT ? make_new(s) : -errno;
	if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		return make_new(s);
	if (S_ISSOCK(st.st_mode))
		return -EPROTONOSUPPORT;
	return open_present(s->path, wait_ns, &s->fd);
}

static void sink_free(struct out_file *s)
{
	if (s->made)
		unlink(s->made);
	free(s->made);
	free(s->path);
	free(s);
}

int out_file_open_within(const char *path, uid_t uid, gid_t gid, uint64_t wait_ns,
			 struct out_file **out)
{
	struct out_file *s = xcalloc(1, sizeof(*s));
	int err;

	s->fd = -1;
	s->path = xstrdup(path);
	s->uid = uid;
	s->gid = gid;
	err = open_path(s, wait_ns);
	if (err)
		output_error(path, err);
	else if (s->fresh)
		err = check_present(path);
	if (err) {
		if (s->fd >= 0)
			close(s->fd);
		sink_free(s);
		return err;
	}
	*out = s;
	return 0;
}

int out_file_open(const char *path, uid_t uid, gid_t gid, struct out_file **out)
{
	return out_file_open_within(path, uid, gid, 0, out);
}

static int link_as(int fd, const char *path)
{
	char own[32];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/*
 * Moves the file to its name. Another process may create a file there at the same time: that file
 * becomes .old, too.
 */
static int put_in_place(const struct out_file *s)
{
	int tries = TRIES, err;

	do {
		err = keep_old(s->path);
		if (!err && s->made)
			err = rename(s->made, s->path) ? -errno : 0;
		else if (!err)
			err = link_as(s->fd, s->path);
	} while (err == -EEXIST && --tries);
	return err;
}

/* Names the file. If a file without a name cannot be linked, creates a new one with a name. */
static int give_name(struct out_file *s)
{
	int err = put_in_place(s);

	if (err && err != -ETXTBSY && !s->made && !s->written) {
		close(s->fd);
		err = make_named(s);
		if (!err)
			err = own_and_lock(s);
		if (!err)
			err = put_in_place(s);
	}
	if (err)
		return err;
	free(s->made);
	s->made = NULL;
	s->fresh = false;
	return 0;
}

static bool is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EFBIG;
}

void out_file_need_end(struct out_file *s)
{
	s->needs_end = true;
}

static int write_failed(struct out_file *s, int err)
{
	const char *name = strcmp(s->path, "-") ? s->path : "standard output";

	if (s->is_socket && err == -EPIPE)
		err = -ECONNRESET;
	if (!s->failed && is_full(err) && s->named && s->written && !s->held)
		log_error("cannot write %s: %s; the file is %s", name, strerror(-err),
			  s->needs_end ? "incomplete" : "readable up to its last flush");
	else if (!s->failed && err != -EPIPE)
		output_error(name, err);
	s->failed = true;
	return err;
}

/* Fails if the file was removed: writes would succeed, but no process could read the result. */
static int check_named(const struct out_file *s)
{
	struct stat st;

	return s->named && (!s->fresh || s->made) && !fstat(s->fd, &st) && !st.st_nlink ? -EIDRM :
											  0;
}

bool out_file_has_reader(const struct out_file *s)
{
	struct stat st;

	return !fstat(s->fd, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

void out_file_wait_until(struct out_file *s, const volatile bool *give_up)
{
	if (out_file_has_reader(s))
		s->give_up = give_up;
}

struct out_file *out_file_adopt(int fd, const char *name)
{
	struct out_file *s = xcalloc(1, sizeof(*s));

	s->fd = fd;
	s->path = xstrdup(name);
	s->is_socket = true;
	return s;
}

struct out_file *out_file_adopt_file(int fd, const char *path)
{
	struct out_file *s = xcalloc(1, sizeof(*s));

	s->fd = fd;
	s->path = xstrdup(path);
	s->uid = (uid_t)-1;
	s->named = true;
	return s;
}

void out_file_set_full(struct out_file *s, out_file_full_fn fn, void *ctx)
{
	s->full = fn;
	s->full_ctx = ctx;
}

/*
 * Writes without blocking: a ready pipe accepts PIPE_BUF bytes, and a socket what fits its buffer.
 */
static ssize_t write_ready(const struct out_file *s, const char *p, size_t sz)
{
	struct pollfd pfd = { .fd = s->fd, .events = POLLOUT };

	while (!*s->give_up) {
		if (poll(&pfd, 1, LOOK_MS) < 1)
			continue;
		if (!s->is_socket)
			return write(s->fd, p, sz < PIPE_BUF ? sz : PIPE_BUF);
		return send(s->fd, p, sz, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	errno = ETIMEDOUT;
	return -1;
}

static ssize_t write_some(const struct out_file *s, const char *p, size_t sz)
{
	ssize_t n;

	do {
		n = s->give_up ? write_ready(s, p, sz) : write(s->fd, p, sz);
	} while (n < 0 && (errno == EINTR || (s->give_up && errno == EAGAIN)));
	return n;
}

/* Returns 0 to retry. */
static int ask_for_room(struct out_file *s, int err)
{
	return s->full && (err == -ENOSPC || err == -EDQUOT) ? s->full(s->full_ctx, err) : err;
}

int out_file_write(void *ctx, const void *data, size_t sz)
{
	struct out_file *s = ctx;
	const char *p = data;
	ssize_t n;
	int err = s->fresh && !s->held ? give_name(s) : 0;

	if (err)
		return write_failed(s, err);
	while (sz) {
		n = write_some(s, p, sz);
		if (n < 0) {
			err = ask_for_room(s, -errno);
			if (err)
				return err == -ECANCELED ? err : write_failed(s, err);
			continue;
		}
		s->written = true;
		p += n;
		sz -= n;
	}
	err = check_named(s);
	return err ? write_failed(s, err) : 0;
}

/* Adds @end whole or not at all: without it, readers treat the file as truncated. */
void out_file_cut(struct out_file *s, uint64_t sz, const void *end, size_t end_sz)
{
	s->failed = true;
	if (!s->named || ftruncate(s->fd, (off_t)sz) || !end_sz || !sz)
		return;
	if (lseek(s->fd, (off_t)sz, SEEK_SET) < 0 || write(s->fd, end, end_sz) != (ssize_t)end_sz)
		(void)!ftruncate(s->fd, (off_t)sz);
}

bool out_file_is_good(const struct out_file *s)
{
	return !s->failed;
}

void out_file_hold(struct out_file *s)
{
	s->held = true;
}

int out_file_commit(struct out_file *s)
{
	int err = s->fresh ? give_name(s) : 0;

	return err ? write_failed(s, err) : 0;
}

/* Another process may rename the file at any time. */
static void report_rename(const struct out_file *s)
{
	struct stat st;

	if (!s->named || !s->written || s->failed || s->fresh || fstat(s->fd, &st) ||
	    !st.st_nlink || is_file(s->path, s->fd))
		return;
	log_warn("%s was renamed by another process; the data is in the file with inode %llu",
		 s->path, (unsigned long long)st.st_ino);
}

int out_file_close(struct out_file *s)
{
	int err = 0;

	if (!s)
		return 0;
	report_rename(s);
	if (close(s->fd) && !s->failed)
		err = output_error(s->path, -errno);
	sink_free(s);
	return err;
}
