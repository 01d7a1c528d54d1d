// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a trace through the interval engine. Owns the reader, the selection and the engine; independent of the
 * commands' output.
 *
 * A loss is written after its time, so earlier intervals would appear complete. Few traces have losses: a file is
 * read once, and again from the start when a loss is found. A command that prints while reading cannot undo its
 * output, so it always reads a file twice. The same holds if threads are selected by properties that may be written
 * later. A file is also read again when a thread whose intervals were passed on turns out to be the recorder's: threads
 * that were blocked before the recording wake before they are named. If the input cannot be read twice, only intervals
 * that end after the loss event are marked, and only those after its name are hidden.
 */
#include "cmd/common/interval_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "cmd/common/cmd.h"
#include "profile/sched/loss_accounting.h"
#include "profile/sched/offcpu_interval.h"
#include "profile/sched/recorded_switches.h"
#include "profile/sched/recorder_tasks.h"

/*
 * Parts without switches are skipped: in an application's own trace each thread would appear to stay in one state.
 */
static void forward_interval(void *ctx, const struct interval *i)
{
	struct interval_reader *r = ctx;

	if (interval_reader_hides(r, i->part, i->pid, i->tid))
		return;
	if (r->opts.hide_recorder)
		hmap_set(&r->shown, names_task_key(r->names, i->part, i->tid),
			 (void *)((uintptr_t)i->part + 1));
	if (i->end_by != INTERVAL_TO_NOTHING || interval_reader_has_switches(r, i->part))
		r->opts.fn(r->opts.ctx, i);
}

static void begin_engine(struct interval_reader *r)
{
	const struct intervals_opts opts = { r->names, forward_interval, r };

	intervals_free(r->intervals);
	r->intervals = intervals_new(&opts);
	if (r->opts.no_stacks)
		intervals_skip_stacks(r->intervals);
	event_counts_fini(&r->losses);
	memset(&r->losses, 0, sizeof(r->losses));
	recorded_time_fini(&r->observed);
	hmap_fini(&r->hidden);
	hmap_fini(&r->shown);
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

/* The window on a known clock, both ends inclusive; false: all of it. */
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
	select_observe(&r->sel, r->reader, ev);
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

/* Whether @ev names a thread of the recorder after an interval of it was passed on. */
static bool names_recorder(struct interval_reader *r, const struct trace_event *ev)
{
	uint64_t tid;

	return ev->kind == TRACE_TASK && r->shown.cnt && trace_u64(ev, ROLE_TID, &tid) &&
	       tid < TRACE_NONE &&
	       hmap_get(&r->shown, names_task_key(r->names, ev->part, (uint32_t)tid)) &&
	       interval_reader_hides(r, ev->part, TRACE_NONE, (uint32_t)tid);
}

/* Whether any thread with an interval that was passed on is the recorder's by now. */
static bool shows_recorder(struct interval_reader *r)
{
	uint64_t key;
	void *part;

	for (size_t at = 0; hmap_next(&r->shown, &at, &key, &part);)
		if (interval_reader_hides(r, (uint32_t)((uintptr_t)part - 1), TRACE_NONE,
					  (uint32_t)key))
			return true;
	return false;
}

/* Reads on from @at, NULL at the end, for losses and names alone; then starts over with what was learnt. */
static int start_over(struct interval_reader *r, const struct trace_event *at)
{
	struct trace_event ev;
	int ret = 0;

	r->opts.reset(r->opts.ctx);
	begin_engine(r);
	/* parts with losses contain TaskEvents */
	read_for_losses(r, true);
	if (at) {
		ev = *at;
		ret = 1;
	}
	for (; ret == 1; ret = reader_next(r->reader, &ev))
		intervals_add_gaps(r->intervals, reader_trace(r->reader), &ev);
	return ret ? ret : reader_rewind(r->reader);
}

/* Whether @ev, or NULL the end, shows that what was passed on before is wrong. */
static bool must_start_over(struct interval_reader *r, const struct trace_event *ev)
{
	if (!ev)
		return shows_recorder(r);
	return hides_switches(reader_trace(r->reader), ev) || names_recorder(r, ev);
}

static int read_all(struct interval_reader *r)
{
	bool again = r->opts.reset && !r->learnt && reader_can_rewind(r->reader);
	struct trace_event ev;
	int ret;

	for (;;) {
		ret = reader_next(r->reader, &ev);
		if (again && ret >= 0 && must_start_over(r, ret ? &ev : NULL)) {
			again = false;
			ret = start_over(r, ret ? &ev : NULL);
			if (ret)
				return ret;
			continue;
		}
		if (ret != 1)
			return ret;
		add_event(r, &ev);
	}
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
	const enum reader_mode mode = r->opts.src ? READER_ONE_PASS : mode_for(&r->opts, path);
	struct source *src = r->opts.src;
	int err = src ? 0 : source_open(path, &src);

	if (err)
		return err;
	source_stop_on(src, r->opts.stop);
	return progress_read(src, mode, &r->reader, &r->progress);
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
	hmap_fini(&r->shown);
	recorder_tasks_fini(&r->recorder);
	select_fini(&r->sel);
	reader_free(r->reader);
	memset(r, 0, sizeof(*r));
}

bool interval_reader_hides(struct interval_reader *r, uint32_t part, uint32_t pid, uint32_t tid)
{
	const struct names_task *task;

	if (!r->opts.hide_recorder || select_by_thread(&r->sel))
		return false;
	task = pid == TRACE_NONE ? names_task_first(r->names, part, tid) : NULL;
	if (task)
		pid = task->pid;
	if (!recorder_tasks_has(&r->recorder, reader_trace(r->reader), r->names, r->part, part,
				pid))
		return false;
	hmap_set(&r->hidden, names_task_key(r->names, part, tid), r);
	return true;
}

bool interval_reader_has_switches(const struct interval_reader *r, uint32_t part)
{
	return hmap_get(&r->switched, (uint64_t)part + 1) || recorded_switches(r->names, part);
}

bool interval_reader_has_states(const struct interval_reader *r)
{
	bool has = r->switches;

	for (uint32_t part = 0; !has && part < r->names->parts.cnt; part++)
		has = recorded_switches(r->names, part);
	return has;
}

bool interval_reader_is_chosen(const struct interval_reader *r)
{
	return interval_reader_has_states(r) && select_is_used(&r->sel);
}

bool interval_reader_wants(const struct interval_reader *r, const struct interval *i, uint32_t cpu)
{
	struct names_task task = { .tid = i->tid };

	if (select_by_thread(&r->sel))
		task = select_interval_task(r->reader, r->part, i);
	return select_match_task(&r->sel, r->names, &task, cpu);
}

/* ---- what was read ------------------------------------------------------------------------------ */

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

static bool part_has_data(const void *ctx, uint32_t part)
{
	return interval_reader_has_switches(ctx, part);
}

struct recorded_time_sum interval_reader_observed(const struct interval_reader *t, uint32_t cpu)
{
	const struct recorded_time_opts opts = { .names = t->names,
						 .ctx = t,
						 .window = part_window,
						 .has_data = part_has_data,
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
