/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_WORKER_POOL_H
#define D9_SYMBOL_SANDBOX_WORKER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/sandbox/symproto.h"
#include "symbol/sandbox/symworker.h"

/*
 * The worker processes, one of each role: made, watched, killed, made again. What they are asked
 * about, and what of it is asked again, is the owner's business. No call waits for anything.
 */
struct worker_pool;

/* Why a worker was lost. */
enum worker_pool_loss {
	WORKER_POOL_DIED,
	WORKER_POOL_HUNG,
	WORKER_POOL_LIED,
	WORKER_POOL_GREW, /* beyond what it may have of memory */
};

#define WORKER_POOL_RESTARTS_MAX 100 /* of each role */
/* Unless told otherwise: bytes of its own, and so long without a word, in CPU time and asleep. */
#define WORKER_POOL_MEM_MAX (1536ull << 20)
#define WORKER_POOL_SILENT_CPU_NS 3000000000ull
#define WORKER_POOL_SILENT_SLEEP_NS 1500000000ull

struct worker_pool_cfg {
	/* a worker's life; arg is its role */
	void (*child)(const void *ctx, int sock, uint32_t arg);
	const void *child_ctx;
	uint64_t silent_cpu_ns, silent_sleep_ns;
	uint64_t mem_max;
	int epoll_fd; /* told of everything that worker_pool_step() should look at; borrowed */
	/* a message came; false: it makes no sense, and the worker goes */
	bool (*heard)(void *ctx, enum symworker_role role, const struct symproto_msg *msg);
	/* all that it was asked is open again; detail is for people; module_id: it was at, or 0 */
	void (*lost)(void *ctx, enum symworker_role role, enum worker_pool_loss loss,
		     uint32_t module_id, const char *detail);
	void *ctx;
};

/* Forks the spawner and asks it for a worker of each role. -errno. */
int worker_pool_start(const struct worker_pool_cfg *cfg, struct worker_pool **out);
/* NULL is allowed. */
void worker_pool_stop(struct worker_pool *w);
/* As fork_server_pids(). */
size_t worker_pool_pids(const struct worker_pool *w, uint32_t *pids);

/* Whether messages for it go anywhere now. */
bool worker_pool_live(const struct worker_pool *w, enum symworker_role role);
/* There will be none any more. */
bool worker_pool_over(const struct worker_pool *w, enum symworker_role role);
unsigned int worker_pool_restarts(const struct worker_pool *w);

/* Sends a packet at once: 0, or -EAGAIN when it cannot be now. */
int worker_pool_send(struct worker_pool *w, enum symworker_role role, const struct buf *packet);
/* Sends a message as soon as it can be, with fd (-1 = none), which is taken over. */
void worker_pool_post(struct worker_pool *w, enum symworker_role role,
		      const struct symproto_msg *msg, int fd);

/*
 * Hears at most max packets of each worker (0: none, their owner has no room), and looks after
 * them. owes says for each role whether it has something to do and waits for nobody.
 */
void worker_pool_step(struct worker_pool *w, uint64_t now_ns, size_t max,
		      const bool owes[SYMWORKER_ROLE_CNT]);

/* From here on none stands back behind everything else. */
void worker_pool_hurry(struct worker_pool *w);

#endif /* D9_SYMBOL_SANDBOX_WORKER_POOL_H */
