/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_FILE_OPENERS_H
#define D9_SYMBOL_SANDBOX_FILE_OPENERS_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/sandbox/symproto.h"

/*
 * A pool of processes that open files. A file system may never answer: then one process is left to
 * it, and another one takes its place, up to FILE_OPENERS_MAX. No call waits for anything.
 */
struct file_openers;

#define FILE_OPENERS_MAX 64
/* That many at once for one owner, so that his file systems cannot take all of them. */
#define FILE_OPENERS_OWNER_MAX 8

struct file_openers_result {
	uint32_t token;
	int fd; /* -1, or the receiver's */
	int error; /* 0 or -errno; -ETIMEDOUT: no answer; -EBUSY: too many without an answer; -ECHILD: none is left */
	uint32_t place; /* enum symopen_place */
	uint64_t version; /* of the file: symopen_version() */
};

typedef void (*file_openers_done_fn)(void *ctx, const struct file_openers_result *result);

struct file_openers_cfg {
	/* an opener's life; NULL = symopen_serve(), with a struct symopen_dirs, or NULL, as ctx */
	void (*child)(const void *ctx, int sock, uint32_t arg);
	const void *ctx;
	uint64_t patience_ns; /* for one file; 0 = 1 s */
	int epoll_fd; /* told of everything that file_openers_step() should look at; borrowed */
	file_openers_done_fn done;
	void *done_ctx;
};

/* Forks what it needs. -errno. */
int file_openers_start(const struct file_openers_cfg *cfg, struct file_openers **out);
/* Ends all that can be ended. NULL is allowed. */
void file_openers_stop(struct file_openers *o);
/* As fork_server_pids(). */
size_t file_openers_pids(const struct file_openers *o, uint32_t *pids);

/* Queues a SYMPROTO_OPEN, copied, whose id is the token of the result. */
void file_openers_ask(struct file_openers *o, const struct symproto_msg *msg, uint64_t owner);

/* Moves everything on that can move, and calls done() for what has a result. */
void file_openers_step(struct file_openers *o, uint64_t now_ns);

#endif /* D9_SYMBOL_SANDBOX_FILE_OPENERS_H */
