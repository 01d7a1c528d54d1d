/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding and reading tracefs, in which the kernel describes its tracepoints.
 *
 * All access uses a directory descriptor, because tracefs is not mounted on many machines. In that
 * case the kernel creates a private mount for the descriptor (fsopen, fsconfig, fsmount); no other
 * process sees it, and closing the descriptor removes it. A mounted directory is used only if its
 * file system type is tracefs, because /sys/kernel/tracing also exists as an empty directory.
 */
#include "kernel/tracefs/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"

#ifndef FSOPEN_CLOEXEC
#define FSOPEN_CLOEXEC 1
#define FSMOUNT_CLOEXEC 1
#define FSCONFIG_CMD_CREATE 6
#endif

#define FILE_MAX (16UL << 20)

static int open_mounted(const char *path)
{
	struct statfs fs;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = fstatfs(fd, &fs) ? -errno : 0;
	if (!err && fs.f_type != TRACEFS_MAGIC)
		err = -ENOENT;
	if (!err && faccessat(fd, "events", R_OK | X_OK, AT_EACCESS))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* Works without permission to read the directory. */
static bool is_tracefs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == TRACEFS_MAGIC;
}

static int mount_privately(void)
{
	int fs, fd, err;

	fs = syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0)) {
		err = -errno;
		close(fs);
		return err;
	}
	fd = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	err = -errno;
	close(fs);
	return fd < 0 ? err : fd;
}

static void report_error(int err, bool mounted)
{
	if (mounted)
		log_error("cannot read tracefs: %s (run as root, with sudo, or give the program "
			  "CAP_DAC_READ_SEARCH)",
			  strerror(-err));
	else if (err == -EPERM || err == -EACCES)
		log_error(
			"cannot open tracefs: it is not mounted, and a private mount needs "
			"CAP_SYS_ADMIN; run as root, with sudo, or first \"mount -t tracefs tracefs "
			"/sys/kernel/tracing\"");
	else
		log_error("cannot open tracefs: %s (needs a kernel with tracing; try "
			  "\"mount -t tracefs tracefs /sys/kernel/tracing\")",
			  strerror(-err));
}

int tracefs_open_quiet(int *dirfd, bool *mounted)
{
	static const char *const paths[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int fd = -ENOENT;

	*mounted = false;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && fd < 0 && !*mounted; i++) {
		fd = open_mounted(paths[i]);
		*mounted = fd >= 0 || (fd == -EACCES && is_tracefs(paths[i]));
	}
	if (fd < 0 && !*mounted)
		fd = mount_privately();
	if (fd < 0)
		return fd;
	*dirfd = fd;
	return 0;
}

int tracefs_open(int *dirfd)
{
	bool mounted;
	int err = tracefs_open_quiet(dirfd, &mounted);

	if (err)
		report_error(err, mounted);
	return err;
}

int tracefs_read(int dirfd, const char *path, struct buf *out)
{
	return file_read(dirfd, path, FILE_MAX, out);
}

/* A name from the user becomes part of a path, so it must be one plain component. */
static bool is_plain_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/') && strlen(s) < 256;
}

int tracefs_event_id(int dirfd, const char *system, const char *name, uint32_t *id)
{
	struct buf text = { 0 };
	char path[600];
	uint64_t v;
	int err;

	if (!is_plain_name(system) || !is_plain_name(name))
		return -EINVAL;
	snprintf(path, sizeof(path), "events/%s/%s/id", system, name);
	err = tracefs_read(dirfd, path, &text);
	if (!err && text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	if (!err)
		err = str_parse_u64(text.data, UINT32_MAX, &v);
	if (!err)
		*id = v;
	buf_free(&text);
	return err;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **names, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		free(names[i]);
	free(names);
}

/* Lists the subdirectories of dirfd/path, sorted. */
static int list_dirs(int dirfd, const char *path, char ***out, size_t *out_cnt)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char **names = NULL;
	size_t cnt = 0, cap = 0;
	struct dirent *ent;
	DIR *dir;

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while ((ent = readdir(dir))) {
		if (ent->d_type != DT_DIR || ent->d_name[0] == '.')
			continue;
		names = array_reserve(names, &cap, cnt + 1, sizeof(*names));
		names[cnt++] = xstrdup(ent->d_name);
	}
	closedir(dir);
	if (cnt)
		qsort(names, cnt, sizeof(*names), compare_names);
	*out = names;
	*out_cnt = cnt;
	return 0;
}

static int each_of_system(int dirfd, const char *system,
			  int (*cb)(const char *system, const char *name, void *ctx), void *ctx)
{
	char path[600];
	char **names;
	size_t cnt;
	int err;

	snprintf(path, sizeof(path), "events/%.255s", system);
	err = list_dirs(dirfd, path, &names, &cnt);
	if (err)
		return err;
	for (size_t i = 0; i < cnt && !err; i++) {
		snprintf(path, sizeof(path), "events/%.255s/%.255s/format", system, names[i]);
		if (!faccessat(dirfd, path, F_OK, 0))
			err = cb(system, names[i], ctx);
	}
	free_names(names, cnt);
	return err;
}

int tracefs_each_event(int dirfd, int (*cb)(const char *system, const char *name, void *ctx),
		       void *ctx)
{
	char **systems;
	size_t cnt;
	int err = list_dirs(dirfd, "events", &systems, &cnt);

	if (err)
		return err;
	for (size_t i = 0; i < cnt && !err; i++)
		err = each_of_system(dirfd, systems[i], cb, ctx);
	free_names(systems, cnt);
	return err;
}
