// SPDX-License-Identifier: BSD-2-Clause
/* The slowest of pairs of events, as text and as JSON: where their time went, then one after the other. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/callchain.h"
#include "cmd/common/report_text.h"
#include "cmd/explain/explain.h"

#define SYSCALL_ENTER "syscalls:sys_enter_"
#define SPAN_ENTER "SpanEnter:"
/* Causes below this part of the time are printed only with all others. */
#define SMALL_CAUSE 1000
/* Kinds of pairs that are named. */
#define KINDS_MAX 4

/* What --span says, in its own words. */
void explain_slowest_put_spans(struct buf *out, const struct explained *x)
{
	for (size_t k = 0; k < x->opts->spans.cnt; k++) {
		buf_addstr(out, k ? " and " : "");
		value_text_clean(out, x->opts->spans.v[k], strlen(x->opts->spans.v[k]));
	}
}

/* The name of a system call's number; nothing if it has none or is not in the trace. */
static bool put_call(struct buf *out, const struct names *names, const struct span *p)
{
	const struct tp_symbols *syms =
		p->call_field == NAMES_NONE ?
			NULL :
			names_tp_symbols(names, p->part, p->name, p->call_field);

	return syms && tp_symbols_render(syms, p->call, out);
}

/* "fsync", "SpanEnter:app::work:src/app.rs:7 span_id=4" */
static void put_event(struct buf *out, const struct explain_slowest *s, const struct span *p)
{
	const char *field = s->spans.opts.field ? s->spans.opts.field : "span_id";
	const char *name;
	size_t len;

	name = names_str(s->x->timeline.names, p->name, &len);
	if (len > strlen(SYSCALL_ENTER) && !memcmp(name, SYSCALL_ENTER, strlen(SYSCALL_ENTER))) {
		name += strlen(SYSCALL_ENTER);
		len -= strlen(SYSCALL_ENTER);
	}
	if (!put_call(out, s->x->timeline.names, p))
		value_text_clean(out, name, len);
	if (!p->has_id)
		return;
	buf_addch(out, ' ');
	value_text_clean(out, field, strlen(field));
	buf_addch(out, '=');
	buf_addu(out, p->id);
}

void explain_slowest_put_thread(struct buf *out, const struct explain_slowest *s, uint32_t part,
				uint32_t tid, uint32_t comm)
{
	uint32_t pid = TRACE_NONE;

	if (tid == TRACE_NONE) {
		buf_addstr(out, "an unknown thread");
		return;
	}
	names_task_fill(s->x->timeline.names, part, tid, &pid, &comm);
	explain_print_name(out, s->x, comm, tid);
}

/* "fsync by app 4711" */
static void put_title(struct buf *out, const struct explain_slowest *s, const struct span *p,
		      size_t rank)
{
	buf_printf(out, "%zu. ", rank);
	if (s->title) {
		s->title(out, s, p);
		return;
	}
	put_event(out, s, p);
	buf_addstr(out, " by ");
	explain_slowest_put_thread(out, s, p->part, p->tid, p->comm);
}

/* ---- counts ------------------------------------------------------------------------------------ */

static void put_count(struct buf *out, uint64_t n, const char *noun, const char *behind)
{
	if (!n)
		return;
	buf_addstr(out, "# ");
	str_counted(out, n, noun);
	buf_addstr(out, behind);
	buf_addch(out, '\n');
}

static bool is_enter(const char *name)
{
	return !strncmp(name, SPAN_ENTER, strlen(SPAN_ENTER));
}

/* "app::ddb::query" of "SpanEnter:app::ddb::query:src/ddb.rs:7:", and other events as they are called. */
void explain_slowest_put_kind(struct buf *out, const struct names *names, uint32_t name)
{
	size_t len, at = 0;
	const char *text = names_str(names, name, &len);

	if (is_enter(text)) {
		text += strlen(SPAN_ENTER);
		len -= strlen(SPAN_ENTER);
		while (at < len && (text[at] != ':' || (at + 1 < len && text[at + 1] == ':')))
			at += text[at] == ':' ? 2 : 1;
		len = at < len ? at : len;
	}
	value_text_clean(out, text, len);
}

static void put_kinds(struct buf *out, const struct names *names, const struct spans *s)
{
	bool spans = false;
	char cnt[32];

	for (size_t k = 0; k < s->kind_cnt; k++)
		spans |= is_enter(names_str(names, s->kinds[k].name, NULL));
	if (spans)
		buf_addstr(
			out,
			"# spans: each time range from an enter to its exit counts on its own\n");
	if (s->kind_cnt < 2)
		return;
	buf_printf(out, "# %zu kinds: ", s->kind_cnt);
	for (size_t k = 0; k < s->kind_cnt && k < KINDS_MAX; k++) {
		buf_addstr(out, k ? ", " : "");
		str_count(cnt, s->kinds[k].pairs);
		buf_printf(out, "%s of ", cnt);
		explain_slowest_put_kind(out, names, s->kinds[k].name);
	}
	buf_addstr(out, s->kind_cnt > KINDS_MAX ? ", ...\n" : "\n");
}

void explain_slowest_put_counts(struct buf *out, const struct names *names, const struct spans *s)
{
	put_kinds(out, names, s);
	put_count(out, s->inside, "pair", " inside another of the same thread: both times count");
	put_count(out, s->nested, "pair", " nested in another: counted as part of it");
	put_count(out, s->unended, "unmatched start", "");
	put_count(out, s->unstarted, "unmatched end", "");
	put_count(out, s->untied, "event", " skipped: no field to match them with");
	put_count(out, s->dropped, "start", " skipped: too many open at a time");
}

void explain_slowest_put_lengths(struct buf *out, const struct spans *s)
{
	buf_addstr(out, "# all: ");
	value_text_duration(out, s->ns, 0);
	buf_addstr(out, ", median ");
	value_text_duration(out, (uint64_t)quantile_at(&s->lengths, 0.5), 0);
	buf_addstr(out, ", p99 ");
	value_text_duration(out, (uint64_t)quantile_at(&s->lengths, 0.99), 0);
}

static void put_head(struct buf *out, const struct explain_slowest *s)
{
	const struct spans *p = &s->spans;
	struct buf what = { 0 };

	buf_printf(&what, "the slowest %zu of ", p->cnt);
	str_counted(&what, p->pairs, "pair");
	buf_addstr(&what, " of ");
	explain_slowest_put_spans(&what, s->x);
	interval_print_head(out, &s->x->timeline, buf_cstr(&what), s->x->view.color);
	buf_free(&what);
	explain_slowest_put_lengths(out, p);
	buf_addch(out, '\n');
	explain_slowest_put_counts(out, s->x->timeline.names, p);
	buf_addstr(out, "#\n");
}

/* ---- causes ------------------------------------------------------------------------------------ */

static void put_preemptor(struct buf *out, const struct explain_slowest *s, const struct cause *c)
{
	const size_t start = out->len;

	if (!c->tid) {
		buf_addstr(out, ", CPU idle");
	} else if (c->tid != TRACE_NONE) {
		buf_addstr(out, ", ran instead: ");
		explain_print_name(out, s->x, c->comm, c->tid);
	} else {
		explain_print_own_switches(out, s->x, c->part, &c->own, ", ", "");
		if (out->len == start)
			buf_addstr(out, ", ran instead: unknown task");
	}
}

void explain_slowest_put_cause(struct buf *out, const struct explain_slowest *s,
			       const struct cause *c)
{
	switch (c->kind) {
	case CAUSE_RAN:
		buf_addstr(out, "ran");
		break;
	case CAUSE_RUNNABLE:
		buf_addstr(out, "runnable");
		put_preemptor(out, s, c);
		break;
	case CAUSE_OTHERS:
		buf_addstr(out, "runnable, ran instead: others");
		break;
	case CAUSE_BLOCKED:
		buf_addstr(out, c->fault ? "blocked by a page fault" : "blocked");
		if (c->function != NAMES_NONE) {
			buf_addstr(out, " in ");
			value_text_name(out, s->x->timeline.names, c->function);
		}
		if (c->under != NAMES_NONE) {
			buf_addstr(out, " under ");
			value_text_name(out, s->x->timeline.names, c->under);
		}
		break;
	case CAUSE_UNKNOWN:
		buf_addstr(out, "unknown: missing events");
		break;
	case CAUSE_UNRECORDED:
		buf_addstr(out, "unknown: not recorded");
		break;
	case CAUSE_ABSENT:
		buf_addstr(out, "absent: no events of this thread");
		break;
	}
}

static void put_causes(struct buf *out, const struct explain_slowest *s)
{
	const uint64_t limit = s->x->opts->limit;

	buf_addstr(out, "#    Share      Total ms  Pairs  cause\n");
	for (size_t k = 0; k < s->causes.cnt; k++) {
		const struct cause *c = &s->causes.v[k];
		const size_t start = out->len;

		if (limit && (k == limit || c->ns * SMALL_CAUSE < s->causes.ns)) {
			report_text_more_rows(out, s->causes.cnt - k, "");
			break;
		}
		buf_printf(out, "  %7.2f%%", 100.0 * (double)c->ns / (double)s->causes.ns);
		explain_print_ms(out, c->ns);
		buf_printf(out, " %6" PRIu64 "  ", c->ranges);
		explain_slowest_put_cause(out, s, c);
		explain_print_end(out, s->x, start);
	}
	buf_addstr(out, "#\n");
}

/* ---- one by one -------------------------------------------------------------------------------- */

/* s->x then has the story of the pair. */
static void find_steps(struct explain_slowest *s, const struct span *p)
{
	struct explained *x = s->x;

	x->from = p->start;
	x->to = p->end;
	x->step_cnt = 0;
	explain_steps(&x->numbers, p->part, p->tid, p->start, p->end,
		      (p->end - p->start) / EXPLAIN_SMALL_PART, &x->steps, &x->step_cnt,
		      &x->step_cap);
}

static void put_row(struct buf *out, const struct explain_slowest *s, const struct span *p,
		    size_t rank)
{
	const size_t start = out->len;
	uint64_t ns[INTERVAL_STATE_CNT], absent;

	if (s->switches) {
		absent = explain_sums(&s->x->numbers, p->part, p->tid, p->start, p->end, ns);
		explain_print_times(out, s->x, ns, absent);
	} else {
		explain_print_ms(out, p->end - p->start);
	}
	buf_addstr(out, "  ");
	put_title(out, s, p, rank);
	explain_print_end(out, s->x, start);
}

static bool has_timeline(const struct explain_slowest *s, const struct span *p)
{
	return s->known && s->known[p - s->spans.v].why != EXPLAIN_NOT_RECORDED;
}

/* Of a thread whose switches are not there: where the thread was seen, and for how long it may have been there. */
static void put_pair_stacks(struct buf *out, const struct explain_slowest *s, const struct span *p)
{
	const uint64_t small = (p->end - p->start) / EXPLAIN_SMALL_PART;
	size_t cnt, left_out = 0;
	const struct explain_sample *seen =
		explain_samples(&s->x->numbers, p->part, p->tid, p->start, p->end, &cnt);

	for (size_t k = 0; k < cnt; k++) {
		const uint64_t next = k + 1 < cnt ? seen[k + 1].ts : p->end;

		if (next - seen[k].ts < small) {
			left_out++;
			continue;
		}
		explain_print_at(out, seen[k].ts - p->start);
		buf_addstr(out, seen[k].out ? "left its CPU; " : "was sampled; ");
		buf_addstr(out, k + 1 < cnt ? "next seen " : "ended ");
		value_text_duration(out, next - seen[k].ts, 0);
		buf_addstr(out, " later\n");
		explain_print_sample(out, s->x, &seen[k]);
	}
	if (left_out) {
		buf_addstr(out, "\n# ");
		str_counted(out, left_out, "stack");
		buf_addstr(out, " skipped: the next one followed at once\n");
	}
}

static void put_pair(struct buf *out, struct explain_slowest *s, const struct span *p, size_t rank)
{
	buf_addstr(out, "\n# ");
	put_title(out, s, p, rank);
	if (p->end_tid != p->tid) {
		buf_addstr(out, ", ended by ");
		explain_slowest_put_thread(out, s, p->part, p->end_tid, NAMES_NONE);
	}
	buf_addstr(out, ", ");
	explain_print_window(out, p->start, p->end);
	if (has_timeline(s, p)) {
		find_steps(s, p);
		explain_print_timeline(out, s->x);
	} else {
		put_pair_stacks(out, s, p);
	}
}

void explain_slowest_put_pairs(struct buf *out, struct explain_slowest *s, size_t cnt,
			       const char *noun)
{
	if (s->switches)
		explain_print_times_head(out, s->x, noun);
	else
		buf_printf(out, "#        Took ms  %s\n", noun);
	for (size_t k = 0; k < cnt; k++)
		put_row(out, s, &s->spans.v[k], k + 1);
	for (size_t k = 0; k < cnt; k++)
		put_pair(out, s, &s->spans.v[k], k + 1);
}

/* The events of system call "fsync", if the word can be one; otherwise the option alone. */
static void put_remedy(struct buf *out, const struct explain_opts *o)
{
	const char *word = o->spans.v[0];

	buf_addstr(out, "; record it with -e");
	if (o->spans.cnt > 1 || word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		return;
	if (!strcmp(word, "raw_syscalls"))
		buf_addstr(out, " 'raw_syscalls:*'");
	else
		buf_printf(out, " syscalls:sys_enter_%s -e syscalls:sys_exit_%s", word, word);
}

void explain_slowest_report_missing(const struct explain_slowest *s)
{
	struct buf out = { 0 };

	const struct spans *p = &s->spans;
	const char *file = reader_input(s->x->timeline.reader);
	const bool known = p->enters || p->exits;

	explain_slowest_put_spans(&out, s->x);
	buf_addstr(&out, " in ");
	value_text_clean(&out, file, strlen(file));
	if (select_is_used(&s->x->timeline.sel) || s->x->id)
		buf_addstr(&out, known ? " in the selection" : " in this time range");
	if (!known)
		put_remedy(&out, s->x->opts);
	log_error("%s: no %s of %s", s->word, known ? "pair" : "event", buf_cstr(&out));
	buf_free(&out);
}

static void put_not_its_thread(struct buf *out, const struct explain_slowest *s)
{
	if (!s->unknown[EXPLAIN_NOT_ITS_THREAD])
		return;
	buf_addstr(out, "# of ");
	str_counted(out, s->unknown[EXPLAIN_NOT_ITS_THREAD], "pair");
	buf_addstr(out, " the thread is unknown: the thread with this TID did not run then\n");
}

void explain_slowest_print(struct explain_slowest *s)
{
	struct buf out = { 0 };

	if (s->spans.cnt) {
		put_head(&out, s);
		if (s->causes.cnt)
			put_causes(&out, s);
		put_not_its_thread(&out, s);
		if (!s->switches)
			buf_addstr(
				&out,
				"# no context switches in the trace: only stacks show what threads did\n");
		explain_slowest_put_pairs(&out, s, s->spans.cnt, "pair");
	} else {
		explain_slowest_put_counts(&out, s->x->timeline.names, &s->spans);
	}
	buf_print(&out, stdout);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_kinds(struct buf *out, const struct names *names, const struct spans *s)
{
	json_u64(out, "inside", s->inside);
	json_array(out, "kinds");
	for (size_t k = 0; k < s->kind_cnt; k++) {
		json_line_object(out);
		value_text_json_name(out, "event", names, s->kinds[k].name);
		json_u64s(out, { "pairs", s->kinds[k].pairs }, { "ns", s->kinds[k].ns });
		json_end(out, "}");
	}
	json_end(out, "]");
}

void explain_slowest_json_counts(struct buf *out, const struct names *names, const struct spans *s)
{
	json_u64s(out, { "pairs", s->pairs }, { "pairs_ns", s->ns },
		  { "p50_ns", (uint64_t)rint(quantile_at(&s->lengths, 0.5)) },
		  { "p99_ns", (uint64_t)rint(quantile_at(&s->lengths, 0.99)) },
		  { "nested", s->nested }, { "unmatched_starts", s->unended },
		  { "unmatched_ends", s->unstarted }, { "unassigned", s->untied },
		  { "dropped", s->dropped });
	json_kinds(out, names, s);
}

static void json_cause(struct buf *out, const struct explain_slowest *s, const struct cause *c)
{
	static const char *const kinds[] = {
		[CAUSE_RAN] = "running",	   [CAUSE_RUNNABLE] = "runnable",
		[CAUSE_BLOCKED] = "blocked",	   [CAUSE_UNKNOWN] = "unknown",
		[CAUSE_ABSENT] = "absent",	   [CAUSE_OTHERS] = "runnable",
		[CAUSE_UNRECORDED] = "unrecorded",
	};

	json_object(out, NULL);
	json_str(out, "kind", kinds[c->kind]);
	json_u64s(out, { "ns", c->ns }, { "pairs", c->ranges }, { "dominant", c->mostly });
	if (c->kind == CAUSE_RUNNABLE) {
		json_object(out, "ran_instead");
		explain_json_thread(out, s->x, c->tid, TRACE_NONE, c->comm);
		json_end(out, "}");
		explain_json_own_switches(out, s->x, c->part, &c->own);
	} else if (c->kind == CAUSE_OTHERS) {
		json_null(out, "ran_instead");
	} else if (c->kind == CAUSE_BLOCKED) {
		value_text_json_name(out, "function", s->x->timeline.names, c->function);
		value_text_json_name(out, "under", s->x->timeline.names, c->under);
		json_bool(out, "page_fault", c->fault);
	}
	json_end(out, "}");
}

static void json_pair_stacks(struct buf *out, const struct explain_slowest *s, const struct span *p)
{
	size_t cnt;
	const struct explain_sample *seen =
		explain_samples(&s->x->numbers, p->part, p->tid, p->start, p->end, &cnt);

	json_array(out, "stacks");
	for (size_t k = 0; k < cnt; k++) {
		uint32_t frame_cnt;
		const uint64_t *frames =
			stack_table_get(&s->x->numbers.stacks, seen[k].stack, &frame_cnt);

		json_line_object(out);
		json_u64(out, "at_ns", seen[k].ts);
		json_bool(out, "off_cpu", seen[k].out);
		callchain_json(out, "stack", s->x->timeline.names, frames, frame_cnt,
			       CALLCHAIN_BOTH);
		json_end(out, "}");
	}
	json_end(out, "]");
}

static void json_pair(struct buf *out, struct explain_slowest *s, const struct span *p)
{
	uint64_t ns[INTERVAL_STATE_CNT], absent;
	uint32_t pid = p->pid, comm = p->comm;
	struct buf call = { 0 };

	if (p->tid != TRACE_NONE)
		names_task_fill(s->x->timeline.names, p->part, p->tid, &pid, &comm);
	json_object(out, NULL);
	value_text_json_name(out, "event", s->x->timeline.names, p->name);
	if (put_call(&call, s->x->timeline.names, p)) {
		json_text(out, "call", buf_cstr(&call), call.len);
		buf_free(&call);
	}
	if (p->has_id)
		json_u64(out, "id", p->id);
	explain_json_thread(out, s->x, p->tid, pid, comm);
	if (p->end_tid != p->tid)
		json_u64(out, "end_tid", p->end_tid);
	if (s->members)
		s->members(out, s, p);
	json_u64s(out, { "from_ns", p->start }, { "to_ns", p->end });
	absent = explain_sums(&s->x->numbers, p->part, p->tid, p->start, p->end, ns);
	explain_json_times(out, ns, absent);
	find_steps(s, p);
	explain_json_timeline(out, s->x);
	if (!has_timeline(s, p))
		json_pair_stacks(out, s, p);
	json_end(out, "}");
}

void explain_slowest_json_causes(struct buf *out, const struct explain_slowest *s)
{
	json_bool(out, "switches", s->switches);
	json_bool(out, "complete", !s->x->numbers.dropped_from);
	json_array(out, "causes");
	for (size_t k = 0; k < s->causes.cnt; k++) {
		json_line(out);
		json_cause(out, s, &s->causes.v[k]);
	}
	json_end(out, "]");
}

void explain_slowest_json_pairs(struct buf *out, struct explain_slowest *s, size_t cnt)
{
	json_array(out, "slowest");
	for (size_t k = 0; k < cnt; k++) {
		json_line(out);
		json_pair(out, s, &s->spans.v[k]);
	}
	json_end(out, "]");
}

void explain_slowest_json(struct explain_slowest *s)
{
	struct buf out = { 0 };

	interval_print_json_head(&out, &s->x->timeline);
	explain_slowest_json_counts(&out, s->x->timeline.names, &s->spans);
	explain_slowest_json_causes(&out, s);
	explain_slowest_json_pairs(&out, s, s->spans.cnt);
	json_end(&out, "}\n");
	buf_print(&out, stdout);
}
