// SPDX-License-Identifier: BSD-2-Clause
/* Which thread a worker was, and when: from events that a test writes, and from a Tokio service's own trace. */
#include "profile/explain/tokio_workers.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/support/read_trace.h"

TestSuite(tokio_workers, .timeout = 60);

/* One recording, number 0, on one clock. */
static struct names *one_part(void)
{
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	return n;
}

static uint32_t worker_at(const struct worker_threads *w, uint32_t tid, uint64_t ts)
{
	struct names *n = one_part();
	uint32_t worker = TRACE_NONE, app = TRACE_NONE;

	if (worker_threads_worker(w, n, 0, tid, ts, &worker, &app))
		cr_assert_eq(app, 0);
	names_free(n);
	return worker;
}

Test(tokio_workers, worker_belongs_to_the_thread_in_its_events)
{
	struct worker_threads w = { 0 };

	worker_threads_learn(&w, 0, 1, 4001, 100);
	worker_threads_learn(&w, 0, 0, 4002, 110);
	worker_threads_learn(&w, 0, 1, 4001, 200);
	cr_assert_eq(worker_threads_tid(&w, 0, 1, 150), 4001);
	cr_assert_eq(worker_threads_tid(&w, 0, 0, 110), 4002);
	/* before its first event, and after its last */
	cr_assert_eq(worker_threads_tid(&w, 0, 1, 1), 4001);
	cr_assert_eq(worker_threads_tid(&w, 0, 1, 900), 4001);
	cr_assert_eq(worker_threads_tid(&w, 0, 7, 150), TRACE_NONE);
	cr_assert_eq(worker_threads_tid(&w, 1, 1, 150), TRACE_NONE);
	cr_assert_eq(worker_at(&w, 4001, 150), 1);
	cr_assert_eq(worker_at(&w, 4002, 150), 0);
	cr_assert_eq(worker_at(&w, 4003, 150), TRACE_NONE);
	worker_threads_fini(&w);
}

/* Worker 0 leaves thread 10 for 20 and comes back; thread 10 is no worker during that time. */
Test(tokio_workers, worker_that_moves_is_followed_in_any_order_of_events)
{
	static const struct {
		uint64_t ts;
		uint32_t tid;
	} seen[] = { { 100, 10 }, { 190, 10 }, { 200, 20 }, { 290, 20 }, { 300, 10 }, { 390, 10 } };
	/* the third and the fourth: all of thread 10 before thread 20 */
	static const size_t orders[][6] = { { 0, 1, 2, 3, 4, 5 },
					    { 5, 4, 3, 2, 1, 0 },
					    { 0, 1, 4, 5, 2, 3 },
					    { 5, 4, 1, 0, 3, 2 },
					    { 2, 3, 0, 1, 4, 5 } };

	for (size_t o = 0; o < 5; o++) {
		struct worker_threads w = { 0 };

		for (size_t i = 0; i < 6; i++)
			worker_threads_learn(&w, 0, 0, seen[orders[o][i]].tid,
					     seen[orders[o][i]].ts);
		cr_assert_eq(worker_threads_tid(&w, 0, 0, 185), 10, "order %zu", o);
		cr_assert_eq(worker_threads_tid(&w, 0, 0, 250), 20, "order %zu", o);
		cr_assert_eq(worker_threads_tid(&w, 0, 0, 350), 10, "order %zu", o);
		cr_assert_eq(worker_at(&w, 10, 150), 0, "order %zu", o);
		cr_assert_eq(worker_at(&w, 10, 250), TRACE_NONE, "order %zu", o);
		cr_assert_eq(worker_at(&w, 20, 250), 0, "order %zu", o);
		cr_assert_eq(worker_at(&w, 20, 350), TRACE_NONE, "order %zu", o);
		worker_threads_fini(&w);
	}
}

Test(tokio_workers, invalid_workers_are_counted_and_need_no_memory)
{
	struct worker_threads w = { 0 };

	for (uint32_t i = 0; i < TOKIO_WORKERS_BINDINGS_MAX; i++)
		worker_threads_learn(&w, 0, i, i + 1, i);
	cr_assert_leq(w.bindings, TOKIO_WORKERS_BINDINGS_MAX);
	cr_assert_gt(w.dropped, TOKIO_WORKERS_BINDINGS_MAX / 3);
	cr_assert_eq(worker_threads_tid(&w, 0, 5, 5), 6);
	worker_threads_fini(&w);
}

/* A sample names a worker and a thread, too, but 254 never parks; and 255 is no worker. */
Test(tokio_workers, only_park_and_unpark_events_identify_workers)
{
	const uint64_t frame = 1;
	struct worker_threads w = { 0 };
	struct trace_event ev;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	MAKE_NUMBERS(&m, 10, "WorkerParkEvent", { "worker_id", 3 }, { "tid", 77 });
	MAKE_NUMBERS(&m, 20, "WorkerUnparkEvent", { "worker_id", 255 }, { "tid", 78 });
	MAKE_NUMBERS(&m, 30, "PollStartEvent", { "worker_id", 4 });
	make_sample(&m, 40, 1, 79, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	r = read_trace(make_done(&m));
	while (reader_next(r, &ev) == 1)
		worker_threads_add(&w, &ev);
	cr_assert_eq(worker_threads_tid(&w, 0, 3, 10), 77);
	cr_assert_eq(w.bindings, 2);
	worker_threads_fini(&w);
	reader_free(r);
}

/* The numbers of its workers and threads are ordered differently. From the decoder of another implementation. */
Test(tokio_workers, workers_of_a_tokio_service_are_found)
{
	const char *top = getenv("D9_TOP");
	struct worker_threads w = { 0 };
	uint32_t worker, app;
	struct trace_event ev;
	struct source *src;
	struct reader *r;
	char path[4096];
	uint64_t ts = 0;

	snprintf(path, sizeof(path), "%s/tests/golden/dial9/tokio-service.bin.gz", top ? top : ".");
	cr_assert_eq(source_open(path, &src), 0);
	cr_assert_eq(reader_new(src, READER_ONE_PASS, &r), 0);
	while (reader_next(r, &ev) == 1) {
		worker_threads_add(&w, &ev);
		ts = ev.ts ? ev.ts : ts;
	}
	cr_assert_eq(w.bindings, 4);
	cr_assert_eq(worker_threads_tid(&w, 0, 0, ts), 31710);
	cr_assert_eq(worker_threads_tid(&w, 0, 1, ts), 31711);
	cr_assert(worker_threads_worker(&w, reader_names(r), 0, 31711, ts, &worker, &app));
	cr_assert_eq(worker, 1);
	worker_threads_fini(&w);
	reader_free(r);
}
