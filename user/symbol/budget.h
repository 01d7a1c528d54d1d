/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_BUDGET_H
#define D9_SYMBOL_BUDGET_H

#include <stddef.h>
#include <stdint.h>

/* Which bound was reached. */
enum budget_bound {
	BUDGET_NONE,
	BUDGET_TIME,
	BUDGET_MEMORY,
	BUDGET_ENTRIES,
};

struct budget_max {
	uint64_t cpu_ns; /* CPU time of the thread that does the work */
	uint64_t mem; /* bytes */
	uint64_t entries; /* symbols, DIEs, ranges, rows: whatever the owner counts */
};

/*
 * What one piece of work may take in all, and how long it may go on before it has to pause. Work is
 * done between budget_enter() and budget_leave(), by one thread.
 */
struct budget {
	struct budget_max max;
	uint64_t cpu_ns, mem, entries; /* taken so far */
	uint64_t slice_end; /* CPU time of the thread */
	uint64_t since; /* CPU time of the thread up to which cpu_ns counts */
	uint32_t unseen; /* work done since the clock was read */
	uint32_t look; /* read it after so much */
	enum budget_bound reached; /* the first bound that was; it stays */
};

void budget_init(struct budget *b, const struct budget_max *max);

/* The CPU time of the calling thread, in nanoseconds. */
uint64_t budget_clock_ns(void);

/*
 * Work pauses when the calling thread's CPU time reaches end_ns; UINT64_MAX = never, 0 = after each
 * step, however small (for tests of going on).
 */
void budget_slice(struct budget *b, uint64_t end_ns);

void budget_enter(struct budget *b);
void budget_leave(struct budget *b);

/*
 * Counts that many entries as done. Returns 0, -EAGAIN when the slice is used up (keep what was
 * done, return, and go on from there when called again) or -EDQUOT when the budget is. The clock is
 * read now and then only, so that each call may cost nothing.
 */
int budget_step(struct budget *b, uint32_t entries);

/*
 * The same for work that leaves no entries, in units of some 20 ns. Only time ends it: who has
 * taken all entries can still bring what there is to an end.
 */
int budget_work(struct budget *b, uint32_t units);

/* Takes memory: 0, or -ENOMEM and nothing taken. That is not final: memory can come back. */
int budget_take(struct budget *b, uint64_t bytes);
void budget_give_back(struct budget *b, uint64_t bytes);

/*
 * Room for one more element in an array that has cnt and room for *cap; its memory is taken from
 * the budget. 0 or -ENOMEM, and then nothing has changed.
 */
int budget_grow(struct budget *b, void **array, size_t *cap, size_t cnt, size_t elem_sz);
/* Frees such an array. */
void budget_free(struct budget *b, void *array, size_t cap, size_t elem_sz);

/* Raises the bounds on time and entries. */
void budget_allow(struct budget *b, uint64_t cpu_ns, uint64_t entries);

/* Ends the budget for good, for this reason, unless it has ended before. Returns -EDQUOT. */
int budget_exhaust(struct budget *b, enum budget_bound bound);

/* "time", "memory", "entries"; NULL when no bound was reached. */
const char *budget_reached(const struct budget *b);

#endif /* D9_SYMBOL_BUDGET_H */
