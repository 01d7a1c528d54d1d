// SPDX-License-Identifier: BSD-2-Clause
/*
 * The traces of a query. Owns readers, names, and what one pass over each trace yields: recordings, losses, gaps,
 * clocks, threads. Independent of SQL. The first pass skips most events; each scan of a table opens its own reader,
 * which shares the names, because scans may be nested.
 */
#include "query/trace_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/sched/recorded_switches.h"

/* Events between two checks of the stop flag. */
#define STOP_EVERY 8192

bool trace_inputs_is_stopped(const struct trace_inputs *all)
{
	return all->stop && *all->stop;
}

/* ---- the first pass ----------------------------------------------------------------------------- */

static struct trace_input_part *part_of(struct trace_input *in, uint32_t part)
{
	in->parts = array_reserve(in->parts, &in->part_cap, (size_t)part + 1, sizeof(*in->parts));
	if (in->part_cnt <= part)
		in->part_cnt = (size_t)part + 1;
	return &in->parts[part];
}

static void extend(struct trace_input_part *p, uint64_t first, uint64_t last)
{
	if (!p->any || first < p->first_ts)
		p->first_ts = first;
	if (!p->any || last > p->last_ts)
		p->last_ts = last;
	p->any = true;
}

static uint64_t task_key(uint32_t part, uint32_t pid, uint32_t tid)
{
	const uint32_t key[3] = { part, pid, tid };

	return hash_bytes(key, sizeof(key));
}

/* A later name replaces an earlier one. */
static void add_task(struct trace_input *in, uint32_t part, const struct names_task *task)
{
	const uint64_t key = task_key(part, task->pid, task->tid);
	size_t at = (uintptr_t)hmap_get(&in->task_index, key);

	if (!at) {
		in->tasks = array_reserve(in->tasks, &in->task_cap, in->task_cnt + 1,
					  sizeof(*in->tasks));
		at = ++in->task_cnt;
		hmap_set(&in->task_index, key, (void *)(uintptr_t)at);
	}
	in->tasks[at - 1] = (struct trace_input_task){ part, *task };
}

static uint32_t string_id(struct trace_input *in, struct dial9_str s)
{
	return s.len ? names_add(in->names, s.ptr, s.len) : NAMES_NONE;
}

static void learn_task(struct trace_input *in, const struct trace *t, const struct trace_event *ev)
{
	struct own_task own = { 0 };

	if (!trace_read_task(t, ev, &own))
		return;
	add_task(in, ev->part,
		 &(struct names_task){ .tid = (uint32_t)own.tid,
				       .pid = (uint32_t)own.pid,
				       .ppid = (uint32_t)own.ppid,
				       .comm = string_id(in, own.comm),
				       .exe = string_id(in, own.exe),
				       .cgroup = string_id(in, own.cgroup),
				       .recorded = true });
}

static void learn_event(struct trace_input *in, const struct trace_event *ev)
{
	const struct trace *t = reader_trace(in->first);
	struct trace_input_part *p = part_of(in, ev->part);

	event_counts_add_loss(&in->losses, t, in->names, ev);
	intervals_add_gaps(in->gaps, t, ev);
	if (ev->kind == TRACE_SCHED_SWITCH || ev->kind == TRACE_OFF_CPU)
		p->switches = true;
	if (ev->kind == TRACE_SAMPLE &&
	    trace_u64_or(ev, ROLE_SOURCE, PROF_SOURCE_SAMPLE) == PROF_SOURCE_SAMPLE)
		p->samples = true;
	if (ev->kind == TRACE_TASK)
		learn_task(in, t, ev);
	if (!ev->has_ts)
		return;
	if (!trace_is_naming(ev->kind) && ev->kind != TRACE_LOST)
		extend(p, ev->ts, ev->ts);
}

/* Of off-CPU intervals, waits and samples only the number and the time are needed. */
static int learn(struct trace_inputs *all, struct trace_input *in)
{
	struct trace_event ev;
	uint64_t n = 0;
	int ret;

	reader_skip_stacks(in->first);
	reader_skip_tasks(in->first);
	reader_skip_kinds(in->first, 1u << TRACE_TRACEPOINT | 1u << TRACE_SCHED_WAKING |
					     1u << TRACE_CPU_WATCH);
	while ((ret = reader_next(in->first, &ev)) == 1) {
		learn_event(in, &ev);
		if (++n % STOP_EVERY == 0 && trace_inputs_is_stopped(all))
			return -EINTR;
	}
	/* no trace at all */
	if (ret < 0 && !n && !trace_consumed(reader_trace(in->first)))
		return ret;
	in->events = n;
	in->damaged = ret < 0 || reader_is_incomplete(in->first);
	in->torn = !in->damaged && reader_is_truncated(in->first);
	return 0;
}

/* ---- after it ----------------------------------------------------------------------------------- */

static void add_parts(struct trace_input *in)
{
	for (uint32_t i = 0; i < in->names->parts.cnt; i++) {
		const struct dial9_skipped s = trace_skipped(reader_trace(in->first), i);

		if (recorded_switches(in->names, i))
			part_of(in, i)->switches = true;
		if (s.cnt)
			extend(part_of(in, i), s.first_ts, s.last_ts);
		in->events += s.cnt;
	}
}

/* Threads that no TaskEvent names. */
static void add_guessed_tasks(struct trace_input *in)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&in->names->tasks, &pos, &key, &value)) {
		const struct names_task *task = value;
		const uint32_t clock = (uint32_t)(key >> 32);

		if (!task->recorded &&
		    !hmap_get(&in->task_index, task_key(clock, task->pid, task->tid)))
			add_task(in, clock, task);
	}
}

static int by_tid(const void *a, const void *b)
{
	const struct trace_input_task *x = a, *y = b;

	if (x->task.tid != y->task.tid)
		return x->task.tid < y->task.tid ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->task.pid < y->task.pid ? -1 : x->task.pid > y->task.pid;
}

static bool same_text(const struct names *a, uint32_t x, const struct names *b, uint32_t y)
{
	return x != NAMES_NONE && y != NAMES_NONE && *names_str(a, x, NULL) &&
	       !strcmp(names_str(a, x, NULL), names_str(b, y, NULL));
}

/* The number of a clock: of a part before on that boot, or its own. */
static int64_t clock_of(const struct trace_inputs *all, const struct trace_input *in, uint32_t part)
{
	const struct part *p = names_part(in->names, part);

	if (p->clock != part && p->clock < in->part_cnt)
		return in->parts[p->clock].clock;
	for (size_t i = 0; i < all->cnt; i++) {
		const struct trace_input *other = all->v[i];

		for (uint32_t k = 0; k < other->part_cnt; k++) {
			const struct part *o = names_part(other->names, k);

			if (same_text(in->names, p->boot_id, other->names, o->boot_id) &&
			    same_text(in->names, p->host, other->names, o->host))
				return other->parts[k].clock;
		}
	}
	return in->parts[part].number;
}

static void set_host(struct trace_input_part *p, const struct names *n, uint32_t host)
{
	if (host == NAMES_NONE)
		return;
	p->host = names_str(n, host, &p->host_len);
	p->host_string = host + 1;
}

static void number_parts(struct trace_inputs *all, struct trace_input *in)
{
	part_of(in, (uint32_t)(in->names->parts.cnt - 1));
	for (uint32_t i = 0; i < in->part_cnt; i++) {
		struct trace_input_part *p = &in->parts[i];

		p->number = ++all->part_cnt;
		p->clock = clock_of(all, in, i);
		p->period_ns = names_period_ns(in->names, i);
		set_host(p, in->names, names_part(in->names, i)->host);
	}
}

static void ignore_interval(void *ctx, const struct interval *i)
{
}

static void input_free(struct trace_input *in)
{
	free(in->parts);
	free(in->tasks);
	hmap_fini(&in->task_index);
	intervals_free(in->gaps);
	event_counts_fini(&in->losses);
	stack_table_fini(&in->stacks);
	recorder_tasks_fini(&in->recorder);
	buf_free(&in->text);
	reader_free(in->first);
	free(in);
}

int trace_inputs_add(struct trace_inputs *all, struct reader *r,
		     const struct trace_input_again *again)
{
	struct trace_input *in = xcalloc(1, sizeof(*in));
	int err;

	in->index = (uint32_t)all->cnt;
	in->again = *again;
	in->first = r;
	in->names = reader_names(r);
	in->gaps = intervals_new(&(struct intervals_opts){ in->names, ignore_interval, NULL });
	err = learn(all, in);
	if (err) {
		input_free(in);
		return err;
	}
	add_parts(in);
	add_guessed_tasks(in);
	hmap_fini(&in->task_index);
	if (in->task_cnt)
		qsort(in->tasks, in->task_cnt, sizeof(*in->tasks), by_tid);
	number_parts(all, in);
	all->v = array_reserve(all->v, &all->cap, all->cnt + 1, sizeof(struct trace_input *));
	all->v[all->cnt++] = in;
	return 0;
}

void trace_inputs_fini(struct trace_inputs *all)
{
	for (size_t i = 0; i < all->cnt; i++)
		input_free(all->v[i]);
	free(all->v);
	*all = (struct trace_inputs){ 0 };
}

/* ---- for scans ---------------------------------------------------------------------------------- */

int trace_input_read(const struct trace_input *in, uint64_t from, uint64_t to, struct reader **out)
{
	struct source *src;
	int err = in->again.open(in->again.ctx, &src);

	if (err)
		return err;
	if ((from || to != UINT64_MAX) && in->part_cnt == 1)
		source_restrict(src, from, to);
	return reader_new_sharing(in->first, src, out);
}

const struct trace_input_part *trace_input_part(const struct trace_input *in, uint32_t part)
{
	return &in->parts[part < in->part_cnt ? part : 0];
}

bool trace_input_wall(const struct trace_input *in, uint32_t part, uint64_t ts, int64_t *out)
{
	uint64_t wall;

	if (!parts_wall(&in->names->parts, part, ts, &wall) || wall > INT64_MAX)
		return false;
	*out = (int64_t)wall;
	return true;
}

int64_t trace_input_add_stack(struct trace_input *in, const uint64_t *frames, uint32_t cnt)
{
	if (!cnt)
		return -1;
	return (int64_t)((uint64_t)in->index << 32 | stack_table_add(&in->stacks, frames, cnt));
}

const uint64_t *trace_inputs_stack(const struct trace_inputs *all, int64_t stack,
				   struct trace_input **in, uint32_t *cnt)
{
	const uint64_t index = (uint64_t)stack >> 32;

	if (stack < 0 || index >= all->cnt)
		return NULL;
	*in = all->v[index];
	return stack_table_get(&(*in)->stacks, (uint32_t)stack, cnt);
}

const struct loss_accounting *trace_input_losses(const struct trace_input *in, uint32_t part)
{
	return &event_counts_part(&in->losses, part)->account;
}
