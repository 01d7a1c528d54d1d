/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_MAPPED_H
#define D9_RECORD_UNWIND_MAPS_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/process/maps.h"

struct perf_side;
struct proc_reader;
struct tasks;

/*
 * What processes have mapped right now: fed with the side-band as it comes, ahead of the drain, and with
 * /proc where that does not tell. Tasks know the same as of the time that the drain has come to.
 */
struct mapped;

struct mapped_proc {
	uint32_t pid, ppid; /* ppid: who forked it, 0 if that was not heard */
	struct maps maps; /* executable ones; module_id and slot are whose who listens */
	bool known; /* all of them are, as far as anybody has told */

	/* mapped.c's own */
	uint64_t exec_time; /* of the record that told of its program */
	uint64_t heard_time; /* of the last record about its mappings, or of its fork */
	struct maps_budget budget;
	uint64_t ask_ns, ask_wait_ns; /* /proc is not to be asked before, and how long after that */
	bool asked; /* and not answered */
	bool doubted; /* to be asked about when that may be */
	bool ended; /* its leader has, or /proc has none such */
	bool checked; /* whether it is still there is being looked at */
	bool crowded; /* too many share its memory: it is not followed, but what it maps is */
	struct mapped_memory *memory; /* that others have too; NULL: its own */

	/* who listens keeps here what it has made of them */
	bool queued, fresh, renew, waits, left_out;
	uint64_t room_wait_ns; /* until the list is tried again that there was no room for */
	uint64_t owner; /* proc_owner(); 0: not asked */
	uint32_t execs; /* heard of since it had its place */
	uint64_t overtaken_ns; /* since when that and the place do not agree; 0: they do */
	uint64_t published_ns; /* behind its last list */
	uint64_t due_ns; /* when the list may be made again */
};

enum mapped_news {
	MAPPED_FORKED, /* a new process with its parent's mappings */
	MAPPED_EXECED, /* its mappings are gone, those of the new program follow */
	MAPPED_CHANGED,
	MAPPED_UNKNOWN, /* it maps too much or too fast to follow */
	MAPPED_GONE, /* freed behind this */
};

struct mapped_cfg {
	struct tasks *tasks; /* borrowed: whose texts paths are, and who pays for the memory */
	struct proc_reader *reader; /* borrowed, for this alone; NULL: /proc is not asked */
	bool all; /* follow every process, not only those told of by mapped_follow() and their children */
	void (*news)(void *ctx, struct mapped_proc *p, enum mapped_news what);
	/* Other code has taken the place of a module's, or of some of it; told before that news.
	 * module_id 0: it is not known whose. May be NULL. */
	void (*replaced)(void *ctx, const struct mapped_proc *p, uint32_t module_id, uint64_t time);
	void *ctx;
};

struct mapped *mapped_new(const struct mapped_cfg *cfg);
void mapped_free(struct mapped *m);

/* Follows a process from here on, with these mappings. No news of it is told by this. */
struct mapped_proc *mapped_follow(struct mapped *m, uint32_t pid, const struct maps *maps);
/* NULL when it is not followed. */
struct mapped_proc *mapped_find(const struct mapped *m, uint32_t pid);
/* Calls fn for each process. It may not add or remove any. */
void mapped_each(struct mapped *m, void (*fn)(void *ctx, struct mapped_proc *p), void *ctx);

/*
 * The child has the very memory of its parent, until either execs: what one of them maps, all have. Beyond a
 * number the child is unknown, which is told.
 */
void mapped_share(struct mapped *m, struct mapped_proc *parent, struct mapped_proc *child);

/* Applies what the side-band says. */
void mapped_side(struct mapped *m, const struct perf_side *side);
/* Something of the process is not as it is known: /proc is asked, less and less often if it knows no more. */
void mapped_doubt(struct mapped *m, uint32_t pid, uint64_t now_ns);
/* Takes in what /proc has answered, asks what is to be asked, and lets go of who is gone. To be called
 * some ten times a second. */
void mapped_step(struct mapped *m, uint64_t now_ns);

/* Forgets the process's mappings: it is unknown until it execs or /proc tells. */
void mapped_forget(struct mapped *m, struct mapped_proc *p);
/* Bytes held, mappings apart. */
size_t mapped_memory(const struct mapped *m);

#endif
