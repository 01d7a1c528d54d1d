// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens the files that have symbols; only this file handles paths.
 *
 * The recorder is root, and the owner of a recorded program chooses paths. So a path is resolved
 * inside the root directory of that process, which links cannot leave. It is first opened without
 * effect (O_PATH), and opened for reading only if it is a regular file: opening a FIFO may block,
 * and opening a device may have any effect. Some file systems have regular files that are registers
 * of the kernel or of a device; these are refused, too. The caller checks by build-id whether it is
 * the right file.
 */
#include "symbol/sandbox/symopen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash.h"
#include "symbol/sandbox/symproto.h"

#define DEBUG_ROOT "/usr/lib/debug"

enum { SEND_TRIES = 10, SEND_PAUSE_MS = 10 };

/* Missing in older headers */
#define CONFIGFS_SUPER_MAGIC 0x62656570
#define EFIVARFS_SUPER_MAGIC 0xde5e81e4

/*
 * Files of the kernel without contents of their own: reading one may consume data of another reader
 * (trace_pipe), or map device memory (resource0 of a PCI device).
 */
static bool is_kernel_interface(const struct statfs *fs)
{
	static const uint32_t magics[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC,		TRACEFS_MAGIC,	    DEBUGFS_MAGIC,
		SECURITYFS_MAGIC, SELINUX_MAGIC,	CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
		BPF_FS_MAGIC,	  CONFIGFS_SUPER_MAGIC, PSTOREFS_MAGIC,	    EFIVARFS_SUPER_MAGIC,
	};
	size_t i;

	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if ((uint32_t)fs->f_type == magics[i])
			return true;
	return false;
}

/* Closes fd, which was opened with O_PATH. */
static int reopen_regular(int fd)
{
	char path[64];
	struct statfs fs;
	struct stat st;
	int out;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		out = -errno;
	else if (!S_ISREG(st.st_mode) || is_kernel_interface(&fs))
		out = -EINVAL;
	else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		out = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (out < 0)
			out = -errno;
	}
	close(fd);
	return out;
}

static int open_from(int dir, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
	int fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd < 0 ? -errno : reopen_regular(fd);
}

static int open_plain(const char *path)
{
	return open_from(AT_FDCWD, path, RESOLVE_NO_MAGICLINKS);
}

int symopen_own(const char *path)
{
	return open_plain(path);
}

/* Opens a path as a process with that root directory would. */
static int open_in_root(const char *root, const char *path)
{
	int dir, fd;

	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = open_from(dir, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	close(dir);
	return fd;
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Compares the inode: for files without build-id. */
static bool is_inode(int fd, const struct symopen_where *where)
{
	struct stat st;

	return where->inode && !fstat(fd, &st) && st.st_ino == where->inode &&
	       major(st.st_dev) == where->dev >> 20 && minor(st.st_dev) == (where->dev & 0xfffff);
}

/*
 * Whether a path means the same file here as in the process: same root directory and same mounts.
 */
static bool may_look_here(const struct symopen_where *where)
{
	char root[32], mounts[32];
	struct stat st;

	snprintf(root, sizeof(root), "/proc/%d/root", where->pid);
	if (!where->pid || (stat(root, &st) && (errno == ENOENT || errno == ESRCH)))
		return where->checked || where->inode;
	snprintf(mounts, sizeof(mounts), "/proc/%d/ns/mnt", where->pid);
	return same_file(root, "/") && same_file(mounts, "/proc/self/ns/mnt");
}

/* Returns fd if it is the wanted file, as far as known; otherwise closes it. */
static int only_meant(int fd, const struct symopen_where *where)
{
	if (fd < 0 || where->checked || !where->inode || is_inode(fd, where))
		return fd;
	close(fd);
	return -ESTALE;
}

/*
 * Opens the path in the root directory of the process, and checks the inode: the file may be unmapped,
 * and another file may have its path.
 */
static int open_root(const struct symopen_where *where)
{
	char root[32];

	snprintf(root, sizeof(root), "/proc/%d/root", where->pid);
	return only_meant(open_in_root(root, where->path), where);
}

static const char *debug_root(const struct symopen_where *where)
{
	return where->debug_root ? where->debug_root : DEBUG_ROOT;
}

/* Opens a formatted path, in the root directory if there is one. */
static int __attribute__((format(printf, 2, 3))) open_made(const char *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return root ? open_in_root(root, path) : open_plain(path);
}

/* Converts a build-id to hexadecimal; false if it cannot be part of a file name. */
static bool hex_id(char hex[2 * SYMBOLIZER_BUILD_ID_MAX + 1], const uint8_t *id, size_t sz)
{
	size_t i;

	if (!id || sz < 2 || sz > SYMBOLIZER_BUILD_ID_MAX)
		return false;
	for (i = 0; i < sz; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return true;
}

static int open_symfs(const struct symopen_where *where, enum symopen_place place)
{
	const char *root = where->dirs ? where->dirs->symfs : NULL;
	char hex[2 * SYMBOLIZER_BUILD_ID_MAX + 1];
	const char *name;
	int fd;

	if (!root || !hex_id(hex, where->build_id, where->build_id_sz))
		return -ENOENT;
	if (place == SYMOPEN_SYMFS_DEBUG) {
		fd = open_made(root, ".build-id/%.2s/%s.debug", hex, hex + 2);
		return fd >= 0 ?
			       fd :
			       open_made(root, DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
	}
	if (!where->path || where->path[0] != '/')
		return -ENOENT;
	name = strrchr(where->path, '/') + 1;
	if (place == SYMOPEN_SYMFS_DEBUG_NAME) {
		fd = open_made(root, "%s.debug", where->path);
		return fd >= 0 ? fd : open_made(root, "%s.debug", name);
	}
	return open_made(root, "%s", place == SYMOPEN_SYMFS ? where->path : name);
}

static int open_cached(const struct symopen_where *where, const char *name)
{
	const char *cache = where->dirs ? where->dirs->cache : NULL;
	char hex[2 * SYMBOLIZER_BUILD_ID_MAX + 1];
	struct stat st;
	int fd;

	if (!cache || !hex_id(hex, where->build_id, where->build_id_sz))
		return -ENOENT;
	fd = open_made(NULL, "%s/%s/%s", cache, hex, name);
	/* a debuginfod client marks a missing file by an empty one */
	if (fd >= 0 && !fstat(fd, &st) && !st.st_size) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

static int open_ours(const struct symopen_where *where)
{
	char hex[2 * SYMBOLIZER_BUILD_ID_MAX + 1];

	if (!hex_id(hex, where->build_id, where->build_id_sz))
		return -ENOENT;
	return open_made(NULL, "%s/.build-id/%.2s/%s.debug", debug_root(where), hex, hex + 2);
}

int symopen_file(const struct symopen_where *where, enum symopen_place place)
{
	char path[128];

	switch (place) {
	case SYMOPEN_SYMFS:
	case SYMOPEN_SYMFS_NAME:
	case SYMOPEN_SYMFS_DEBUG:
	case SYMOPEN_SYMFS_DEBUG_NAME:
		return open_symfs(where, place);
	case SYMOPEN_CACHED:
		return open_cached(where, "executable");
	case SYMOPEN_DEBUG:
		return where->dirs ? open_ours(where) : -ENOENT;
	case SYMOPEN_CACHED_DEBUG:
		return open_cached(where, "debuginfo");
	case SYMOPEN_OURS:
		if (!where->path || where->path[0] != '/' || !where->checked)
			return -ENOENT;
		return open_plain(where->path);
	case SYMOPEN_MAP_FILES:
		if (!where->pid || !where->map_end)
			return -ENOENT;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, where->pid,
			 where->map_start, where->map_end);
		return open_from(AT_FDCWD, path, 0);
	case SYMOPEN_ROOT:
		if (!where->pid || !where->path || where->path[0] != '/')
			return -ENOENT;
		return open_root(where);
	case SYMOPEN_HERE:
		if (!where->path || where->path[0] != '/' || !may_look_here(where))
			return -ENOENT;
		return only_meant(open_plain(where->path), where);
	case SYMOPEN_PLACE_CNT:
		break;
	}
	return -EINVAL;
}

static int open_by_build_id(const struct symopen_where *where, const struct symbolizer_want *want)
{
	struct symopen_where wanted = *where;
	int fd;

	wanted.build_id = want->build_id;
	wanted.build_id_sz = want->build_id_sz;
	fd = open_symfs(&wanted, SYMOPEN_SYMFS_DEBUG);
	if (fd < 0)
		fd = open_ours(&wanted);
	return fd >= 0 || !where->dirs ? fd : open_cached(&wanted, "debuginfo");
}

/* A file found by the program's name may belong to another build, so it comes last. */
static int open_debug_file(const struct symopen_where *where, const struct symbolizer_want *want)
{
	struct symopen_where wanted = *where;
	int fd = open_by_build_id(where, want);

	wanted.build_id = want->build_id;
	wanted.build_id_sz = want->build_id_sz;
	return fd >= 0 ? fd : open_symfs(&wanted, SYMOPEN_SYMFS_DEBUG_NAME);
}

/*
 * Opens a file in the directory of the module's file, as the process sees that directory, otherwise
 * as we see it.
 */
static int open_beside(const struct symopen_where *where, const char *dir, int dir_len,
		       const char *sub, const char *name)
{
	char root[32], path[PATH_MAX];
	int fd = -ENOENT, n;

	n = snprintf(path, sizeof(path), "%.*s/%s%s", dir_len, dir, sub, name);
	if (n >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (where->pid) {
		snprintf(root, sizeof(root), "/proc/%d/root", where->pid);
		fd = open_in_root(root, path);
	}
	return fd >= 0 ? fd : open_plain(path);
}

/* Tries the locations of a .gnu_debuglink name below that root. */
static int open_symfs_link(const struct symopen_where *where, int dir_len, const char *name)
{
	static const char *const before[] = { "", "", DEBUG_ROOT };
	static const char *const after[] = { "", ".debug/", "" };
	const char *root = where->dirs ? where->dirs->symfs : NULL;
	int fd = -ENOENT;
	size_t i;

	for (i = 0; root && fd < 0 && i < sizeof(before) / sizeof(before[0]); i++)
		fd = open_made(root, "%s%.*s/%s%s", before[i], dir_len, where->path, after[i],
			       name);
	return fd;
}

static int open_debuglink(const struct symopen_where *where, const struct symbolizer_want *want)
{
	const char *slash = where->path ? strrchr(where->path, '/') : NULL;
	char path[PATH_MAX];
	int fd, dir_len, n;

	if (!slash || where->path[0] != '/' || strchr(want->name, '/'))
		return -ENOENT;
	dir_len = slash - where->path;
	fd = open_symfs_link(where, dir_len, want->name);
	if (fd >= 0)
		return fd;
	fd = open_beside(where, where->path, dir_len, "", want->name);
	if (fd < 0)
		fd = open_beside(where, where->path, dir_len, ".debug/", want->name);
	if (fd >= 0)
		return fd;
	n = snprintf(path, sizeof(path), "%s%.*s/%s", debug_root(where), dir_len, where->path,
		     want->name);
	return n < (int)sizeof(path) ? open_plain(path) : -ENAMETOOLONG;
}

/*
 * Distributions store these below the debug root. The name has the location, relative to different
 * directories.
 */
static int open_shared(const struct symopen_where *where, const struct symbolizer_want *want)
{
	const char *dwz = strstr(want->name, "/.dwz/");
	char path[PATH_MAX];
	int n;

	if (!dwz)
		dwz = strncmp(want->name, ".dwz/", 5) ? NULL : want->name;
	if (!dwz || strstr(dwz, ".."))
		return -ENOENT;
	n = snprintf(path, sizeof(path), "%s/%s", debug_root(where), dwz);
	return n < (int)sizeof(path) ? open_plain(path) : -ENAMETOOLONG;
}

/* Files made by a manual dwz are next to the binary, or next to its debug file. */
static int open_altlink(const struct symopen_where *where, const struct symbolizer_want *want)
{
	const char *slash = where->path ? strrchr(where->path, '/') : NULL;
	int fd = open_shared(where, want), dir_len;

	if (fd < 0)
		fd = open_by_build_id(where, want);
	if (fd >= 0 || !slash || where->path[0] != '/' || !want->name[0] ||
	    strstr(want->name, ".."))
		return fd;
	if (want->name[0] == '/')
		return open_beside(where, "", 0, "", want->name);
	dir_len = (int)(slash - where->path);
	fd = open_beside(where, where->path, dir_len, "", want->name);
	return fd >= 0 ? fd : open_beside(where, where->path, dir_len, ".debug/", want->name);
}

/* Finds the directory of the module's file; false if the path has none. */
static bool dir_of(const struct symopen_where *where, int *len)
{
	const char *slash = where->path ? strrchr(where->path, '/') : NULL;

	*len = slash ? (int)(slash - where->path) : 0;
	return slash && where->path[0] == '/';
}

/* Suffixes of a .dwp file for an executable, and for its debug file */
static const char *const package_ends[] = { ".dwp", ".debug.dwp" };

static int open_package_by_id(const struct symopen_where *where, const struct symbolizer_want *want,
			      const char *end)
{
	const char *symfs = where->dirs ? where->dirs->symfs : NULL;
	char hex[2 * SYMBOLIZER_BUILD_ID_MAX + 1];
	int fd = -ENOENT;

	if (!hex_id(hex, want->build_id, want->build_id_sz))
		return fd;
	if (symfs)
		fd = open_made(symfs, ".build-id/%.2s/%s%s", hex, hex + 2, end);
	if (fd < 0 && symfs)
		fd = open_made(symfs, DEBUG_ROOT "/.build-id/%.2s/%s%s", hex, hex + 2, end);
	return fd >= 0 ? fd :
			 open_made(NULL, "%s/.build-id/%.2s/%s%s", debug_root(where), hex, hex + 2,
				   end);
}

static int open_package_by_name(const struct symopen_where *where, const char *end)
{
	const char *symfs = where->dirs ? where->dirs->symfs : NULL;
	int fd = -ENOENT, dir_len;
	char name[PATH_MAX];

	if (!dir_of(where, &dir_len))
		return fd;
	snprintf(name, sizeof(name), "%s%s", where->path + dir_len + 1, end);
	if (symfs)
		fd = open_made(symfs, "%.*s/%s", dir_len, where->path, name);
	if (fd < 0 && symfs)
		fd = open_made(symfs, "%s", name);
	if (fd < 0)
		fd = open_beside(where, where->path, dir_len, "", name);
	if (fd < 0)
		fd = open_beside(where, where->path, dir_len, ".debug/", name);
	return fd >= 0 ?
		       fd :
		       open_made(NULL, "%s%.*s/%s", debug_root(where), dir_len, where->path, name);
}

/*
 * Opens a .dwp file. A name with the build-id belongs to this program; a file with the program's
 * name may be older, so it comes last.
 */
static int open_package(const struct symopen_where *where, const struct symbolizer_want *want)
{
	int fd = -ENOENT;
	size_t i;

	for (i = 0; fd < 0 && i < 2; i++)
		fd = open_package_by_id(where, want, package_ends[i]);
	for (i = 0; fd < 0 && i < 2; i++)
		fd = open_package_by_name(where, package_ends[i]);
	return fd;
}

/* Relative names start at the directory of the module's file. */
static int open_made_file(const struct symopen_where *where, const char *name, bool in_symfs)
{
	const char *symfs = where->dirs ? where->dirs->symfs : NULL;
	int dir_len = 0;

	if ((name[0] != '/' && !dir_of(where, &dir_len)) || (in_symfs && !symfs))
		return -ENOENT;
	if (!in_symfs)
		return open_beside(where, where->path, dir_len, "", name);
	return open_made(symfs, "%.*s/%s", dir_len, where->path, name);
}

/*
 * Tries the build directory, then the directory of the module's file, because both may have been
 * moved together.
 */
static int open_moved(const struct symopen_where *where, const struct symbolizer_want *want)
{
	const char *names[3] = { want->name, want->name, want->name }, *p;
	unsigned int skip = want->skip;
	int i, fd;

	for (p = want->name; (p = strstr(p, "/./")); p++)
		names[1] = p + 3;
	p = strrchr(want->name, '/');
	names[2] = p ? p + 1 : want->name;
	/* each below --symfs first */
	for (i = 0; i < 6; i++) {
		if (i >= 2 && !strcmp(names[i / 2], names[i / 2 - 1]))
			continue;
		fd = open_made_file(where, names[i / 2], i % 2 == 0);
		if (fd >= 0 && !skip)
			return fd;
		if (fd >= 0) {
			skip--;
			close(fd);
		}
	}
	return -ENOENT;
}

int symopen_debug(void *ctx, const struct symbolizer_want *want)
{
	const struct symopen_where *where = ctx;

	switch (want->kind) {
	case SYMBOLIZER_WANT_BUILD_ID:
		return open_debug_file(where, want);
	case SYMBOLIZER_WANT_DEBUGLINK:
		return open_debuglink(where, want);
	case SYMBOLIZER_WANT_ALTLINK:
		return open_altlink(where, want);
	case SYMBOLIZER_WANT_DWP:
		return open_package(where, want);
	case SYMBOLIZER_WANT_DWO:
		return open_moved(where, want);
	}
	return -EINVAL;
}

/* ---- perf maps ---------------------------------------------------------------------------------- */

/*
 * Finds the number after key in a line of /proc/PID/status, in the given column; UINT32_MAX if
 * there is none.
 */
static uint32_t status_number(const char *status, const char *key, int column)
{
	const char *p = strstr(status, key);
	unsigned long value = UINT32_MAX;
	char *end;

	p = p ? p + strlen(key) : "";
	while (column-- && *p && *p != '\n') {
		value = strtoul(p, &end, 10);
		if (end == p)
			break;
		p = end + strspn(end, "\t ");
	}
	return value;
}

/* Reads the PID in the innermost PID namespace, and the effective user. */
static int read_identity(pid_t pid, uint32_t *own_pid, uint32_t *uid)
{
	char path[32], status[8192];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, status, sizeof(status) - 1);
	close(fd);
	if (n <= 0)
		return -ESRCH;
	status[n] = '\0';
	*own_pid = status_number(status, "\nNSpid:", INT_MAX);
	*uid = status_number(status, "\nUid:", 2);
	return *own_pid == UINT32_MAX || *uid == UINT32_MAX ? -ESRCH : 0;
}

/*
 * Any user can write to /tmp, so the map must belong to the user of the process and must not be a
 * link. -ESRCH: the process has exited, so whether it had a map is unknown.
 */
static int open_perfmap(pid_t pid)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char root[32], path[32];
	uint32_t own_pid, uid;
	struct stat st;
	int dir, fd, err;

	err = read_identity(pid, &own_pid, &uid);
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	snprintf(path, sizeof(path), "tmp/perf-%u.map", own_pid);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? -ESRCH : -errno; /* a zombie has no root directory */
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	err = fd < 0 ? -errno : fstat(fd, &st) ? -errno : st.st_uid != uid ? -EPERM : 0;
	close(dir);
	if (!err)
		return reopen_regular(fd);
	if (fd >= 0)
		close(fd);
	return err;
}

/* ---- as a process ------------------------------------------------------------------------------- */

/* Opens the next location with a file. Sets *place to it, or to the last location. */
static int open_next(const struct symopen_where *where, uint32_t *place)
{
	int err = -ENOENT, fd;

	for (; *place < SYMOPEN_PLACE_CNT; ++*place) {
		fd = symopen_file(where, *place);
		if (fd >= 0)
			return fd;
		if (fd != -ENOENT && fd != -ESRCH)
			err = fd;
	}
	return err;
}

static int open_asked(const struct symproto_msg *m, const struct symopen_dirs *dirs,
		      uint32_t *place)
{
	const struct symopen_where where = {
		.pid = m->pid,
		.path = m->text,
		.map_start = m->offset,
		.map_end = m->offset + m->size,
		.checked = m->build_id_sz > 0,
		.dev = m->line,
		.inode = m->start,
		.build_id = m->build_id,
		.build_id_sz = m->build_id_sz,
		.dirs = dirs,
	};
	struct symbolizer_want want = {
		.name = m->more,
		.build_id = m->build_id,
		.build_id_sz = m->build_id_sz,
		.skip = *place,
	};

	switch (m->what) {
	case SYMPROTO_WANT_BUILD_ID:
		want.kind = SYMBOLIZER_WANT_BUILD_ID;
		return symopen_debug((void *)&where, &want);
	case SYMPROTO_WANT_DEBUGLINK:
		want.kind = SYMBOLIZER_WANT_DEBUGLINK;
		return m->more ? symopen_debug((void *)&where, &want) : -EINVAL;
	case SYMPROTO_WANT_ALTLINK:
		want.kind = SYMBOLIZER_WANT_ALTLINK;
		return m->more ? symopen_debug((void *)&where, &want) : -EINVAL;
	case SYMPROTO_WANT_DWP:
		want.kind = SYMBOLIZER_WANT_DWP;
		return symopen_debug((void *)&where, &want);
	case SYMPROTO_WANT_DWO:
		want.kind = SYMBOLIZER_WANT_DWO;
		return m->more ? symopen_debug((void *)&where, &want) : -EINVAL;
	case SYMPROTO_ELF:
	case SYMPROTO_IDENTIFY:
		return open_next(&where, place);
	case SYMPROTO_PERFMAP:
		return open_perfmap(m->pid);
	case SYMPROTO_KERNEL:
	case SYMPROTO_VDSO:
	case SYMPROTO_WHAT_END:
		break;
	}
	return -EINVAL;
}

/*
 * Sending a descriptor fails with ETOOMANYREFS while our user has too many descriptors in flight.
 * This is usually brief, so retry; otherwise send the error.
 */
static int send_result(int sock, struct symproto_msg *result, int fd)
{
	struct buf packet = { 0 };
	int tries, err = 0;

	symproto_put(&packet, result);
	for (tries = 0; tries < SEND_TRIES; tries++) {
		err = symproto_send(sock, &packet, fd, 0);
		if (err != -ETOOMANYREFS || fd < 0)
			break;
		poll(NULL, 0, SEND_PAUSE_MS);
	}
	if (err == -ETOOMANYREFS) {
		result->error = err;
		buf_clear(&packet);
		symproto_put(&packet, result);
		err = symproto_send(sock, &packet, -1, 0);
	}
	buf_free(&packet);
	return err;
}

/* Uses ctime, because a program that writes to a file cannot set it. */
uint64_t symopen_version(int fd)
{
	struct stat st;
	uint64_t version;

	if (fstat(fd, &st))
		return 1;
	version = hash_bytes((uint64_t[]){ st.st_size, st.st_ctim.tv_sec, st.st_ctim.tv_nsec,
					   st.st_mtim.tv_sec, st.st_mtim.tv_nsec },
			     5 * sizeof(uint64_t));
	return version ? version : 1;
}

static int answer(int sock, const struct symopen_dirs *dirs, const struct symproto_msg *m)
{
	struct symproto_msg result = { .kind = SYMPROTO_RESULT, .id = m->id, .depth = m->depth };
	int fd = open_asked(m, dirs, &result.depth), err;

	result.error = fd < 0 ? fd : 0;
	result.start = fd < 0 ? 0 : symopen_version(fd);
	err = send_result(sock, &result, fd);
	if (fd >= 0)
		close(fd);
	return err;
}

void symopen_serve(int sock, const struct symopen_dirs *dirs)
{
	char *packet = xmalloc(SYMPROTO_PACKET_MAX);
	struct symproto_msg m;
	ssize_t n;
	size_t pos;
	int fd, ret;

	prctl(PR_SET_NAME, "d9-opener");
	while ((n = symproto_receive(sock, packet, &fd, 0)) > 0) {
		pos = 0;
		do {
			ret = symproto_get(packet, n, &pos, SYMPROTO_TO_OPENER, &m);
			if (ret == 1 && answer(sock, dirs, &m))
				ret = -EPIPE;
		} while (ret == 1);
		if (ret)
			break;
	}
	free(packet);
}
