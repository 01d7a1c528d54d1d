// SPDX-License-Identifier: BSD-2-Clause
/* `dial9-prof explain --json`. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/common/callchain.h"
#include "cmd/common/report_text.h"
#include "cmd/explain/explain.h"

static const char *const states[INTERVAL_STATE_CNT] = {
	[INTERVAL_UNKNOWN] = "unknown",
	[INTERVAL_RUNNING] = "running",
	[INTERVAL_RUNNABLE] = "waiting",
	[INTERVAL_BLOCKED] = "blocked",
};

void explain_json_thread(struct buf *out, const struct explained *x, uint32_t tid, uint32_t pid,
			 uint32_t comm)
{
	name_text_json_id(out, "\"tid\":", tid);
	name_text_json_id(out, ",\"pid\":", pid);
	buf_addstr(out, ",\"comm\":");
	name_text_json_name(out, x->timeline.names, comm);
}

void explain_json_times(struct buf *out, const uint64_t ns[INTERVAL_STATE_CNT], uint64_t absent)
{
	for (int k = 0; k < INTERVAL_STATE_CNT; k++)
		buf_printf(out, ",\"%s_ns\":%" PRIu64, states[k], ns[k]);
	buf_printf(out, ",\"absent_ns\":%" PRIu64, absent);
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

static void put_frames(struct buf *out, const struct explained *x, const char *key,
		       const uint64_t *frames, uint32_t cnt)
{
	buf_printf(out, ",\"%s\":", key);
	callchain_json(out, x->timeline.names, frames, cnt, CALLCHAIN_BOTH);
}

static void put_behind(struct buf *out, const struct explained *x, const struct explain_step *s)
{
	buf_addstr(out, ",\"behind\":[");
	for (size_t k = 0; k < s->preemptor_cnt; k++) {
		const struct interval_preemptor *r = &s->preemptors[k];

		name_text_json_id(out, k ? ",{\"tid\":" : "{\"tid\":", r->tid);
		buf_addstr(out, ",\"comm\":");
		name_text_json_name(out, x->timeline.names,
				    explain_print_comm(x, s->longest[INTERVAL_RUNNABLE]->part,
						       r->tid, r->comm));
		buf_printf(out, ",\"ns\":%" PRIu64 "}", r->ns);
	}
	buf_printf(out, "],\"behind_others_ns\":%" PRIu64 ",\"behind_unknown_ns\":%" PRIu64,
		   s->other_ns, s->unknown_ns);
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

	buf_printf(out,
		   ",\"longest_blocked\":{\"start_ns\":%" PRIu64 ",\"ns\":%" PRIu64
		   ",\"state\":\"%c\"",
		   from, to - from, interval_blocked_letter(p->flags, p->prev_state));
	interval_reader_json_stack(out, &x->timeline, "stack", p->stack, CALLCHAIN_BOTH);
	buf_addstr(out, ",\"waker\":");
	interval_reader_json_waker(out, &x->timeline, p->woken ? &p->waker : NULL);
	if (by)
		name_text_json_id(out, ",\"waker_tid\":", by);
	if (p->woken)
		interval_reader_json_stack(out, &x->timeline, "waker_stack", p->waker.stack,
					   CALLCHAIN_BOTH);
	if (depth && by && by != p->tid && explain_range(&x->numbers, p->part, by, from, to, &s)) {
		buf_addstr(out, ",\"meanwhile\":");
		put_step(out, x, &s, depth - 1);
	}
	buf_addch(out, '}');
}

static void put_step(struct buf *out, const struct explained *x, const struct explain_step *s,
		     uint64_t depth)
{
	uint32_t cnt;
	const uint64_t *frames = stack_table_get(&x->numbers.stacks, s->hottest, &cnt);

	buf_printf(out, "{\"start_ns\":%" PRIu64 ",\"ns\":%" PRIu64, s->from, s->to - s->from);
	for (int k = 0; k < INTERVAL_STATE_CNT; k++)
		if (s->cnt[k])
			buf_printf(out, ",\"%s_ns\":%" PRIu64 ",\"%s\":%" PRIu64, states[k],
				   s->ns[k], states[k], s->cnt[k]);
	if (s->samples) {
		buf_printf(out, ",\"samples\":%" PRIu64 ",\"hottest_samples\":%" PRIu64, s->samples,
			   s->hottest_cnt);
		put_frames(out, x, "hottest", frames, cnt);
	}
	if (s->cnt[INTERVAL_RUNNABLE])
		put_behind(out, x, s);
	if (s->cnt[INTERVAL_BLOCKED])
		put_blocked(out, x, s, depth);
	buf_addch(out, '}');
}

void explain_json_story(struct buf *out, const struct explained *x)
{
	buf_addstr(out, "\"story\":[");
	for (size_t k = 0; k < x->step_cnt; k++) {
		buf_addstr(out, k ? ",\n" : "\n");
		put_step(out, x, &x->steps[k], x->opts->depth);
	}
	buf_addch(out, ']');
}

void explain_json(const struct explained *x)
{
	struct buf out = { 0 };

	interval_reader_json_head(&out, &x->timeline);
	if (x->thread) {
		name_text_json_id(&out, ",\"tid\":", x->thread->tid);
		buf_printf(&out, ",\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64, x->from, x->to);
	}
	buf_printf(&out, ",\"whole\":%s,\"threads\":[", x->numbers.dropped_from ? "false" : "true");
	for (size_t k = 0; k < x->thread_cnt; k++) {
		buf_addstr(&out, k ? ",\n" : "\n");
		put_thread(&out, x, x->threads[k]);
	}
	buf_addstr(&out, "],");
	explain_json_story(&out, x);
	buf_addstr(&out, "}\n");
	fwrite(buf_cstr(&out), 1, out.len, stdout);
	buf_free(&out);
}
