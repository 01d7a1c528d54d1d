/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_DEBUGINFOD_H
#define D9_SYMBOL_ELF_DEBUGINFOD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Appends the cache directory of debuginfod clients, for reading and writing:
 * $DEBUGINFOD_CACHE_PATH, ~/.debuginfod_client_cache if it exists,
 * $XDG_CACHE_HOME/debuginfod_client, ~/.cache/debuginfod_client. 0; -ENOENT if the environment has
 * none of them.
 */
int debuginfod_cache(struct buf *out);

/*
 * Fetches files by build-id from servers. Uses libdebuginfod, which is loaded on first use, in a
 * separate process per file: its memory and its failures stay there.
 */
struct debuginfod {
	const char *urls; /* as in $DEBUGINFOD_URLS */
	uint64_t timeout_ns; /* per 100 KiB of a file; five times this for the whole file */
	uint64_t bytes_max; /* of one file; 0: 2 GiB */
	const volatile sig_atomic_t *stop; /* nonzero: cancel; borrowed */
	/* progress: bytes of this file, and its size or 0 if unknown. May be NULL */
	void (*tell)(void *ctx, uint64_t done, uint64_t all);
	void *ctx;
};

enum debuginfod_file {
	DEBUGINFOD_DEBUGINFO,
	DEBUGINFOD_EXECUTABLE,
};

/*
 * Fetches a file into the cache, unless it is there. The caller must check the build-id of the
 * contents. 0; -ENOENT: no server has it; -ETIMEDOUT, -EFBIG, -EINTR (cancelled), -ELIBACC (no
 * library), or other -errno of servers and of the cache.
 */
int debuginfod_fetch(const struct debuginfod *d, enum debuginfod_file file, const uint8_t *build_id,
		     size_t sz);

/* Whether the library is installed. */
bool debuginfod_available(void);

#endif /* D9_SYMBOL_ELF_DEBUGINFOD_H */
