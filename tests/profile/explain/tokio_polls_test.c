// SPDX-License-Identifier: BSD-2-Clause
/* An application's data about its polls, in traces that a test makes. Times in ns. */
#include "profile/explain/tokio_polls.h"

#include <criterion/criterion.h>

#include "tests/support/read_trace.h"

TestSuite(tokio_polls, .timeout = 60);

static void span_enter(struct make *m, uint64_t ts, uint32_t worker, const char *name)
{
	struct dial9_schema *s =
		MAKE_SCHEMA("SpanEnter:app::work:src/app.rs:7", { "worker_id", DIAL9_VARINT },
			    { "span_name", DIAL9_POOLED_STRING });

	cr_assert_eq(dial9_enc_begin(m->enc, s, ts), 0);
	dial9_enc_put_u64(m->enc, worker);
	make_str(m, name);
	make_end(m);
	dial9_schema_free(s);
}

static struct span poll_of(uint32_t worker, uint64_t from, uint64_t to)
{
	return (struct span){ .start = from, .end = to, .worker = worker };
}

/* Returns with the trace open, for its names. */
static struct reader *learn(struct tokio_polls *p, struct make *m, const struct span *polls,
			    size_t cnt)
{
	struct reader *r = read_trace(make_done(m));
	struct trace_event ev;

	tokio_polls_init(p, polls, cnt);
	while (reader_next(r, &ev) == 1)
		tokio_polls_add(p, reader_names(r), reader_trace(r), &ev);
	return r;
}

static void is(struct reader *r, const struct tokio_polls_poll *poll, uint64_t task, const char *at,
	       const char *spans)
{
	const struct names *n = reader_names(r);
	char text[128] = "";

	cr_assert(poll);
	cr_expect(poll->has_task);
	cr_expect_eq(poll->task, task);
	cr_expect_str_eq(names_str(n, poll->spawned, NULL), at);
	for (uint32_t k = 0; k < poll->span_cnt; k++) {
		strcat(text, names_str(n, poll->spans[k], NULL));
		strcat(text, " ");
	}
	cr_expect_str_eq(text, spans);
}

/* By worker and time: batches of workers need not come in order. */
Test(tokio_polls, each_poll_has_its_task_location_and_spans)
{
	const struct span polls[] = { poll_of(1, 100, 200), poll_of(0, 150, 300),
				      poll_of(1, 400, 500), poll_of(TRACE_NONE, 0, 999) };
	struct tokio_polls p;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	span_enter(&m, 160, 1, "one");
	make_poll_start(&m, 400, 1, 9, "src/b.rs:2");
	span_enter(&m, 450, 1, "two");
	span_enter(&m, 460, 1, "one");
	span_enter(&m, 500, 1, "two");
	span_enter(&m, 501, 1, "late");
	make_poll_start(&m, 100, 1, 7, "src/a.rs:1");
	span_enter(&m, 99, 1, "early");
	make_poll_start(&m, 150, 0, 8, "src/a.rs:1");
	/* a poll inside it */
	make_poll_start(&m, 170, 0, 99, "src/c.rs:3");
	span_enter(&m, 250, 2, "another's");
	r = learn(&p, &m, polls, 4);
	is(r, tokio_polls_get(&p, 0, &polls[0]), 7, "src/a.rs:1", "one ");
	is(r, tokio_polls_get(&p, 0, &polls[1]), 8, "src/a.rs:1", "");
	is(r, tokio_polls_get(&p, 0, &polls[2]), 9, "src/b.rs:2", "two one ");
	cr_expect_null(tokio_polls_get(&p, 0, &polls[3]), "it names no worker");
	cr_expect_null(tokio_polls_get(&p, 1, &polls[0]), "it is of another part");
	tokio_polls_fini(&p);
	reader_free(r);
}

Test(tokio_polls, only_the_first_four_spans_of_a_poll_are_named)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	const struct span polls[] = { poll_of(1, 100, 200), poll_of(1, 300, 400) };
	struct tokio_polls p;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	make_poll_start(&m, 100, 1, 7, "x");
	make_poll_start(&m, 300, 1, 7, "x");
	for (uint64_t k = 0; k < 5; k++) {
		span_enter(&m, 110 + k, 1, names[k]);
		if (k < 4)
			span_enter(&m, 310 + k, 1, names[k]);
	}
	r = learn(&p, &m, polls, 2);
	is(r, tokio_polls_get(&p, 0, &polls[0]), 7, "x", "a b c d ");
	cr_expect(tokio_polls_get(&p, 0, &polls[0])->has_more_spans);
	is(r, tokio_polls_get(&p, 0, &polls[1]), 7, "x", "a b c d ");
	cr_expect_not(tokio_polls_get(&p, 0, &polls[1])->has_more_spans);
	tokio_polls_fini(&p);
	reader_free(r);
}

Test(tokio_polls, locations_are_sorted_by_time)
{
	const struct span polls[] = { poll_of(1, 100, 200), poll_of(0, 150, 310),
				      poll_of(1, 400, 470), poll_of(2, 0, 5) };
	struct tokio_polls_place *v;
	struct tokio_polls p;
	struct reader *r;
	struct make m;
	size_t cnt;

	make_init(&m, NULL);
	make_poll_start(&m, 100, 1, 7, "src/a.rs:1");
	make_poll_start(&m, 150, 0, 8, "src/b.rs:2");
	make_poll_start(&m, 400, 1, 9, "src/a.rs:1");
	r = learn(&p, &m, polls, 4);
	v = tokio_polls_places(&p, &cnt);
	cr_assert_eq(cnt, 3);
	cr_expect_str_eq(names_str(reader_names(r), v[0].spawned, NULL), "src/a.rs:1");
	cr_expect_eq(v[0].ns, 170);
	cr_expect_eq(v[0].polls, 2);
	cr_expect_str_eq(names_str(reader_names(r), v[1].spawned, NULL), "src/b.rs:2");
	cr_expect_eq(v[1].ns, 160);
	cr_expect_eq(v[1].polls, 1);
	cr_expect_eq(v[2].spawned, NAMES_NONE);
	cr_expect_eq(v[2].ns, 5);
	free(v);
	tokio_polls_fini(&p);
	reader_free(r);
}
