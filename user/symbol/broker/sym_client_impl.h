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

/* What sym_client.c, module_worker.c and cfi_inbox.c share, and nobody else includes. */

struct role {
	struct module_queue_queue queue;
	size_t opens_sent; /* MODULE messages without an answer */
	size_t wants; /* debug files that the worker waits for */
	size_t open_cnt;
	unsigned int turns; /* since it said anything else */
	uint32_t life; /* which worker it is, counted */
};

/* A table, or why there is none. */
struct symtables_answer {
	struct symtables_answer *next;
	uint32_t module_id;
	int error;
	struct unwind_table table;
};

#define SYMTABLES_BUSY_MAX 16

struct symtables {
	struct symtables_answer *first, **last; /* to be taken */
	struct symtables_answer *lent; /* taken last, and still looked at */
	size_t cnt, words;
	uint64_t busy[SYMTABLES_BUSY_MAX]; /* owners of the modules that are under way */
	size_t busy_cnt;
	/* the one whose pieces come in */
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
	struct buf answers; /* messages as they came */
	size_t taken; /* bytes of answers */
	uint32_t *changed; /* modules whose status is to be told */
	size_t changed_cnt, changed_cap, changed_taken;
	struct symtables tables;
	size_t identifying;
	uint64_t turn, answered;
	bool closed; /* nothing is asked or heard any more */
	bool asked; /* something was, since questions were sent last */
	struct buf packet;
};

/* Sets it, and has the recorder told when it is another one. */
void module_worker_set_status(struct sym_client *b, struct module_queue *m,
			      enum sym_client_status status, const char *detail);

/* Queues an offset. */
void module_worker_ask(struct sym_client *b, struct module_queue *m, enum symworker_role r,
		       uint64_t offset);

/* Sends the worker what it takes now, modules in turn; opens the files of those that need it. */
void module_worker_send(struct sym_client *b, enum symworker_role r);

/* Has the worker close the file, if it is open there. m may be NULL. */
void module_worker_close(struct sym_client *b, struct module_queue *m, enum symworker_role r);

/* The one answer to SYM_CLIENT_IDENTIFY; frees m. */
void module_worker_end_identify(struct sym_client *b, struct module_queue *m, int error);

void cfi_inbox_init(struct sym_client *b);
void cfi_inbox_fini(struct sym_client *b);
/* Whether a module of this owner may have its turn: they share the worker. broker: struct sym_client. */
bool cfi_inbox_may_begin(const void *broker, uint64_t owner);
/* The module has its turn, which it may. */
void cfi_inbox_begin(struct sym_client *b, struct module_queue *m);
/* The turn, if it had one, is over. */
void cfi_inbox_end(struct sym_client *b, struct module_queue *m);
/* The answer to a question for a table that nobody can answer. */
void cfi_inbox_fail(struct sym_client *b, uint32_t module_id, int error);
/* What the worker says of a question that it has; false when it makes no sense. */
bool cfi_inbox_on_message(struct sym_client *b, const struct symproto_msg *msg);
/* Drops the pieces of a worker that is gone. */
void cfi_inbox_forget(struct sym_client *b);
/* Whether there is room for more that nobody has taken. */
bool cfi_inbox_have_room(const struct sym_client *b);
/* The next answer, lent until the one behind it. */
bool cfi_inbox_next(struct sym_client *b, struct sym_client_answer *out);

/* What file_openers.h and worker_pool.h call; ctx is the broker. */
void module_worker_on_opened(void *ctx, const struct file_openers_result *result);
bool module_worker_on_message(void *ctx, enum symworker_role r, const struct symproto_msg *msg);
void module_worker_on_lost(void *ctx, enum symworker_role r, enum worker_pool_loss loss,
			   uint32_t module_id, const char *detail);

#endif /* D9_SYMBOL_BROKER_SYM_CLIENT_IMPL_H */
