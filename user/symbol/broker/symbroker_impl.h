/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_BROKER_SYMBROKER_IMPL_H
#define D9_SYMBOL_BROKER_SYMBROKER_IMPL_H

#include "base/buf.h"
#include "base/hmap.h"
#include "symbol/sandbox/openers.h"
#include "symbol/broker/symbroker.h"
#include "symbol/broker/symmodule.h"
#include "symbol/sandbox/workers.h"
#include "unwind/table.h"

/* What symbroker.c, symside.c and symtables.c share, and nobody else includes. */

struct role {
	struct symmodule_queue queue;
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

struct symbroker {
	struct symbroker_cfg cfg;
	int epoll_fd;
	struct openers *openers;
	struct workers *workers;
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
void symside_set_status(struct symbroker *b, struct symmodule *m, enum symbroker_status status,
			const char *detail);

/* Queues an offset. */
void symside_ask(struct symbroker *b, struct symmodule *m, enum symworker_role r, uint64_t offset);

/* Sends the worker what it takes now, modules in turn; opens the files of those that need it. */
void symside_send(struct symbroker *b, enum symworker_role r);

/* Has the worker close the file, if it is open there. m may be NULL. */
void symside_close(struct symbroker *b, struct symmodule *m, enum symworker_role r);

/* The one answer to SYMBROKER_IDENTIFY; frees m. */
void symside_end_identify(struct symbroker *b, struct symmodule *m, int error);

void symtables_init(struct symbroker *b);
void symtables_fini(struct symbroker *b);
/* Whether a module of this owner may have its turn: they share the worker. broker: struct symbroker. */
bool symtables_may_begin(const void *broker, uint64_t owner);
/* The module has its turn, which it may. */
void symtables_begin(struct symbroker *b, struct symmodule *m);
/* The turn, if it had one, is over. */
void symtables_end(struct symbroker *b, struct symmodule *m);
/* The answer to a question for a table that nobody can answer. */
void symtables_fail(struct symbroker *b, uint32_t module_id, int error);
/* What the worker says of a question that it has; false when it makes no sense. */
bool symtables_on_message(struct symbroker *b, const struct symproto_msg *msg);
/* Drops the pieces of a worker that is gone. */
void symtables_forget(struct symbroker *b);
/* Whether there is room for more that nobody has taken. */
bool symtables_have_room(const struct symbroker *b);
/* The next answer, lent until the one behind it. */
bool symtables_next(struct symbroker *b, struct symbroker_answer *out);

/* What openers.h and workers.h call; ctx is the broker. */
void symside_on_opened(void *ctx, const struct openers_result *result);
bool symside_on_message(void *ctx, enum symworker_role r, const struct symproto_msg *msg);
void symside_on_lost(void *ctx, enum symworker_role r, enum workers_loss loss, uint32_t module_id,
		     const char *detail);

#endif /* D9_SYMBOL_BROKER_SYMBROKER_IMPL_H */
