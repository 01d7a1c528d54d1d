// SPDX-License-Identifier: BSD-2-Clause
/*
 * Inputs of a merge: files, standard input, and directories. Owns their descriptors, which stay open: so both
 * passes read the same bytes, even if files are renamed. The second pass takes the descriptors, so each file has
 * only one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/log.h"
#include "rewrite/copy/spool.h"
#include "rewrite/merge/merge_impl.h"

#define ROOM                                                                                       \
	24 /* other descriptors: inherited ones, one more reader, temporary files, the output */

/* Raises the limit of open files to its maximum. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Whether another file may stay open; if not, prints one line. */
static bool has_room(const struct merge_plan *p)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	bool room;

	getrlimit(RLIMIT_NOFILE, &limit);
	room = p->file_cnt + ROOM < limit.rlim_cur;
	if (!room)
		log_error(
			"%s: more inputs than the limit of %llu open files; raise it with ulimit -n, or "
			"merge some files first",
			p->opts.word, (unsigned long long)limit.rlim_cur);
	return room;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void add(struct merge_plan *p, const char *name, int fd, size_t arg, bool found)
{
	p->files = array_reserve(p->files, &p->file_cap, p->file_cnt + 1, sizeof(*p->files));
	p->files[p->file_cnt++] = (struct merge_file){
		.name = xstrdup(name), .fd = fd, .arg = (uint32_t)arg, .found = found
	};
}

static int open_one(struct merge_plan *p, const char *path, size_t arg)
{
	struct source *src;
	int fd;

	if (!has_room(p))
		return CMD_USAGE;
	if (spool_open(p->opts.word, path, &src))
		return CMD_INPUT;
	fd = fcntl(source_fd(src), F_DUPFD_CLOEXEC, 3);
	if (fd >= 0)
		add(p, source_name(src), fd, arg, false);
	else
		log_error("%s: cannot open %s: %s", p->opts.word, path, strerror(errno));
	p->incomplete |= source_is_damaged(src);
	source_close(src);
	return fd < 0 ? CMD_INPUT : CMD_OK;
}

/* ---- directories ------------------------------------------------------------------------------- */

/* Whether its first uncompressed bytes begin a trace. Does not change @fd. */
static bool is_trace(int fd, const char *name)
{
	static const char magic[] = { 'T', 'R', 'C', 0 };
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	char head[sizeof(magic)];
	struct source *src;
	size_t sz = 0;
	ssize_t n = 1;

	if (copy < 0 || lseek(copy, 0, SEEK_SET) < 0 || source_open_fd(copy, name, &src))
		return false;
	while (sz < sizeof(head) && (n = source_read(src, head + sz, sizeof(head) - sz)) > 0)
		sz += (size_t)n;
	source_close(src);
	return sz == sizeof(head) && !memcmp(head, magic, sizeof(head));
}

void merge_inputs_add_made(struct merge_plan *p, const char *name, int fd, size_t of)
{
	struct merge_file *f;

	add(p, name, fd, p->files[of].arg, false);
	f = &p->files[p->file_cnt - 1];
	f->made = true;
	f->of = (uint32_t)of;
}

void merge_inputs_add(struct merge_plan *p, const char *name, int fd, size_t arg, bool found)
{
	if (p->file_cnt < MERGE_FILES_MAX && (!found || is_trace(fd, name))) {
		add(p, name, fd, arg, found);
		return;
	}
	log_warn("%s: %s is not a dial9 trace; skipped", p->opts.word, name);
	close(fd);
}

static bool is_older(const char *name)
{
	static const char old[] = ".old";
	const size_t len = strlen(name), end = strlen(old);

	return len > end && !strcmp(name + len - end, old);
}

static bool is_output(const struct merge_plan *p, const struct stat *st)
{
	struct stat out;

	return p->opts.output && !stat(p->opts.output, &out) && out.st_dev == st->st_dev &&
	       out.st_ino == st->st_ino;
}

/* Why a file in a directory is skipped, or NULL. */
static const char *why_not(const struct merge_plan *p, int fd, const struct stat *st,
			   const char *name, const char *whole)
{
	if (is_older(name))
		return "is an older file";
	if (is_output(p, st))
		return "is the output";
	return S_ISREG(st->st_mode) && is_trace(fd, whole) ? NULL : "is not a dial9 trace";
}

/* Opens a file in a directory. Does not block on a pipe. */
static bool open_found(struct merge_plan *p, int dir, const char *path, const char *name,
		       size_t arg)
{
	const int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct buf whole = { 0 };
	const char *why = NULL;
	struct stat st;
	bool good = false;

	buf_printf(&whole, "%s/%s", path, name);
	if (fd < 0)
		log_warn("%s: cannot open %s: %s", p->opts.word, buf_cstr(&whole), strerror(errno));
	else if (!fstat(fd, &st) && !S_ISDIR(st.st_mode))
		good = !(why = why_not(p, fd, &st, name, buf_cstr(&whole)));
	if (why)
		log_warn("%s: %s %s; skipped", p->opts.word, buf_cstr(&whole), why);
	if (good)
		add(p, buf_cstr(&whole), fd, arg, true);
	else if (fd >= 0)
		close(fd);
	buf_free(&whole);
	return good;
}

static int open_directory(struct merge_plan *p, const char *path, size_t arg)
{
	const int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char **all = NULL;
	const int n = dir < 0 ? -errno : file_names(dir, false, &all);
	int code = CMD_OK;
	size_t good = 0;

	if (n < 0) {
		log_error("%s: cannot read %s: %s", p->opts.word, path, strerror(-n));
		code = CMD_INPUT;
	}
	for (int i = 0; i < n; i++) {
		if (code == CMD_OK && !has_room(p))
			code = CMD_USAGE;
		if (code == CMD_OK && p->file_cnt < MERGE_FILES_MAX)
			good += open_found(p, dir, path, all[i], arg);
	}
	file_names_free(all, n);
	if (dir >= 0)
		close(dir);
	if (code == CMD_OK && !good) {
		log_error("%s: %s has no dial9 trace", p->opts.word, path);
		code = CMD_INPUT;
	}
	return code;
}

int merge_inputs_open(struct merge_plan *p, const char *const *paths, size_t cnt)
{
	int code = CMD_OK;

	raise_limit();
	for (size_t i = 0; i < cnt && code == CMD_OK; i++)
		code = is_directory(paths[i]) ? open_directory(p, paths[i], i) :
						open_one(p, paths[i], i);
	if (code == CMD_OK && p->file_cnt >= MERGE_FILES_MAX) {
		log_error("%s: more than %d files; merge some files first", p->opts.word,
			  MERGE_FILES_MAX - 1);
		code = CMD_USAGE;
	}
	return code;
}

/* A reader of an open file, which owns it. */
static int read_fd(const struct merge_file *f, int fd, struct reader **out)
{
	struct source *src;
	int err = fd < 0 ? -errno : lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;

	if (!err)
		err = source_open_fd(fd, f->name, &src);
	else if (fd >= 0)
		close(fd);
	if (err) {
		log_error("cannot read %s: %s", f->name, strerror(-err));
		return err;
	}
	return reader_new(src, READER_ONE_PASS, out);
}

int merge_inputs_read(const struct merge_file *f, struct reader **out)
{
	return read_fd(f, fcntl(f->fd, F_DUPFD_CLOEXEC, 3), out);
}

int merge_inputs_read_last(struct merge_plan *p, const struct merge_file *f, struct reader **out)
{
	struct merge_file *file = &p->files[f - p->files];
	const int fd = file->fd;

	file->fd = -1;
	return read_fd(f, fd, out);
}

void merge_inputs_close(struct merge_plan *p)
{
	for (size_t i = 0; i < p->file_cnt; i++) {
		if (p->files[i].fd >= 0)
			close(p->files[i].fd);
		free(p->files[i].name);
	}
	free(p->files);
}
