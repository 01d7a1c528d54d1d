/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_PROFILE_INTERVALS_RUN_H
#define D9_TESTS_PROFILE_INTERVALS_RUN_H

/* A made trace through the engine, and its output as lines of text. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "profile/sched/intervals.h"
#include "tests/support/read_trace.h"

struct run {
	struct intervals *iv;
	struct names *names;
	struct buf out;
	uint32_t tid; /* only of this thread; 0: of all */
	bool preemptors, gaps_first;
	bool again; /* it is read twice, and the second pass counts */
	bool skip_stacks;
	uint64_t from, to; /* the window, when to is set */
	void (*see)(struct run *r, const struct interval *i);
};

static inline void run_print_flags(struct run *r, unsigned int flags)
{
	static const char *const names[] = { "loss",	  "hole",	"edge-start",
					     "edge-end",  "clip-start", "clip-end",
					     "neighbour", "unsure",	"elsewhere" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & 1u << i)
			buf_printf(&r->out, " %s", names[i]);
}

static inline void run_print_preemptors(struct run *r, const struct interval *i)
{
	struct interval_preemptor v[3];
	struct interval_preemptor_sum sum = intervals_preemptors(r->iv, i, v, 3);

	for (size_t k = 0; k < sum.n; k++)
		buf_printf(&r->out, " %" PRIu64 " behind %u on %u", v[k].ns, v[k].tid, v[k].cpu);
	if (sum.other_ns)
		buf_printf(&r->out, " %" PRIu64 " behind others", sum.other_ns);
	if (sum.unknown_ns)
		buf_printf(&r->out, " %" PRIu64 " unknown", sum.unknown_ns);
	cr_expect_eq(sum.listed_ns + sum.other_ns + sum.unknown_ns, i->end - i->start);
}

/* "5 running 1000-1100 to block cpu 0 ..." */
static inline void run_on_interval(void *ctx, const struct interval *i)
{
	static const char *const states[] = { "unknown", "running", "runnable", "blocked" };
	static const char *const ends[] = { "nothing",	 "cpu",	     "waking", "block",
					    "preempted", "give way", "exit" };
	static const char *const whys[] = { "", "woken", "early", "preempted", "gave way", "new" };
	struct run *r = ctx;

	if (r->see)
		r->see(r, i);
	if (r->tid && i->tid != r->tid)
		return;
	buf_printf(&r->out, "%u %s", i->tid, states[i->state]);
	if (i->state != i->began_as)
		buf_printf(&r->out, " (%s)", states[i->began_as]);
	buf_printf(&r->out, " %" PRIu64 "-%" PRIu64 " to %s", i->start, i->end, ends[i->end_by]);
	if (i->cpu != TRACE_NONE)
		buf_printf(&r->out, " cpu %u", i->cpu);
	if (i->why)
		buf_printf(&r->out, " %s", whys[i->why]);
	if (i->waker)
		buf_printf(&r->out, " by %u at %" PRIu64, i->waker->tid, i->waker->ts);
	if (i->waker && i->waker->stack != INTERVAL_NO_STACK)
		buf_printf(&r->out, " from %u", i->waker->stack);
	if (i->prev_state)
		buf_printf(&r->out, " %c", interval_letter(i->prev_state));
	if (i->stack != INTERVAL_NO_STACK)
		buf_printf(&r->out, " stack %u", i->stack);
	run_print_flags(r, i->flags);
	if (r->preemptors && i->state == INTERVAL_RUNNABLE)
		run_print_preemptors(r, i);
	buf_addstr(&r->out, "\n");
}

/* Reads these bytes of a trace. */
static inline void run_bytes(struct run *r, const void *data, size_t sz)
{
	struct reader *reader = read_trace(make_fd(data, sz));
	struct trace_event ev;

	r->names = reader_names(reader);
	r->iv = intervals_new(&(struct intervals_opts){ r->names, run_on_interval, r });
	if (r->to)
		intervals_window(r->iv, 0, r->from, r->to);
	if (r->skip_stacks)
		intervals_skip_stacks(r->iv);
	while (r->again && reader_next(reader, &ev) == 1)
		intervals_add(r->iv, reader_trace(reader), &ev);
	if (r->again) {
		intervals_restart(r->iv);
		buf_clear(&r->out);
		cr_assert_eq(reader_rewind(reader), 0);
	}
	while (r->gaps_first && reader_next(reader, &ev) == 1)
		intervals_add_gaps(r->iv, reader_trace(reader), &ev);
	if (r->gaps_first)
		cr_assert_eq(reader_rewind(reader), 0);
	while (reader_next(reader, &ev) == 1)
		intervals_add(r->iv, reader_trace(reader), &ev);
	intervals_finish(r->iv);
	intervals_free(r->iv);
	reader_free(reader);
}

/* Reads the trace, which is freed. */
static inline void run(struct run *r, struct make *m)
{
	size_t sz;
	const void *data = dial9_enc_data(m->enc, &sz);

	run_bytes(r, data, sz);
	make_fini(m);
}

/* Reads the trace and compares the lines. */
static inline void run_expect(struct run *r, struct make *m, const char *want)
{
	run(r, m);
	cr_expect_str_eq(buf_cstr(&r->out), want, "%s", buf_cstr(&r->out));
	buf_free(&r->out);
}

#endif /* D9_TESTS_PROFILE_INTERVALS_RUN_H */
