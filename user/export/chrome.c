// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trace Event JSON, for chrome://tracing, Perfetto and others. Owns the layout: a row per CPU with
 * the running threads, a row per thread with its states, arrows from wakers to the threads they
 * woke, marks for samples and events, and one table of stack frames at the end.
 *
 * A row is a process and a thread. CPU rows belong to process 0; with several clocks in a trace,
 * their PIDs are offset by PART_STEP. Times are microseconds with three decimals.
 */
#include <stdlib.h>

#include "base/json.h"
#include "export/formats.h"
#include "export/value_text.h"
#include "export/stack_tree.h"
#include "profile/sched/intervals.h"

/* PIDs on Linux are far below, and readers expect them in 32 bits. */
#define PART_STEP 10000000ULL
#define PARTS_APART 200u

struct chrome {
	struct stack_tree stacks;
	struct hmap cpus; /* part << 32 | cpu of the rows written so far */
	struct buf text;
	uint64_t flows; /* arrows so far */
	bool any;
};

/* ---- parts of an event ----------------------------------------------------------------------- */

static void put_us(struct buf *out, uint64_t ns)
{
	buf_addu(out, ns / 1000);
	buf_addch(out, '.');
	buf_addu_padded(out, ns % 1000, 3, '0');
}

static uint64_t process_of(uint32_t part, uint32_t pid)
{
	return part % PARTS_APART * PART_STEP + pid;
}

/* If the process is unknown, the thread stands for it. */
static uint64_t process(const struct export_thread *t)
{
	return process_of(t->part, t->pid != TRACE_NONE ? t->pid : t->tid);
}

/* {"ph":"X","pid":1,"tid":2 */
static void begin_event(struct export *x, char phase, uint64_t pid, uint32_t tid)
{
	struct chrome *c = x->state;

	buf_addstr(&x->out, c->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	c->any = true;
	buf_addch(&x->out, phase);
	buf_addch(&x->out, '"');
	json_u64(&x->out, "pid", pid);
	json_u64(&x->out, "tid", tid);
}

static void put_ts(struct export *x, uint64_t ns)
{
	json_key(&x->out, "ts");
	put_us(&x->out, ns);
}

static void put_stack(struct export *x, const uint64_t *frames, uint32_t cnt)
{
	struct chrome *c = x->state;
	uint32_t node = stack_tree_add(&c->stacks, x->names, frames, cnt);

	if (node != STACK_TREE_NONE)
		json_u64(&x->out, "sf", node);
}

/* The text of the state as a member, and none of it any more. */
static void put_string(struct export *x, const char *key)
{
	struct chrome *c = x->state;

	json_text(&x->out, key, buf_cstr(&c->text), c->text.len);
	buf_clear(&c->text);
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* {"ph":"M",...,"name":WHAT,"args":{"name":the state's text}} */
static void put_row_name(struct export *x, uint64_t pid, uint32_t tid, const char *what)
{
	begin_event(x, 'M', pid, tid);
	json_str(&x->out, "name", what);
	json_object(&x->out, "args");
	put_string(x, "name");
	json_end(&x->out, "}}");
}

static void chrome_begin(struct export *x)
{
	buf_addstr(&x->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

static void chrome_thread(struct export *x, const struct export_thread *t)
{
	struct chrome *c = x->state;

	/* idle threads are on the row of their CPU */
	if (!t->tid)
		return;
	value_text_name(&c->text, x->names, t->comm);
	put_row_name(x, process(t), t->tid, "thread_name");
	if (t->pid != t->tid)
		return;
	value_text_name(&c->text, x->names, t->comm);
	put_row_name(x, process(t), t->tid, "process_name");
}

static void announce_cpu(struct export *x, uint32_t part, uint32_t cpu)
{
	const uint64_t key = (uint64_t)part << 32 | cpu, pid = process_of(part, 0);
	struct chrome *c = x->state;

	if (hmap_get(&c->cpus, key))
		return;
	hmap_set(&c->cpus, key, c);
	buf_printf(&c->text, "CPU %u", cpu);
	put_row_name(x, pid, cpu, "thread_name");
	buf_addstr(&c->text, "CPUs");
	put_row_name(x, pid, cpu, "process_name");
	begin_event(x, 'M', pid, cpu);
	buf_addstr(&x->out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":-1}}");
}

/* ---- intervals ------------------------------------------------------------------------------- */

static void put_span(struct export *x, const struct interval *i)
{
	put_ts(x, i->start);
	json_key(&x->out, "dur");
	put_us(&x->out, i->end - i->start);
}

static void put_on_cpu(struct export *x, const struct export_interval *i)
{
	const struct interval *raw = i->raw;
	struct chrome *c = x->state;

	announce_cpu(x, i->thread->part, raw->cpu);
	begin_event(x, 'X', process_of(i->thread->part, 0), raw->cpu);
	put_span(x, raw);
	value_text_name(&c->text, x->names, i->thread->comm);
	buf_addch(&c->text, '/');
	buf_addu(&c->text, i->thread->tid);
	buf_addstr(&x->out, ",\"cat\":\"cpu\"");
	put_string(x, "name");
	buf_addch(&x->out, '}');
}

/* From the waker, which is running, to the runnable interval that starts. */
static void put_arrow(struct export *x, const struct export_interval *i)
{
	static const char ends[] = { 's', 'f' };
	const struct export_thread *t[] = { i->waker, i->thread };
	struct chrome *c = x->state;

	for (int end = 0; end < 2; end++) {
		begin_event(x, ends[end], process(t[end]), t[end]->tid);
		put_ts(x, i->raw->waker->ts);
		buf_addstr(&x->out, ",\"cat\":\"wakeup\",\"name\":\"wakeup\"");
		json_u64(&x->out, "id", c->flows);
		buf_addstr(&x->out, end ? ",\"bp\":\"e\"}" : "}");
	}
	c->flows++;
}

static void put_args(struct export *x, const struct export_interval *i)
{
	const struct interval *raw = i->raw;
	struct chrome *c = x->state;

	json_object(&x->out, "args");
	if (raw->cpu != TRACE_NONE)
		json_u64(&x->out, "cpu", raw->cpu);
	if (raw->state == INTERVAL_BLOCKED && !(raw->flags & INTERVAL_EDGE_START))
		json_char(&x->out, "letter", interval_letter(raw->prev_state));
	if (raw->waker) {
		value_text_waker(&c->text, x->names, raw->waker);
		put_string(x, "waker");
	}
	if (raw->flags & INTERVAL_CUT)
		json_bool(&x->out, "cut", true);
	json_end(&x->out, "}");
}

static void chrome_interval(struct export *x, const struct export_interval *i)
{
	const struct interval *raw = i->raw;

	if (raw->state == INTERVAL_RUNNING && raw->cpu != TRACE_NONE)
		put_on_cpu(x, i);
	begin_event(x, 'X', process(i->thread), i->thread->tid);
	put_span(x, raw);
	buf_addstr(&x->out, ",\"cat\":\"state\",\"name\":\"");
	buf_addstr(&x->out, value_text_state(raw->state));
	buf_addch(&x->out, '"');
	put_stack(x, i->frames, i->frame_cnt);
	put_args(x, i);
	buf_addch(&x->out, '}');
	if (raw->state == INTERVAL_RUNNABLE && i->waker && raw->waker->ts >= raw->start)
		put_arrow(x, i);
}

/* ---- marks ------------------------------------------------------------------------------------- */

/* On the thread's row, if it has one; otherwise on its CPU's. */
static void begin_mark(struct export *x, const struct export_thread *t, uint32_t part, uint32_t cpu)
{
	if (t && t->tid) {
		begin_event(x, 'i', process(t), t->tid);
		return;
	}
	cpu = cpu != TRACE_NONE ? cpu : 0;
	part = names_part(x->names, part)->clock;
	announce_cpu(x, part, cpu);
	begin_event(x, 'i', process_of(part, 0), cpu);
}

static void chrome_sample(struct export *x, const struct export_sample *s)
{
	begin_mark(x, s->thread, s->raw->part, s->cpu);
	put_ts(x, s->ts);
	buf_addstr(&x->out, ",\"s\":\"t\",\"cat\":\"sample\",\"name\":\"sample\"");
	put_stack(x, s->frames, s->frame_cnt);
	buf_addch(&x->out, '}');
}

static void put_fields(struct export *x, const struct trace_event *ev)
{
	json_object(&x->out, "args");
	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		if ((int32_t)i == ev->schema->role[ROLE_CALLCHAIN])
			continue;
		value_text_json_name(&x->out, NULL, x->names, ev->schema->field_names[i]);
		buf_addch(&x->out, ':');
		value_text_json_field(&x->out, reader_trace(x->reader), ev, i);
	}
	json_end(&x->out, "}");
}

/*
 * Switches, wakeups and off-CPU intervals are the rows themselves; recorder information is not an
 * event.
 */
static void chrome_event(struct export *x, const struct export_thread *t,
			 const struct trace_event *ev)
{
	if (!ev->has_ts || ev->kind == TRACE_SCHED_SWITCH || ev->kind == TRACE_SCHED_WAKING ||
	    ev->kind == TRACE_OFF_CPU || ev->kind == TRACE_SAMPLE ||
	    trace_is_recorder_info(ev->kind))
		return;
	begin_mark(x, t, ev->part, ev->cpu);
	put_ts(x, ev->ts);
	json_char(&x->out, "s", t ? 't' : 'g');
	json_str(&x->out, "cat", "event");
	value_text_json_name(&x->out, "name", x->names, ev->schema->name);
	put_stack(x, ev->frames, ev->frame_cnt);
	put_fields(x, ev);
	buf_addch(&x->out, '}');
}

/* ---- end ------------------------------------------------------------------------------------- */

static void put_frame(struct export *x, size_t i)
{
	struct chrome *c = x->state;
	const struct stack_tree_node *node = &c->stacks.nodes[i];
	const struct stack_tree_func *f = &c->stacks.funcs[node->func];

	buf_addstr(&x->out, i ? ",\n\"" : "\n\"");
	buf_addu(&x->out, i);
	buf_addstr(&x->out, "\":{");
	value_text_function(&c->text, x->names, f->sym, f->inlined);
	put_string(x, "name");
	value_text_module(&c->text, x->names, f->module);
	put_string(x, "category");
	if (node->parent != STACK_TREE_NONE)
		json_u64(&x->out, "parent", node->parent);
	buf_addch(&x->out, '}');
}

static void chrome_end(struct export *x)
{
	struct chrome *c = x->state;

	buf_addstr(&x->out, "\n],\"stackFrames\":{");
	for (size_t i = 0; i < c->stacks.node_cnt; i++) {
		put_frame(x, i);
		export_flush(x);
	}
	buf_addstr(&x->out, "}}\n");
}

static void chrome_fini(struct export *x)
{
	struct chrome *c = x->state;

	stack_tree_fini(&c->stacks);
	hmap_fini(&c->cpus);
	buf_free(&c->text);
}

const struct exporter export_chrome = {
	.name = "chrome",
	.brief =
		"a timeline of CPUs and threads, for chrome://tracing and other readers of its JSON",
	.one_axis = true,
	.state_sz = sizeof(struct chrome),
	.begin = chrome_begin,
	.thread = chrome_thread,
	.sample = chrome_sample,
	.interval = chrome_interval,
	.event = chrome_event,
	.end = chrome_end,
	.fini = chrome_fini,
};
