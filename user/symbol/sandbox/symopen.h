/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SYMOPEN_H
#define D9_SYMBOL_SANDBOX_SYMOPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/dwarf/symbolizer.h"

/*
 * Additional directories of files with known build-ids, for traces of other times or machines.
 * Strings are borrowed.
 */
struct symopen_dirs {
	const char *symfs; /* another root directory, or a directory of debug files; NULL: none */
	const char *cache; /* cache of debuginfod clients; NULL: none */
};

/* Locations of a module's file. Strings are borrowed. */
struct symopen_where {
	pid_t pid; /* 0: unknown */
	const char *path;
	uint64_t map_start, map_end; /* both 0: unknown */
	bool checked; /* the caller knows the build-id and checks it */
	uint32_t dev; /* device number in the kernel's format (12 bits major, 20 minor) */
	uint64_t inode; /* 0: unknown */
	const uint8_t *build_id; /* NULL: unknown here */
	size_t build_id_sz;
	const struct symopen_dirs *dirs; /* NULL: none */
	const char *debug_root; /* NULL: /usr/lib/debug */
};

/*
 * Locations, in the order in which they are tried. Without symopen_dirs, only the four in the
 * middle are used.
 */
enum symopen_place {
	SYMOPEN_SYMFS, /* the path below that root; links cannot leave the root */
	SYMOPEN_SYMFS_NAME, /* the file name below that root */
	/*
	 * the path as we see it, for modules with a build-id: mounts of a process cannot change
	 * this
	 */
	SYMOPEN_OURS,
	SYMOPEN_MAP_FILES, /* /proc/PID/map_files/...: the exact file, even if deleted */
	/* the path as the process sees it (-ESTALE if the inode is known and differs) */
	SYMOPEN_ROOT,
	/*
	 * the path as we see it, if the process sees the same, or if it is gone and the build-id or
	 * inode can be checked (-ESTALE if it differs)
	 */
	SYMOPEN_HERE,
	SYMOPEN_CACHED,
	/*
	 * debug files, without code: by build-id below that root, here and in the cache; by name
	 * below that root
	 */
	SYMOPEN_SYMFS_DEBUG,
	SYMOPEN_DEBUG,
	SYMOPEN_CACHED_DEBUG,
	SYMOPEN_SYMFS_DEBUG_NAME,
	SYMOPEN_PLACE_CNT,
};

/*
 * Opens the module's file at one location for reading: only regular files, and never through a link
 * out of the root directory of the process. Returns a descriptor, which the caller closes, or
 * -errno (-ENOENT also if the location does not apply to this module).
 */
int symopen_file(const struct symopen_where *where, enum symopen_place place);

/* The same for a path of our own process; any regular file is accepted. */
int symopen_own(const char *path);

/*
 * A number for the current version of an open file, from its size and modification times. Never 0.
 */
uint64_t symopen_version(int fd);

/*
 * Main function of an opener: answers SYMPROTO_OPEN on sock, one at a time, until the other end is
 * closed. A file system that does not answer blocks only this process. dirs may be NULL.
 */
void symopen_serve(int sock, const struct symopen_dirs *dirs);

/* A symbolizer_open_fn; ctx is a const struct symopen_where *. */
int symopen_debug(void *ctx, const struct symbolizer_want *want);

#endif /* D9_SYMBOL_SANDBOX_SYMOPEN_H */
