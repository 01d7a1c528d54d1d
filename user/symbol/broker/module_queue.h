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

/* A module as the broker knows it, and what is to be asked about it; for the broker only. */

#define MODULE_QUEUE_SENT_MAX 64 /* questions of one module that a worker has */
#define MODULE_QUEUE_WANTS_MAX                                                                     \
	(SYMBOLIZER_SPLIT_MAX + 64) /* debug files that one module may ask for */

enum module_queue_state {
	MODULE_QUEUE_CLOSED,
	MODULE_QUEUE_OPENING, /* an opener has it */
	MODULE_QUEUE_SENT, /* the worker has it */
	MODULE_QUEUE_OPEN,
	MODULE_QUEUE_FAILED, /* not to be tried again */
};

/* What one worker knows of it. */
struct module_queue_side {
	enum module_queue_state state;
	uint32_t place; /* enum symopen_place, where to look next */
	int error; /* of the places before */
	uint64_t *offsets; /* the first sent_cnt are with the worker */
	size_t cnt, cap, sent_cnt;
	unsigned int wants, states; /* since it was opened */
	unsigned int frames; /* since the last DONE */
	bool queued;
	struct module_queue *next; /* of its owner's in the queue */
};

struct module_queue {
	uint32_t id;
	enum sym_client_kind kind;
	pid_t pid;
	uint64_t owner; /* whose file systems it may be on */
	char *path;
	uint64_t map_start, map_end;
	uint32_t dev;
	uint64_t inode;
	uint64_t version; /* 0: not known */
	uint8_t build_id[SYMBOLIZER_BUILD_ID_MAX];
	size_t build_id_sz;
	uint64_t text_off, text_size; /* 0: not known */
	uint64_t used;
	bool untold; /* its status was not taken yet */
	bool broken; /* it was some worker's end: nothing more is asked about it */
	bool building; /* its table is: cfi_inbox_begin() */
	bool retried; /* building it was some worker's end */
	bool has_symtab, has_dwarf, symtab_known, dwarf_known, lacks_split;
	enum sym_client_status status;
	char detail[80];
	struct module_queue_side sides[SYMWORKER_ROLE_CNT];
};

/* Those of one owner with something to send, in turn. */
struct module_queue_owner {
	uint64_t owner;
	struct module_queue *first, *last;
	struct module_queue_owner *next;
};

/* All modules of one worker: the owners of those with something to send, in turn, and sums. */
struct module_queue_queue {
	enum symworker_role role;
	struct hmap owners; /* struct module_queue_owner */
	struct module_queue_owner *first, *last;
	size_t queued; /* modules */
	size_t questions; /* not done */
	size_t sent; /* of those, with the worker */
};

/* What a worker is told that it is, and what an opener is asked for. */
enum symproto_what module_queue_what(const struct module_queue *m);
enum symproto_what module_queue_file(const struct module_queue *m);
/* Whether its file may be in one of several places (symopen.h). */
bool module_queue_has_places(const struct module_queue *m);

/* Of all modules: the one used longest ago whose file a worker may close, or NULL. */
struct module_queue *module_queue_find_closable(const struct hmap *modules,
						enum symworker_role role);
/* Whether nothing is asked of it, and nobody is at it. */
bool module_queue_is_quiet(const struct module_queue *m);
/*
 * The older half of those that nothing is asked of and that ended well, in *out, which the caller
 * frees. Returns their number.
 */
size_t module_queue_find_idle(const struct hmap *modules, struct module_queue ***out);

struct module_queue *module_queue_new(uint32_t id, const struct sym_client_module *module);
void module_queue_free(struct module_queue *m);

/* What becomes of a module whose file could not be had because of this -errno. */
enum sym_client_status module_queue_open_failure(int error);
/* Its status as an answer, which borrows from it. */
struct sym_client_answer module_queue_status_answer(const struct module_queue *m);

/* What a worker said of a module, as an answer, which borrows from it. */
struct sym_client_answer module_queue_message_answer(const struct symproto_msg *msg);

/* Whether a worker may close its file: without a build-id another one could take its place unseen. */
bool module_queue_may_close(const struct module_queue *m, enum symworker_role role);

/* Puts m into the queue if there is something that can be done for it. */
void module_queue_enqueue(struct module_queue_queue *q, struct module_queue *m);
/*
 * The first module, taken out, of the first owner in turn who may have it (NULL: any), and whose next turn
 * is behind that of all others then. NULL: there is none.
 */
struct module_queue *module_queue_dequeue(struct module_queue_queue *q,
					  bool (*may)(const void *ctx, uint64_t owner),
					  const void *ctx);
/* Frees what the queue holds, the modules apart. */
void module_queue_queue_fini(struct module_queue_queue *q);

void module_queue_add_question(struct module_queue_queue *q, struct module_queue *m,
			       uint64_t offset);
/* Drops all, or those that were not sent yet. */
void module_queue_drop_questions(struct module_queue_queue *q, struct module_queue *m);
void module_queue_drop_unsent(struct module_queue_queue *q, struct module_queue *m);

/* The first question that was not sent has gone with the module itself. */
void module_queue_note_sent(struct module_queue_queue *q, struct module_queue *m);

/* Where among the sent questions this one is; false when it is none of them. */
bool module_queue_find_sent(const struct module_queue_side *s, uint64_t offset, size_t *at);
void module_queue_remove_sent(struct module_queue_queue *q, struct module_queue *m, size_t at);

#endif /* D9_SYMBOL_BROKER_MODULE_QUEUE_H */
