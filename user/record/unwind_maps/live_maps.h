/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_LIVE_MAPS_H
#define D9_RECORD_UNWIND_MAPS_LIVE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/process/proc_maps.h"

struct perf_side;
struct proc_reader;
struct tasks;

/*
 * What processes have mapped right now: fed with the side-band as it comes, ahead of the drain, and with
 * /proc where that does not tell. Tasks know the same as of the time that the drain has come to.
 */
struct live_maps;

struct live_maps_proc {
	uint32_t pid, ppid; /* ppid: who forked it, 0 if that was not heard */
	struct proc_maps maps; /* executable ones; module_id and slot are whose who listens */
	bool known; /* all of them are, as far as anybody has told */

	/* live_maps.c's own */
	uint64_t exec_time; /* of the record that told of its program */
	uint64_t side_time; /* of the last record about its mappings, or of its fork */
	struct proc_maps_budget budget;
	uint64_t ask_ns, ask_wait_ns; /* /proc is not to be asked before, and how long after that */
	bool asked; /* and not answered */
	bool doubted; /* to be asked about when that may be */
	bool ended; /* its leader has, or /proc has none such */
	bool checked; /* whether it is still there is being looked at */
	bool crowded; /* too many share its memory: it is not followed, but what it maps is */
	struct live_maps_memory *memory; /* that others have too; NULL: its own */

	/* who listens keeps here what it has made of them */
	bool queued, fresh, renew, waits, left_out;
	uint64_t room_wait_ns; /* until the list is tried again that there was no room for */
	uint64_t owner; /* proc_owner(); 0: not asked */
	uint32_t execs; /* heard of since it had its place */
	uint64_t exec_lag_ns; /* since when that and the place do not agree; 0: they do */
	uint64_t published_ns; /* behind its last list */
	uint64_t due_ns; /* when the list may be made again */
};

enum live_maps_news {
	LIVE_MAPS_FORKED, /* a new process with its parent's mappings */
	LIVE_MAPS_EXECED, /* its mappings are gone, those of the new program follow */
	LIVE_MAPS_CHANGED,
	LIVE_MAPS_UNKNOWN, /* it maps too much or too fast to follow */
	LIVE_MAPS_GONE, /* freed behind this */
};

struct live_maps_cfg {
	struct tasks *tasks; /* borrowed: whose texts paths are, and who pays for the memory */
	struct proc_reader *reader; /* borrowed, for this alone; NULL: /proc is not asked */
	bool all; /* follow every process, not only those told of by live_maps_follow() and their children */
	void (*news)(void *ctx, struct live_maps_proc *p, enum live_maps_news what);
	/* Other code has taken the place of a module's, or of some of it; told before that news.
	 * module_id 0: it is not known whose. May be NULL. */
	void (*replaced)(void *ctx, const struct live_maps_proc *p, uint32_t module_id,
			 uint64_t time);
	void *ctx;
};

struct live_maps *live_maps_new(const struct live_maps_cfg *cfg);
void live_maps_free(struct live_maps *m);

/* Follows a process from here on, with these mappings. No news of it is told by this. */
struct live_maps_proc *live_maps_follow(struct live_maps *m, uint32_t pid,
					const struct proc_maps *maps);
/* NULL when it is not followed. */
struct live_maps_proc *live_maps_find(const struct live_maps *m, uint32_t pid);
/* Calls fn for each process. It may not add or remove any. */
void live_maps_each(struct live_maps *m, void (*fn)(void *ctx, struct live_maps_proc *p),
		    void *ctx);

/*
 * The child has the very memory of its parent, until either execs: what one of them maps, all have. Beyond a
 * number the child is unknown, which is told.
 */
void live_maps_share(struct live_maps *m, struct live_maps_proc *parent,
		     struct live_maps_proc *child);

/* Applies what the side-band says. */
void live_maps_side(struct live_maps *m, const struct perf_side *side);
/* Something of the process is not as it is known: /proc is asked, less and less often if it knows no more. */
void live_maps_doubt(struct live_maps *m, uint32_t pid, uint64_t now_ns);
/* Takes in what /proc has answered, asks what is to be asked, and lets go of who is gone. To be called
 * some ten times a second. */
void live_maps_step(struct live_maps *m, uint64_t now_ns);

/* Forgets the process's mappings: it is unknown until it execs or /proc tells. */
void live_maps_forget(struct live_maps *m, struct live_maps_proc *p);
/* Bytes held, mappings apart. */
size_t live_maps_memory(const struct live_maps *m);

#endif
