/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_BROKER_SYM_CLIENT_IMPL_H
#define D9_SYMBOL_BROKER_SYM_CLIENT_IMPL_H

#include "base/buf.h"
#include "base/hmap.h"
#include "symbol/broker/module_queue.h"
#include "symbol/broker/sym_client.h"
#include "symbol/sandbox/file_openers.h"
#include "symbol/sandbox/worker_pool.h"
#include "unwind/table.h"

/* Shared by sym_client.c, module_worker.c, cfi_inbox.c and worker_cost.c only. */

/* A worker's messages about modules of one process */
struct worker_cost_share {
	pid_t pid;
	uint32_t messages;
};

#define WORKER_COST_SHARES 16

struct worker_cost {
	struct worker_cost_share shares[WORKER_COST_SHARES]; /* since the last settlement */
	size_t cnt;
	uint32_t sum; /* of messages */
	uint64_t cpu_ns; /* the worker's clock at that time */
};

struct role {
	struct module_queue_queue queue;
	size_t opens_sent; /* MODULE messages without a reply */
	size_t wants; /* debug files that the worker waits for */
	size_t open_cnt;
	unsigned int turns; /* slices since its last other message */
	uint32_t life; /* number of the current worker */
	struct worker_cost cost;
};

/* A table, or its error */
struct symtables_answer {
	struct symtables_answer *next;
	uint32_t module_id;
	int error;
	struct unwind_table table;
};

#define SYMTABLES_BUSY_MAX 16

struct symtables {
	struct symtables_answer *first, **last; /* not taken yet */
	struct symtables_answer *borrowed; /* taken last, and still used */
	size_t cnt, words;
	uint64_t busy[SYMTABLES_BUSY_MAX]; /* owners of modules under way */
	size_t busy_cnt;
	/* the table that arrives */
	bool begun;
	uint32_t coming_id;
	int error;
	struct unwind_table coming;
	size_t got; /* words */
};

struct sym_client {
	struct sym_client_cfg cfg;
	int epoll_fd;
	struct file_openers *openers;
	struct worker_pool *workers;
	struct hmap modules, openings;
	uint32_t last_token;
	struct role roles[SYMWORKER_ROLE_CNT];
	struct buf answers; /* messages as received */
	size_t taken; /* bytes of answers */
	uint32_t *changed; /* modules with a new status to report */
	size_t changed_cnt, changed_cap, changed_taken;
	struct symtables tables;
	size_t identifying;
	uint64_t turn, answered;
	bool closed; /* no more requests or answers */
	bool asked; /* requests were added since the last send */
	struct sym_client_limiter limiter; /* functions may be NULL */
	bool hurries;
	struct buf packet;
};

/* Sets the status; it is reported if it has changed. */
void module_worker_set_status(struct sym_client *b, struct module_queue *m,
			      enum sym_client_status status, const char *detail);

/* Queues an offset */
void module_worker_ask(struct sym_client *b, struct module_queue *m, enum symworker_role r,
		       uint64_t offset);

/*
 * Sends requests to the worker, modules round-robin, while it accepts them. Opens files that are
 * needed.
 */
void module_worker_send(struct sym_client *b, enum symworker_role r);

/* Requests that the worker closes the file, if it is open. m may be NULL. */
void module_worker_close(struct sym_client *b, struct module_queue *m, enum symworker_role r);

/* Sends the only answer to SYM_CLIENT_IDENTIFY; frees m. */
void module_worker_end_identify(struct sym_client *b, struct module_queue *m, int error);

void cfi_inbox_init(struct sym_client *b);
void cfi_inbox_fini(struct sym_client *b);
/* Whether a module may start: owners share the worker. broker: struct sym_client. */
bool cfi_inbox_may_begin(const void *broker, const struct module_queue *m);
/* Starts the turn of a module; cfi_inbox_may_begin() must be true. */
void cfi_inbox_begin(struct sym_client *b, struct module_queue *m);
/* Ends the turn of the module, if it has one. */
void cfi_inbox_end(struct sym_client *b, struct module_queue *m);
/* Answers a request for a table with an error. */
void cfi_inbox_fail(struct sym_client *b, uint32_t module_id, int error);
/* Handles a worker's message about a table; false if it is invalid. */
bool cfi_inbox_on_message(struct sym_client *b, const struct symproto_msg *msg);
/* Drops the parts of a worker that has exited. */
void cfi_inbox_forget(struct sym_client *b);
/* Whether there is room for more tables. */
bool cfi_inbox_have_room(const struct sym_client *b);
/* The next answer, borrowed until the following call. */
bool cfi_inbox_next(struct sym_client *b, struct sym_client_answer *out);

/* The process that m was added with caused a message of the worker. */
void worker_cost_note(struct sym_client *b, enum symworker_role r, pid_t pid);
/* Whether the worker may start on a file of m now. */
bool worker_cost_may(const struct sym_client *b, const struct module_queue *m,
		     enum symworker_role r);
/* Divides the worker's CPU time since the last call among these processes. */
void worker_cost_settle(struct sym_client *b, enum symworker_role r);

/* Callbacks for file_openers.h and worker_pool.h; ctx is the broker. */
void module_worker_on_opened(void *ctx, const struct file_openers_result *result);
bool module_worker_on_message(void *ctx, enum symworker_role r, const struct symproto_msg *msg);
void module_worker_on_lost(void *ctx, enum symworker_role r, enum worker_pool_loss loss,
			   uint32_t module_id, const char *detail);

#endif /* D9_SYMBOL_BROKER_SYM_CLIENT_IMPL_H */
