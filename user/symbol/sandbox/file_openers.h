/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_FILE_OPENERS_H
#define D9_SYMBOL_SANDBOX_FILE_OPENERS_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/sandbox/symproto.h"

/*
 * A pool of processes that open files. If a file system does not answer, the process is abandoned
 * and another one replaces it, up to FILE_OPENERS_MAX. No call blocks.
 */
struct file_openers;

#define FILE_OPENERS_MAX 64
/* Openers per owner, so that one owner's file systems cannot block all of them. */
#define FILE_OPENERS_OWNER_MAX 8

struct file_openers_result {
	uint32_t token;
	int fd; /* -1, or a descriptor that the receiver closes */
	/*
	 * 0 or -errno; -ETIMEDOUT: no answer; -EBUSY: too many requests hang; -ECHILD: no opener is
	 * left
	 */
	int error;
	uint32_t place; /* enum symopen_place */
	uint64_t version; /* of the file: symopen_version() */
};

typedef void (*file_openers_done_fn)(void *ctx, const struct file_openers_result *result);

struct file_openers_cfg {
	/*
	 * main function of an opener; NULL: symopen_serve() with ctx, a struct symopen_dirs or NULL
	 */
	void (*child)(const void *ctx, int sock, uint32_t arg);
	const void *ctx;
	uint64_t patience_ns; /* time limit per file; 0: 1 s */
	int nice; /* of openers: what waits for a file may be urgent, and opening is short */
	/*
	 * signals when to call file_openers_step(), after a readiness_update(); borrowed; -1: none
	 */
	int epoll_fd;
	file_openers_done_fn done;
	void *done_ctx;
};

/* Forks the processes. 0 or -errno. */
int file_openers_start(const struct file_openers_cfg *cfg, struct file_openers **out);
/* Kills all processes that can be killed. NULL is allowed. */
void file_openers_stop(struct file_openers *o);
/* Like fork_server_pids(). */
size_t file_openers_pids(const struct file_openers *o, uint32_t *pids);

/* Queues a copy of a SYMPROTO_OPEN. Its id is the token of the result. */
void file_openers_ask(struct file_openers *o, const struct symproto_msg *msg, uint64_t owner);

/* Advances all requests, and calls done() for each result. */
void file_openers_step(struct file_openers *o, uint64_t now_ns);

#endif /* D9_SYMBOL_SANDBOX_FILE_OPENERS_H */
