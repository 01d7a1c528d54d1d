// SPDX-License-Identifier: BSD-2-Clause
/* The slow polls of a service, as text and as JSON: where their time went, and what each of them was. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/common/report_text.h"
#include "cmd/explain/polls.h"

static size_t rows(const struct explain_slowest *s, size_t cnt)
{
	return report_text_rows(s->x->opts->limit, 0, cnt);
}

/* A span is entered many times: each enter with its exit is one interval. */
static const char *noun(const struct explain_slowest *s)
{
	return s->x->opts->spans.cnt ? "span" : "poll";
}

static const char *nouns(const struct explain_slowest *s)
{
	return s->x->opts->spans.cnt ? "spans" : "polls";
}

/* The application's data about a poll; NULL: none. */
static const struct tokio_polls_poll *polled_of(const struct explain_slowest *s,
						const struct span *p)
{
	const uint32_t part = s->known ? s->known[p - s->spans.v].part : p->part;

	return tokio_polls_get(&s->polled, part, p);
}

/* Where there are no switches at all, no recording has its thread. */
static enum explain_untold unknown(const struct explain_slowest *s, const struct span *p)
{
	return s->known ? s->known[p - s->spans.v].why : EXPLAIN_NOT_RECORDED;
}

static uint64_t untold_cnt(const struct explain_slowest *s, int why)
{
	return s->known || why != EXPLAIN_NOT_RECORDED ? s->unknown[why] : s->spans.cnt;
}

/* ---- one poll ---------------------------------------------------------------------------------- */

static void put_spans(struct buf *out, const struct explain_slowest *s,
		      const struct tokio_polls_poll *poll)
{
	for (uint32_t k = 0; k < poll->span_cnt; k++) {
		buf_addstr(out, k ? ", " : ", in ");
		value_text_name(out, s->x->timeline.names, poll->spans[k]);
	}
	if (poll->has_more_spans)
		buf_addstr(out, ", ...");
}

/* "task 17 by worker 0, app 4711, spawned at src/main.rs:7, in query" */
void polls_print_title(struct buf *out, const struct explain_slowest *s, const struct span *p)
{
	const struct tokio_polls_poll *poll = polled_of(s, p);

	if (poll && poll->has_task)
		buf_printf(out, "task %" PRIu64, poll->task);
	else if (s->x->opts->spans.cnt)
		explain_slowest_put_kind(out, s->x->timeline.names, p->name);
	else
		buf_addstr(out, noun(s));
	if (p->worker != TRACE_NONE)
		buf_printf(out, " by worker %" PRIu32, p->worker);
	buf_addstr(out, p->worker == TRACE_NONE ? " by " : ", ");
	explain_slowest_put_thread(out, s, p->part, p->tid, p->comm);
	if (poll && poll->spawned != NAMES_NONE) {
		buf_addstr(out, ", spawned at ");
		value_text_name(out, s->x->timeline.names, poll->spawned);
	}
	if (poll)
		put_spans(out, s, poll);
}

static const char *const untold_names[EXPLAIN_UNKNOWN_CNT] = {
	[EXPLAIN_NO_THREAD] = "no_thread",
	[EXPLAIN_NOT_ITS_THREAD] = "not_its_thread",
	[EXPLAIN_NOT_RECORDED] = "not_recorded",
	[EXPLAIN_NOT_KEPT] = "not_kept",
};

void polls_print_members(struct buf *out, const struct explain_slowest *s, const struct span *p)
{
	const struct names *names = s->x->timeline.names;
	const struct tokio_polls_poll *poll = polled_of(s, p);
	const enum explain_untold why = unknown(s, p);

	value_text_json_id(out, "worker", p->worker);
	if (poll && poll->has_task)
		json_u64(out, "task", poll->task);
	value_text_json_name(out, "spawned", names, poll ? poll->spawned : NAMES_NONE);
	json_array(out, "spans");
	for (uint32_t k = 0; poll && k < poll->span_cnt; k++)
		value_text_json_name(out, NULL, names, poll->spans[k]);
	json_end(out, "]");
	if (why != EXPLAIN_KNOWN)
		json_str(out, "unexplained", untold_names[why]);
}

/* ---- the head ---------------------------------------------------------------------------------- */

static void put_slow(struct buf *out, const struct explain_slowest *s, uint64_t n,
		     const char *behind)
{
	struct buf what = { 0 };

	if (!n)
		return;
	buf_printf(&what, "slow %s", noun(s));
	buf_addstr(out, "# ");
	str_counted(out, n, buf_cstr(&what));
	buf_addstr(out, behind);
	buf_free(&what);
}

static void put_untold(struct buf *out, const struct explain_slowest *s)
{
	static const char *const why[EXPLAIN_UNKNOWN_CNT] = {
		[EXPLAIN_NO_THREAD] =
			" not explained: the thread of the worker is not in the trace\n",
		[EXPLAIN_NOT_ITS_THREAD] =
			" not explained: the thread with this TID did not run then\n"
			"#   (is the service in its own PID namespace?)\n",
		[EXPLAIN_NOT_RECORDED] =
			" not explained: no recording of this host and boot has the thread\n",
		[EXPLAIN_NOT_KEPT] =
			" not explained: too many events; use a shorter --time or a longer --min\n",
	};

	for (int k = EXPLAIN_NO_THREAD; k < EXPLAIN_UNKNOWN_CNT; k++)
		put_slow(out, s, s->unknown[k], why[k]);
	put_slow(out, s, s->spans.slow - s->spans.cnt,
		 " skipped: only the slowest are explained\n");
}

/* "4 of 36,801 polls took 1.000 ms or longer," */
static void put_how_many(struct buf *out, const struct explain_slowest *s)
{
	const struct spans *p = &s->spans;
	char slow[32];

	str_count(slow, p->slow);
	if (p->opts.min_ns)
		buf_printf(out, "%s of ", slow);
	str_counted(out, p->pairs, noun(s));
	if (s->x->opts->spans.cnt) {
		buf_addstr(out, " of ");
		explain_slowest_put_spans(out, s->x);
	}
	if (p->opts.min_ns) {
		buf_addstr(out, " took ");
		value_text_duration(out, p->opts.min_ns, 0);
		buf_addstr(out, " or longer");
	}
	buf_addch(out, ',');
}

static void put_head(struct buf *out, const struct explain_slowest *s)
{
	const struct spans *p = &s->spans;
	struct buf what = { 0 };

	put_how_many(&what, s);
	interval_print_head(out, &s->x->timeline, buf_cstr(&what), s->x->view.color);
	buf_free(&what);
	explain_slowest_put_lengths(out, p);
	buf_addstr(out, "; the slow ones: ");
	value_text_duration(out, p->slow_ns, 0);
	buf_addch(out, '\n');
	explain_slowest_put_counts(out, s->x->timeline.names, p);
	put_untold(out, s);
	if (p->cnt && interval_reader_stays(&s->x->timeline, NULL, NULL))
		buf_addstr(out, "# no thread states: " INTERVAL_PRINT_STAYS "\n");
	else if (p->cnt && !s->switches)
		buf_addstr(out, "# only the trace of the application: thread states are unknown\n"
				"#   (record with dial9-prof -p PID, and give both files)\n");
	if (p->cnt)
		buf_addstr(out, "#\n");
}

/* ---- tables ------------------------------------------------------------------------------------ */

static void put_share(struct buf *out, uint64_t ns, uint64_t all)
{
	buf_printf(out, "  %7.2f%%", all ? 100.0 * (double)ns / (double)all : 0.0);
	explain_print_ms(out, ns);
}

/* "61% of the slow polls: mostly blocked in fsync under write_log" */
static void put_first_cause(struct buf *out, const struct explain_slowest *s)
{
	const struct cause *first = &s->causes.v[0];

	for (size_t k = 1; k < s->causes.cnt; k++)
		if (s->causes.v[k].mostly > first->mostly)
			first = &s->causes.v[k];
	buf_printf(out, "# %.0f%% of the slow %s: mostly ",
		   100.0 * (double)first->mostly / (double)s->causes.ranges, nouns(s));
	explain_slowest_put_cause(out, s, first);
	buf_addstr(out, "\n#\n");
}

static void put_causes(struct buf *out, const struct explain_slowest *s)
{
	const size_t cnt = rows(s, s->causes.cnt);

	put_first_cause(out, s);
	buf_printf(out, "#    Share      Total ms   In  Mostly  cause of slow %s\n", nouns(s));
	for (size_t k = 0; k < cnt; k++) {
		const struct cause *c = &s->causes.v[k];
		const size_t start = out->len;

		put_share(out, c->ns, s->causes.ns);
		buf_printf(out, " %4" PRIu64 " %7" PRIu64 "  ", c->ranges, c->mostly);
		explain_slowest_put_cause(out, s, c);
		explain_print_end(out, s->x, start);
	}
	report_text_more_rows(out, s->causes.cnt - cnt, " with less time");
	buf_addstr(out, "#\n");
}

static void put_places(struct buf *out, const struct explain_slowest *s)
{
	size_t all, cnt;
	struct tokio_polls_place *v = tokio_polls_places(&s->polled, &all);
	uint64_t ns = 0;

	cnt = rows(s, all);
	for (size_t k = 0; k < all; k++)
		ns += v[k].ns;
	if (all) {
		buf_addstr(out, "#    Share      Total ms  Polls  where the task was spawned\n");
		for (size_t k = 0; k < cnt; k++) {
			put_share(out, v[k].ns, ns);
			buf_printf(out, " %6" PRIu64 "  ", v[k].polls);
			value_text_name(out, s->x->timeline.names, v[k].spawned);
			buf_addch(out, '\n');
		}
		report_text_more_rows(out, all - cnt, " with less time");
		buf_addstr(out, "#\n");
	}
	free(v);
}

void polls_print(struct explain_slowest *s)
{
	const size_t cnt = rows(s, s->spans.cnt);
	struct buf out = { 0 };

	put_head(&out, s);
	if (s->causes.cnt)
		put_causes(&out, s);
	if (!s->x->opts->spans.cnt)
		put_places(&out, s);
	if (cnt)
		explain_slowest_put_pairs(&out, s, cnt, noun(s));
	if (cnt < s->spans.cnt)
		buf_addch(&out, '\n');
	report_text_more_rows(&out, s->spans.cnt - cnt, " with less time");
	buf_print(&out, stdout);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_places(struct buf *out, const struct explain_slowest *s)
{
	size_t cnt;
	struct tokio_polls_place *v = tokio_polls_places(&s->polled, &cnt);

	json_array(out, "places");
	for (size_t k = 0; k < cnt; k++) {
		json_line_object(out);
		value_text_json_name(out, "spawned", s->x->timeline.names, v[k].spawned);
		json_u64s(out, { "polls", v[k].polls }, { "ns", v[k].ns });
		json_end(out, "}");
	}
	json_end(out, "]");
	free(v);
}

void polls_print_json(struct explain_slowest *s)
{
	const size_t cnt = rows(s, s->spans.cnt);
	struct buf out = { 0 };

	interval_print_json_head(&out, &s->x->timeline);
	explain_slowest_json_counts(&out, s->x->timeline.names, &s->spans);
	json_u64s(&out, { "min_ns", s->spans.opts.min_ns }, { "slow", s->spans.slow },
		  { "slow_ns", s->spans.slow_ns }, { "explained", s->unknown[EXPLAIN_KNOWN] });
	for (int k = EXPLAIN_NO_THREAD; k < EXPLAIN_UNKNOWN_CNT; k++)
		json_u64(&out, untold_names[k], untold_cnt(s, k));
	explain_slowest_json_causes(&out, s);
	json_places(&out, s);
	json_u64(&out, "rows_not_shown", s->spans.cnt - cnt);
	explain_slowest_json_pairs(&out, s, cnt);
	json_end(&out, "}\n");
	buf_print(&out, stdout);
}
