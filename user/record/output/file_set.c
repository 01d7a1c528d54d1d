// SPDX-License-Identifier: BSD-2-Clause
/*
 * file_set.c - the rotated files of one name, across runs
 *
 * Owns the names, the numbers, and the list of finished files, oldest first. Does not decide when a file is full.
 *
 * The recorder may run as root in a directory that belongs to another user. So every call is relative to one open
 * directory, and symbolic links are not followed. A file of an earlier run counts only if it has exactly our name,
 * is a regular file of our owner, and begins like a trace. No other file is ever renamed or deleted.
 *
 * An .active file is locked while its recorder lives. If the lock is free, the recorder has ended.
 */
#include "record/output/file_set.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "record/output/compress.h"

#define SUFFIX ".bin"
#define TRACE_MAGIC "TRC"

enum { STAMP_LEN = 14, DIGITS_MAX = 19, TRIES = 1000 };

#define NUMBER_MAX 1000000000000ULL /* of an earlier file that a run continues after */

struct entry {
	char *name;
	char stamp[STAMP_LEN + 1]; /* "": none */
	uint64_t number, bytes;
	dev_t dev;
	ino_t ino;
};

struct file_set {
	int dirfd;
	char *dir; /* with the trailing slash, or "" */
	char *name; /* without a stamp */
	char *stamp; /* "": none */
	uid_t uid;
	gid_t gid;
	uint64_t next; /* number */
	struct entry *files; /* finished, oldest first */
	size_t cnt, cap;
	uint64_t bytes;
	size_t stuck_cnt; /* files that cannot be deleted */
	uint64_t stuck_bytes;
};

/* ---- names -------------------------------------------------------------------------------------- */

enum kind { KIND_OTHER, KIND_FINISHED, KIND_ACTIVE };

struct member {
	char stamp[STAMP_LEN + 1];
	uint64_t number;
	enum kind kind; /* KIND_OTHER: has a number, but not a name that we write */
	enum compress_kind pack; /* of a finished file */
};

static const enum compress_kind packs[] = { COMPRESS_NONE, COMPRESS_GZIP, COMPRESS_ZSTD };

#define PACKS (sizeof(packs) / sizeof(packs[0]))

static enum kind kind_of(const char *end, enum compress_kind *pack)
{
	for (size_t i = 0; i < PACKS; i++) {
		*pack = packs[i];
		if (!strcmp(end, compress_suffix(packs[i])))
			return KIND_FINISHED;
	}
	return strcmp(end, FILE_SET_ACTIVE) ? KIND_OTHER : KIND_ACTIVE;
}

static bool parse_stamp(const char **name, char *stamp)
{
	if (strspn(*name, "0123456789") != STAMP_LEN || (*name)[STAMP_LEN] != '.')
		return false;
	memcpy(stamp, *name, STAMP_LEN);
	*name += STAMP_LEN + 1;
	return true;
}

/* 14 digits are a time stamp, so the single file NAME.20260131235959.bin does not belong to set NAME. */
static bool parse(const struct file_set *s, const char *name, struct member *out)
{
	size_t len = strlen(s->name), digits;
	char text[DIGITS_MAX + 1] = { 0 };

	*out = (struct member){ 0 };
	if (strncmp(name, s->name, len) || name[len] != '.')
		return false;
	name += len + 1;
	if (*s->stamp && !parse_stamp(&name, out->stamp))
		return false;
	digits = strspn(name, "0123456789");
	if (!digits || digits > DIGITS_MAX || digits == STAMP_LEN ||
	    !str_starts(name + digits, SUFFIX))
		return false;
	memcpy(text, name, digits);
	if (str_parse_u64(text, UINT64_MAX / 2, &out->number))
		return false;
	out->kind = kind_of(name + digits + strlen(SUFFIX), &out->pack);
	if (*text == '0' && digits > 1)
		out->kind = KIND_OTHER;
	return true;
}

static void add_name(const struct file_set *s, const char *stamp, uint64_t number, const char *end,
		     struct buf *out)
{
	buf_printf(out, "%s%s%s.%llu" SUFFIX "%s", s->name, *stamp ? "." : "", stamp,
		   (unsigned long long)number, end);
}

static char *name_of(const struct file_set *s, const char *stamp, uint64_t number, const char *end)
{
	struct buf name = { 0 };

	add_name(s, stamp, number, end, &name);
	return buf_steal(&name);
}

char *file_set_path(const struct file_set *s, uint64_t number, const char *end)
{
	struct buf path = { 0 };

	buf_addstr(&path, s->dir);
	add_name(s, s->stamp, number, end, &path);
	return buf_steal(&path);
}

/* ---- what is there --------------------------------------------------------------------------------- */

static bool is_ours(const struct file_set *s, const struct stat *st)
{
	return S_ISREG(st->st_mode) &&
	       (st->st_uid == geteuid() || (s->uid != (uid_t)-1 && st->st_uid == s->uid));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Opens a regular file of our owner, which is checked before and after opening. -1: it is not ours. */
static int open_ours(const struct file_set *s, const char *name, struct stat *st)
{
	struct stat before;
	int fd;

	if (fstatat(s->dirfd, name, &before, AT_SYMLINK_NOFOLLOW) || !is_ours(s, &before))
		return -1;
	fd = openat(s->dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && is_same(st, &before) && is_ours(s, st))
		return fd;
	close(fd);
	return -1;
}

static int by_age(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	const int stamps = strcmp(x->stamp, y->stamp);

	if (stamps)
		return stamps;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_file(struct file_set *s, const struct member *m, char *name, const struct stat *st)
{
	struct entry e = { .name = name,
			   .number = m->number,
			   .bytes = (uint64_t)st->st_size,
			   .dev = st->st_dev,
			   .ino = st->st_ino };

	memcpy(e.stamp, m->stamp, sizeof(e.stamp));
	s->files = array_reserve(s->files, &s->cap, s->cnt + 1, sizeof(*s->files));
	s->files[s->cnt++] = e;
	s->bytes += e.bytes;
}

static void add_finished(struct file_set *s, const struct member *m, const char *name)
{
	char head[sizeof(TRACE_MAGIC)] = "";
	struct stat st;
	int fd = open_ours(s, name, &st);

	if (fd < 0)
		return;
	if (compress_peek(m->pack, fd, head, sizeof(head)) == sizeof(head) &&
	    !memcmp(head, TRACE_MAGIC, sizeof(head)))
		add_file(s, m, xstrdup(name), &st);
	close(fd);
}

/* If the file system cannot rename without replacing, a hard link has the same effect. */
static int rename_new(const struct file_set *s, const char *from, const char *to)
{
	/* a direct system call: some C libraries have no function for it */
	if (!syscall(SYS_renameat2, s->dirfd, from, s->dirfd, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(s->dirfd, from, s->dirfd, to, 0))
		return -errno;
	return unlinkat(s->dirfd, from, 0) ? -errno : 0;
}

/* Compressed bytes may be too short to decompress. */
static bool is_trace(int fd, enum compress_kind *pack)
{
	char head[sizeof(TRACE_MAGIC)];
	size_t n;

	*pack = compress_kind_of(fd);
	if (*pack != COMPRESS_NONE)
		return true;
	n = compress_peek(COMPRESS_NONE, fd, head, sizeof(head));
	return n && !memcmp(head, TRACE_MAGIC, n);
}

/* The file is locked, and its recorder has ended. */
static void recover(struct file_set *s, const struct member *m, const char *name, int fd)
{
	struct member finished = *m;
	struct stat st;
	char *to;
	int err;

	if (fstat(fd, &st))
		return;
	if (!st.st_size) {
		if (!unlinkat(s->dirfd, name, 0))
			log_info("record: removed %s%s, which was empty", s->dir, name);
		return;
	}
	if (!is_trace(fd, &finished.pack)) {
		log_warn("record: %s%s is not a dial9 trace; not renamed", s->dir, name);
		return;
	}
	to = name_of(s, m->stamp, m->number, compress_suffix(finished.pack));
	err = rename_new(s, name, to);
	if (err) {
		log_warn("record: cannot rename %s%s to %s: %s", s->dir, name, to, strerror(-err));
		free(to);
		return;
	}
	log_warn("record: %s%s: its recorder was killed; the file reads up to the last flush",
		 s->dir, to);
	add_file(s, &finished, to, &st);
}

/* Another recorder may have finished it before we locked it: then it has another name. */
static void recover_if_left(struct file_set *s, const struct member *m, const char *name)
{
	struct stat st, now;
	int fd = open_ours(s, name, &st);

	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB) && !fstatat(s->dirfd, name, &now, AT_SYMLINK_NOFOLLOW) &&
	    is_same(&st, &now))
		recover(s, m, name, fd);
	close(fd);
}

/* Numbers of other users' files, and numbers that no run can have reached, do not count. */
static void raise_next(struct file_set *s, const struct member *m, const char *name)
{
	struct stat st;

	if (!strcmp(m->stamp, s->stamp) && m->number >= s->next && m->number < NUMBER_MAX &&
	    !fstatat(s->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) && is_ours(s, &st))
		s->next = m->number + 1;
}

/* Reads all names before it renames a file: readdir() may return the new name, too. */
static int scan(struct file_set *s)
{
	struct member m;
	char **names;
	int cnt = file_names(s->dirfd, true, &names);

	if (cnt < 0)
		return cnt;
	for (int i = 0; i < cnt; i++) {
		if (!parse(s, names[i], &m))
			continue;
		raise_next(s, &m, names[i]);
		if (m.kind == KIND_FINISHED)
			add_finished(s, &m, names[i]);
		else if (m.kind == KIND_ACTIVE)
			recover_if_left(s, &m, names[i]);
	}
	file_names_free(names, cnt);
	if (s->cnt)
		qsort(s->files, s->cnt, sizeof(*s->files), by_age);
	return 0;
}

static void split(const char *path, struct file_set *s)
{
	const char *slash = strrchr(path, '/');

	s->dir = slash ? xstrndup(path, slash - path + 1) : xstrdup("");
	s->name = xstrdup(slash ? slash + 1 : path);
}

int file_set_open(const struct file_set_cfg *cfg, struct file_set **out)
{
	struct file_set *s = xcalloc(1, sizeof(*s));
	int err;

	split(cfg->name, s);
	s->stamp = xstrdup(cfg->stamp ? cfg->stamp : "");
	s->uid = cfg->uid;
	s->gid = cfg->gid;
	s->dirfd = open(*s->dir ? s->dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = s->dirfd < 0 ? -errno : scan(s);
	if (err) {
		log_error("cannot write files in %s: %s; choose another file with -o",
			  *s->dir ? s->dir : "the current directory", strerror(-err));
		file_set_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void file_set_free(struct file_set *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->cnt; i++)
		free(s->files[i].name);
	free(s->files);
	if (s->dirfd >= 0)
		close(s->dirfd);
	free(s->dir);
	free(s->name);
	free(s->stamp);
	free(s);
}

/* ---- one file --------------------------------------------------------------------------------------- */

/* False: another recorder recovered the file, or has finished a file of this number. */
static bool is_free(const struct file_set *s, const char *name, int fd, uint64_t number)
{
	struct stat st, now;
	bool taken = false;

	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return false;
	if (fstat(fd, &st) || fstatat(s->dirfd, name, &now, AT_SYMLINK_NOFOLLOW) ||
	    !is_same(&st, &now))
		return false;
	for (size_t i = 0; i < PACKS && !taken; i++) {
		char *other = name_of(s, s->stamp, number, compress_suffix(packs[i]));

		taken = !fstatat(s->dirfd, other, &now, AT_SYMLINK_NOFOLLOW);
		free(other);
	}
	if (taken)
		unlinkat(s->dirfd, name, 0);
	return !taken;
}

/* 1, or 0 if the number is in use, or -errno. */
static int try_number(struct file_set *s, uint64_t number, int *out)
{
	char *name = name_of(s, s->stamp, number, FILE_SET_ACTIVE);
	int fd, ret;

	fd = openat(s->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ret = fd >= 0 ? is_free(s, name, fd, number) : errno == EEXIST ? 0 : -errno;
	if (ret == 1 && s->uid != (uid_t)-1 && fchown(fd, s->uid, s->gid)) {
		ret = -errno;
		unlinkat(s->dirfd, name, 0);
	}
	if (ret == 1)
		*out = fd;
	else if (fd >= 0)
		close(fd);
	free(name);
	return ret;
}

int file_set_create(struct file_set *s, struct file_set_file *out)
{
	for (int tries = 0; tries < TRIES; tries++) {
		const uint64_t number = s->next;
		int fd = -1, ret = try_number(s, number, &fd);

		if (ret < 0)
			return ret;
		s->next++;
		if (!ret)
			continue;
		*out = (struct file_set_file){ .fd = fd, .number = number };
		return 0;
	}
	return -EEXIST;
}

int file_set_finish(struct file_set *s, const struct file_set_file *f, const char *suffix,
		    uint64_t bytes)
{
	char *from = name_of(s, s->stamp, f->number, FILE_SET_ACTIVE);
	char *to = name_of(s, s->stamp, f->number, suffix);
	struct member m = { .number = f->number };
	struct stat st;
	int err = rename_new(s, from, to);

	free(from);
	if (!err && fstatat(s->dirfd, to, &st, AT_SYMLINK_NOFOLLOW))
		err = -errno;
	if (err) {
		free(to);
		return err;
	}
	snprintf(m.stamp, sizeof(m.stamp), "%s", s->stamp);
	st.st_size = (off_t)bytes;
	add_file(s, &m, to, &st);
	return 0;
}

void file_set_discard(struct file_set *s, const struct file_set_file *f)
{
	char *name = name_of(s, s->stamp, f->number, FILE_SET_ACTIVE);

	unlinkat(s->dirfd, name, 0);
	free(name);
	if (f->number + 1 == s->next)
		s->next--;
}

/* ---- those that are finished ----------------------------------------------------------------------- */

size_t file_set_cnt(const struct file_set *s)
{
	return s->cnt + s->stuck_cnt;
}

uint64_t file_set_bytes(const struct file_set *s)
{
	return s->bytes + s->stuck_bytes;
}

static void forget(struct file_set *s, size_t i)
{
	s->bytes -= s->files[i].bytes;
	free(s->files[i].name);
	s->cnt--;
	memmove(&s->files[i], &s->files[i + 1], (s->cnt - i) * sizeof(*s->files));
}

/* Another file may have its name now, which we must not delete. */
static bool is_there(const struct file_set *s, const struct entry *e)
{
	struct stat st;

	return !fstatat(s->dirfd, e->name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       st.st_dev == e->dev && st.st_ino == e->ino;
}

bool file_set_drop_oldest(struct file_set *s)
{
	while (s->cnt) {
		const struct entry *e = &s->files[0];
		const uint64_t bytes = e->bytes;
		const bool there = is_there(s, e);
		const bool failed = there && unlinkat(s->dirfd, e->name, 0) && errno != ENOENT;

		if (failed) {
			log_warn("record: cannot delete %s%s: %s", s->dir, e->name,
				 strerror(errno));
			s->stuck_cnt++;
			s->stuck_bytes += bytes;
		} else if (there) {
			log_info("record: deleted %s%s", s->dir, e->name);
		}
		forget(s, 0);
		if (there && !failed)
			return true;
	}
	return false;
}

void file_set_refresh(struct file_set *s)
{
	for (size_t i = 0; i < s->cnt;)
		if (is_there(s, &s->files[i]))
			i++;
		else
			forget(s, i);
}
