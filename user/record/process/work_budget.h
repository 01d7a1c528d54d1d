/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_WORK_BUDGET_H
#define D9_RECORD_PROCESS_WORK_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Accounts for the recorder's work by the process that causes it and by that process's user, and limits their shares
 * while the recorder is loaded. Used by the thread that drains.
 */
struct work_budget;

enum work_kind {
	WORK_COPIES, /* copies of user stacks */
	WORK_LISTS, /* its mappings, and its mapping list */
	WORK_TABLES, /* unwind tables of its files, in helper processes */
	WORK_SYMBOLS, /* symbols of its files, in helper processes */
	WORK_KINDS,
};

/* What one process has cost since it was first charged. */
struct work_cost {
	uint32_t pid;
	char comm[16]; /* "": not known yet */
	uint64_t ns[WORK_KINDS]; /* CPU time */
};

/* Functions for tests; NULL: the real ones */
struct work_budget_cfg {
	uint64_t (*owner)(pid_t pid); /* proc_owner(): root processes are users of their own */
	uint64_t (*now)(void); /* clock_mono_ns() */
};

/* Without limits at first. Never fails. */
struct work_budget *work_budget_new(const struct work_budget_cfg *cfg);
/* Several processes are recorded: from here on they share the recorder. */
void work_budget_limit(struct work_budget *b);
/*
 * From here on the work of all processes together is limited, too: an eighth of this CPU time per second for copies
 * and lists, an eighth for tables and symbols.
 */
void work_budget_cap(struct work_budget *b, uint64_t ns_per_second);
void work_budget_free(struct work_budget *b);

/*
 * Charges a process with CPU time; pid 0: no process. Allocates nothing. If a process has cost
 * more than a short one does, its owner is read from /proc.
 */
void work_budget_charge(struct work_budget *b, uint32_t pid, enum work_kind kind, uint64_t ns);
/*
 * Charges the time since began_ns (CLOCK_MONOTONIC), for short work that is too frequent to read a clock of CPU
 * time. If the time is long, the thread was preempted: only a part is charged.
 */
void work_budget_charge_since(struct work_budget *b, uint32_t pid, enum work_kind kind,
			      uint64_t began_ns);

/* The same for work that is done in any case: it is not counted against the cap. */
void work_budget_charge_needed(struct work_budget *b, uint32_t pid, enum work_kind kind,
			       uint64_t began_ns);

/* Whether the work of all processes together is above the limit of work_budget_cap(). */
bool work_budget_is_capped(const struct work_budget *b, enum work_kind kind);

/*
 * Whether the process may cause more work of this kind now. False: it or its user is above its share, and the recorder
 * is loaded. Ask again later.
 */
bool work_budget_may(struct work_budget *b, uint32_t pid, enum work_kind kind);

static inline uint64_t work_cost_sum(const struct work_cost *c)
{
	return c->ns[WORK_COPIES] + c->ns[WORK_LISTS] + c->ns[WORK_TABLES] + c->ns[WORK_SYMBOLS];
}

/*
 * The most expensive processes, most expensive first, without those below a millisecond. Returns their number, at
 * most @max. Borrowed until the next call that charges.
 */
size_t work_budget_top(const struct work_budget *b, const struct work_cost **top, size_t max);
/*
 * Calls fn for processes that were charged since the last call, except for cheap ones. fn sets comm if it knows the
 * name.
 */
void work_budget_name(struct work_budget *b, void (*fn)(void *ctx, uint32_t pid, char comm[16]),
		      void *ctx);
/* Bytes held. */
size_t work_budget_memory(const struct work_budget *b);

#endif
