/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_TRIGGER_H
#define D9_RECORD_CONTROL_TRIGGER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof_abi.h"

struct capture;
struct eventset;
struct flight;
struct prof_rec;
struct status;
struct tasks;

struct trigger_cfg {
	const char *const *events; /* names or globs of events, which must pass their filters */
	size_t event_cnt;
	uint64_t offcpu_ns, runq_ns; /* limits; 0: none */
	uint64_t post_ns; /* recorded after a trigger */
	uint64_t rearm_ns; /* after a snapshot, events and latencies are ignored for this time */
	const volatile sig_atomic_t *asked; /* each change requests a snapshot; may be NULL */
};

/* The recorder: its events and the events of its helper processes and their children, fire no trigger. */
struct trigger_self {
	struct tasks *tasks; /* borrowed */
	uint32_t pid; /* 0: all events fire */
	uint32_t helpers[PROF_HELPERS_MAX]; /* 0: no more */
};

/* Decides when a flight recorder writes a snapshot. */
struct trigger;

/* All are borrowed. NULL without a flight recorder; does not fail otherwise. */
struct trigger *trigger_new(const struct trigger_cfg *cfg, const struct eventset *events,
			    const struct trigger_self *self, struct capture *capture,
			    struct flight *flight);
void trigger_free(struct trigger *t);

/* Call for each record, in order. t: may be NULL. */
void trigger_check(struct trigger *t, const struct prof_rec *rec);
/* A snapshot was requested by --control. t: may be NULL. */
void trigger_ask(struct trigger *t);
/*
 * Call it often, and before the flush of records older than mark_ns (CLOCK_MONOTONIC). Writes the trigger, and
 * starts the snapshot when all its records have been written. Returns the result of writing. t: may be NULL.
 */
int trigger_step(struct trigger *t, struct status *status, uint64_t mark_ns);
/* Recording has ended, which triggers the last snapshot. Likewise. */
int trigger_end(struct trigger *t, struct status *status, uint64_t now_ns);

#endif
