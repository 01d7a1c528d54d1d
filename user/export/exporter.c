// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared by all exports. Owns which threads were announced to the format, and the sums for formats
 * that need them; does not know how any format looks.
 */
#include "export/exporter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "export/temp_lists.h"
#include "profile/sched/intervals.h"
#include "profile/sums/cpu_time.h"
#include "profile/sums/off_stack.h"

/* approximate size of output pieces */
#define EXPORT_BLOCK (128u << 10)

const char *const export_kind_names[] = { "cpu", "offcpu", "runq", "wall", NULL };

/* A sample or an interval. */
struct in_order {
	uint64_t ns; /* of an interval */
	uint32_t stack;
};

struct export_run {
	struct export_opts opts;
	int err; /* of write() */
	bool begun;
	struct hmap threads; /* clock << 32 | tid -> struct export_thread */
	uint32_t thread_cnt;
	struct off_stack off_stack;
	struct profile *profile; /* sums */
	struct temp_lists *order; /* of the sums: list 0 has struct in_order; NULL: not wanted */
	struct cpu_time cpu_time; /* of running threads, with EXPORT_WALL */
	uint32_t part; /* of these samples: */
	uint64_t period_ns;
};

static void write_out(struct export *x)
{
	struct export_run *r = x->run;

	if (!r->err && x->out.len)
		r->err = r->opts.write(r->opts.ctx, x->out.data, x->out.len);
	buf_clear(&x->out);
}

void export_flush(struct export *x)
{
	if (x->out.len >= EXPORT_BLOCK)
		write_out(x);
}

void export_fail(struct export *x, int err)
{
	if (!x->run->err)
		x->run->err = err;
}

void export_check_lists(struct export *x, const struct temp_lists *lists)
{
	int err = temp_lists_error(lists);

	if (!err)
		return;
	if (!x->run->err)
		log_error(
			"export: cannot use a temporary file in %s: %s (TMPDIR sets its directory)",
			file_temp_dir(), strerror(-err));
	x->run->err = err;
}

bool export_is_sum(const struct exporter *format)
{
	return format->profile;
}

/* ---- start ----------------------------------------------------------------------------------- */

static void begin_sums(struct export *x)
{
	struct export_run *r = x->run;

	if (!export_is_sum(x->format))
		return;
	profile_new(x->names, &r->profile);
	profile_keep(r->profile, x->kind == EXPORT_WALL ? 1u << PROFILE_STATE : 0);
	if (x->format->in_order)
		r->order = temp_lists_new();
}

static void end_sums(struct export *x)
{
	struct export_run *r = x->run;

	profile_free(r->profile);
	r->profile = NULL;
	temp_lists_free(r->order);
	r->order = NULL;
	cpu_time_fini(&r->cpu_time);
	off_stack_fini(&r->off_stack);
}

struct export *export_new(const struct export_opts *opts)
{
	struct export *x = xcalloc(1, sizeof(*x));

	x->run = xcalloc(1, sizeof(*x->run));
	x->run->opts = *opts;
	x->run->part = TRACE_NONE;
	x->format = opts->format;
	x->kind = opts->kind;
	x->reader = opts->reader;
	x->names = opts->reader ? reader_names(opts->reader) : NULL;
	x->file = opts->file;
	x->dir = opts->dir;
	x->state = xcalloc(1, opts->format->state_sz);
	begin_sums(x);
	return x;
}

static void free_threads(struct export *x)
{
	size_t pos = 0;
	void *t;

	while (hmap_next(&x->run->threads, &pos, NULL, &t))
		free(t);
	hmap_fini(&x->run->threads);
}

void export_free(struct export *x)
{
	if (!x)
		return;
	if (x->format->fini)
		x->format->fini(x);
	end_sums(x);
	free_threads(x);
	buf_free(&x->out);
	free(x->state);
	free(x->run);
	free(x);
}

void export_reset(struct export *x)
{
	end_sums(x);
	begin_sums(x);
	x->first_ts = x->last_ts = 0;
	x->any = false;
}

/* Not before the first event: the trace's metadata is known only then. */
static void begin_output(struct export *x)
{
	if (x->run->begun)
		return;
	x->run->begun = true;
	if (x->format->begin)
		x->format->begin(x);
}

static void extend_time_range(struct export *x, uint64_t from, uint64_t to)
{
	if (!x->any || from < x->first_ts)
		x->first_ts = from;
	if (to > x->last_ts)
		x->last_ts = to;
	x->any = true;
}

/* ---- threads ----------------------------------------------------------------------------------- */

/* Finds the thread, and announces it to the format if it is new or changed. NULL: no thread. */
static const struct export_thread *thread_of(struct export *x, uint32_t part, uint32_t tid,
					     uint32_t pid, uint32_t comm)
{
	struct export_run *r = x->run;
	uint32_t clock = names_part(x->names, part)->clock;
	uint64_t key = (uint64_t)clock << 32 | tid;
	struct export_thread *t = hmap_get(&r->threads, key);
	bool other;

	if (tid == TRACE_NONE)
		return NULL;
	names_task_fill(x->names, part, tid, &pid, &comm);
	/* the TID was reused */
	other = !t || (pid != TRACE_NONE && t->pid != TRACE_NONE && pid != t->pid);
	if (other) {
		free(t);
		t = xcalloc(1, sizeof(*t));
		*t = (struct export_thread){
			.idx = r->thread_cnt++, .part = clock, .pid = pid, .tid = tid, .comm = comm
		};
		hmap_set(&r->threads, key, t);
	} else if ((comm == NAMES_NONE || comm == t->comm) &&
		   (pid == TRACE_NONE || pid == t->pid)) {
		return t;
	}
	t->pid = pid != TRACE_NONE ? pid : t->pid;
	t->comm = comm != NAMES_NONE ? comm : t->comm;
	if (x->format->thread) {
		x->format->thread(x, t);
		export_flush(x);
	}
	return t;
}

/* ---- samples and events ------------------------------------------------------------------------ */

static uint64_t period_of(struct export *x, uint32_t part)
{
	struct export_run *r = x->run;

	if (part != r->part) {
		r->part = part;
		r->period_ns = names_period_ns(x->names, part);
	}
	return r->period_ns;
}

static bool wants_samples(const struct export *x)
{
	return x->kind == EXPORT_CPU || x->kind == EXPORT_WALL || x->kind == EXPORT_ALL;
}

static void keep_order(struct export *x, uint32_t stack, uint64_t ns)
{
	const struct in_order record = { .ns = ns, .stack = stack };

	if (x->run->order)
		temp_lists_add(x->run->order, 0, &record, sizeof(record));
}

static void add_sample(struct export *x, const struct trace_event *ev)
{
	struct export_sample s = {
		.ts = ev->ts,
		.cpu = ev->cpu,
		.frames = ev->frames,
		.frame_cnt = ev->frame_cnt,
		.raw = ev,
	};

	if (!wants_samples(x))
		return;
	extend_time_range(x, ev->ts, ev->ts);
	if (x->run->profile) {
		keep_order(x, profile_add(x->run->profile, ev), 0);
		return;
	}
	if (!x->format->sample)
		return;
	begin_output(x);
	s.thread = thread_of(x, ev->part, ev->tid, ev->pid, ev->comm);
	s.ns = period_of(x, ev->part);
	if (s.thread)
		x->format->sample(x, &s);
	export_flush(x);
}

void export_event(struct export *x, const struct trace_event *ev)
{
	if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SAMPLE) {
		add_sample(x, ev);
		return;
	}
	if (x->kind != EXPORT_ALL || !x->format->event || trace_is_naming(ev->kind))
		return;
	/* with all_losses a loss is there whatever is selected */
	if (ev->has_ts && (ev->kind != TRACE_LOST || !x->format->all_losses))
		extend_time_range(x, ev->ts, ev->ts);
	begin_output(x);
	x->format->event(x, thread_of(x, ev->part, ev->tid, ev->pid, ev->comm), ev);
	export_flush(x);
}

/* ---- intervals --------------------------------------------------------------------------------- */

static bool wants_state(const struct export *x, enum interval_state state)
{
	switch (x->kind) {
	case EXPORT_CPU:
		return false;
	case EXPORT_OFFCPU:
		return state == INTERVAL_BLOCKED;
	case EXPORT_RUNQ:
		return state == INTERVAL_RUNNABLE;
	case EXPORT_WALL:
		return state != INTERVAL_RUNNING; /* samples have the stack of running threads */
	case EXPORT_ALL:
		return true;
	}
	return false;
}

static void sum_interval(struct export *x, const struct interval *i, const uint64_t *frames,
			 uint32_t cnt, uint32_t cgroup)
{
	const struct trace_event ev = { .part = i->part,
					.tid = i->tid,
					.pid = i->pid,
					.comm = i->comm,
					.cgroup = cgroup,
					.cpu = i->cpu,
					.frames = frames,
					.frame_cnt = cnt };

	if (wants_state(x, i->state))
		keep_order(x, profile_add_time(x->run->profile, &ev, i->state, i->end - i->start),
			   i->end - i->start);
	else if (x->kind == EXPORT_WALL)
		cpu_time_add(&x->run->cpu_time, i, cgroup);
}

static void write_interval(struct export *x, const struct interval *i, const uint64_t *frames,
			   uint32_t cnt)
{
	const struct interval_waker *w = i->waker;
	struct export_interval e = { .raw = i, .frames = frames, .frame_cnt = cnt };
	const struct export_thread *t;
	struct export_thread thread;

	begin_output(x);
	t = thread_of(x, i->part, i->tid, i->pid, i->comm);
	if (!t)
		return;
	/* the waker may be an earlier thread with the TID of this thread */
	thread = *t;
	e.thread = &thread;
	if (w && interval_by_thread(w->context) && w->tid)
		e.waker = thread_of(x, i->part, w->tid, w->pid, w->comm);
	x->format->interval(x, &e);
	export_flush(x);
}

struct trace_event export_interval_event(const struct export_interval *i)
{
	static const struct trace_schema none = { .kind = TRACE_SAMPLE, .name = NAMES_NONE };

	return (struct trace_event){ .schema = &none,
				     .kind = TRACE_SAMPLE,
				     .source = PROF_SOURCE_SAMPLE,
				     .has_ts = true,
				     .ts = i->raw->end,
				     .part = i->raw->part,
				     .tid = i->thread->tid,
				     .pid = i->thread->pid,
				     .cpu = i->raw->cpu,
				     .comm = i->thread->comm,
				     .cgroup = NAMES_NONE,
				     .frames = i->frames,
				     .frame_cnt = i->frame_cnt };
}

void export_interval(struct export *x, const struct intervals *iv, const struct interval *i,
		     uint32_t cgroup, bool wanted)
{
	uint32_t stack = off_stack_of(&x->run->off_stack, i), cnt = 0;
	const uint64_t *frames = NULL;

	if (!wanted || i->flags & INTERVAL_NEIGHBOUR)
		return;
	if (stack != INTERVAL_NO_STACK)
		frames = intervals_stack(iv, stack, &cnt);
	if (wants_state(x, i->state))
		extend_time_range(x, i->start, i->end);
	if (x->run->profile)
		sum_interval(x, i, frames, cnt, cgroup);
	else if (x->format->interval && wants_state(x, i->state))
		write_interval(x, i, frames, cnt);
}

/* ---- end ------------------------------------------------------------------------------------- */

/* One line per part. */
static void warn_of_untimed(const struct export *x, const struct profile *p)
{
	const char *words = x->format->untimed[x->kind];
	uint64_t *samples;
	const struct profile_stack *v;
	size_t cnt;

	/* if no sample has a weight, they are counted */
	if (!words || (x->kind == EXPORT_CPU && !profile_weight(p)))
		return;
	samples = xcalloc(x->names->parts.cnt, sizeof(*samples));
	v = profile_stacks(p, &cnt);
	for (size_t i = 0; i < cnt; i++)
		if (profile_stack_is_weightless(p, &v[i]))
			samples[v[i].part] += v[i].samples;
	for (size_t i = 0; i < x->names->parts.cnt; i++)
		if (samples[i])
			log_warn("export: %" PRIu64 " samples of part %zu %s: their sampling "
				 "period is not recorded",
				 samples[i], i + 1, words);
	free(samples);
}

static void write_sums(struct export *x)
{
	size_t cnt = x->names->parts.cnt;
	uint64_t *periods = xcalloc(cnt, sizeof(*periods));
	struct profile *p = x->run->profile;

	for (uint32_t i = 0; i < cnt; i++)
		periods[i] = names_period_ns(x->names, i);
	profile_weigh(p, periods, cnt);
	free(periods);
	if (!profile_samples(p))
		cpu_time_to_profile(&x->run->cpu_time, p);
	warn_of_untimed(x, p);
	x->format->profile(x, p);
}

struct each_in_order {
	void (*fn)(void *ctx, uint32_t stack, uint64_t ns);
	void *ctx;
};

static void call_in_order(void *ctx, const void *record, size_t sz)
{
	const struct in_order *r = record;
	const struct each_in_order *each = ctx;

	each->fn(each->ctx, r->stack, r->ns);
}

void export_each_in_order(struct export *x, void (*fn)(void *ctx, uint32_t stack, uint64_t ns),
			  void *ctx)
{
	struct each_in_order each = { fn, ctx };

	temp_lists_each(x->run->order, 0, call_in_order, &each);
	export_check_lists(x, x->run->order);
}

int export_bytes(struct export *x, const void *data, size_t sz)
{
	begin_output(x);
	x->format->bytes(x, data, sz);
	export_flush(x);
	return x->run->err;
}

static void report_clocks(const struct export *x)
{
	const struct parts *p = x->names ? &x->names->parts : NULL;
	const size_t clocks = p && x->format->one_axis ? parts_clocks(p) : 1;

	if (clocks > 1 && !parts_are_aligned(p))
		log_warn("export: times of %zu clocks, which do not compare, lie on one axis "
			 "(dial9-prof merge aligns them by their wall clocks)",
			 clocks);
}

int export_end(struct export *x)
{
	begin_output(x);
	if (x->run->profile)
		write_sums(x);
	if (x->format->end)
		x->format->end(x);
	write_out(x);
	report_clocks(x);
	return x->run->err;
}
