// SPDX-License-Identifier: BSD-2-Clause
/*
 * intervals_bench.c - events a second through the engine of intervals, and what memory it takes
 *
 * A made trace of 300 threads on 8 CPUs: each step a waking, a switch out with its stack of 24 frames (one of
 * 2000), and a switch in, as a server does. It is decoded alone, and decoded and fed to the engine; the
 * difference is the engine's. Then the same events go through one engine again and again, later each time, up to
 * EVENTS: the most memory that was ever held.
 *
 *	build/bench/intervals_bench [EVENTS]		100000000 by default
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/support/make_trace.h"
#include "tests/support/read_bytes.h"
#include "profile/sched/intervals.h"

enum { THREADS = 300, CPUS = 8, STACKS = 2000, DEPTH = 24, STEPS = 400000, ROUNDS = 5 };

static void make_all(struct make *m)
{
	uint32_t on[CPUS] = { 0 }, next = 1;
	uint64_t frames[DEPTH];

	make_init(m, NULL);
	for (uint32_t i = 1; i <= THREADS; i++)
		make_task(m, 1, i, i, "server");
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t cpu = i % CPUS, out = on[cpu];
		uint64_t ts = 1000 + 700 * (uint64_t)i;

		make_waking(m, ts, cpu, out, "server", next);
		make_switch(m, ts + 300, cpu, "server", out, 1, "server", next);
		for (uint32_t k = 0; k < DEPTH; k++)
			frames[k] = make_frame(1 + k % 5, (uint64_t)(i % STACKS) * (k + 1));
		if (out)
			make_sample(m, ts + 300, out, out, PROF_SOURCE_SWITCH_OUT, cpu, frames,
				    DEPTH);
		on[cpu] = next;
		next = next % THREADS + 1;
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static uint64_t sums[INTERVAL_STATE_CNT], handed;

static void take(void *ctx, const struct interval *i)
{
	(void)ctx;
	sums[i->state] += i->end - i->start;
	handed++;
}

/* Reads all of it, @later ns later than it was made; returns the number of events. */
static uint64_t pass(struct bytes *b, struct names *names, struct intervals *iv, uint64_t later)
{
	struct trace_opts opts = { .read = read_bytes, .ctx = b, .names = names };
	struct trace_event ev;
	struct trace *t;
	uint64_t n = 0;

	b->pos = 0;
	if (trace_new(&opts, &t))
		exit(1);
	for (; trace_next(t, &ev) == 1; n++) {
		ev.ts += later;
		if (iv)
			intervals_add(iv, t, &ev);
	}
	trace_free(t);
	return n;
}

int main(int argc, char **argv)
{
	uint64_t want = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000, n = 0, done = 0;
	double alone = 1e9, both = 1e9, start;
	struct intervals_opts opts = { .fn = take };
	struct intervals *iv;
	struct rusage usage;
	struct bytes b = { 0 };
	struct make m;

	make_all(&m);
	b.data = dial9_enc_data(m.enc, &b.sz);
	if (names_new((struct names **)&opts.names))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		start = now();
		n = pass(&b, (struct names *)opts.names, NULL, 0);
		alone = now() - start < alone ? now() - start : alone;
		iv = intervals_new(&opts);
		start = now();
		pass(&b, (struct names *)opts.names, iv, 0);
		intervals_finish(iv);
		both = now() - start < both ? now() - start : both;
		intervals_free(iv);
	}
	printf("decoding         %6.1f M events/s\nwith the engine  %6.1f M events/s\n"
	       "the engine alone %6.1f M events/s, %.1f ns an event\n",
	       n / alone / 1e6, n / both / 1e6, n / (both - alone) / 1e6, (both - alone) / n * 1e9);
	iv = intervals_new(&opts);
	for (uint64_t round = 0; done < want; round++)
		done += pass(&b, (struct names *)opts.names, iv, round * 1000 * STEPS);
	intervals_finish(iv);
	intervals_free(iv);
	getrusage(RUSAGE_SELF, &usage);
	printf("%.0f M events, %.0f M intervals: at most %.0f MB, of which %.0f MB are the trace\n",
	       done / 1e6, handed / 1e6, usage.ru_maxrss / 1e3, b.sz / 1e6);
	names_free((struct names *)opts.names);
	make_fini(&m);
	return 0;
}
