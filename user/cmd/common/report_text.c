// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pieces of text that several commands print on a terminal: losses, times, columns. Names and values of
 * a trace are export/value_text.c's.
 */
#include "cmd/common/report_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "profile/sched/cpu_filter.h"
#include "profile/sched/offcpu_interval.h"
#include "profile/sched/recorded_switches.h"

/* ---- loss -------------------------------------------------------------------------------------- */

/* Not lost, but not there either. */
static void add_left_out(struct buf *out, const struct loss_accounting *a)
{
	if (a->lost[LOSS_ACCOUNTING_STACKS]) {
		buf_addstr(out, "; ");
		str_counted(out, a->lost[LOSS_ACCOUNTING_STACKS], "stack");
		buf_addstr(out, " dropped under load");
	}
	if (a->lost[LOSS_ACCOUNTING_PAUSES]) {
		buf_addstr(out, "; ");
		str_counted(out, a->lost[LOSS_ACCOUNTING_PAUSES], "pause");
	}
}

void report_text_lost(struct buf *out, const struct loss_accounting *a)
{
	const uint64_t *lost = a->lost;

	if (!loss_accounting_is_incomplete(a)) {
		buf_addstr(out, "nothing");
		add_left_out(out, a);
		return;
	}
	if (lost[LOSS_ACCOUNTING_HOLES]) {
		buf_addstr(out, "all events in ");
		str_counted(out, lost[LOSS_ACCOUNTING_HOLES], "missing time range");
		if (!loss_accounting_lost(a) && !lost[LOSS_ACCOUNTING_ESTIMATE]) {
			add_left_out(out, a);
			return;
		}
		buf_addstr(out, ", and ");
	}
	if (a->at_most)
		buf_addstr(out, "up to ");
	if (lost[LOSS_ACCOUNTING_EVENTS] || !lost[LOSS_ACCOUNTING_SAMPLES])
		str_counted(out, lost[LOSS_ACCOUNTING_EVENTS], "event");
	if (lost[LOSS_ACCOUNTING_EVENTS] && lost[LOSS_ACCOUNTING_SAMPLES])
		buf_addstr(out, " and ");
	if (lost[LOSS_ACCOUNTING_SAMPLES])
		str_counted(out, lost[LOSS_ACCOUNTING_SAMPLES], "sample");
	if (lost[LOSS_ACCOUNTING_ESTIMATE]) {
		buf_addstr(out, ", and an estimated ");
		str_counted(out, lost[LOSS_ACCOUNTING_ESTIMATE], "sample");
	}
	add_left_out(out, a);
}

void report_text_stays(struct buf *out, uint64_t min_ns, uint64_t max_ns, const char *end)
{
	buf_addstr(out, "only off-CPU intervals");
	if (min_ns || !max_ns) {
		buf_addstr(out, min_ns && max_ns ? " from " : " of at least ");
		value_text_duration(out, min_ns, 0);
	}
	if (max_ns) {
		buf_addstr(out, min_ns ? " to " : " of at most ");
		value_text_duration(out, max_ns, 0);
	}
	buf_addstr(out, end);
}

/* What a part has. */
struct recorded_filter {
	enum { RECORDED_NOTHING, RECORDED_ALL, RECORDED_OFF_CPU, RECORDED_SUMS } what;
	uint64_t min_ns, max_ns;
};

enum { GROUPS_MAX = 8 }; /* groups of parts that are listed */

static struct recorded_filter recorded_of(const struct names *n, uint32_t part,
					  const struct report_text_recorded_opts *opts)
{
	struct recorded_filter t = { 0 };

	if (offcpu_interval_is_recorded(n, part, &t.min_ns, &t.max_ns))
		t.what = RECORDED_OFF_CPU;
	else if (names_meta(n, part, PROF_META_SUMMARY_NS))
		t.what = RECORDED_SUMS;
	else if (opts->has(opts->ctx, part))
		t.what = RECORDED_ALL;
	return t;
}

static bool recorded_alike(const struct recorded_filter *a, const struct recorded_filter *b)
{
	return a->what == b->what && a->min_ns == b->min_ns && a->max_ns == b->max_ns;
}

static void put_recorded(struct buf *out, const struct recorded_filter *t,
			 const struct report_text_recorded_opts *opts)
{
	if (t->what == RECORDED_ALL)
		buf_addstr(out, "all");
	else if (t->what == RECORDED_SUMS)
		buf_addstr(out, "only sums (--summary), not shown");
	else
		report_text_stays(out, t->min_ns, t->max_ns, opts->stays ? "" : ", not shown");
}

/* All parts from @i up to the returned one (exclusive) are equal. */
static uint32_t recorded_end(const struct names *n, uint32_t i, const struct recorded_filter *t,
			     const struct report_text_recorded_opts *opts)
{
	struct recorded_filter next;

	for (i++; i < n->parts.cnt; i++) {
		next = recorded_of(n, i, opts);
		if (!recorded_alike(t, &next))
			break;
	}
	return i;
}

/* Groups of parts with equal data, each with its parts. */
static void put_groups(struct buf *out, const struct names *n,
		       const struct report_text_recorded_opts *opts)
{
	unsigned int groups = 0;
	uint32_t end;

	for (uint32_t i = 0; i < n->parts.cnt; i = end) {
		const struct recorded_filter t = recorded_of(n, i, opts);

		end = recorded_end(n, i, &t, opts);
		if (t.what == RECORDED_NOTHING)
			continue;
		buf_addstr(out, groups ? "; " : "");
		if (groups++ == GROUPS_MAX) {
			buf_addstr(out, "and others");
			break;
		}
		if (end == i + 1)
			buf_printf(out, "recording %u: ", end);
		else
			buf_printf(out, "recordings %u-%u: ", i + 1, end);
		put_recorded(out, &t, opts);
	}
}

bool report_text_recorded(struct buf *out, const struct names *n,
			  const struct report_text_recorded_opts *opts)
{
	struct recorded_filter first = { 0 };
	bool mixed = false;

	for (uint32_t i = 0; i < n->parts.cnt; i++) {
		const struct recorded_filter t = recorded_of(n, i, opts);

		if (first.what == RECORDED_NOTHING)
			first = t;
		mixed |= t.what != RECORDED_NOTHING && !recorded_alike(&first, &t);
	}
	if (mixed)
		put_groups(out, n, opts);
	else if (first.what == RECORDED_OFF_CPU)
		put_recorded(out, &first, opts);
	return mixed || first.what == RECORDED_OFF_CPU;
}

bool report_text_incomplete(struct buf *out, const struct reader *r)
{
	if (!reader_is_damaged(r) && !reader_is_newer(r))
		return false;
	buf_printf(out, "incomplete: the rest of the trace is missing (%s)",
		   reader_is_damaged(r) ? "damaged" : "newer format");
	return true;
}

/* By overhead, not by a fixed ratio from start to end. */
static bool sheds_by_overhead(const struct names *n)
{
	for (uint32_t i = 0; i < n->parts.cnt; i++)
		if (names_meta(n, i, PROF_META_MAX_OVERHEAD_PPM))
			return true;
	return false;
}

static void put_slices(struct buf *out, const struct loss_accounting *a, const struct names *n,
		       uint64_t span_ns)
{
	const uint64_t seen = a->skipped_ns < span_ns ? span_ns - a->skipped_ns : 0;
	const uint64_t within = a->skipped_last - a->skipped_first;
	const uint64_t within_seen = a->skipped_ns < within ? within - a->skipped_ns : 0;

	buf_printf(out, "%.1f%% of the time", 100.0 * (double)(span_ns - seen) / (double)span_ns);
	if (!sheds_by_overhead(n)) {
		if (seen)
			buf_printf(out,
				   "; multiply sums by %.2f; intervals longer than a slice are "
				   "missing",
				   (double)span_ns / (double)seen);
		return;
	}
	if (parts_clocks(&n->parts) < 2) {
		buf_addstr(out, ", between ");
		report_text_time(out, a->skipped_first, 0);
		buf_addstr(out, " and ");
		report_text_time(out, a->skipped_last, 0);
		buf_printf(out, " (%.1f%% of it)",
			   100.0 * (double)(within - within_seen) / (double)within);
	}
	buf_addstr(out, "; sums are too low");
}

bool report_text_skipped_slices(struct buf *out, const struct loss_accounting *a,
				const struct names *n, uint64_t span_ns)
{
	const size_t before = out->len;

	if (a->skipped_ns && span_ns)
		put_slices(out, a, n, span_ns);
	if (a->lost[LOSS_ACCOUNTING_STACKS_OFF]) {
		buf_addstr(out, out->len > before ? "; " : "");
		str_counted(out, a->lost[LOSS_ACCOUNTING_STACKS_OFF], "off-CPU stack");
	}
	return out->len > before;
}

/* info prints the whole expression. */
enum { FILTER_COLS = 26 };

/* The same key of the first part that has it. */
static const char *meta_of_any(const struct names *n, const char *key)
{
	const char *value = NULL;

	for (uint32_t i = 0; !value && i < n->parts.cnt; i++)
		value = names_meta(n, i, key);
	return value;
}

bool report_text_filtered(struct buf *out, const struct names *n, enum report_text_filter of)
{
	const char *expr =
		meta_of_any(n, of == REPORT_TEXT_FILTER_SWITCHES ? PROF_META_SWITCH_FILTER :
								   PROF_META_WAKING_FILTER);
	struct buf text = { 0 };

	if (!expr)
		return false;
	buf_addstr(out, of == REPORT_TEXT_FILTER_SWITCHES ?
				"filtered: only context switches with " :
				"filtered: only wakeups with ");
	value_text_clean(&text, expr, strlen(expr));
	report_text_fit(out, buf_cstr(&text), text.len, FILTER_COLS);
	buf_addstr(out, of == REPORT_TEXT_FILTER_SWITCHES ?
				"; times per state are unreliable" :
				"; blocked time may include run-queue latency");
	buf_free(&text);
	return true;
}

static bool lacks_cpus(const struct names *n)
{
	bool lacks = false;

	for (uint32_t i = 0; !lacks && i < n->parts.cnt; i++) {
		struct cpu_filter f = { 0 };

		cpu_filter_learn(&f, n, i);
		lacks = cpu_filter_is_some(&f);
		cpu_filter_fini(&f);
	}
	return lacks;
}

static bool excludes_switches(const struct names *n)
{
	bool excludes = false;

	for (uint32_t i = 0; !excludes && i < n->parts.cnt; i++)
		excludes = recorded_switches_excluded(n, i);
	return excludes;
}

/* ": worker 11 (CPU 0), hog 12 (CPU 1) and others" */
static void put_holes(struct buf *out, const struct names *n, const struct intervals_holes *holes)
{
	for (size_t i = 0; i < holes->cnt; i++) {
		const struct intervals_hole *h = &holes->v[i];
		uint32_t pid = TRACE_NONE, comm = h->comm;

		names_task_fill(n, h->part, h->tid, &pid, &comm);
		buf_addstr(out, i ? ", " : ": ");
		value_text_name(out, n, comm);
		buf_printf(out, " %" PRIu32, h->tid);
		if (h->cpu != TRACE_NONE)
			buf_printf(out, " (CPU %" PRIu32 ")", h->cpu);
	}
	if (holes->more)
		buf_addstr(out, " and others");
}

void report_text_why_unknown(struct buf *out, const struct loss_accounting *a,
			     const struct names *n, const struct intervals_holes *holes)
{
	static const struct {
		enum loss_accounting_class cls;
		const char *words;
	} whys[] = {
		{ LOSS_ACCOUNTING_EVENTS, "lost events" },
		{ LOSS_ACCOUNTING_PAUSES, "pauses" },
		{ LOSS_ACCOUNTING_SLICES, "skipped time slices" },
		{ LOSS_ACCOUNTING_HOLES, "missing files" },
	};
	const size_t before = out->len;

	for (size_t i = 0; i < sizeof(whys) / sizeof(whys[0]); i++) {
		if (!a->lost[whys[i].cls])
			continue;
		buf_addstr(out, out->len > before ? ", " : "");
		buf_addstr(out, whys[i].words);
	}
	if (meta_of_any(n, PROF_META_SWITCH_FILTER)) {
		buf_addstr(out, out->len > before ? ", " : "");
		buf_addstr(out, "switches excluded by --filter");
	}
	if (excludes_switches(n)) {
		buf_addstr(out, out->len > before ? ", " : "");
		buf_addstr(out, "context switches not selected");
	}
	if (lacks_cpus(n)) {
		buf_addstr(out, out->len > before ? ", " : "");
		buf_addstr(out, "threads on CPUs that are not in the trace");
	}
	/* where it says nothing, those that are there do not fit */
	if (out->len > before)
		return;
	buf_addstr(out, "the kernel did not emit some context switches");
	put_holes(out, n, holes);
}

bool report_text_unknown(struct buf *out, const struct loss_accounting *a, const struct names *n,
			 const struct intervals_unknown *u)
{
	const uint64_t ns = u->ns - u->unsure_ns;

	if (!ns)
		return false;
	buf_addstr(out, "unknown: ");
	value_text_duration(out, ns, 0);
	buf_addstr(out, " (all threads): ");
	report_text_why_unknown(out, a, n, &u->holes);
	return true;
}

bool report_text_unsure(struct buf *out, const struct intervals_unknown *u)
{
	if (!u->unsure_ns)
		return false;
	buf_addstr(out, "unknown: ");
	value_text_duration(out, u->unsure_ns, 0);
	buf_addstr(out, " (all threads) runnable or blocked: wakeup not recorded");
	return true;
}

bool report_text_sideband(struct buf *out, const struct loss_accounting *a)
{
	static const struct {
		enum loss_accounting_class cls;
		const char *noun, *behind;
	} parts[] = {
		{ LOSS_ACCOUNTING_SIDEBAND, "record", " lost" },
		{ LOSS_ACCOUNTING_STALLS, "stall", "" },
		{ LOSS_ACCOUNTING_DOUBTS, "stack", " uncertain" },
	};
	size_t before = out->len, i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!a->lost[parts[i].cls])
			continue;
		if (out->len > before)
			buf_addstr(out, ", ");
		str_counted(out, a->lost[parts[i].cls], parts[i].noun);
		buf_addstr(out, parts[i].behind);
	}
	if (out->len == before)
		return false;
	buf_printf(out, "; some process names may be missing%s",
		   a->lost[LOSS_ACCOUNTING_DOUBTS] ? " or wrong" : "");
	return true;
}

void report_text_json_account(struct buf *out, const struct loss_accounting *a)
{
	static const char *const keys[LOSS_ACCOUNTING_CLASS_CNT] = {
		[LOSS_ACCOUNTING_EVENTS] = "lost_events",
		[LOSS_ACCOUNTING_SAMPLES] = "lost_samples",
		[LOSS_ACCOUNTING_ESTIMATE] = "lost_samples_estimate",
		[LOSS_ACCOUNTING_SIDEBAND] = "lost_sideband",
		[LOSS_ACCOUNTING_STALLS] = "sideband_stalls",
		[LOSS_ACCOUNTING_DOUBTS] = "doubtful_stacks",
		[LOSS_ACCOUNTING_PAUSES] = "pauses",
		[LOSS_ACCOUNTING_STACKS] = "stacks_skipped",
	};

	for (size_t i = 0; i < LOSS_ACCOUNTING_CLASS_CNT; i++)
		if (keys[i])
			json_u64(out, keys[i], a->lost[i]);
	if (a->lost[LOSS_ACCOUNTING_SLICES])
		json_u64s(out, { "time_slices_skipped", a->lost[LOSS_ACCOUNTING_SLICES] },
			  { "skipped_ns", a->skipped_ns });
	if (a->lost[LOSS_ACCOUNTING_STACKS_OFF])
		json_u64(out, "stacks_dropped", a->lost[LOSS_ACCOUNTING_STACKS_OFF]);
	if (a->lost[LOSS_ACCOUNTING_HOLES])
		json_u64(out, "holes", a->lost[LOSS_ACCOUNTING_HOLES]);
	if (a->at_most)
		json_u64(out, "lost_events_at_most", a->at_most);
}

/* ---- rows and numbers -------------------------------------------------------------------------- */

size_t report_text_rows(uint64_t limit, uint64_t otherwise, size_t cnt)
{
	if (limit == REPORT_TEXT_LIMIT_UNSAID)
		limit = otherwise;
	return limit && limit < cnt ? limit : cnt;
}

void report_text_more_rows(struct buf *out, size_t more, const char *how)
{
	if (more)
		buf_printf(out, "# %zu more row%s%s: --limit 0 shows all\n", more,
			   more == 1 ? "" : "s", how);
}

void report_text_json_rows(struct buf *out, size_t more)
{
	json_u64(out, "rows_not_shown", more);
	json_array(out, "rows");
}

void report_text_json_powers(struct buf *out, const uint64_t counts[REPORT_TEXT_POWERS])
{
	json_object(out, "log2_ns");
	for (unsigned int k = 0; k < REPORT_TEXT_POWERS; k++) {
		if (!counts[k])
			continue;
		json_key_printf(out, "%u", k);
		json_u64(out, NULL, counts[k]);
	}
	json_end(out, "}");
}

void report_text_powers(struct buf *out, const uint64_t counts[REPORT_TEXT_POWERS], size_t margin,
			int width)
{
	unsigned int from = REPORT_TEXT_POWERS, to = 0;
	uint64_t most = 1;

	for (unsigned int k = 0; k < REPORT_TEXT_POWERS; k++) {
		if (!counts[k])
			continue;
		most = counts[k] > most ? counts[k] : most;
		from = k < from ? k : from;
		to = k;
	}
	for (unsigned int k = from; k <= to; k++) {
		value_text_duration(out, 1ULL << k, margin);
		buf_printf(out, " %*" PRIu64 " |", width, counts[k]);
		buf_fill(out, '*', (size_t)(counts[k] * 40 / most));
		buf_addch(out, '\n');
	}
}

void report_text_time(struct buf *out, uint64_t ns, size_t width)
{
	buf_addu_padded(out, ns / 1000000000, width > 7 ? width - 7 : 0, ' ');
	buf_addch(out, '.');
	buf_addu_padded(out, ns / 1000 % 1000000, 6, '0');
}

/* ---- columns ----------------------------------------------------------------------------------- */

static bool starts_code_point(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

void report_text_column(struct buf *out, const char *s, size_t n, size_t cols, bool cut)
{
	size_t w = value_text_width(s, n), keep = 0, seen = 0;

	if (!cut || w <= cols) {
		buf_add(out, s, n);
		while (w++ < cols)
			buf_addch(out, ' ');
		return;
	}
	for (; keep < n; keep++) {
		if (!starts_code_point(s[keep]))
			continue;
		if (seen++ == cols - 1)
			break;
	}
	buf_add(out, s, keep);
	buf_addstr(out, "…");
}

size_t report_text_line(const char *s, size_t n, size_t cols)
{
	size_t end = 0, blank = 0, w = 0;

	for (; end < n; end++) {
		w += starts_code_point(s[end]);
		if (w > cols)
			return blank ? blank : end;
		if (s[end] == ' ')
			blank = end + 1;
	}
	return n;
}

void report_text_fit(struct buf *out, const char *s, size_t n, size_t cols)
{
	report_text_column(out, s, n, value_text_width(s, n) < cols ? 0 : cols,
			   value_text_width(s, n) > cols);
}

void report_text_path(struct buf *out, const char *s, size_t n, size_t cols)
{
	size_t at = n, left = cols - 1;
	const char *slash;

	if (value_text_width(s, n) <= cols) {
		buf_add(out, s, n);
		return;
	}
	while (left) {
		at--;
		left -= starts_code_point(s[at]);
	}
	slash = memchr(s + at, '/', n - at);
	if (slash && slash + 1 < s + n)
		at = (size_t)(slash - s);
	buf_addstr(out, "…");
	buf_add(out, s + at, n - at);
}

size_t report_text_terminal_width(void)
{
	struct winsize ws;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_col)
		return 0;
	return ws.ws_col;
}

int report_text_finish(void)
{
	/* where a write before has failed, that was why */
	const int before = ferror(stdout) ? errno : 0;

	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return CMD_OK;
	errno = errno ? errno : before;
	if (errno == EPIPE)
		return CMD_OK;
	log_error("cannot write to standard output: %s", errno ? strerror(errno) : "write error");
	return CMD_OUTPUT;
}
