/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_LOSS_ACCOUNTING_H
#define D9_PROFILE_SCHED_LOSS_ACCOUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a kind of loss counts. Only the first two are missing events. */
enum loss_accounting_class {
	LOSS_ACCOUNTING_EVENTS, /* tracepoint events */
	LOSS_ACCOUNTING_SAMPLES, /* CPU samples, stacks of switches */
	LOSS_ACCOUNTING_SIDEBAND, /* records about processes and mappings: symbols may be missing */
	LOSS_ACCOUNTING_STALLS, /* stalls: no such records were read for a second */
	/* stacks with possibly wrong symbols, because such records are missing */
	LOSS_ACCOUNTING_DOUBTS,
	LOSS_ACCOUNTING_ESTIMATE, /* samples that could not be counted */
	LOSS_ACCOUNTING_PAUSES, /* pauses: nothing lost, switches missing */
	LOSS_ACCOUNTING_STACKS, /* stacks dropped on purpose; their events are there */
	LOSS_ACCOUNTING_SLICES, /* time slices skipped under load; handled as pauses */
	LOSS_ACCOUNTING_HOLES, /* gaps that no file covers: number of events unknown */
	LOSS_ACCOUNTING_STACKS_OFF, /* stacks of switches and wakeups dropped under load */
	LOSS_ACCOUNTING_CLASS_CNT,
};

/* Whether the recorder's counters agree: produced = written + lost. */
enum loss_accounting_verdict {
	LOSS_ACCOUNTING_UNKNOWN, /* no counters in the trace */
	LOSS_ACCOUNTING_BALANCED,
	/* last counters of this file; the recording continues in another file */
	LOSS_ACCOUNTING_CONTINUES,
	LOSS_ACCOUNTING_OPEN, /* the file ends before the last counters, which may disagree */
	LOSS_ACCOUNTING_WRONG,
};

/* The latest counters of a recorder; cumulative since its start. */
struct loss_accounting_figures {
	bool known;
	bool closed; /* last of the file, */
	bool continues; /* but the recording continues: some events were in flight */
	uint64_t produced, written, lost;
};

/* Events neither written nor lost yet when the counters were taken; 0 for the last counters. */
uint64_t loss_accounting_in_flight(const struct loss_accounting_figures *f);

/* Missing events by class. {0}: none. */
struct loss_accounting {
	uint64_t lost[LOSS_ACCOUNTING_CLASS_CNT];
	/* part of LOSS_ACCOUNTING_EVENTS that may include events the filter excludes */
	uint64_t at_most;
	uint64_t skipped_ns; /* total of LOSS_ACCOUNTING_SLICES; if not 0: */
	uint64_t skipped_first, skipped_last; /* range of these slices */
};

/* The class of a kind, PROF_LOST_*. An unknown kind counts as events. */
enum loss_accounting_class loss_accounting_class(const char *kind, size_t len);

/* Whether the class affects symbols and names only. */
bool loss_accounting_is_sideband(enum loss_accounting_class cls);

/* Whether switches or wakeups may be missing because of this kind. */
bool loss_accounting_hides_switches(const char *kind, size_t len);

/* Adds @count to a kind. */
void loss_accounting_add(struct loss_accounting *a, const char *kind, size_t len, uint64_t count);

/*
 * Number of events and samples missing: the number that every command prints as "lost". Without
 * estimates, sideband records, pauses and dropped stacks.
 */
uint64_t loss_accounting_lost(const struct loss_accounting *a);

/* Whether events, samples or estimated samples are missing, or an unknown number. */
bool loss_accounting_is_incomplete(const struct loss_accounting *a);

enum loss_accounting_verdict loss_accounting_verdict(const struct loss_accounting_figures *f);

#endif /* D9_PROFILE_SCHED_LOSS_ACCOUNTING_H */
