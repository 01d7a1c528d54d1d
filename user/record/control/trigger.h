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
	const char *const *events; /* names or globs: those that pass their filters */
	size_t event_cnt;
	uint64_t offcpu_ns, runq_ns; /* what is too long; 0: nothing is */
	uint64_t post_ns; /* recorded behind a trigger */
	uint64_t rearm_ns; /* after a snapshot, that no event and no latency asks for another */
	const volatile sig_atomic_t *asked; /* each change asks for one; may be NULL */
};

/* The recorder: what it, its helper processes and their children do fires no trigger. */
struct trigger_self {
	struct tasks *tasks; /* borrowed */
	uint32_t pid; /* 0: all fire */
	uint32_t helpers[PROF_HELPERS_MAX]; /* 0: no more */
};

/* What makes a flight recorder write a snapshot. */
struct trigger;

/* All are borrowed. NULL without a flight recorder; does not fail otherwise. */
struct trigger *trigger_new(const struct trigger_cfg *cfg, const struct eventset *events,
			    const struct trigger_self *self, struct capture *capture,
			    struct flight *flight);
void trigger_free(struct trigger *t);

/* Each record, in order. t: may be NULL. */
void trigger_check(struct trigger *t, const struct prof_rec *rec);
/* Somebody asks for a snapshot, by --control. t: may be NULL. */
void trigger_ask(struct trigger *t);
/*
 * To be called often, and before the flush of what is older than mark_ns (CLOCK_MONOTONIC): writes who asked,
 * and has the snapshot taken when all that it is to hold has been written. Returns what writing returned. t: may
 * be NULL.
 */
int trigger_step(struct trigger *t, struct status *status, uint64_t mark_ns);
/* Recording is over, which is the reason for the last snapshot. Likewise. */
int trigger_end(struct trigger *t, struct status *status, uint64_t now_ns);

#endif
