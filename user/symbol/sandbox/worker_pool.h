/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_WORKER_POOL_H
#define D9_SYMBOL_SANDBOX_WORKER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/sandbox/symproto.h"
#include "symbol/sandbox/symworker.h"

/*
 * The worker processes, one per role: starts, watches, kills and restarts them. The owner keeps the
 * requests and repeats them. No call blocks.
 */
struct worker_pool;

/* Why a worker was lost */
enum worker_pool_loss {
	WORKER_POOL_DIED,
	WORKER_POOL_HUNG,
	WORKER_POOL_LIED,
	WORKER_POOL_GREW, /* exceeded its memory limit */
};

#define WORKER_POOL_RESTARTS_MAX 100 /* per role */
/* Defaults: memory of its own, and time without a message, in CPU time and asleep */
#define WORKER_POOL_MEM_MAX (1536ull << 20)
#define WORKER_POOL_SILENT_CPU_NS 3000000000ull
#define WORKER_POOL_SILENT_SLEEP_NS 1500000000ull
#define WORKER_POOL_PRESS_NS 500000000ull

struct worker_pool_cfg {
	/* main function of a worker; arg is its role */
	void (*child)(const void *ctx, int sock, uint32_t arg);
	const void *child_ctx;
	uint64_t silent_cpu_ns, silent_sleep_ns;
	uint64_t mem_max[SYMWORKER_ROLE_CNT];
	int urgent_nice; /* see worker_pool_press() */
	int epoll_fd; /* signals when to call worker_pool_step(), after a readiness_update(); borrowed */
	/* called for each message; false: the message is invalid, and the worker is killed */
	bool (*on_message)(void *ctx, enum symworker_role role, const struct symproto_msg *msg);
	/*
	 * all requests to the worker are open again; detail is for messages; module_id: its module,
	 * or 0
	 */
	void (*lost)(void *ctx, enum symworker_role role, enum worker_pool_loss loss,
		     uint32_t module_id, const char *detail);
	void *ctx;
};

/* Forks the fork server and requests a worker per role. 0 or -errno. */
int worker_pool_start(const struct worker_pool_cfg *cfg, struct worker_pool **out);
/* NULL is allowed. */
void worker_pool_stop(struct worker_pool *w);
/* Like fork_server_pids(). */
size_t worker_pool_pids(const struct worker_pool *w, uint32_t *pids);

/* Whether the worker accepts messages now. */
bool worker_pool_live(const struct worker_pool *w, enum symworker_role role);
/* Whether no worker will be started any more. */
bool worker_pool_over(const struct worker_pool *w, enum symworker_role role);
unsigned int worker_pool_restarts(const struct worker_pool *w);

/* CPU time of the current worker; of the last one up to some time before its end, if there is none. */
uint64_t worker_pool_cpu_ns(const struct worker_pool *w, enum symworker_role role);

/* Sends a packet at once: 0, or -EAGAIN if that is impossible now. */
int worker_pool_send(struct worker_pool *w, enum symworker_role role, const struct buf *packet);
/* Sends a message as soon as possible, with fd (-1: none), which is taken over. */
void worker_pool_post(struct worker_pool *w, enum symworker_role role,
		      const struct symproto_msg *msg, int fd);

/*
 * Reads at most max packets of each worker (0: none, because the owner has no room), and supervises
 * them. owes: per role, whether it has a request to work on.
 */
void worker_pool_step(struct worker_pool *w, uint64_t now_ns, size_t max,
		      const bool owes[SYMWORKER_ROLE_CNT]);

/*
 * Unwind tables are wanted: builds them with the nice value for urgent work. The worker returns to normal priority
 * WORKER_POOL_PRESS_NS after the last call.
 */
void worker_pool_press(struct worker_pool *w, uint64_t now_ns);

/*
 * From here on, reading symbol tables takes at most this CPU time per second, and unwind tables likewise; 0: no limit.
 * A worker rests within a file, too, but for at most a second: a step longer than its slice may exceed the limit.
 */
void worker_pool_limit(struct worker_pool *w, uint64_t ns_per_s);

/* Raises workers with low priority to normal, and ends all limits of CPU time, also for debug information. */
void worker_pool_hurry(struct worker_pool *w);

#endif /* D9_SYMBOL_SANDBOX_WORKER_POOL_H */
