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
 * Current mappings of processes: from metadata records as they arrive, ahead of the drain, and from /proc
 * otherwise. Tasks contain the same data at the drain's time.
 */
struct live_maps;

struct live_maps_proc {
	uint32_t pid, ppid; /* ppid: its parent, 0: unknown */
	struct proc_maps maps; /* executable mappings; module_id and slot belong to the listener */
	bool known; /* the mappings are complete, as far as reported */

	/* used by live_maps.c */
	uint64_t exec_time; /* of the record that reported its program */
	uint64_t side_time; /* of the last record about its mappings, or of its fork */
	struct proc_maps_budget budget;
	uint64_t ask_ns,
		ask_wait_ns; /* next request of /proc, and the interval to the one after that */
	uint64_t charged_ns; /* expected cost of the answer */
	bool asked; /* requested, no answer yet */
	bool doubted; /* request /proc when possible */
	bool ended; /* its leader has ended, or /proc has no such process */
	bool checked; /* queued for the check for its end */
	bool crowded; /* too many share its memory: it is not followed, but its mappings apply to the others */
	struct live_maps_memory *memory; /* shared memory; NULL: its own */

	/* used by the listener */
	bool queued, fresh, renew, waits, left_out;
	bool runs; /* as it was when recording began; its program is still the same */
	uint64_t room_wait_ns; /* next attempt if there was no room for its list */
	uint64_t owner; /* proc_owner(); 0: not determined */
	uint32_t execs; /* execs since it got its place */
	uint64_t exec_lag_ns; /* since when `execs` and the place differ; 0: equal */
	uint64_t published_ns; /* time of its last list */
	uint64_t due_ns; /* when the list may be made again */
};

enum live_maps_news {
	LIVE_MAPS_FORKED, /* a new process with its parent's mappings */
	LIVE_MAPS_EXECED, /* its mappings are gone, the new program's follow */
	LIVE_MAPS_CHANGED,
	LIVE_MAPS_UNKNOWN, /* it maps too much or too fast to follow */
	LIVE_MAPS_GONE, /* freed after the callback */
};

struct live_maps_cfg {
	struct tasks *tasks; /* borrowed: owns the texts of paths, and accounts for the memory */
	struct proc_reader *reader; /* borrowed, used only here; NULL: /proc is not read */
	bool all; /* follow every process, not only live_maps_follow()'s and their children */
	void (*news)(void *ctx, struct live_maps_proc *p, enum live_maps_news what);
	/*
	 * Other code has replaced a module's or a part of it; called before the event for that change. module_id 0:
	 * unknown module. May be NULL.
	 */
	void (*replaced)(void *ctx, const struct live_maps_proc *p, uint32_t module_id,
			 uint64_t time);
	void *ctx;
};

struct live_maps *live_maps_new(const struct live_maps_cfg *cfg);
void live_maps_free(struct live_maps *m);

/* Follows a process from here on, with these mappings. Calls no callback. */
struct live_maps_proc *live_maps_follow(struct live_maps *m, uint32_t pid,
					const struct proc_maps *maps);
/* NULL: it is not followed. */
struct live_maps_proc *live_maps_find(const struct live_maps *m, uint32_t pid);
/* Calls fn for each process. fn may not add or remove processes. */
void live_maps_each(struct live_maps *m, void (*fn)(void *ctx, struct live_maps_proc *p),
		    void *ctx);

/*
 * The child shares its parent's memory until either execs: mappings of one apply to all. If too many share, the
 * child is unknown, which the callback reports.
 */
void live_maps_share(struct live_maps *m, struct live_maps_proc *parent,
		     struct live_maps_proc *child);

/* Applies a metadata record. */
void live_maps_side(struct live_maps *m, const struct perf_side *side);
/*
 * A process has ended whose records were not applied: LIVE_MAPS_GONE follows when its number is free. If the number is
 * known, it belongs to another process by now, and nothing happens.
 */
void live_maps_ended(struct live_maps *m, uint32_t pid);
/* The known state of the process is wrong: /proc is requested, at growing intervals if it has no change. */
void live_maps_doubt(struct live_maps *m, uint32_t pid, uint64_t now_ns);
/* Applies answers of /proc, sends requests, and removes ended processes. Call it about ten times per second. */
void live_maps_step(struct live_maps *m, uint64_t now_ns);

/* Forgets the process's mappings: it is unknown until an exec or an answer of /proc. */
void live_maps_forget(struct live_maps *m, struct live_maps_proc *p);
/* Bytes held, without mappings. */
size_t live_maps_memory(const struct live_maps *m);

#endif
