/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_DEBUGINFOD_H
#define D9_SYMBOL_ELF_DEBUGINFOD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Appends the directory where clients of debuginfod keep what they fetched, to read it or to put more there:
 * $DEBUGINFOD_CACHE_PATH, ~/.debuginfod_client_cache if there is one, $XDG_CACHE_HOME/debuginfod_client,
 * ~/.cache/debuginfod_client. -ENOENT when the environment names none.
 */
int debuginfod_cache(struct buf *out);

/*
 * Fetches files by build-id from servers, with libdebuginfod, which is loaded when it is first needed, and in a
 * process of its own for each file: what it and the libraries below it keep or break stays there.
 */
struct debuginfod {
	const char *urls; /* as in $DEBUGINFOD_URLS */
	uint64_t timeout_ns; /* for each 100 KiB of a file; and five times as long for all of it */
	uint64_t bytes_max; /* of one file; 0 = 2 GiB */
	const volatile sig_atomic_t *stop; /* not 0: give up; borrowed */
	/* now and then: so many bytes of this file, of so many if that is known, or 0. May be NULL */
	void (*tell)(void *ctx, uint64_t done, uint64_t all);
	void *ctx;
};

enum debuginfod_file {
	DEBUGINFOD_DEBUGINFO,
	DEBUGINFOD_EXECUTABLE,
};

/*
 * Puts a file into the cache, unless it is there. Nothing is said of what is in it: its build-id must be looked
 * at. -ENOENT: no server has it, or said so as it should; -ETIMEDOUT, -EFBIG, -EINTR (stopped), -ELIBACC (no such library), other -errno
 * of servers and of the cache.
 */
int debuginfod_fetch(const struct debuginfod *d, enum debuginfod_file file, const uint8_t *build_id,
		     size_t sz);

/* Whether there is the library. */
bool debuginfod_available(void);

#endif /* D9_SYMBOL_ELF_DEBUGINFOD_H */
