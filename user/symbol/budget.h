/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_BUDGET_H
#define D9_SYMBOL_BUDGET_H

#include <stddef.h>
#include <stdint.h>

/* The limit that was reached */
enum budget_bound {
	BUDGET_NONE,
	BUDGET_TIME,
	BUDGET_MEMORY,
	BUDGET_ENTRIES,
};

struct budget_max {
	uint64_t cpu_ns; /* CPU time of the working thread */
	uint64_t mem; /* bytes */
	uint64_t entries; /* symbols, DIEs, ranges, rows: the owner decides */
};

/*
 * Limits of one piece of work, in total and per slice; at the end of a slice it has to pause. One
 * thread does the work, between budget_enter() and budget_leave().
 */
struct budget {
	struct budget_max max;
	uint64_t cpu_ns, mem, entries; /* used so far */
	uint64_t slice_end; /* CPU time of the thread */
	uint64_t since; /* CPU time of the thread at the last update of cpu_ns */
	uint32_t unseen; /* work since the clock was read */
	uint32_t look; /* amount of work before the next read of the clock */
	enum budget_bound reached; /* the first limit that was reached; it stays */
};

void budget_init(struct budget *b, const struct budget_max *max);

/* CPU time of the calling thread, in nanoseconds */
uint64_t budget_clock_ns(void);

/*
 * Work pauses when the calling thread's CPU time reaches end_ns; UINT64_MAX: never, 0: after each
 * step (for tests of resuming).
 */
void budget_slice(struct budget *b, uint64_t end_ns);

void budget_enter(struct budget *b);
void budget_leave(struct budget *b);

/*
 * Counts entries as done. Returns 0; -EAGAIN if the slice is used up: keep the state, return, and
 * resume when called again; -EDQUOT if the budget is used up. Reads the clock only at times, so
 * calls are cheap.
 */
int budget_step(struct budget *b, uint32_t entries);

/*
 * The same for work without entries, in units of some 20 ns. Only the time limit ends it, so work
 * can be completed after the entries are used up.
 */
int budget_work(struct budget *b, uint32_t units);

/*
 * Reserves memory: 0; or -ENOMEM without any change. That is not final, because memory can be
 * returned.
 */
int budget_reserve(struct budget *b, uint64_t bytes);
void budget_give_back(struct budget *b, uint64_t bytes);

/*
 * Makes room for one more element in an array with cnt elements and capacity *cap; its memory comes
 * from the budget. 0; or -ENOMEM without any change.
 */
int budget_grow(struct budget *b, void **array, size_t *cap, size_t cnt, size_t elem_sz);
/* Frees such an array. */
void budget_free(struct budget *b, void *array, size_t cap, size_t elem_sz);

/* Raises the limits of time and entries. */
void budget_allow(struct budget *b, uint64_t cpu_ns, uint64_t entries);

/* Ends the budget for good with this reason, unless it has ended before. Returns -EDQUOT. */
int budget_exhaust(struct budget *b, enum budget_bound bound);

/* Forgets the time and the entries used, and that a limit was reached. */
void budget_restart(struct budget *b);

/* "time", "memory", "entries"; NULL if no limit was reached. */
const char *budget_reached(const struct budget *b);

#endif /* D9_SYMBOL_BUDGET_H */
