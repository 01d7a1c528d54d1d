// SPDX-License-Identifier: BSD-2-Clause
/* `dial9-prof explain --json`. */
#include <stdio.h>

#include "base/json.h"
#include "cmd/common/callchain.h"
#include "cmd/common/report_text.h"
#include "cmd/explain/explain.h"

static const char *const states[INTERVAL_STATE_CNT] = {
	[INTERVAL_UNKNOWN] = "unknown",
	[INTERVAL_RUNNING] = "running",
	[INTERVAL_RUNNABLE] = "runnable",
	[INTERVAL_BLOCKED] = "blocked",
};

void explain_json_thread(struct buf *out, const struct explained *x, uint32_t tid, uint32_t pid,
			 uint32_t comm)
{
	value_text_json_id(out, "tid", tid);
	value_text_json_id(out, "pid", pid);
	value_text_json_name(out, "comm", x->timeline.names, comm);
}

static void json_state_ns(struct buf *out, int state, uint64_t ns)
{
	json_key_printf(out, "%s_ns", states[state]);
	json_u64(out, NULL, ns);
}

void explain_json_times(struct buf *out, const uint64_t ns[INTERVAL_STATE_CNT], uint64_t absent)
{
	for (int k = 0; k < INTERVAL_STATE_CNT; k++)
		json_state_ns(out, k, ns[k]);
	json_u64(out, "absent_ns", absent);
}

static void put_thread(struct buf *out, const struct explained *x, const struct explain_thread *th)
{
	const uint64_t span = x->to - x->from;
	uint64_t there = 0;

	for (int k = 0; k < INTERVAL_STATE_CNT; k++)
		there += th->ns[k];
	buf_addch(out, '{');
	explain_json_thread(out, x, th->tid, th->pid, th->comm);
	explain_json_times(out, th->ns, span > there ? span - there : 0);
	buf_addch(out, '}');
}

static void put_task_seen(struct buf *out, const struct explained *x, const char *key,
			  uint32_t part, uint32_t tid)
{
	if (tid == TRACE_NONE)
		return;
	json_object(out, key);
	explain_json_thread(out, x, tid, TRACE_NONE, explain_print_comm(x, part, tid, NAMES_NONE));
	json_end(out, "}");
}

void explain_json_own_switches(struct buf *out, const struct explained *x, uint32_t part,
			       const struct explain_own_switches *own)
{
	put_task_seen(out, x, "replaced_by", part, own->replaced_by);
	put_task_seen(out, x, "ran_before_return", part, own->ran_before_return);
}

static void put_behind(struct buf *out, const struct explained *x, const struct explain_step *s)
{
	const uint32_t part = s->longest[INTERVAL_RUNNABLE]->part;
	const struct explain_own_switches own = explain_own_switches(s);

	json_array(out, "ran_instead");
	for (size_t k = 0; k < s->preemptor_cnt; k++) {
		const struct interval_preemptor *r = &s->preemptors[k];

		json_object(out, NULL);
		value_text_json_id(out, "tid", r->tid);
		value_text_json_name(out, "comm", x->timeline.names,
				     explain_print_comm(x, part, r->tid, r->comm));
		json_u64(out, "ns", r->ns);
		json_end(out, "}");
	}
	json_end(out, "]");
	json_u64s(out, { "ran_instead_others_ns", s->other_ns },
		  { "ran_instead_unknown_ns", s->unknown_ns });
	explain_json_own_switches(out, x, part, &own);
}

static void put_step(struct buf *out, const struct explained *x, const struct explain_step *s,
		     uint64_t depth);

/* The longest time blocked in a step, and who ended it. */
static void put_blocked(struct buf *out, const struct explained *x, const struct explain_step *in,
			uint64_t depth)
{
	const struct explain_piece *p = in->longest[INTERVAL_BLOCKED];
	const uint32_t by = explain_waker_tid(p);
	struct explain_step s = { 0 };
	uint64_t from, to;

	explain_within(in, p, &from, &to);

	json_object(out, "longest_blocked");
	json_u64s(out, { "start_ns", from }, { "ns", to - from });
	json_char(out, "state", interval_blocked_letter(p->flags, p->prev_state));
	interval_print_json_stack(out, &x->timeline, "stack", p->stack, CALLCHAIN_BOTH);
	interval_print_json_waker(out, "waker", &x->timeline, p->woken ? &p->waker : NULL);
	if (by)
		value_text_json_id(out, "waker_tid", by);
	if (p->woken)
		interval_print_json_stack(out, &x->timeline, "waker_stack", p->waker.stack,
					  CALLCHAIN_BOTH);
	if (depth && by && by != p->tid && explain_range(&x->numbers, p->part, by, from, to, &s)) {
		json_key(out, "waker_activity");
		put_step(out, x, &s, depth - 1);
	}
	json_end(out, "}");
}

static void put_step(struct buf *out, const struct explained *x, const struct explain_step *s,
		     uint64_t depth)
{
	uint32_t cnt;
	const uint64_t *frames = stack_table_get(&x->numbers.stacks, s->hottest, &cnt);

	json_object(out, NULL);
	json_u64s(out, { "start_ns", s->from }, { "ns", s->to - s->from });
	for (int k = 0; k < INTERVAL_STATE_CNT; k++) {
		if (!s->cnt[k])
			continue;
		json_state_ns(out, k, s->ns[k]);
		json_u64(out, states[k], s->cnt[k]);
	}
	if (s->samples) {
		json_u64s(out, { "samples", s->samples }, { "hottest_samples", s->hottest_cnt });
		callchain_json(out, "hottest", x->timeline.names, frames, cnt, CALLCHAIN_BOTH);
	}
	if (s->cnt[INTERVAL_RUNNABLE])
		put_behind(out, x, s);
	if (s->cnt[INTERVAL_BLOCKED])
		put_blocked(out, x, s, depth);
	json_end(out, "}");
}

void explain_json_timeline(struct buf *out, const struct explained *x)
{
	json_array(out, "steps");
	for (size_t k = 0; k < x->step_cnt; k++) {
		json_line(out);
		put_step(out, x, &x->steps[k], x->opts->depth);
	}
	json_end(out, "]");
}

void explain_json(const struct explained *x)
{
	struct buf out = { 0 };

	interval_print_json_head(&out, &x->timeline);
	if (x->thread) {
		value_text_json_id(&out, "tid", x->thread->tid);
		json_u64s(&out, { "from_ns", x->from }, { "to_ns", x->to });
	}
	json_bool(&out, "complete", !x->numbers.dropped_from);
	json_array(&out, "threads");
	for (size_t k = 0; k < x->thread_cnt; k++) {
		json_line(&out);
		put_thread(&out, x, x->threads[k]);
	}
	json_end(&out, "]");
	explain_json_timeline(&out, x);
	json_end(&out, "}\n");
	buf_print(&out, stdout);
}
