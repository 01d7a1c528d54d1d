/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_ACCOUNT_H
#define D9_PROFILE_SCHED_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a kind of loss counts. Only the first two are events that a trace lacks. */
enum account_class {
	ACCOUNT_EVENTS, /* tracepoint events */
	ACCOUNT_SAMPLES, /* CPU samples and stacks of switches */
	ACCOUNT_SIDEBAND, /* records that tell of processes and mappings: names may be missing */
	ACCOUNT_STALLS, /* times that such records were not read for a second */
	ACCOUNT_DOUBTS, /* stacks whose names may be wrong, for want of such records */
	ACCOUNT_ESTIMATE, /* samples that nobody could count */
	ACCOUNT_PAUSES, /* stretches left out on purpose: nothing is lost, switches are missing */
	ACCOUNT_STACKS, /* stacks left out on purpose, of events that are there */
	ACCOUNT_THINNED, /* slices of time left out on purpose, to cost less: as pauses */
	ACCOUNT_HOLES, /* stretches that no file tells of: who knows how many events */
	ACCOUNT_STACKS_OFF, /* stacks of switches and wakings left out for the same */
	ACCOUNT_CLASS_CNT,
};

/* Whether the recorder's figures agree: produced = written + lost. */
enum account_verdict {
	ACCOUNT_UNKNOWN, /* it left no figures */
	ACCOUNT_BALANCED,
	ACCOUNT_GOES_ON, /* they are the last of this file, and the recording has another one */
	ACCOUNT_OPEN, /* the file ends before the last figures: those before it need not agree */
	ACCOUNT_WRONG,
};

/* The newest figures that a recorder gave of itself; cumulative since its start. */
struct account_figures {
	bool known;
	bool closed; /* they are the last of the file, */
	bool goes_on; /* but not of the recording: some events were under way */
	uint64_t produced, written, lost;
};

/* How many events were neither written nor lost yet when the figures were taken; 0 for last ones. */
uint64_t account_under_way(const struct account_figures *f);

/* What is missing, by class. {0} is "nothing". */
struct account {
	uint64_t lost[ACCOUNT_CLASS_CNT];
	uint64_t at_most; /* in ACCOUNT_EVENTS: events of which some need not have been wanted */
	uint64_t thinned_ns; /* of ACCOUNT_THINNED, together; when it is not 0: */
	uint64_t thinned_first, thinned_last; /* from when to when there were such slices */
};

/* The class of a kind, PROF_LOST_*. A kind that is not known counts as events. */
enum account_class account_class(const char *kind, size_t len);

/* True for what only makes names uncertain. */
bool account_is_sideband(enum account_class cls);

/* True when there may have been a switch or a waking that is not in the trace for this. */
bool account_hides_switches(const char *kind, size_t len);

/* @count more of a kind are missing. */
void account_add(struct account *a, const char *kind, size_t len, uint64_t count);

/*
 * How many events and samples are missing: the one number that "lost" stands for, wherever it is
 * said. Estimates, side-band records, pauses and stacks left out are not in it.
 */
uint64_t account_lost(const struct account *a);

/* True when some event, sample or estimate of them is missing, or nobody knows how many. */
bool account_lacks(const struct account *a);

enum account_verdict account_verdict(const struct account_figures *f);

#endif /* D9_PROFILE_SCHED_ACCOUNT_H */
