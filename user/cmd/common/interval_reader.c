// SPDX-License-Identifier: BSD-2-Clause
/*
 * One reading of a trace through the engine of intervals. Owns the reader, the selection and the
 * engine; knows nothing of what a command makes of them.
 *
 * A loss is told after the time in which it happened, so intervals before it would pass for whole.
 * Few traces have one: a file is read in one go, and once more from the start when a loss is met. A
 * command that prints as it reads cannot take that back: for it a file is read twice in any case, and so it
 * is where threads are selected by what may be told of them only later.
 * What cannot be read twice marks only the intervals that end after the loss was told.
 */
#include "cmd/common/interval_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/color.h"
#include "cmd/common/report_text.h"
#include "profile/sched/loss_accounting.h"
#include "profile/sched/offcpu_interval.h"
#include "profile/sched/recorder_tasks.h"

/*
 * Those of a part without switches tell nothing: an application's own trace would have each thread do one thing all
 * the while.
 */
static void take_interval(void *ctx, const struct interval *i)
{
	struct interval_reader *r = ctx;

	if (interval_reader_hides(r, i->part, i->pid, i->tid))
		return;
	if (i->end_by != INTERVAL_TO_NOTHING || interval_reader_has_switches(r, i->part))
		r->opts.fn(r->opts.ctx, i);
}

static void begin_engine(struct interval_reader *r)
{
	const struct intervals_opts opts = { r->names, take_interval, r };

	intervals_free(r->intervals);
	r->intervals = intervals_new(&opts);
	if (r->opts.no_stacks)
		intervals_skip_stacks(r->intervals);
	event_counts_fini(&r->losses);
	memset(&r->losses, 0, sizeof(r->losses));
	recorded_time_fini(&r->observed);
	hmap_fini(&r->hidden);
	recorder_tasks_fini(&r->recorder);
	r->any = false;
	r->first_ts = r->last_ts = r->switches = 0;
}

static bool overlaps(const struct interval_reader *r, uint32_t part, uint64_t first, uint64_t last)
{
	if (!r->narrowed)
		return select_overlaps(&r->sel, r->reader, part, first, last);
	return names_part(r->names, part)->clock == r->clock && first <= r->to && last >= r->from;
}

static void count(struct interval_reader *r, const struct trace *t, const struct trace_event *ev)
{
	uint32_t clock;

	if (ev->kind == TRACE_LOST) {
		recorded_time_loss(&r->observed, t, ev);
		if (overlaps(r, ev->part, trace_u64_or(ev, ROLE_FIRST_NS, ev->ts),
			     trace_u64_or(ev, ROLE_LAST_NS, ev->ts)))
			event_counts_add_loss(&r->losses, t, r->names, ev);
		return;
	}
	event_counts_add_loss(&r->losses, t, r->names, ev);
	if (ev->kind == TRACE_SCHED_SWITCH || (ev->kind == TRACE_OFF_CPU && !r->opts.each_switch)) {
		r->switches++;
		hmap_set(&r->switched, (uint64_t)ev->part + 1, r);
	}
	if (!ev->has_ts || trace_is_naming(ev->kind))
		return;
	recorded_time_event(&r->observed, ev);
	clock = names_part(r->names, ev->part)->clock;
	if (!r->any) {
		r->first_ts = ev->ts;
		r->first_clock = clock;
	}
	r->any = true;
	if (clock != r->first_clock)
		return;
	if (ev->ts > r->last_ts)
		r->last_ts = ev->ts;
}

/* What is looked at on a clock that was seen; false: all of it. Both ends belong to it. */
static bool window_of(const struct interval_reader *r, uint32_t clock, uint64_t *from, uint64_t *to)
{
	if (!r->narrowed || clock != r->clock)
		return select_window(&r->sel, clock, from, to);
	*from = r->from;
	*to = r->to;
	return true;
}

bool interval_reader_has_time(const struct interval_reader *r, const struct trace_event *ev)
{
	uint64_t from, to;

	return !window_of(r, names_part(r->names, ev->part)->clock, &from, &to) ||
	       (ev->ts >= from && ev->ts <= to);
}

/* The engine cuts by itself, so it must know each clock's window before its first event. */
static void set_window(struct interval_reader *r, const struct trace_event *ev)
{
	uint32_t clock;
	uint64_t from, to;

	if (!r->sel.has_time && !r->narrowed)
		return;
	clock = names_part(r->names, ev->part)->clock;
	select_see(&r->sel, r->reader, ev);
	if (window_of(r, clock, &from, &to))
		intervals_window(r->intervals, clock, from, to);
}

static void add_event(struct interval_reader *r, const struct trace_event *ev)
{
	const struct trace *t = reader_trace(r->reader);

	r->part = ev->part;
	set_window(r, ev);
	count(r, t, ev);
	if (r->opts.event)
		r->opts.event(r->opts.ctx, t, ev);
	if (ev->kind != TRACE_OFF_CPU || !r->opts.each_switch)
		intervals_add(r->intervals, t, ev);
}

static bool hides_switches(const struct trace *t, const struct trace_event *ev)
{
	struct dial9_str kind;

	return ev->kind == TRACE_LOST && trace_str(t, ev, ROLE_KIND, &kind) &&
	       loss_accounting_hides_switches(kind.ptr, kind.len);
}

/* Up to the end only losses and what gives names are wanted: where TaskEvents do, samples do not. */
static void read_for_losses(struct interval_reader *r, bool tasks_are_told)
{
	reader_skip_tasks(r->reader);
	reader_skip_kinds(r->reader, TRACE_KINDS_QUIET | (tasks_are_told ? 1u << TRACE_SAMPLE : 0));
}

/* Reads on to the end for losses alone, then starts over with what was learnt. */
static int start_over(struct interval_reader *r, const struct trace_event *loss)
{
	struct trace_event ev = *loss;
	int ret = 1;

	r->opts.reset(r->opts.ctx);
	begin_engine(r);
	/* who tells of losses tells of tasks */
	read_for_losses(r, true);
	for (; ret == 1; ret = reader_next(r->reader, &ev))
		intervals_add_gaps(r->intervals, reader_trace(r->reader), &ev);
	return ret ? ret : reader_rewind(r->reader);
}

static int read_all(struct interval_reader *r)
{
	bool again = r->opts.reset && !r->learnt && reader_can_rewind(r->reader);
	struct trace_event ev;
	int ret;

	while ((ret = reader_next(r->reader, &ev)) == 1) {
		if (again && hides_switches(reader_trace(r->reader), &ev)) {
			again = false;
			ret = start_over(r, &ev);
			if (ret)
				return ret;
			continue;
		}
		add_event(r, &ev);
	}
	return ret;
}

/* Losses, and names: a thread may be named after its first interval. */
static int learn(struct interval_reader *r)
{
	struct trace_event ev;
	int ret;

	r->learnt = true;
	read_for_losses(r, false);
	while ((ret = reader_next(r->reader, &ev)) == 1)
		intervals_add_gaps(r->intervals, reader_trace(r->reader), &ev);
	return ret ? ret : reader_rewind(r->reader);
}

static int read_again(struct interval_reader *r, const char *instead)
{
	int err = reader_can_rewind(r->reader) ? reader_rewind(r->reader) : -ESPIPE;

	if (err == -ESPIPE) {
		log_error("cannot read a pipe twice; use a file%s", instead);
		return CMD_USAGE;
	}
	r->opts.reset(r->opts.ctx);
	begin_engine(r);
	r->learnt = false;
	if (!err)
		err = read_all(r);
	if (err)
		return CMD_INPUT;
	intervals_finish(r->intervals);
	return CMD_OK;
}

int interval_reader_reread(struct interval_reader *r)
{
	return read_again(r, "");
}

int interval_reader_again(struct interval_reader *r, uint32_t clock, uint64_t from, uint64_t to,
			  const char *instead)
{
	r->narrowed = true;
	r->clock = clock;
	r->from = from;
	r->to = to;
	return read_again(r, instead);
}

/* Names must be there at once for a command that prints as it reads; a file is read twice for that. */
static enum reader_mode mode_for(const struct interval_reader_opts *opts, const char *path)
{
	struct stat st;

	if (opts->reset || (!stat(path, &st) && S_ISREG(st.st_mode)))
		return READER_ONE_PASS;
	return READER_NAMES_AHEAD;
}

static int open_reader(struct interval_reader *r, const char *path)
{
	if (r->opts.src)
		return progress_read(r->opts.src, READER_ONE_PASS, &r->reader, &r->progress);
	return progress_open(path, mode_for(&r->opts, path), &r->reader, &r->progress);
}

int interval_reader_run(struct interval_reader *r, const struct interval_reader_opts *opts,
			const char *path)
{
	int err;

	memset(r, 0, sizeof(*r));
	r->opts = *opts;
	if (select_init(&r->sel, opts->sel)) {
		source_close(opts->src);
		return CMD_USAGE;
	}
	if (open_reader(r, path))
		return CMD_INPUT;
	r->names = reader_names(r->reader);
	if (opts->no_stacks)
		reader_skip_stacks(r->reader);
	begin_engine(r);
	err = select_wants_scan(&r->sel) ? select_scan(&r->sel, r->reader) : 0;
	if (!err && (!opts->reset || select_by_thread(&r->sel)) && reader_can_rewind(r->reader))
		err = learn(r);
	if (!err)
		err = read_all(r);
	if (!err)
		intervals_finish(r->intervals);
	progress_end(r->progress);
	r->progress = NULL;
	if (err)
		return CMD_INPUT;
	return select_is_reversed(&r->sel) ? CMD_USAGE : CMD_OK;
}

void interval_reader_fini(struct interval_reader *r)
{
	progress_end(r->progress);
	intervals_free(r->intervals);
	event_counts_fini(&r->losses);
	recorded_time_fini(&r->observed);
	hmap_fini(&r->switched);
	hmap_fini(&r->hidden);
	recorder_tasks_fini(&r->recorder);
	select_fini(&r->sel);
	reader_free(r->reader);
	memset(r, 0, sizeof(*r));
}

int interval_reader_end(const struct interval_reader *r, struct view *view)
{
	int code = view_end(view);

	return code == CMD_OK && reader_is_incomplete(r->reader) ? CMD_INPUT : code;
}

bool interval_reader_hides(struct interval_reader *r, uint32_t part, uint32_t pid, uint32_t tid)
{
	if (!r->opts.hide_recorder || select_by_thread(&r->sel) ||
	    !recorder_tasks_has(&r->recorder, reader_trace(r->reader), r->names, r->part, part,
				pid))
		return false;
	hmap_set(&r->hidden, names_task_key(r->names, part, tid), r);
	return true;
}

bool interval_reader_has_switches(const struct interval_reader *r, uint32_t part)
{
	return hmap_get(&r->switched, (uint64_t)part + 1) != NULL;
}

bool interval_reader_is_chosen(const struct interval_reader *r)
{
	return r->switches && select_is_used(&r->sel);
}

int interval_reader_tell_nothing(const struct interval_reader *r, const char *what, int code)
{
	return code == CMD_OK && interval_reader_is_chosen(r) ?
		       select_tell_nothing(&r->sel, r->reader, what) :
		       code;
}

bool interval_reader_wants(const struct interval_reader *r, const struct interval *i, uint32_t cpu)
{
	struct names_task task = { .tid = i->tid };

	if (select_by_thread(&r->sel))
		task = select_interval_task(r->reader, r->part, i);
	return select_match_task(&r->sel, r->names, &task, cpu);
}

/* ---- what all such commands print -------------------------------------------------------------- */

/* As far as the first clock of the trace has it. */
static void looked_at(const struct interval_reader *t, uint64_t *first, uint64_t *last)
{
	uint64_t from, to;

	*first = t->first_ts;
	*last = t->last_ts;
	if (!window_of(t, t->clock, &from, &to))
		return;
	*first = from > *first ? from : *first;
	*last = to < *last ? to : *last;
}

uint64_t interval_reader_start_ns(const struct interval_reader *t)
{
	uint64_t first, last;

	looked_at(t, &first, &last);
	return first;
}

uint64_t interval_reader_span_ns(const struct interval_reader *t)
{
	uint64_t first, last;

	looked_at(t, &first, &last);
	return last > first ? last - first : 0;
}

static bool part_window(const void *ctx, uint32_t clock, uint64_t *from, uint64_t *to)
{
	return window_of(ctx, clock, from, to);
}

static bool part_tells(const void *ctx, uint32_t part)
{
	return interval_reader_has_switches(ctx, part);
}

struct recorded_time_sum interval_reader_observed(const struct interval_reader *t, uint32_t cpu)
{
	const struct recorded_time_opts opts = { .names = t->names,
						 .ctx = t,
						 .window = part_window,
						 .has_data = part_tells,
						 .cpu = cpu };

	return recorded_time_sum(&t->observed, &opts);
}

bool interval_reader_stays(const struct interval_reader *t, uint64_t *min_ns, uint64_t *max_ns)
{
	for (uint32_t part = 0; part <= t->part; part++)
		if (offcpu_interval_is_recorded(t->names, part, min_ns, max_ns))
			return true;
	return false;
}

/* Which stays there are, and that there is nothing else. */
static void put_stays(struct buf *out, const struct interval_reader *t, bool color)
{
	const struct report_text_told_opts opts = { part_tells, t, !t->opts.each_switch };
	struct buf line = { 0 };

	buf_addstr(&line, "# switches: ");
	if (report_text_told(&line, t->names, &opts)) {
		buf_addch(&line, '\n');
		color_put(out, color, COLOR_WARN, buf_cstr(&line), line.len);
	}
	buf_free(&line);
}

void interval_reader_put_filtered(struct buf *out, const struct interval_reader *t, bool color)
{
	struct buf line = { 0 };

	for (int of = 0; of < REPORT_TEXT_FILTER_CNT; of++) {
		buf_clear(&line);
		if (!report_text_filtered(&line, t->names, of))
			continue;
		buf_addstr(out, "# ");
		buf_addch(&line, '\n');
		color_put(out, color, COLOR_WARN, buf_cstr(&line), line.len);
	}
	buf_free(&line);
}

void interval_reader_put_head(struct buf *out, const struct interval_reader *t, const char *what,
			      bool color)
{
	const struct loss_accounting *a = &t->losses.account;
	const char *file = reader_input(t->reader);
	struct buf line = { 0 };

	buf_addstr(out, "# ");
	name_text_clean(out, file, strlen(file));
	buf_printf(out, ": %s over %.3f s\n", what, (double)interval_reader_span_ns(t) / 1e9);
	put_stays(out, t, color);
	interval_reader_put_filtered(out, t, color);
	buf_addstr(&line, "# lost: ");
	report_text_lost(&line, a);
	buf_addstr(&line, loss_accounting_is_incomplete(a) ? " (see dial9-prof info)\n" : "\n");
	color_put(out, color, loss_accounting_is_incomplete(a) ? COLOR_WARN : COLOR_PLAIN,
		  buf_cstr(&line), line.len);
	buf_clear(&line);
	if (report_text_thinned(&line, a, t->names, interval_reader_span_ns(t))) {
		buf_addch(&line, '\n');
		buf_addstr(out, "# skipped: ");
		color_put(out, color, COLOR_WARN, buf_cstr(&line), line.len);
	}
	if (t->hidden.cnt) {
		buf_addstr(out, "# hidden: ");
		str_counted(out, t->hidden.cnt, "thread");
		buf_addstr(out, " of dial9-prof; --include-self shows them\n");
	}
	buf_free(&line);
}

void interval_reader_put_unknown(struct buf *out, const struct interval_reader *t,
				 const struct intervals_unknown *u, bool color)
{
	struct buf line = { 0 };

	if (report_text_unknown(&line, &t->losses.account, t->names, u)) {
		buf_addstr(out, "# ");
		buf_addch(&line, '\n');
		color_put(out, color, COLOR_WARN, buf_cstr(&line), line.len);
	}
	buf_clear(&line);
	if (report_text_unsure(&line, u))
		buf_printf(out, "# %s\n", buf_cstr(&line));
	buf_free(&line);
}

void interval_reader_json_unknown(struct buf *out, const struct intervals_unknown *u)
{
	json_u64s(out, { "unknown_ns", u->ns }, { "unsure_ns", u->unsure_ns });
}

void interval_reader_put_waits(struct buf *out, const struct blocked_row *r, uint64_t all_ns,
			       bool color)
{
	const double share = all_ns ? 100.0 * (double)r->ns / (double)all_ns : 0;
	struct buf cell = { 0 };

	name_text_duration(out, r->ns, 11);
	buf_addch(out, r->cut ? '*' : ' ');
	buf_printf(&cell, " %6.2f%%", share);
	color_put(out, color, color_percent(share), buf_cstr(&cell), cell.len);
	buf_printf(out, " %8" PRIu64 " ", r->cnt);
	name_text_duration(out, r->ns / r->cnt, 10);
	buf_addch(out, ' ');
	name_text_duration(out, r->max_ns, 10);
	buf_free(&cell);
}

const char *interval_reader_no_switches(const struct interval_reader *t)
{
	if (names_meta(t->names, 0, PROF_META_SUMMARY_NS))
		return INTERVAL_READER_SUMS;
	if (interval_reader_stays(t, NULL, NULL))
		return t->opts.each_switch ?
			       INTERVAL_READER_STAYS :
			       "no off-CPU interval matched --min-block and --max-block";
	return "no context switches; its threads slept, or it was recorded with --no-sched";
}

const char *interval_reader_behind_unknown(const struct interval_reader *t, uint32_t part)
{
	const char *target = names_meta(t->names, part, PROF_META_TARGET);

	if (names_meta(t->names, part, PROF_META_NEIGHBOURS) ||
	    (target && !strcmp(target, "system") &&
	     !names_meta(t->names, part, PROF_META_SELECTION)))
		return "ran instead: unknown task";
	return "ran instead: unknown task (record with -a or --neighbours)";
}

void interval_reader_json_head(struct buf *out, const struct interval_reader *t)
{
	const char *file = reader_input(t->reader);

	name_text_json_begin(out);
	json_str(out, "file", file);
	json_u64(out, "span_ns", interval_reader_span_ns(t));
	report_text_json_account(out, &t->losses.account);
	if (t->hidden.cnt)
		json_u64(out, "recorder_threads_hidden", t->hidden.cnt);
}

void interval_reader_put_waker(struct buf *out, const struct interval_reader *t,
			       const struct interval_waker *by)
{
	if (!by) {
		buf_addstr(out, "-");
	} else if (!interval_by_thread(by->context)) {
		name_text_waker(out, t->names, by);
	} else {
		name_text_name(out, t->names, by->comm);
		buf_addstr(out, by->context == INTERVAL_BY_UNKNOWN ? "?" : "");
	}
}

void interval_reader_json_waker(struct buf *out, const char *key, const struct interval_reader *t,
				const struct interval_waker *by)
{
	static const char *const contexts[] = {
		[INTERVAL_BY_UNKNOWN] = "unknown", [INTERVAL_BY_TASK] = "task",
		[INTERVAL_BY_TIMER] = "timer",	   [INTERVAL_BY_SOFTIRQ] = "softirq",
		[INTERVAL_BY_HARDIRQ] = "irq",	   [INTERVAL_BY_IPI] = "ipi",
	};
	struct buf name = { 0 };

	if (!by) {
		json_null(out, key);
		return;
	}
	interval_reader_put_waker(&name, t, by);
	json_object(out, key);
	json_str(out, "context", contexts[by->context]);
	json_text(out, "name", buf_cstr(&name), name.len);
	json_end(out, "}");
	buf_free(&name);
}

void interval_reader_json_stack(struct buf *out, const struct interval_reader *t, const char *key,
				uint32_t stack, enum callchain_part part)
{
	uint32_t cnt;
	const uint64_t *frames = intervals_stack(t->intervals, stack, &cnt);

	callchain_json(out, key, t->names, frames, cnt, part);
}
