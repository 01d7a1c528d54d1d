/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_BROKER_SYMMODULE_H
#define D9_SYMBOL_BROKER_SYMMODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hmap.h"
#include "symbol/broker/symbroker.h"
#include "symbol/sandbox/symproto.h"
#include "symbol/sandbox/symworker.h"

/* A module as the broker knows it, and what is to be asked about it; for the broker only. */

#define SYMMODULE_SENT_MAX 64 /* questions of one module that a worker has */
#define SYMMODULE_WANTS_MAX                                                                        \
	(SYMBOLIZER_SPLIT_MAX + 64) /* debug files that one module may ask for */

enum symmodule_state {
	SYMMODULE_CLOSED,
	SYMMODULE_OPENING, /* an opener has it */
	SYMMODULE_SENT, /* the worker has it */
	SYMMODULE_OPEN,
	SYMMODULE_FAILED, /* not to be tried again */
};

/* What one worker knows of it. */
struct symmodule_side {
	enum symmodule_state state;
	uint32_t place; /* enum symopen_place, where to look next */
	int error; /* of the places before */
	uint64_t *offsets; /* the first sent_cnt are with the worker */
	size_t cnt, cap, sent_cnt;
	unsigned int wants, states; /* since it was opened */
	unsigned int frames; /* since the last DONE */
	bool queued;
	struct symmodule *next; /* of its owner's in the queue */
};

struct symmodule {
	uint32_t id;
	enum symbroker_kind kind;
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
	bool building; /* its table is: symtables_begin() */
	bool retried; /* building it was some worker's end */
	bool has_symtab, has_dwarf, symtab_known, dwarf_known, lacks_split;
	enum symbroker_status status;
	char detail[80];
	struct symmodule_side sides[SYMWORKER_ROLE_CNT];
};

/* Those of one owner with something to send, in turn. */
struct symmodule_owner {
	uint64_t owner;
	struct symmodule *first, *last;
	struct symmodule_owner *next;
};

/* All modules of one worker: the owners of those with something to send, in turn, and sums. */
struct symmodule_queue {
	enum symworker_role role;
	struct hmap owners; /* struct symmodule_owner */
	struct symmodule_owner *first, *last;
	size_t queued; /* modules */
	size_t questions; /* not done */
	size_t sent; /* of those, with the worker */
};

/* What a worker is told that it is, and what an opener is asked for. */
enum symproto_what symmodule_what(const struct symmodule *m);
enum symproto_what symmodule_file(const struct symmodule *m);
/* Whether its file may be in one of several places (symopen.h). */
bool symmodule_has_places(const struct symmodule *m);

/* Of all modules: the one used longest ago whose file a worker may close, or NULL. */
struct symmodule *symmodule_find_closable(const struct hmap *modules, enum symworker_role role);
/* Whether nothing is asked of it, and nobody is at it. */
bool symmodule_is_quiet(const struct symmodule *m);
/*
 * The older half of those that nothing is asked of and that ended well, in *out, which the caller
 * frees. Returns their number.
 */
size_t symmodule_find_idle(const struct hmap *modules, struct symmodule ***out);

struct symmodule *symmodule_new(uint32_t id, const struct symbroker_module *module);
void symmodule_free(struct symmodule *m);

/* What becomes of a module whose file could not be had because of this -errno. */
enum symbroker_status symmodule_open_failure(int error);
/* Its status as an answer, which borrows from it. */
struct symbroker_answer symmodule_status_answer(const struct symmodule *m);

/* What a worker said of a module, as an answer, which borrows from it. */
struct symbroker_answer symmodule_message_answer(const struct symproto_msg *msg);

/* Whether a worker may close its file: without a build-id another one could take its place unseen. */
bool symmodule_may_close(const struct symmodule *m, enum symworker_role role);

/* Puts m into the queue if there is something that can be done for it. */
void symmodule_enqueue(struct symmodule_queue *q, struct symmodule *m);
/*
 * The first module, taken out, of the first owner in turn who may have it (NULL: any), and whose next turn
 * is behind that of all others then. NULL: there is none.
 */
struct symmodule *symmodule_dequeue(struct symmodule_queue *q,
				    bool (*may)(const void *ctx, uint64_t owner), const void *ctx);
/* Frees what the queue holds, the modules apart. */
void symmodule_queue_fini(struct symmodule_queue *q);

void symmodule_add_question(struct symmodule_queue *q, struct symmodule *m, uint64_t offset);
/* Drops all, or those that were not sent yet. */
void symmodule_drop_questions(struct symmodule_queue *q, struct symmodule *m);
void symmodule_drop_unsent(struct symmodule_queue *q, struct symmodule *m);

/* The first question that was not sent has gone with the module itself. */
void symmodule_note_sent(struct symmodule_queue *q, struct symmodule *m);

/* Where among the sent questions this one is; false when it is none of them. */
bool symmodule_find_sent(const struct symmodule_side *s, uint64_t offset, size_t *at);
void symmodule_remove_sent(struct symmodule_queue *q, struct symmodule *m, size_t at);

#endif /* D9_SYMBOL_BROKER_SYMMODULE_H */
