/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_BROKER_MODULE_QUEUE_H
#define D9_SYMBOL_BROKER_MODULE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hmap.h"
#include "symbol/broker/sym_client.h"
#include "symbol/sandbox/symproto.h"
#include "symbol/sandbox/symworker.h"

/* A module and its open requests; private to the broker. */

#define MODULE_QUEUE_SENT_MAX 64 /* requests of one module at a worker */
#define MODULE_QUEUE_WANTS_MAX                                                                     \
	(SYMBOLIZER_SPLIT_MAX + 64) /* debug files that one module may request */

enum module_queue_state {
	MODULE_QUEUE_CLOSED,
	MODULE_QUEUE_OPENING, /* an opener works on it */
	MODULE_QUEUE_SENT, /* the worker has it */
	MODULE_QUEUE_OPEN,
	MODULE_QUEUE_FAILED, /* not to be retried */
};

/* State of a module for one worker */
struct module_queue_side {
	enum module_queue_state state;
	uint32_t place; /* enum symopen_place, the next location to try */
	int error; /* of the previous locations */
	uint64_t *offsets; /* the first sent_cnt are at the worker */
	size_t cnt, cap, sent_cnt;
	unsigned int wants, states; /* since it was opened */
	unsigned int frames; /* since the last DONE */
	bool queued;
	struct module_queue *next; /* next module of its owner in the queue */
};

struct module_queue {
	uint32_t id;
	enum sym_client_kind kind;
	pid_t pid;
	uint64_t owner; /* owner of the file systems that it may be on */
	char *path;
	uint64_t map_start, map_end;
	uint32_t dev;
	uint64_t inode;
	uint64_t version; /* 0: unknown */
	uint8_t build_id[SYMBOLIZER_BUILD_ID_MAX];
	size_t build_id_sz;
	uint64_t text_off, text_size; /* 0: unknown */
	uint64_t used;
	bool status_pending; /* its status was not taken yet */
	bool broken; /* it ended a worker: no more requests */
	bool building; /* its table is being built: cfi_inbox_begin() */
	bool retried; /* building its table ended a worker */
	bool has_symtab, has_dwarf, symtab_known, dwarf_known, lacks_split;
	enum sym_client_status status;
	char detail[80];
	struct module_queue_side sides[SYMWORKER_ROLE_CNT];
};

/* The queued modules of one owner, in order */
struct module_queue_owner {
	uint64_t owner;
	struct module_queue *first, *last;
	struct module_queue *last_file; /* the last one to identify; NULL: none */
	struct module_queue_owner *next;
};

/* All modules of one worker: owners with queued modules, in order, and sums */
struct module_queue_queue {
	enum symworker_role role;
	struct hmap owners; /* struct module_queue_owner */
	struct module_queue_owner *first, *last;
	size_t queued; /* modules */
	size_t questions; /* not done */
	size_t sent; /* requests at the worker */
};

/* Kind of the module for a worker, and for an opener */
enum symproto_what module_queue_what(const struct module_queue *m);
enum symproto_what module_queue_file(const struct module_queue *m);
/* Whether its file may be in one of several locations (symopen.h). */
bool module_queue_has_places(const struct module_queue *m);

/* The least recently used module whose file a worker may close, or NULL. */
struct module_queue *module_queue_find_closable(const struct hmap *modules,
						enum symworker_role role);
/* Whether it has no open requests, and no process works on it. */
bool module_queue_is_quiet(const struct module_queue *m);
/*
 * Finds the older half of the modules without open requests that succeeded, in *out, which the
 * caller frees. Returns their number.
 */
size_t module_queue_find_idle(const struct hmap *modules, struct module_queue ***out);

struct module_queue *module_queue_new(uint32_t id, const struct sym_client_module *module);
void module_queue_free(struct module_queue *m);

/* The status of a module whose file could not be opened because of this -errno. */
enum sym_client_status module_queue_open_failure(int error);
/* The status of a module as an answer, which borrows from it. */
struct sym_client_answer module_queue_status_answer(const struct module_queue *m);

/* A worker's message about a module as an answer, which borrows from the message. */
struct sym_client_answer module_queue_message_answer(const struct symproto_msg *msg);

/*
 * Whether a worker may close its file. Without a build-id, another file could replace it unnoticed.
 */
bool module_queue_may_close(const struct module_queue *m, enum symworker_role role);

/* Queues m if a worker or opener can do something for it. */
void module_queue_enqueue(struct module_queue_queue *q, struct module_queue *m);
/*
 * Removes and returns the first module of the first owner in turn whose first module @may accepts
 * (NULL: any).
 * That owner then goes to the end. NULL if there is none.
 */
struct module_queue *
module_queue_dequeue(struct module_queue_queue *q,
		     bool (*may)(const void *ctx, const struct module_queue *m), const void *ctx);
/* Frees the contents of the queue except the modules. */
void module_queue_queue_fini(struct module_queue_queue *q);

void module_queue_add_question(struct module_queue_queue *q, struct module_queue *m,
			       uint64_t offset);
/* Drops all requests, or those not sent yet. */
void module_queue_drop_questions(struct module_queue_queue *q, struct module_queue *m);
void module_queue_drop_unsent(struct module_queue_queue *q, struct module_queue *m);

/* Marks the first unsent request as sent. */
void module_queue_note_sent(struct module_queue_queue *q, struct module_queue *m);

/* Finds the index of a sent request; false if it was not sent. */
bool module_queue_find_sent(const struct module_queue_side *s, uint64_t offset, size_t *at);
void module_queue_remove_sent(struct module_queue_queue *q, struct module_queue *m, size_t at);

#endif /* D9_SYMBOL_BROKER_MODULE_QUEUE_H */
