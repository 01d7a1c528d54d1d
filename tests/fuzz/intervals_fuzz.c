// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as a trace through the engine of intervals. The first byte selects whether losses are read
 * first, and whether there is a window. What must hold: a thread's intervals follow each other and do not
 * overlap, none reaches out of the window, and the preemptors of a runnable interval add up to it.
 */
#include <stdlib.h>

#include "base/log.h"
#include "profile/sched/intervals.h"
#include "tests/support/read_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

enum { FROM = 1000, TO = 1000000, CLOCKS = 4 };

struct check {
	struct intervals *iv;
	struct hmap ended; /* tid -> end + 1 of its last interval */
	uint32_t part;
	bool window;
};

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void on_interval(void *ctx, const struct interval *i)
{
	struct check *c = ctx;
	struct interval_preemptor preemptors[4];
	struct interval_preemptor_sum sum;
	uintptr_t before;
	uint32_t cnt;

	if (i->part != c->part)
		hmap_fini(&c->ended);
	c->part = i->part;
	before = (uintptr_t)hmap_get(&c->ended, i->tid);
	must(i->began <= i->start && i->start <= i->end && i->end <= i->ended);
	must(!before || i->began >= before - 1);
	if (i->ended < UINTPTR_MAX)
		hmap_set(&c->ended, i->tid, (void *)(uintptr_t)(i->ended + 1));
	must(!c->window || i->part >= CLOCKS || (i->start >= FROM && i->end <= TO));
	must(i->state < INTERVAL_STATE_CNT && (i->state == i->began_as || !i->state));
	intervals_stack(c->iv, i->stack, &cnt);
	if (i->state != INTERVAL_RUNNABLE)
		return;
	sum = intervals_preemptors(c->iv, i, preemptors, 4);
	must(sum.n <= 4 && sum.listed_ns + sum.other_ns + sum.unknown_ns == i->end - i->start);
}

static void pass(const struct bytes *input, struct names *names, struct check *c, bool gaps)
{
	struct bytes b = *input;
	struct trace_opts opts = { .read = read_bytes, .ctx = &b, .names = names, .learn = true };
	struct trace_event ev;
	struct trace *t;

	must(!trace_new(&opts, &t));
	while (trace_next(t, &ev) == 1) {
		if (gaps)
			intervals_add_gaps(c->iv, t, &ev);
		else
			intervals_add(c->iv, t, &ev);
	}
	trace_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct bytes input = { data + 1, sz - 1, 0 };
	struct check c = { 0 };
	struct names *names;

	if (!sz)
		return 0;
	log_set_level(LOG_LEVEL_QUIET);
	must(!names_new(&names));
	c.window = data[0] & 2;
	c.iv = intervals_new(&(struct intervals_opts){ names, on_interval, &c });
	for (uint32_t clock = 0; c.window && clock < CLOCKS; clock++)
		intervals_window(c.iv, clock, FROM, TO);
	if (data[0] & 1)
		pass(&input, names, &c, true);
	pass(&input, names, &c, false);
	intervals_finish(c.iv);
	intervals_free(c.iv);
	hmap_fini(&c.ended);
	names_free(names);
	return 0;
}
