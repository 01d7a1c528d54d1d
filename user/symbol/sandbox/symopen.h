/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SYMOPEN_H
#define D9_SYMBOL_SANDBOX_SYMOPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/dwarf/symbolizer.h"

/*
 * Where else to look for files of another time or another machine, known by their build-ids. Strings are
 * borrowed.
 */
struct symopen_dirs {
	const char *symfs; /* another root directory, or one of debug files; NULL = none */
	const char *cache; /* what clients of debuginfod keep; NULL = none */
};

/* Where a module's file may be. Strings are borrowed. */
struct symopen_where {
	pid_t pid; /* 0 = no process known */
	const char *path;
	uint64_t map_start, map_end; /* both 0 = not known */
	bool checked; /* who asks knows the file's build-id and will look */
	uint32_t dev; /* the kernel's number of the file's device (12 bits major, 20 minor) */
	uint64_t inode; /* 0 = not known */
	const uint8_t *build_id; /* NULL: not known here */
	size_t build_id_sz;
	const struct symopen_dirs *dirs; /* NULL = none */
	const char *debug_root; /* NULL = /usr/lib/debug */
};

/* Places are tried in this order. Without symopen_dirs only the four in the middle make sense. */
enum symopen_place {
	SYMOPEN_SYMFS, /* the path below that root, which no link leads out of */
	SYMOPEN_SYMFS_NAME, /* the file's name there */
	/* the path as we see it, of what is told by its build-id: what nobody's own mounts can change */
	SYMOPEN_OURS,
	SYMOPEN_MAP_FILES, /* /proc/PID/map_files/...: the very file, even when it was deleted */
	/* the path as the process sees it (-ESTALE when the inode is known and is another) */
	SYMOPEN_ROOT,
	/*
	 * the path as we see it: when the process sees the same, or is gone and the file can be
	 * told by its build-id or inode (-ESTALE when it is another one)
	 */
	SYMOPEN_HERE,
	SYMOPEN_CACHED,
	/* debug files, which have no code: by build-id below that root, ours, in the cache, by name below that root */
	SYMOPEN_SYMFS_DEBUG,
	SYMOPEN_DEBUG,
	SYMOPEN_CACHED_DEBUG,
	SYMOPEN_SYMFS_DEBUG_NAME,
	SYMOPEN_PLACE_CNT,
};

/*
 * Opens the module's file at one place for reading: only regular files, and never by following a
 * link out of the process's root. Returns a file descriptor that the caller closes, or -errno
 * (-ENOENT also when the place makes no sense for this module).
 */
int symopen_file(const struct symopen_where *where, enum symopen_place place);

/* The same for a path of our own process, whatever file it is. */
int symopen_own(const char *path);

/* A number for what an open file is now: size and times of its last changes. Never 0. */
uint64_t symopen_version(int fd);

/*
 * The life of an opener process: answers SYMPROTO_OPEN on sock, one at a time, until the other end
 * is gone. A file system that never answers keeps it for ever, and nobody else. dirs may be NULL.
 */
void symopen_serve(int sock, const struct symopen_dirs *dirs);

/* A symbolizer_open_fn; ctx is a const struct symopen_where *. */
int symopen_debug(void *ctx, const struct symbolizer_want *want);

#endif /* D9_SYMBOL_SANDBOX_SYMOPEN_H */
