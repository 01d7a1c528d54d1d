// SPDX-License-Identifier: BSD-2-Clause
/*
 * trigger.c - decides when a snapshot is written, and records the trigger
 *
 * BPF programs detect long latencies at their end; event triggers are detected by their records. One snapshot is
 * pending at a time: it is due when the drain has passed the time to record after its trigger. Other triggers
 * during that time are in it anyway. Signals and commands are never ignored, but several may share one snapshot.
 */
#include "record/control/trigger.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "events/emit.h"
#include "prof_abi.h"
#include "prof_events.h"
#include "record/capture/capture.h"
#include "record/encode/status.h"
#include "record/output/flight.h"
#include "record/process/tasks.h"
#include "record/tracepoint/event.h"
#include "record/tracepoint/eventset.h"

struct trigger {
	struct trigger_cfg cfg;
	struct trigger_self self;
	const struct eventset *events;
	struct capture *capture;
	struct flight *flight;
	bool *is_trigger; /* by event; NULL: none */
	sig_atomic_t asked;
	bool by_control;
	bool has_event; /* not written yet: */
	struct emit_trigger event;
	uint64_t due_ns; /* the snapshot contains everything before; 0: none is pending */
	uint64_t armed_ns; /* triggers before are ignored */
	uint64_t too_soon; /* ignored triggers since the last accepted trigger */
};

static void find_events(struct trigger *t)
{
	size_t i, k;

	if (!t->cfg.event_cnt)
		return;
	t->is_trigger = xcalloc(t->events->cnt + 1, sizeof(*t->is_trigger));
	for (i = 0; i < t->events->cnt; i++)
		for (k = 0; k < t->cfg.event_cnt; k++)
			t->is_trigger[i] |= str_glob(t->cfg.events[k], t->events->defs[i]->name);
}

struct trigger *trigger_new(const struct trigger_cfg *cfg, const struct eventset *events,
			    const struct trigger_self *self, struct capture *capture,
			    struct flight *flight)
{
	struct trigger *t;

	if (!flight)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->cfg = *cfg;
	t->self = *self;
	t->events = events;
	t->capture = capture;
	t->flight = flight;
	find_events(t);
	return t;
}

void trigger_free(struct trigger *t)
{
	if (!t)
		return;
	free(t->is_trigger);
	free(t);
}

static bool is_helper(const struct trigger *t, uint32_t pid)
{
	size_t i;

	for (i = 0; i < PROF_HELPERS_MAX && t->self.helpers[i]; i++)
		if (pid == t->self.helpers[i])
			return true;
	return false;
}

/* Whether only the recorder was involved: an event that names tasks also belongs to them. */
static bool is_own(const struct trigger *t, const struct prof_rec *rec)
{
	const uint32_t pid = rec->pid;

	if (!t->self.pid || !pid || t->events->defs[rec->event]->cfg.pid_cnt)
		return false;
	return pid == t->self.pid || is_helper(t, pid) ||
	       is_helper(t, tasks_get(t->self.tasks, pid, pid)->proc->ppid);
}

void trigger_check(struct trigger *t, const struct prof_rec *rec)
{
	if (!t || !t->is_trigger || rec->kind != PROF_REC_TRACEPOINT || t->has_event ||
	    !t->is_trigger[rec->event] || is_own(t, rec))
		return;
	if (rec->ts < t->armed_ns) {
		t->too_soon++;
		return;
	}
	t->has_event = true;
	t->event = (struct emit_trigger){
		.ts = rec->ts,
		.reason = PROF_TRIGGER_EVENT,
		.event = t->events->defs[rec->event]->name,
		.pid = rec->pid,
		.tid = rec->tid,
	};
}

void trigger_ask(struct trigger *t)
{
	if (t)
		t->by_control = true;
}

static bool check_latency(struct trigger *t, struct emit_trigger *out)
{
	struct prof_latency_hit hit;

	if ((!t->cfg.offcpu_ns && !t->cfg.runq_ns) || !capture_latency(t->capture, &hit))
		return false;
	if (hit.ts < t->armed_ns) {
		t->too_soon++;
		return false;
	}
	*out = (struct emit_trigger){
		.ts = hit.ts,
		.reason = hit.kind == PROF_LATENCY_RUNQ ? PROF_TRIGGER_RUNQ : PROF_TRIGGER_OFFCPU,
		.pid = hit.tgid,
		.tid = hit.tid,
		.ns = hit.ns,
	};
	return true;
}

/* Returns the first trigger; resets all of them. */
static bool find_request(struct trigger *t, struct emit_trigger *out)
{
	const sig_atomic_t asked = t->cfg.asked ? *t->cfg.asked : 0;
	const bool by_signal = asked != t->asked, by_control = t->by_control;
	struct emit_trigger latency;
	const bool too_long = check_latency(t, &latency), event = t->has_event;

	t->asked = asked;
	t->by_control = t->has_event = false;
	if (event)
		*out = t->event;
	else if (too_long)
		*out = latency;
	else
		*out = (struct emit_trigger){
			.ts = clock_mono_ns(),
			.reason = by_signal ? PROF_TRIGGER_SIGNAL : PROF_TRIGGER_CONTROL,
		};
	return event || too_long || by_signal || by_control;
}

static int write_trigger(struct trigger *t, struct status *status, struct emit_trigger by)
{
	by.too_soon = t->too_soon;
	t->too_soon = 0;
	return status_trigger(status, &by);
}

/* A gap between two snapshots is written to the second. */
static int begin_snapshot(struct trigger *t, struct status *status)
{
	uint64_t from, to;

	t->due_ns = 0;
	t->armed_ns = clock_mono_ns() + t->cfg.rearm_ns;
	if (!flight_snapshot(t->flight, &from, &to))
		return 0;
	return status_not_kept(status, from, to);
}

int trigger_step(struct trigger *t, struct status *status, uint64_t mark_ns)
{
	struct emit_trigger by;
	int err;

	if (!t)
		return 0;
	err = t->due_ns && mark_ns >= t->due_ns ? begin_snapshot(t, status) : 0;
	if (err || !find_request(t, &by) || t->due_ns)
		return err;
	t->due_ns = by.ts + t->cfg.post_ns + 1;
	return write_trigger(t, status, by);
}

int trigger_end(struct trigger *t, struct status *status, uint64_t now_ns)
{
	const struct emit_trigger by = { .ts = now_ns, .reason = PROF_TRIGGER_END };

	int err = t ? write_trigger(t, status, by) : 0;

	return t && !err ? begin_snapshot(t, status) : err;
}
