// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files in a directory of their own. Owns their paths and the paths of the directories around them, so that a failure
 * leaves nothing. A file is open only while it is written, because there may be more files than descriptors.
 */
#include "base/out_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"

struct out_dir_file {
	struct out_dir *dir;
	char *path; /* without the suffix */
	bool named;
};

struct out_dir {
	int fd;
	char *path;
	bool created; /* by out_dir_open() */
	bool committed;
	int err;
	char **dirs; /* created, outer ones first */
	size_t dir_cnt, dir_cap;
	struct out_dir_file **files;
	size_t file_cnt, file_cap;
};

/* Keeps and prints the first error. @path NULL: the directory itself. */
static int report_error(struct out_dir *d, const char *path, int err)
{
	if (d->err)
		return d->err;
	d->err = err;
	log_error("cannot write %s%s%s: %s", d->path, path ? "/" : "", path ? path : "",
		  strerror(-err));
	return err;
}

/* ---- opening ---------------------------------------------------------------------------------- */

static int open_root(const char *path, bool *created, int *fd)
{
	*created = !mkdir(path, 0700);
	if (!*created && errno != EEXIST)
		return -errno;
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

static int check_empty(int fd)
{
	char **names;
	int cnt = file_names(fd, true, &names);

	if (cnt < 0)
		return cnt;
	file_names_free(names, cnt);
	return cnt ? -ENOTEMPTY : 0;
}

int out_dir_open(const char *path, struct out_dir **out)
{
	bool created;
	int fd = -1, err = open_root(path, &created, &fd);

	if (!err && !created)
		err = check_empty(fd);
	if (err) {
		if (err == -ENOTEMPTY)
			log_error("cannot write %s: the directory is not empty; choose a new one "
				  "with -o",
				  path);
		else
			log_error("cannot write %s: %s; choose a new directory with -o", path,
				  strerror(-err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	*out = xcalloc(1, sizeof(**out));
	**out = (struct out_dir){ .fd = fd, .path = xstrdup(path), .created = created };
	return 0;
}

/* ---- files ------------------------------------------------------------------------------------ */

static char *unfinished_name(const struct out_dir_file *f)
{
	struct buf name = { 0 };

	buf_printf(&name, "%s%s", f->path, OUT_DIR_SUFFIX);
	return buf_steal(&name);
}

static int make_dir(struct out_dir *d, const char *path)
{
	if (mkdirat(d->fd, path, 0700))
		return errno == EEXIST ? 0 : -errno;
	d->dirs = array_reserve(d->dirs, &d->dir_cap, d->dir_cnt + 1, sizeof(*d->dirs));
	d->dirs[d->dir_cnt++] = xstrdup(path);
	return 0;
}

/* The directories in the path of a file. */
static int make_dirs(struct out_dir *d, const char *path)
{
	char *copy = xstrdup(path);
	int err = 0;

	for (char *slash = strchr(copy, '/'); slash && !err; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		err = make_dir(d, copy);
		*slash = '/';
	}
	free(copy);
	return err;
}

/* Opens the file: to append, or with O_CREAT | O_EXCL. */
static int open_file(const struct out_dir_file *f, int flags)
{
	char *name = unfinished_name(f);
	int fd = openat(f->dir->fd, name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags,
			0600);
	int err = fd < 0 ? -errno : 0;

	free(name);
	return err ? err : fd;
}

int out_dir_file_new(struct out_dir *d, const char *path, struct out_dir_file **out)
{
	struct out_dir_file *f;
	int fd;

	if (d->err)
		return d->err;
	fd = make_dirs(d, path);
	if (fd)
		return report_error(d, path, fd);
	f = xcalloc(1, sizeof(*f));
	*f = (struct out_dir_file){ .dir = d, .path = xstrdup(path) };
	fd = open_file(f, O_CREAT | O_EXCL);
	if (fd < 0) {
		report_error(d, path, fd);
		free(f->path);
		free(f);
		return fd;
	}
	close(fd);
	d->files = array_reserve(d->files, &d->file_cap, d->file_cnt + 1,
				 sizeof(struct out_dir_file *));
	d->files[d->file_cnt++] = f;
	*out = f;
	return 0;
}

int out_dir_append(struct out_dir_file *f, const void *data, size_t sz)
{
	int err, fd;

	if (f->dir->err)
		return f->dir->err;
	fd = open_file(f, 0);
	if (fd < 0)
		return report_error(f->dir, f->path, fd);
	err = file_write(fd, data, sz);
	if (close(fd) && !err)
		err = -errno;
	return err ? report_error(f->dir, f->path, err) : 0;
}

/* ---- the end ---------------------------------------------------------------------------------- */

static int sync_file(struct out_dir_file *f)
{
	int fd = open_file(f, 0), err;

	if (fd < 0)
		return fd;
	err = fsync(fd) ? -errno : 0;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* @path NULL: the directory itself. */
static int sync_dir(const struct out_dir *d, const char *path)
{
	int fd = openat(d->fd, path ?: ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = fsync(fd) ? -errno : 0;
	close(fd);
	return err;
}

static int name_file(struct out_dir_file *f)
{
	char *name = unfinished_name(f);
	int err = renameat(f->dir->fd, name, f->dir->fd, f->path) ? -errno : 0;

	free(name);
	f->named = !err;
	return err;
}

static int for_each_file(struct out_dir *d, int (*fn)(struct out_dir_file *f))
{
	for (size_t i = 0; i < d->file_cnt && !d->err; i++) {
		int err = fn(d->files[i]);

		if (err)
			report_error(d, d->files[i]->path, err);
	}
	return d->err;
}

int out_dir_commit(struct out_dir *d)
{
	int err;

	if (for_each_file(d, sync_file) || for_each_file(d, name_file))
		return d->err;
	for (size_t i = 0; i < d->dir_cnt && !d->err; i++) {
		err = sync_dir(d, d->dirs[i]);
		if (err)
			report_error(d, d->dirs[i], err);
	}
	err = d->err ? 0 : sync_dir(d, NULL);
	if (err)
		report_error(d, NULL, err);
	d->committed = !d->err;
	return d->err;
}

int out_dir_error(const struct out_dir *d)
{
	return d->err;
}

static void remove_file(const struct out_dir_file *f)
{
	char *name = unfinished_name(f);

	unlinkat(f->dir->fd, f->named ? f->path : name, 0);
	free(name);
}

void out_dir_free(struct out_dir *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->file_cnt; i++) {
		if (!d->committed)
			remove_file(d->files[i]);
		free(d->files[i]->path);
		free(d->files[i]);
	}
	for (size_t i = d->dir_cnt; i--;) {
		if (!d->committed)
			unlinkat(d->fd, d->dirs[i], AT_REMOVEDIR);
		free(d->dirs[i]);
	}
	if (d->created && !(d->committed && d->file_cnt))
		rmdir(d->path);
	free(d->files);
	free(d->dirs);
	close(d->fd);
	free(d->path);
	free(d);
}
