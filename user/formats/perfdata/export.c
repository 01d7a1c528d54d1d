// SPDX-License-Identifier: BSD-2-Clause
/*
 * export.c - dial9 to perf.data
 *
 * Owns the order of reading, and which record an event becomes. The trace is read three times: for its names, mappings
 * and schemas; to count the bytes of the records, which the file begins with; and to write them. A tracepoint waits
 * for its stack, which is the next event of a trace and part of the same record in perf.data.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "formats/perfdata/header_out.h"
#include "formats/perfdata/perfdata.h"
#include "formats/perfdata/stream.h"
#include "formats/perfdata/tasks_out.h"

#define OTHER_HOSTS "events of other hosts or boots: convert each recording"
#define STACKS_APART "stacks that do not follow their event"

enum { ROUND_RECORDS = 1 << 16, CHAIN_MAX = TRACE_STACK_MAX + 2 };

/* A tracepoint that waits for its stack. */
struct waiting {
	bool set;
	const struct perfdata_raw_event *event;
	uint8_t source; /* of the stack */
	struct perfdata_moment m;
	struct buf raw;
};

struct exporter {
	const struct foreign_input *in;
	struct foreign_notes *notes, ignored; /* notes: of this reading */
	struct names *names;
	struct trace *trace;
	struct perfdata_raw_layout layout;
	struct perfdata_addresses *addresses;
	struct perfdata_header_out header;
	struct perfdata_out out;
	struct perfdata_tasks_out tasks;
	struct waiting waiting;
	bool has_part; /* header.part is known */
	uint16_t last_event; /* of the first reading */
	uint64_t last_ts, rounds_at, records;
	uint64_t chain[CHAIN_MAX];
};

/* ---- reading ----------------------------------------------------------------------------------- */

typedef void (*event_fn)(struct exporter *x, const struct trace_event *ev);

/* Calls back for each event of the trace, from its start. */
static int read_trace(struct exporter *x, bool learn, event_fn fn)
{
	struct trace_opts opts = {
		.read = x->in->read, .ctx = x->in->ctx, .names = x->names, .learn = learn
	};
	struct dial9_error where;
	struct trace_event ev;
	int ret = x->in->rewind(x->in->ctx);

	if (!ret)
		ret = trace_new(&opts, &x->trace);
	if (ret)
		return ret;
	while (!x->out.err && (ret = trace_next(x->trace, &ev)) > 0)
		fn(x, &ev);
	trace_error(x->trace, &where);
	if (learn && ret < 0)
		ret = foreign_end_dec(x->in, ret, &where, x->notes);
	else if (ret == -ENODATA || foreign_is_stop(ret))
		ret = 0; /* the first reading has said so */
	trace_free(x->trace);
	x->trace = NULL;
	return x->out.err ? x->out.err : ret;
}

/* Whether an event becomes a tracepoint: kernels and applications have them, the recorder has not. */
static bool is_event(const struct trace_event *ev)
{
	return ev->kind < TRACE_SAMPLE && !(ev->kind == TRACE_OTHER && ev->schema->own.event);
}

static bool is_of_host(const struct exporter *x, const struct trace_event *ev)
{
	return names_part(x->names, ev->part)->clock == names_part(x->names, x->header.part)->clock;
}

/* Whether a kind of LostEvents is a loss, and no choice. */
static bool is_loss(struct dial9_str kind)
{
	static const char *const others[] = { PROF_LOST_SIDEBAND_DOUBT, PROF_LOST_STACKS_OFF,
					      PROF_LOST_THINNED,	PROF_LOST_PAUSED,
					      PROF_LOST_NOT_KEPT,	PROF_LOST_STACKS_THINNED };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (kind.len == strlen(others[i]) && !memcmp(kind.ptr, others[i], kind.len))
			return false;
	return true;
}

/* ---- first reading ----------------------------------------------------------------------------- */

static void learn_map(struct exporter *x, const struct trace_event *ev)
{
	struct perfdata_known known = { .ts = ev->ts };
	struct own_map map = { 0 };

	trace_read_map(x->trace, ev, &map);
	if (map.module_id > PROF_FRAME_MODULE_MAX)
		return;
	known.pid = map.pid;
	known.module =
		names_frame_module(trace_frame(x->trace, map.module_id << PROF_FRAME_MODULE_SHIFT));
	known.start = map.start;
	known.end = map.end;
	known.off = map.offset;
	perfdata_addresses_learn(x->addresses, &known);
}

static void note_unused(struct exporter *x, const struct trace_event *ev)
{
	if (ev->kind == TRACE_SYMBOL)
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1,
			     "symbols: perf looks them up in the files of the modules", NULL);
	else if (ev->kind == TRACE_TP_SYMBOL)
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1, "names of values of tracepoints",
			     NULL);
	else if (ev->kind == TRACE_STATS || ev->kind == TRACE_COST || ev->kind == TRACE_SUMMARY ||
		 (ev->kind == TRACE_OTHER && ev->schema->own.event))
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1, "events about the recorder", NULL);
}

static void learn(struct exporter *x, const struct trace_event *ev)
{
	struct perfdata_raw_event *e;

	/* part 0 of a merged trace may be the merge itself, without a host */
	if (!x->has_part && (is_event(ev) || ev->kind == TRACE_SAMPLE)) {
		x->has_part = true;
		x->header.part = ev->part;
	}
	if (x->has_part && !is_of_host(x, ev)) {
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1, OTHER_HOSTS, NULL);
		return;
	}
	note_unused(x, ev);
	if (ev->kind == TRACE_PROC_MAPS)
		learn_map(x, ev);
	if (!is_event(ev) && ev->kind != TRACE_SAMPLE)
		return;
	x->header.has_cpu |= ev->cpu != TRACE_NONE;
	if (ev->has_ts && (!x->header.first_ts || ev->ts < x->header.first_ts))
		x->header.first_ts = ev->ts;
	if (ev->has_ts && ev->ts > x->header.last_ts)
		x->header.last_ts = ev->ts;
	if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SAMPLE) {
		x->header.has_samples = true;
	} else if (ev->kind == TRACE_SAMPLE) {
		if (x->last_event)
			x->layout.v[x->last_event - 1].has_stack = true;
	} else {
		e = perfdata_raw_layout_learn(&x->layout, x->names, ev->schema, x->notes);
		x->last_event = e ? e->number : 0;
	}
}

static bool has_event(const struct exporter *x, const char *event)
{
	for (size_t i = 0; i < x->layout.cnt; i++)
		if (!strcmp(x->layout.v[i].system, "sched") && !strcmp(x->layout.v[i].event, event))
			return true;
	return false;
}

/* perf sums the runtimes that the kernel reports, not the times between switches. */
static void note_runtimes(struct exporter *x)
{
	if (has_event(x, "sched_switch") && !has_event(x, "sched_stat_runtime"))
		foreign_note(
			x->notes, FOREIGN_NOTE_HINT, 1,
			"perf sched latency prints runtimes of 0: for these, also record -e sched:sched_stat_runtime",
			NULL);
}

/* ---- samples ----------------------------------------------------------------------------------- */

static void end_record(struct exporter *x, uint32_t type, uint16_t misc)
{
	perfdata_out_record(&x->out, type, misc);
	if (++x->records < x->rounds_at)
		return;
	x->rounds_at = x->records + ROUND_RECORDS;
	perfdata_out_record(&x->out, PERFDATA_FINISHED_ROUND, 0);
}

/* Callers are calls in dial9, and return addresses in perf: see import. */
static size_t make_chain(struct exporter *x, const struct perfdata_moment *m,
			 const struct trace_event *ev, bool tracepoint)
{
	size_t cnt = 0;
	bool first = true;

	for (uint32_t i = 0; i < ev->frame_cnt; i++) {
		const bool kernel = ev->frames[i] & PROF_FRAME_KERNEL;
		const bool was_kernel = i && ev->frames[i - 1] & PROF_FRAME_KERNEL;

		if (cnt + 2 > CHAIN_MAX)
			break;
		if (!i || kernel != was_kernel) {
			x->chain[cnt++] = kernel ? (uint64_t)PERF_CONTEXT_KERNEL :
						   (uint64_t)PERF_CONTEXT_USER;
			first = true;
		}
		x->chain[cnt] = perfdata_addresses_get(x->addresses, m, ev->frames[i]) +
				!(first && !(kernel && tracepoint));
		/* an address outside of all mappings, of which the trace has the low bits */
		if (!kernel && !names_frame_module(ev->frames[i]))
			x->chain[cnt] &= PROF_FRAME_OFFSET_MASK;
		cnt++;
		first = false;
	}
	return cnt;
}

/* @e NULL: a CPU sample. @stack NULL: none. */
static void put_sample(struct exporter *x, const struct perfdata_moment *m,
		       const struct perfdata_raw_event *e, const struct trace_event *stack,
		       const struct buf *raw)
{
	const size_t cnt = stack ? make_chain(x, m, stack, e) : 0;
	const bool user = cnt && x->chain[0] == (uint64_t)PERF_CONTEXT_USER;
	const uint32_t raw_sz = raw ? (uint32_t)((raw->len + 4 + 7) / 8 * 8 - 4) : 0;

	perfdata_out_u64(&x->out, m->id);
	perfdata_out_u64(&x->out, cnt ? x->chain[1] : 0);
	perfdata_out_u32(&x->out, m->pid);
	perfdata_out_u32(&x->out, m->tid);
	perfdata_out_u64(&x->out, m->ts);
	perfdata_out_cpu(&x->out, m->cpu);
	perfdata_out_u64(&x->out, e ? 1 : names_period_ns(x->names, x->header.part) ?: 1);
	if (perfdata_header_out_type(&x->header, e) & PERF_SAMPLE_CALLCHAIN) {
		perfdata_out_u64(&x->out, cnt);
		buf_add(&x->out.body, x->chain, cnt * sizeof(x->chain[0]));
	}
	if (raw) {
		perfdata_out_u32(&x->out, raw_sz);
		buf_add(&x->out.body, raw->data, raw->len);
		buf_fill(&x->out.body, '\0', raw_sz - raw->len);
	}
	end_record(x, PERF_RECORD_SAMPLE, user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
}

static void put_waiting(struct exporter *x, const struct trace_event *stack)
{
	if (x->waiting.set)
		put_sample(x, &x->waiting.m, x->waiting.event, stack, &x->waiting.raw);
	x->waiting.set = false;
}

/* ---- events ------------------------------------------------------------------------------------ */

static struct perfdata_moment moment_of(struct exporter *x, const struct trace_event *ev)
{
	const struct perfdata_task task = { ev->part, ev->tid, ev->pid, ev->comm };
	struct perfdata_moment m = { .tid = ev->tid, .cpu = ev->cpu, .ts = ev->ts };

	if (!ev->has_ts) {
		foreign_note(x->notes, FOREIGN_NOTE_CHANGED, 1,
			     "event without a time, at the time before", NULL);
		m.ts = x->last_ts;
	}
	x->last_ts = m.ts;
	m.pid = perfdata_tasks_out_pid(&x->tasks, &task);
	m.id = x->header.has_samples ? PERFDATA_OUT_SAMPLE_ID : PERFDATA_OUT_SAMPLE_ID + 1;
	return m;
}

/* The threads that an event names besides its own. */
static void sync_named(struct exporter *x, const struct trace_event *ev,
		       const struct perfdata_moment *m)
{
	const bool is_switch = ev->kind == TRACE_SCHED_SWITCH;
	const enum trace_role comm = is_switch ? ROLE_NEXT_COMM : ROLE_COMM;
	struct perfdata_task task = { .part = ev->part, .pid = TRACE_NONE };
	const struct names_task *known;
	uint64_t tid;

	if ((!is_switch && ev->kind != TRACE_SCHED_WAKING) ||
	    !trace_u64(ev, is_switch ? ROLE_NEXT_PID : ROLE_PID, &tid) || tid >= TRACE_NONE)
		return;
	task.tid = (uint32_t)tid;
	known = trace_task(x->trace, task.tid);
	task.pid = known ? known->pid : TRACE_NONE;
	task.comm = trace_str_id(x->trace, ev, comm);
	perfdata_tasks_out_sync(&x->tasks, m, &task);
}

static bool is_named(const struct exporter *x, const struct trace_event *ev, const char *name)
{
	return !strcmp(names_str(x->names, ev->schema->name, NULL), name);
}

/* Forks and exits are events of the trace, too. */
static void put_life(struct exporter *x, const struct trace_event *ev,
		     const struct perfdata_moment *m)
{
	uint64_t child;

	if (ev->kind != TRACE_TRACEPOINT)
		return;
	if (is_named(x, ev, PROF_EV_SCHED_PROCESS_FORK) && trace_u64(ev, ROLE_CHILD_PID, &child))
		perfdata_tasks_out_fork(&x->tasks, m->tid, (uint32_t)child);
	else if (is_named(x, ev, PROF_EV_SCHED_PROCESS_EXIT))
		perfdata_tasks_out_exit(&x->tasks, m);
}

static uint8_t stack_source(enum trace_kind kind)
{
	return kind == TRACE_SCHED_SWITCH ? PROF_SOURCE_SWITCH_OUT :
	       kind == TRACE_SCHED_WAKING ? PROF_SOURCE_WAKING :
					    PROF_SOURCE_EVENT;
}

static void put_event(struct exporter *x, const struct trace_event *ev)
{
	const struct perfdata_raw_event *e = perfdata_raw_layout_find(&x->layout, ev->schema);
	struct perfdata_moment m = moment_of(x, ev);
	const struct perfdata_task task = { ev->part, ev->tid, ev->pid, ev->comm };

	put_waiting(x, NULL);
	if (!e) {
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1, "events of too many kinds", NULL);
		return;
	}
	perfdata_tasks_out_sync(&x->tasks, &m, &task);
	sync_named(x, ev, &m);
	put_life(x, ev, &m);
	m.id = perfdata_header_out_id(e);
	x->waiting.set = true;
	x->waiting.event = e;
	x->waiting.source = stack_source(ev->kind);
	x->waiting.m = m;
	buf_clear(&x->waiting.raw);
	perfdata_raw_layout_put(&x->layout, x->trace, ev, &x->waiting.raw, x->notes);
}

static void put_stack(struct exporter *x, const struct trace_event *ev)
{
	const struct perfdata_task task = { ev->part, ev->tid, ev->pid, ev->comm };
	struct perfdata_moment m = moment_of(x, ev);

	if (ev->source == PROF_SOURCE_SAMPLE) {
		put_waiting(x, NULL);
		perfdata_tasks_out_sync(&x->tasks, &m, &task);
		m.id = PERFDATA_OUT_SAMPLE_ID;
		put_sample(x, &m, NULL, ev, NULL);
	} else if (x->waiting.set && x->waiting.source == ev->source &&
		   x->waiting.m.tid == ev->tid && x->waiting.m.ts == ev->ts) {
		x->waiting.m.pid = m.pid;
		put_waiting(x, ev);
	} else {
		put_waiting(x, NULL);
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1, STACKS_APART, NULL);
	}
}

static void put_task(struct exporter *x, const struct trace_event *ev)
{
	struct perfdata_moment m = moment_of(x, ev);
	struct perfdata_task task = { .part = ev->part };
	struct own_task own = { 0 };

	trace_read_task(x->trace, ev, &own);
	put_waiting(x, NULL);
	task.tid = own.tid;
	task.pid = own.pid;
	task.comm = trace_str_id(x->trace, ev, ROLE_COMM);
	perfdata_tasks_out_sync(&x->tasks, &m, &task);
}

static void put_loss(struct exporter *x, const struct trace_event *ev)
{
	struct perfdata_moment m = moment_of(x, ev);
	struct own_lost lost = { 0 };

	trace_read_lost(x->trace, ev, &lost);
	if (!is_loss(lost.kind)) {
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1,
			     "times in which the recorder skipped events on purpose", NULL);
		return;
	}
	put_waiting(x, NULL);
	m.pid = m.tid = 0;
	m.cpu = lost.cpu;
	perfdata_out_u64(&x->out, m.id);
	perfdata_out_u64(&x->out, lost.count);
	perfdata_out_moment(&x->out, &m);
	end_record(x, PERF_RECORD_LOST, 0);
}

static void put(struct exporter *x, const struct trace_event *ev)
{
	if (!is_of_host(x, ev))
		return;
	if (is_event(ev))
		put_event(x, ev);
	else if (ev->kind == TRACE_SAMPLE)
		put_stack(x, ev);
	else if (ev->kind == TRACE_TASK)
		put_task(x, ev);
	else if (ev->kind == TRACE_LOST)
		put_loss(x, ev);
}

/* ---- the whole --------------------------------------------------------------------------------- */

static int put_records(struct exporter *x)
{
	const uint64_t before = x->out.sz;
	int err;

	perfdata_tasks_out_fini(&x->tasks);
	x->tasks = (struct perfdata_tasks_out){ .names = x->names,
						.out = &x->out,
						.addresses = x->addresses };
	x->waiting.set = false;
	x->last_ts = x->header.first_ts;
	x->records = 0;
	x->rounds_at = ROUND_RECORDS;
	perfdata_addresses_start(x->addresses, x->header.part, &x->out);
	perfdata_raw_layout_start(&x->layout);
	err = read_trace(x, false, put);
	put_waiting(x, NULL);
	/* without any record, the file would look unfinished */
	if (x->out.sz == before)
		perfdata_out_record(&x->out, PERFDATA_FINISHED_ROUND, 0);
	return err;
}

static int export_trace(struct exporter *x, dial9_write_fn write, void *ctx,
			struct foreign_notes *notes)
{
	int err = read_trace(x, true, learn), end;

	/* what is good of a damaged trace is written, and the line was printed */
	if (err && err != -EBADMSG)
		return err;
	note_runtimes(x);
	perfdata_raw_layout_place(&x->layout);
	/* a file without any event cannot be read */
	x->header.has_samples |= !x->layout.cnt;
	x->out.has_cpu = x->header.has_cpu;
	x->notes = &x->ignored;
	end = put_records(x);
	if (end)
		return end;
	x->header.data_sz = x->out.sz;
	x->out.write = write;
	x->out.ctx = ctx;
	perfdata_header_out_begin(&x->header, &x->out);
	x->notes = notes;
	end = put_records(x);
	if (end)
		return end;
	perfdata_header_out_end(&x->header, &x->out);
	end = perfdata_out_flush(&x->out);
	return end ? end : err;
}

int perfdata_export(const struct foreign_input *in, const struct foreign_opts *opts,
		    dial9_write_fn write, void *ctx, struct foreign_notes *notes)
{
	struct exporter *x;
	int err;

	if (!in->rewind) {
		log_error(
			"convert: a perf.data file begins with its size, so --follow cannot write one");
		return -EINVAL;
	}
	x = xcalloc(1, sizeof(*x));
	x->in = in;
	x->notes = notes;
	err = names_new(&x->names);
	if (!err) {
		perfdata_addresses_new(x->names, &x->addresses);
		x->header = (struct perfdata_header_out){ .names = x->names,
							  .layout = &x->layout,
							  .addresses = x->addresses };
		err = export_trace(x, write, ctx, notes);
	}
	perfdata_tasks_out_fini(&x->tasks);
	perfdata_out_fini(&x->out);
	perfdata_addresses_free(x->addresses);
	perfdata_raw_layout_fini(&x->layout);
	foreign_notes_fini(&x->ignored);
	buf_free(&x->waiting.raw);
	names_free(x->names);
	free(x);
	return err;
}
