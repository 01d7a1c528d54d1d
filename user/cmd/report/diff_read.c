// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `diff` takes from one trace: samples or blocked intervals by stack, or waits by thread. Owns the
 * passes over it. Names stand last, so stacks are kept as addresses until the trace has ended, and go to
 * the common table then.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/common/interval_print.h"
#include "cmd/common/progress.h"
#include "cmd/report/diff.h"

struct diff_part {
	bool seen; /* something happened in the window */
	bool is_compared; /* it has the compared data: samples, switches or off-CPU intervals */
	uint64_t command; /* process id of the command that was recorded; TRACE_NONE: none */
	bool started, ended; /* by its exec and its exit */
};

/* What callbacks of the intervals need. */
struct reading {
	struct diff *d;
	struct diff_side *s;
	enum delta_side side;
};

static void sum_at(struct diff_side *s, uint32_t part, uint32_t stack, double v)
{
	uint64_t key = (uint64_t)part << 32 | stack;
	struct delta_sum *sum = hmap_get(&s->sums, key);

	if (!sum) {
		sum = xcalloc(1, sizeof(*sum));
		hmap_set(&s->sums, key, sum);
	}
	sum->cnt++;
	sum->sum += v;
	sum->squares += v * v;
	s->observed++;
}

/* ---- intervals --------------------------------------------------------------------------------- */

bool diff_has_part_data(const void *side, uint32_t part)
{
	const struct diff_side *s = side;

	return part < s->part_cap && s->parts[part].is_compared;
}

/* Threads of a part without switches seem to do one thing all the while. */
static bool is_comparable(const struct diff_side *s, const struct interval *i)
{
	return i->end_by != INTERVAL_TO_NOTHING || diff_has_part_data(s, i->part);
}

static void add_interval(void *ctx, const struct interval *i)
{
	const struct reading *r = ctx;
	const struct names_task task = select_interval_task(r->s->reader, r->s->part, i);
	const char *name;
	size_t len;

	if (i->flags & INTERVAL_NEIGHBOUR || !is_comparable(r->s, i) ||
	    !select_match_task(&r->s->sel, r->s->names, &task, i->cpu))
		return;
	if (r->d->opts->kind == DIFF_OFFCPU) {
		if (i->state == INTERVAL_BLOCKED)
			sum_at(r->s, i->part, i->stack, (double)(i->end - i->start));
		return;
	}
	/* a piece of a wait is no wait */
	if (i->state != INTERVAL_RUNNABLE || i->flags & INTERVAL_CUT)
		return;
	name = task.comm == NAMES_NONE ? "[unknown]" : names_str(r->s->names, task.comm, &len);
	len = task.comm == NAMES_NONE ? strlen(name) : len;
	r->s->sum += (double)(i->end - i->start);
	delta_add_wait(r->d->delta, r->side, name, len, i->end - i->start);
	r->s->observed++;
}

/* The window is known at the first event of a clock. */
static void set_window(struct diff_side *s, const struct trace_event *ev)
{
	uint32_t clock = names_part(s->names, ev->part)->clock;
	const struct select_window *w;

	if (!s->sel.has_time || clock >= s->sel.window_cnt)
		return;
	s->windows = array_reserve(s->windows, &s->window_cap, (size_t)clock + 1, 1);
	w = &s->sel.windows[clock];
	if (!w->resolved || s->windows[clock])
		return;
	intervals_window(s->intervals, clock, w->from_ns, w->to_ns);
	s->windows[clock] = 1;
}

/* ---- passes ------------------------------------------------------------------------------------ */

static uint64_t command_of(const struct names *n, uint32_t part)
{
	const char *target = names_meta(n, part, PROF_META_TARGET);

	if (!target || strncmp(target, "command ", strlen("command ")) != 0)
		return TRACE_NONE;
	return names_meta_u64(n, part, PROF_META_TARGET_PIDS);
}

/* Whether the command's own exec and exit are there. */
static void check_command(struct diff_part *part, const struct trace_event *ev)
{
	const char *name;

	if (ev->kind != TRACE_TRACEPOINT || ev->tid != part->command)
		return;
	name = dial9_schema_name(ev->schema->schema);
	part->started |= !strcmp(name, PROF_EV_SCHED_PROCESS_EXEC);
	part->ended |= !strcmp(name, PROF_EV_SCHED_PROCESS_EXIT);
}

static bool is_observation(const struct diff *d, const struct trace_event *ev)
{
	if (d->opts->kind == DIFF_CPU)
		return ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SAMPLE;
	return ev->kind == TRACE_SCHED_SWITCH || ev->kind == TRACE_OFF_CPU;
}

static void observe_part(const struct diff *d, struct diff_side *s, const struct trace_event *ev)
{
	struct diff_part *part;

	if (!ev->has_ts || trace_is_naming(ev->kind) || ev->kind == TRACE_STATS ||
	    ev->kind == TRACE_SEGMENT_END || ev->kind == TRACE_LOST)
		return;
	recorded_time_event(&s->observed_time, ev);
	s->parts = array_reserve(s->parts, &s->part_cap, (size_t)ev->part + 1, sizeof(*s->parts));
	part = &s->parts[ev->part];
	part->is_compared |= is_observation(d, ev);
	if (!select_overlaps(&s->sel, s->reader, ev->part, ev->ts, ev->ts))
		return;
	if (!part->seen)
		part->command = command_of(s->names, ev->part);
	part->seen = true;
	check_command(part, ev);
}

static void observe_event(struct diff *d, struct diff_side *s, const struct trace_event *ev)
{
	s->part = ev->part;
	select_observe(&s->sel, s->reader, ev);
	observe_part(d, s, ev);
	recorded_time_loss(&s->observed_time, reader_trace(s->reader), ev);
	if (ev->kind != TRACE_LOST ||
	    select_overlaps(&s->sel, s->reader, ev->part, trace_u64_or(ev, ROLE_FIRST_NS, ev->ts),
			    trace_u64_or(ev, ROLE_LAST_NS, ev->ts)))
		event_counts_add_loss(&s->counts, reader_trace(s->reader), s->names, ev);
	if (d->opts->kind != DIFF_CPU) {
		set_window(s, ev);
		intervals_add(s->intervals, reader_trace(s->reader), ev);
	} else if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SAMPLE &&
		   select_match(&s->sel, s->reader, ev)) {
		sum_at(s, ev->part, stack_table_add(&s->stacks, ev->frames, ev->frame_cnt), 1);
	}
}

static bool is_regular(const char *path)
{
	struct stat st;

	return !(strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) &&
	       S_ISREG(st.st_mode);
}

/* Losses are written after the events that they concern, so a file is first read for losses. */
static int learn_gaps(struct diff_side *s)
{
	struct trace_event ev;
	int ret;

	if (!is_regular(s->path))
		return 0;
	while ((ret = reader_next(s->reader, &ev)) == 1)
		intervals_add_gaps(s->intervals, reader_trace(s->reader), &ev);
	return ret ? ret : reader_rewind(s->reader);
}

static int read_all(struct diff *d, struct diff_side *s, struct reading *ctx)
{
	struct intervals_opts opts = { .names = s->names, .fn = add_interval, .ctx = ctx };
	struct trace_event ev;
	int ret = select_wants_scan(&s->sel) ? select_scan(&s->sel, s->reader) : 0;

	if (ret)
		return ret;
	if (d->opts->kind != DIFF_CPU) {
		s->intervals = intervals_new(&opts);
		ret = learn_gaps(s);
		if (ret)
			return ret;
	}
	while ((ret = reader_next(s->reader, &ev)) == 1)
		observe_event(d, s, &ev);
	if (!ret && s->intervals)
		intervals_finish(s->intervals);
	return ret;
}

static bool window_of(const void *ctx, uint32_t clock, uint64_t *from, uint64_t *to)
{
	const struct diff_side *s = ctx;

	return select_window(&s->sel, clock, from, to);
}

/* What the parts are together. */
static void sum_up(const struct diff *d, struct diff_side *s)
{
	double *weights = xcalloc(s->names->parts.cnt, sizeof(*weights));
	const struct recorded_time_opts opts = { .names = s->names,
						 .ctx = s,
						 .window = window_of,
						 .has_data = diff_has_part_data,
						 .cpu = TRACE_NONE,
						 .weights = weights };

	s->weights = weights;
	s->time = recorded_time_sum(&s->observed_time, &opts);
	s->timed = true;
	s->whole = s->part_cap && !s->sel.has_time;
	for (uint32_t i = 0; i < s->part_cap; i++) {
		const struct diff_part *part = &s->parts[i];

		if (!part->seen)
			continue;
		s->timed &= d->opts->kind != DIFF_CPU || names_period_ns(s->names, i);
		s->whole &= part->started && part->ended;
	}
	s->whole &= s->time.ns == s->time.span_ns;
}

/* Sums have neither single times nor stacks. One line then. */
static bool has_sums_alone(const struct diff *d, const struct diff_side *s)
{
	bool sums = false;

	for (uint32_t i = 0; i < s->names->parts.cnt; i++) {
		if (diff_has_part_data(s, i))
			return false;
		sums |= names_meta(s->names, i, PROF_META_SUMMARY_NS) != NULL;
	}
	if (sums && d->opts->kind != DIFF_CPU)
		log_error("diff: cannot compare %s: " INTERVAL_PRINT_SUMS, reader_input(s->reader));
	return sums && d->opts->kind != DIFF_CPU;
}

int diff_read(struct diff *d, enum delta_side side)
{
	struct diff_side *s = &d->sides[side];
	struct reading ctx = { d, s, side };
	struct progress *progress;
	int err;

	if (select_init(&s->sel, &d->opts->sel))
		return CMD_USAGE;
	if (progress_open(s->path, READER_ONE_PASS, &s->reader, &progress))
		return CMD_INPUT;
	s->names = reader_names(s->reader);
	err = read_all(d, s, &ctx);
	progress_end(progress);
	if (err)
		return CMD_INPUT;
	if (select_is_reversed(&s->sel) || has_sums_alone(d, s))
		return CMD_USAGE;
	sum_up(d, s);
	return CMD_OK;
}

/* ---- into the table ---------------------------------------------------------------------------- */

void diff_fold(struct diff *d, enum delta_side side, bool timed)
{
	struct diff_side *s = &d->sides[side];
	const uint64_t *frames;
	struct delta_sum sum;
	size_t pos = 0;
	uint64_t key;
	uint32_t cnt;
	void *value;
	double each;

	while (hmap_next(&s->sums, &pos, &key, &value)) {
		each = d->opts->kind == DIFF_CPU && timed ?
			       (double)names_period_ns(s->names, (uint32_t)(key >> 32)) :
			       1;
		sum = *(const struct delta_sum *)value;
		s->sum += sum.sum * each;
		if (d->normal == DIFF_BY_TIME)
			each *= s->weights[key >> 32];
		sum.sum *= each;
		sum.squares *= each * each;
		cnt = 0;
		frames = d->opts->kind == DIFF_CPU ?
				 stack_table_get(&s->stacks, (uint32_t)key, &cnt) :
				 intervals_stack(s->intervals, (uint32_t)key, &cnt);
		delta_add_stack(d->delta, side, s->names, frames, frames ? cnt : 0, &sum);
	}
}

void diff_side_fini(struct diff_side *s)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&s->sums, &pos, &key, &value))
		free(value);
	hmap_fini(&s->sums);
	stack_table_fini(&s->stacks);
	if (s->intervals)
		intervals_free(s->intervals);
	event_counts_fini(&s->counts);
	recorded_time_fini(&s->observed_time);
	select_fini(&s->sel);
	reader_free(s->reader);
	free(s->parts);
	free(s->windows);
	free(s->weights);
}
