/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_LOSS_ACCOUNTING_H
#define D9_PROFILE_SCHED_LOSS_ACCOUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a kind of loss counts. Only the first two are events that a trace lacks. */
enum loss_accounting_class {
	LOSS_ACCOUNTING_EVENTS, /* tracepoint events */
	LOSS_ACCOUNTING_SAMPLES, /* CPU samples and stacks of switches */
	LOSS_ACCOUNTING_SIDEBAND, /* records that tell of processes and mappings: names may be missing */
	LOSS_ACCOUNTING_STALLS, /* times that such records were not read for a second */
	LOSS_ACCOUNTING_DOUBTS, /* stacks whose names may be wrong, for want of such records */
	LOSS_ACCOUNTING_ESTIMATE, /* samples that nobody could count */
	LOSS_ACCOUNTING_PAUSES, /* stretches left out on purpose: nothing is lost, switches are missing */
	LOSS_ACCOUNTING_STACKS, /* stacks left out on purpose, of events that are there */
	LOSS_ACCOUNTING_SLICES, /* slices of time left out on purpose, to cost less: as pauses */
	LOSS_ACCOUNTING_HOLES, /* stretches that no file tells of: who knows how many events */
	LOSS_ACCOUNTING_STACKS_OFF, /* stacks of switches and wakings left out for the same */
	LOSS_ACCOUNTING_CLASS_CNT,
};

/* Whether the recorder's figures agree: produced = written + lost. */
enum loss_accounting_verdict {
	LOSS_ACCOUNTING_UNKNOWN, /* it left no figures */
	LOSS_ACCOUNTING_BALANCED,
	LOSS_ACCOUNTING_CONTINUES, /* they are the last of this file, and the recording has another one */
	LOSS_ACCOUNTING_OPEN, /* the file ends before the last figures: those before it need not agree */
	LOSS_ACCOUNTING_WRONG,
};

/* The newest figures that a recorder gave of itself; cumulative since its start. */
struct loss_accounting_figures {
	bool known;
	bool closed; /* they are the last of the file, */
	bool continues; /* but not of the recording: some events were under way */
	uint64_t produced, written, lost;
};

/* How many events were neither written nor lost yet when the figures were taken; 0 for last ones. */
uint64_t loss_accounting_in_flight(const struct loss_accounting_figures *f);

/* What is missing, by class. {0} is "nothing". */
struct loss_accounting {
	uint64_t lost[LOSS_ACCOUNTING_CLASS_CNT];
	uint64_t at_most; /* in LOSS_ACCOUNTING_EVENTS: events of which some need not have been wanted */
	uint64_t skipped_ns; /* of LOSS_ACCOUNTING_SLICES, together; when it is not 0: */
	uint64_t skipped_first, skipped_last; /* from when to when there were such slices */
};

/* The class of a kind, PROF_LOST_*. A kind that is not known counts as events. */
enum loss_accounting_class loss_accounting_class(const char *kind, size_t len);

/* True for what only makes names uncertain. */
bool loss_accounting_is_sideband(enum loss_accounting_class cls);

/* True when there may have been a switch or a waking that is not in the trace for this. */
bool loss_accounting_hides_switches(const char *kind, size_t len);

/* @count more of a kind are missing. */
void loss_accounting_add(struct loss_accounting *a, const char *kind, size_t len, uint64_t count);

/*
 * How many events and samples are missing: the one number that "lost" stands for, wherever it is
 * said. Estimates, side-band records, pauses and stacks left out are not in it.
 */
uint64_t loss_accounting_lost(const struct loss_accounting *a);

/* True when some event, sample or estimate of them is missing, or nobody knows how many. */
bool loss_accounting_is_incomplete(const struct loss_accounting *a);

enum loss_accounting_verdict loss_accounting_verdict(const struct loss_accounting_figures *f);

#endif /* D9_PROFILE_SCHED_LOSS_ACCOUNTING_H */
