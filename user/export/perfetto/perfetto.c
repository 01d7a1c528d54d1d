// SPDX-License-Identifier: BSD-2-Clause
/*
 * Perfetto's trace: a stream of Protocol Buffers packets. Owns the mapping from events to packets;
 * enums have the field numbers of the format.
 *
 * Tracepoints are ftrace events. Scheduler events and a few more have typed fields, from
 * which Perfetto makes slices, thread states, wakeups and counters; any other is a generic event. A
 * stack is written in the first packet that uses it. Blocked intervals, for which ftrace has no
 * stack, are also slices on a track of their own. Times are on the trace's clock: see put_clocks().
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/formats.h"
#include "export/value_text.h"
#include "export/perfetto/perfetto_stacks.h"
#include "export/perfetto/perfetto_tracks.h"
#include "export/proto.h"

enum { PACKET_FTRACE = 1, PACKET_PROCESS_TREE = 2, PACKET_CLOCKS = 6, PACKET_SYSTEM = 45 };
enum { PACKET_SAMPLE = 66 };
enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { SYSTEM_UTSNAME = 1, UTSNAME_SYSNAME = 1, UTSNAME_RELEASE = 3, UTSNAME_MACHINE = 4 };
enum { TREE_PROCESS = 1, TREE_THREAD = 2 };
enum { PROCESS_PID = 1, PROCESS_CMDLINE = 3 };
enum { THREAD_TID = 1, THREAD_NAME = 2, THREAD_TGID = 3 };
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, EVENT_TIME = 1, EVENT_PID = 2, EVENT_GENERIC = 327 };
enum { GENERIC_NAME = 1, GENERIC_FIELD = 2 };
enum { FIELD_NAME = 1, FIELD_STR = 3, FIELD_INT = 4, FIELD_UINT = 5 };
enum { SAMPLE_CPU = 1, SAMPLE_PID, SAMPLE_TID, SAMPLE_STACK, SAMPLE_MODE };
enum { MODE_KERNEL = 1, MODE_USER = 2 };

/* Tracepoints with an ftrace message of their own. */
struct known {
	const char *event;
	uint32_t field; /* of an ftrace event */
	struct {
		const char *name;
		uint32_t field;
	} fields[8];
};

static const struct known known[] = {
	{ "sched:sched_switch",
	  4,
	  { { "prev_comm", 1 },
	    { "prev_pid", 2 },
	    { "prev_prio", 3 },
	    { "prev_state", 4 },
	    { "next_comm", 5 },
	    { "next_pid", 6 },
	    { "next_prio", 7 } } },
	{ "sched:sched_waking",
	  20,
	  { { "comm", 1 }, { "pid", 2 }, { "prio", 3 }, { "target_cpu", 5 } } },
	{ "sched:sched_wakeup_new",
	  114,
	  { { "comm", 1 }, { "pid", 2 }, { "prio", 3 }, { "target_cpu", 5 } } },
	{ "power:cpu_frequency", 11, { { "state", 1 }, { "cpu_id", 2 } } },
	{ "power:cpu_idle", 13, { { "state", 1 }, { "cpu_id", 2 } } },
	{ "sched:sched_process_exec", 237, { { "filename", 1 }, { "pid", 2 }, { "old_pid", 3 } } },
	{ "sched:sched_process_exit", 238, { { "comm", 1 }, { "pid", 2 }, { "prio", 4 } } },
	{ "sched:sched_process_fork",
	  239,
	  { { "parent_comm", 1 }, { "parent_pid", 2 }, { "child_comm", 3 }, { "child_pid", 4 } } },
	{ "raw_syscalls:sys_enter", 329, { { "id", 1 } } },
	{ "raw_syscalls:sys_exit", 330, { { "id", 1 }, { "ret", 2 } } },
	{ "irq:softirq_entry", 24, { { "vec", 1 } } },
	{ "irq:softirq_exit", 25, { { "vec", 1 } } },
	{ "irq:irq_handler_entry", 36, { { "irq", 1 }, { "name", 2 } } },
	{ "irq:irq_handler_exit", 37, { { "irq", 1 }, { "ret", 2 } } },
};

enum { KNOWN_CNT = sizeof(known) / sizeof(known[0]), FIELDS_MAX = 8 };

/* How to write the events of one schema. */
struct plan {
	const struct known *known; /* NULL: a generic event */
	uint32_t fields[]; /* of the ftrace event, by position in the schema; 0: none */
};

/* ---- clocks -------------------------------------------------------------------------------------- */

static void put_clock(struct export *x, uint64_t id, uint64_t ts)
{
	size_t clock = proto_begin(&x->out, CLOCKS_CLOCK);

	proto_u64(&x->out, CLOCK_ID, id);
	proto_u64(&x->out, CLOCK_TIME, ts);
	proto_end(&x->out, clock);
}

/*
 * The trace's clock is CLOCK_MONOTONIC, or CLOCK_BOOTTIME, according to its metadata. Perfetto's
 * ftrace events are always on CLOCK_BOOTTIME. A trace on CLOCK_MONOTONIC does not have that clock,
 * so both are declared equal.
 */
static void put_clocks(struct export *x, uint64_t mono, const uint64_t *real)
{
	const struct perfetto *p = x->state;
	size_t packet = proto_begin(&x->out, TRACE_PACKET);
	size_t clocks = proto_begin(&x->out, PACKET_CLOCKS);

	if (p->clock == CLOCK_MONOTONIC_ID)
		put_clock(x, CLOCK_MONOTONIC_ID, mono);
	put_clock(x, CLOCK_BOOTTIME_ID, mono);
	if (real)
		put_clock(x, CLOCK_REALTIME_ID, *real);
	proto_u64(&x->out, CLOCKS_PRIMARY, p->clock);
	proto_end(&x->out, clocks);
	proto_end(&x->out, packet);
}

/* First of all packets, because it defines the clocks. */
static void put_first_clocks(struct export *x)
{
	const struct part *part = names_part(x->names, 0);
	const char *clock = names_meta(x->names, 0, PROF_META_CLOCK);
	struct perfetto *p = x->state;

	p->clock =
		clock && !strcmp(clock, "CLOCK_BOOTTIME") ? CLOCK_BOOTTIME_ID : CLOCK_MONOTONIC_ID;
	put_clocks(x, part->synced ? part->mono : x->first_ts, part->synced ? &part->real : NULL);
}

/* Other boots have no clock in common. */
static void put_later_clocks(struct export *x, const struct trace_event *ev)
{
	uint64_t real;

	if (!names_part(x->names, ev->part)->clock && ev->ts > names_part(x->names, 0)->mono &&
	    trace_u64(ev, ROLE_REALTIME_NS, &real))
		put_clocks(x, ev->ts, &real);
}

/* Perfetto decodes state bits by kernel release. */
static void put_system(struct export *x)
{
	const char *kernel = names_meta(x->names, 0, PROF_META_KERNEL), *release;
	const char *arch = names_meta(x->names, 0, PROF_META_ARCH);
	struct perfetto *p = x->state;
	size_t packet, system, uts;

	if (!kernel)
		return;
	release = strchr(kernel, ' ') ? strchr(kernel, ' ') + 1 : kernel;
	packet = proto_begin(&x->out, TRACE_PACKET);
	system = proto_begin(&x->out, PACKET_SYSTEM);
	uts = proto_begin(&x->out, SYSTEM_UTSNAME);
	proto_bytes(&x->out, UTSNAME_SYSNAME, "Linux", 5);
	value_text_clean(&p->text, release, strlen(release));
	perfetto_put_text(x, UTSNAME_RELEASE);
	if (arch)
		value_text_clean(&p->text, arch, strlen(arch));
	perfetto_put_text(x, UTSNAME_MACHINE);
	proto_end(&x->out, uts);
	proto_end(&x->out, system);
	proto_end(&x->out, packet);
}

static void perfetto_begin(struct export *x)
{
	put_first_clocks(x);
	put_system(x);
}

/* ---- threads ----------------------------------------------------------------------------------- */

static void put_process(struct export *x, const struct export_thread *t)
{
	struct perfetto *p = x->state;
	size_t process;

	/* the main thread names the process, whichever thread comes first */
	if (hmap_get(&p->processes, (uint64_t)t->pid + 1) && t->pid != t->tid)
		return;
	hmap_set(&p->processes, (uint64_t)t->pid + 1, p);
	process = proto_begin(&x->out, TREE_PROCESS);
	proto_u64(&x->out, PROCESS_PID, t->pid);
	if (t->comm != NAMES_NONE)
		perfetto_put_name(x, PROCESS_CMDLINE, t->comm);
	proto_end(&x->out, process);
}

static void perfetto_thread(struct export *x, const struct export_thread *t)
{
	size_t packet, tree, thread;

	/* Perfetto knows the idle threads */
	if (!t->tid)
		return;
	packet = proto_begin(&x->out, TRACE_PACKET);
	tree = proto_begin(&x->out, PACKET_PROCESS_TREE);
	if (t->pid != TRACE_NONE)
		put_process(x, t);
	thread = proto_begin(&x->out, TREE_THREAD);
	proto_u64(&x->out, THREAD_TID, t->tid);
	if (t->comm != NAMES_NONE)
		perfetto_put_name(x, THREAD_NAME, t->comm);
	if (t->pid != TRACE_NONE)
		proto_u64(&x->out, THREAD_TGID, t->pid);
	proto_end(&x->out, thread);
	proto_end(&x->out, tree);
	proto_end(&x->out, packet);
}

/* ---- tracepoints ------------------------------------------------------------------------------- */

static const struct known *known_by_name(const char *name)
{
	for (size_t i = 0; i < KNOWN_CNT; i++)
		if (!strcmp(known[i].event, name))
			return &known[i];
	return NULL;
}

static uint32_t known_field(const struct known *k, const char *name)
{
	for (size_t i = 0; i < FIELDS_MAX && k->fields[i].name; i++)
		if (!strcmp(k->fields[i].name, name))
			return k->fields[i].field;
	return 0;
}

/* Looked up by name once per schema. */
static const struct plan *plan_of(struct export *x, const struct trace_schema *schema)
{
	struct perfetto *p = x->state;
	struct plan *plan = hmap_get(&p->plans, (uintptr_t)schema);

	if (plan)
		return plan;
	plan = xcalloc(1, sizeof(*plan) + schema->field_cnt * sizeof(plan->fields[0]));
	plan->known = known_by_name(names_str(x->names, schema->name, NULL));
	for (size_t i = 0; plan->known && i < schema->field_cnt; i++)
		plan->fields[i] =
			known_field(plan->known, names_str(x->names, schema->field_names[i], NULL));
	hmap_set(&p->plans, (uintptr_t)schema, plan);
	return plan;
}

static void free_plans(struct perfetto *p)
{
	size_t pos = 0;
	void *plan;

	while (hmap_next(&p->plans, &pos, NULL, &plan))
		free(plan);
	hmap_fini(&p->plans);
}

static bool is_number(const struct dial9_value *v)
{
	return v->type == DIAL9_VARINT || v->type == DIAL9_I64 || v->type == DIAL9_BOOL ||
	       (v->type >= DIAL9_U8 && v->type <= DIAL9_U32);
}

static uint64_t number(const struct dial9_value *v)
{
	return v->type == DIAL9_I64 ? (uint64_t)v->i64 : v->type == DIAL9_BOOL ? v->b : v->u64;
}

static void put_value(struct export *x, const struct trace_event *ev, size_t i, uint32_t field)
{
	struct perfetto *p = x->state;

	if (is_number(&ev->values[i])) {
		proto_u64(&x->out, field, number(&ev->values[i]));
		return;
	}
	value_text_field(&p->text, reader_trace(x->reader), ev, i);
	perfetto_put_text(x, field);
}

static void put_known(struct export *x, const struct trace_event *ev, const struct plan *plan)
{
	size_t event = proto_begin(&x->out, plan->known->field);

	for (size_t i = 0; i < ev->schema->field_cnt; i++)
		if (plan->fields[i] && ev->values[i].type)
			put_value(x, ev, i, plan->fields[i]);
	proto_end(&x->out, event);
}

static void put_generic(struct export *x, const struct trace_event *ev)
{
	size_t event = proto_begin(&x->out, EVENT_GENERIC), field;

	perfetto_put_name(x, GENERIC_NAME, ev->schema->name);
	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		const uint8_t type = ev->values[i].type;

		if (!type || (int32_t)i == ev->schema->role[ROLE_CALLCHAIN])
			continue;
		field = proto_begin(&x->out, GENERIC_FIELD);
		perfetto_put_name(x, FIELD_NAME, ev->schema->field_names[i]);
		put_value(x, ev, i,
			  !is_number(&ev->values[i]) ? FIELD_STR :
			  type == DIAL9_I64	     ? FIELD_INT :
						       FIELD_UINT);
		proto_end(&x->out, field);
	}
	proto_end(&x->out, event);
}

static void perfetto_event(struct export *x, const struct export_thread *t,
			   const struct trace_event *ev)
{
	const struct plan *plan = plan_of(x, ev->schema);
	struct perfetto *p = x->state;
	size_t packet, bundle, event;

	if (!ev->has_ts || ev->kind == TRACE_SAMPLE)
		return;
	if (ev->kind == TRACE_OFF_CPU)
		p->offcpu_part = 1 + ev->part;
	if (ev->kind == TRACE_CLOCK_SYNC)
		put_later_clocks(x, ev);
	else if (!plan->known)
		perfetto_counters(x, t, ev);
	if (trace_is_recorder_info(ev->kind))
		return;
	packet = proto_begin(&x->out, TRACE_PACKET);
	bundle = proto_begin(&x->out, PACKET_FTRACE);
	proto_u64(&x->out, BUNDLE_CPU, ev->cpu != TRACE_NONE ? ev->cpu : 0);
	event = proto_begin(&x->out, BUNDLE_EVENT);
	proto_u64(&x->out, EVENT_TIME, ev->ts);
	proto_u64(&x->out, EVENT_PID, t ? t->tid : 0);
	if (plan->known)
		put_known(x, ev, plan);
	else
		put_generic(x, ev);
	proto_end(&x->out, event);
	proto_end(&x->out, bundle);
	proto_end(&x->out, packet);
}

/* ---- samples ----------------------------------------------------------------------------------- */

static void perfetto_sample(struct export *x, const struct export_sample *s)
{
	struct perfetto *p = x->state;
	uint32_t leaf = stack_tree_add(&p->stacks, x->names, s->frames, s->frame_cnt);
	size_t packet = perfetto_packet_in_sequence(x, s->ts), sample;

	if (leaf != STACK_TREE_NONE)
		perfetto_intern(x, leaf, false);
	sample = proto_begin(&x->out, PACKET_SAMPLE);
	if (s->cpu != TRACE_NONE)
		proto_u64(&x->out, SAMPLE_CPU, s->cpu);
	if (s->thread->pid != TRACE_NONE)
		proto_u64(&x->out, SAMPLE_PID, s->thread->pid);
	proto_u64(&x->out, SAMPLE_TID, s->thread->tid);
	if (leaf != STACK_TREE_NONE)
		proto_u64(&x->out, SAMPLE_STACK, perfetto_stack_id(leaf));
	if (s->frame_cnt)
		proto_u64(&x->out, SAMPLE_MODE,
			  s->frames[0] & PROF_FRAME_KERNEL ? MODE_KERNEL : MODE_USER);
	proto_end(&x->out, sample);
	proto_end(&x->out, packet);
}

static void perfetto_interval(struct export *x, const struct export_interval *i)
{
	const enum interval_state state = i->raw->state;
	const struct perfetto *p = x->state;
	const bool between = state == INTERVAL_RUNNABLE && p->offcpu_part != 1 + i->raw->part;

	/*
	 * run-queue latency is visible between switches if there are any, but missing switches are
	 * not
	 */
	if (x->kind != EXPORT_ALL || (state != INTERVAL_RUNNING && !between))
		perfetto_slice(x, i);
}

static void perfetto_fini(struct export *x)
{
	struct perfetto *p = x->state;

	perfetto_stacks_fini(p);
	perfetto_tracks_fini(p);
	free_plans(p);
	hmap_fini(&p->processes);
	buf_free(&p->text);
}

const struct exporter export_perfetto = {
	.name = "perfetto",
	.brief = "scheduling, samples and events for ui.perfetto.dev and trace_processor",
	.binary = true,
	.one_axis = true,
	.state_sz = sizeof(struct perfetto),
	.begin = perfetto_begin,
	.thread = perfetto_thread,
	.sample = perfetto_sample,
	.interval = perfetto_interval,
	.event = perfetto_event,
	.fini = perfetto_fini,
};
