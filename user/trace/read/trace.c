// SPDX-License-Identifier: BSD-2-Clause
/*
 * The iterator over a dial9 stream: frames in, events with thread, CPU and stack out. Owns the
 * decoder, the schemas and the state of each thread at the current position. The tables of names
 * are borrowed, so that a look-ahead over the same bytes can fill them. Does not depend on files,
 * profiles or text.
 *
 * Metadata events are absorbed and then returned like any other: `info` counts them, other callers
 * skip them by kind. A header resets state in time proportional to what was used; otherwise a file
 * with only headers would take forever.
 */
#include "trace/read/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "trace/read/format_level.h"
#include "trace/read/layout.h"

enum { RECENT_CNT = 512 };

/* Cache of the last lookup of a thread. */
struct recent_task {
	uint64_t key; /* as in trace.tasks */
	const struct names_task *task; /* NULL: free */
};

/* In trace.modules: a raw module, removed at the end of the part. */
#define MODULE_RAW (1u << 31)

struct trace {
	struct dial9_dec *dec;
	struct names *names;
	bool learn, names_only, skip_stacks;
	unsigned int skip_kinds; /* 1 << enum trace_kind */
	struct dial9_skipped *skipped; /* by part */
	size_t skipped_cnt, skipped_cap;
	struct layout_set schemas;
	uint32_t part, base; /* of the current event */
	uint64_t segments; /* headers so far */
	struct hmap tasks; /* clock << 32 | tid -> struct names_task, as of the current event */
	struct recent_task *recent; /* by the low bits of the key: almost all lookups end here */
	uint32_t *modules; /* id in this segment -> index + 1, possibly with MODULE_RAW */
	size_t module_cap;
	uint32_t *module_used;
	size_t module_used_cnt, module_used_cap;
	uint32_t *raw_used; /* those with MODULE_RAW */
	size_t raw_used_cnt, raw_used_cap;
	uint64_t *frames; /* of the current event */
	size_t frame_cap;
	uint64_t event_bytes;
	struct format_level uses;
	uint32_t swapper; /* string id */
};

int trace_new(const struct trace_opts *opts, struct trace **out)
{
	struct dial9_dec_opts dopts = { .sz = sizeof(dopts), .read = opts->read, .ctx = opts->ctx };
	struct dial9_dec *dec;
	struct trace *t;
	int err;

	err = dial9_dec_new(&dopts, &dec);
	if (err)
		return err;
	t = xcalloc(1, sizeof(*t));
	t->dec = dec;
	t->names = opts->names;
	t->learn = opts->learn;
	t->names_only = opts->names_only;
	t->swapper = names_add(t->names, "swapper", 7);
	hmap_init(&t->tasks);
	t->recent = xcalloc(RECENT_CNT, sizeof(*t->recent));
	*out = t;
	return 0;
}

void trace_free(struct trace *t)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	if (!t)
		return;
	while (hmap_next(&t->tasks, &pos, &key, &value))
		free(value);
	hmap_fini(&t->tasks);
	free(t->recent);
	layout_set_fini(&t->schemas);
	dial9_dec_free(t->dec);
	free(t->modules);
	free(t->module_used);
	free(t->raw_used);
	free(t->skipped);
	free(t->frames);
	free(t);
}

const struct names *trace_names(const struct trace *t)
{
	return t->names;
}

void trace_skip_stacks(struct trace *t)
{
	t->skip_stacks = true;
}

static void skip_type(struct trace *t, uint16_t type_id)
{
	const struct trace_schema *s = layout_set_get(&t->schemas, type_id);

	/* in a merged stream the part is one of the values, so these must be decoded */
	if (s && t->skip_kinds & 1u << s->kind && s->role[ROLE_PART] < 0)
		dial9_dec_skip(t->dec, type_id);
}

void trace_skip_kinds(struct trace *t, unsigned int kinds)
{
	t->skip_kinds |= kinds;
	for (size_t i = 0; i < t->schemas.used_cnt; i++)
		skip_type(t, t->schemas.used[i]);
}

void trace_names_only(struct trace *t)
{
	t->names_only = true;
}

/* ---- values --------------------------------------------------------------------------------- */

static const struct dial9_value *role_value(const struct trace_event *ev, enum trace_role role)
{
	int32_t i = ev->schema->role[role];

	return i >= 0 ? &ev->values[i] : NULL;
}

static inline uint32_t role_u32(const struct trace_event *ev, enum trace_role role)
{
	uint64_t v = trace_u64_or(ev, role, TRACE_NONE);

	return v < TRACE_NONE ? (uint32_t)v : TRACE_NONE;
}

bool trace_value_str(const struct trace *t, const struct dial9_value *v, struct dial9_str *out)
{
	return !dial9_value_str(t->dec, v, out);
}

bool trace_value_stack(const struct trace *t, const struct dial9_value *v, const uint8_t **le,
		       uint32_t *cnt)
{
	if (dial9_value_stack(t->dec, v, le, cnt))
		return false;
	if (v->type == DIAL9_POOLED_STACK && *cnt > TRACE_STACK_MAX)
		*cnt = TRACE_STACK_MAX;
	return true;
}

uint64_t trace_long_stacks(const struct trace *t)
{
	return t->uses.long_stacks;
}

bool trace_maybe_u64(const struct trace_event *ev, enum trace_role role, uint64_t *out)
{
	const struct dial9_value *v = &ev->values[ev->schema->role[role]];

	if (v->type != DIAL9_BOOL)
		return trace_value_u64(v, out);
	*out = v->b;
	return true;
}

bool trace_str(const struct trace *t, const struct trace_event *ev, enum trace_role role,
	       struct dial9_str *out)
{
	const struct dial9_value *v = role_value(ev, role);

	return v && trace_value_str(t, v, out);
}

static uint32_t text_id(const struct trace *t, struct dial9_str s)
{
	return s.len ? names_add(t->names, s.ptr, s.len) : NAMES_NONE;
}

uint32_t trace_str_id(const struct trace *t, const struct trace_event *ev, enum trace_role role)
{
	struct dial9_str s;

	return trace_str(t, ev, role, &s) ? text_id(t, s) : NAMES_NONE;
}

uint64_t trace_read_own(const struct trace *t, const struct trace_event *ev, enum own_event_id id,
			void *out)
{
	const struct own_fields *f = &ev->schema->own;

	return f->event == own_event(id) ? own_fields_read(f, t->dec, ev->values, out) : 0;
}

/* ---- modules and frames ---------------------------------------------------------------------- */

static void module_map(struct trace *t, uint32_t id, uint32_t index)
{
	t->modules = array_reserve(t->modules, &t->module_cap, (size_t)id + 1, sizeof(*t->modules));
	if (!t->modules[id] || t->modules[id] & MODULE_RAW) {
		t->module_used = array_reserve(t->module_used, &t->module_used_cap,
					       t->module_used_cnt + 1, sizeof(*t->module_used));
		t->module_used[t->module_used_cnt++] = id;
	}
	t->modules[id] = index + 1;
}

/* Valid until the part ends. */
static uint32_t module_raw(struct trace *t, uint32_t id)
{
	t->modules = array_reserve(t->modules, &t->module_cap, (size_t)id + 1, sizeof(*t->modules));
	t->raw_used = array_reserve(t->raw_used, &t->raw_used_cap, t->raw_used_cnt + 1,
				    sizeof(*t->raw_used));
	t->raw_used[t->raw_used_cnt++] = id;
	t->modules[id] = (names_module_raw(t->names, t->part, id) + 1) | MODULE_RAW;
	return t->modules[id];
}

static inline uint64_t frame_in(struct trace *t, uint64_t addr)
{
	uint32_t id = names_frame_module(addr), module;

	if (!id && !t->part)
		return addr;
	module = id < t->module_cap ? t->modules[id] : 0;
	if (!module)
		module = module_raw(t, id);
	return (addr & (PROF_FRAME_KERNEL | PROF_FRAME_OFFSET_MASK)) |
	       (uint64_t)((module & ~MODULE_RAW) - 1) << PROF_FRAME_MODULE_SHIFT;
}

uint64_t trace_frame(struct trace *t, uint64_t addr)
{
	return frame_in(t, addr);
}

static void absorb_module(struct trace *t, const struct trace_event *ev)
{
	struct own_module own = { .kind = PROF_MODULE_ELF };
	struct names_module m;

	trace_read_module(t, ev, &own);
	if (!own.module_id || own.module_id > PROF_FRAME_MODULE_MAX)
		return;
	m = (struct names_module){
		.id = (uint32_t)own.module_id,
		.path = text_id(t, own.path),
		.kind = own.kind,
		.announced = true,
		.part = t->part,
	};
	if (own.build_id.sz && own.build_id.sz <= NAMES_BUILD_ID_MAX) {
		m.build_id_sz = (uint8_t)own.build_id.sz;
		memcpy(m.build_id, own.build_id.ptr, own.build_id.sz);
	}
	module_map(t, m.id, names_module_add(t->names, &m));
}

static void absorb_module_status(struct trace *t, const struct trace_event *ev)
{
	struct own_module_status own = { 0 };

	trace_read_module_status(t, ev, &own);
	if (own.module_id < t->module_cap && t->modules[own.module_id])
		names_module_set_status(t->names, (t->modules[own.module_id] & ~MODULE_RAW) - 1,
					text_id(t, own.status), text_id(t, own.detail));
}

static void absorb_symbol(struct trace *t, const struct trace_event *ev)
{
	struct own_symbol own = { .inline_depth = 0 };
	const uint64_t filled = trace_read_symbol(t, ev, &own);
	struct names_frame f = {
		.name = text_id(t, own.symbol_name),
		.file = text_id(t, own.source_file),
		.line = own.source_line <= UINT32_MAX ? (uint32_t)own.source_line : 0,
		.size = own.size,
	};
	const char *name;
	size_t len;

	if (!OWN_HAS(filled, SYMBOL, symbol, addr) || own.inline_depth >= NAMES_DEPTH_MAX ||
	    f.name == NAMES_NONE)
		return;
	name = names_str(t->names, f.name, &len);
	f.base = own.base_addr ? frame_in(t, own.base_addr) : NAMES_BASE_UNKNOWN;
	f.label = !own.inline_depth && !f.size && names_is_label(name, len);
	names_symbol_set(t->names, frame_in(t, own.addr), (uint32_t)own.inline_depth, &f);
}

static void load_frames(struct trace *t, struct trace_event *ev)
{
	const struct dial9_value *v = role_value(ev, ROLE_CALLCHAIN);
	const uint8_t *le;
	uint32_t cnt;

	if (!v || !trace_value_stack(t, v, &le, &cnt))
		return;
	if (cnt > TRACE_STACK_MAX) {
		t->uses.long_stacks++;
		cnt = TRACE_STACK_MAX;
	}
	t->frames = array_reserve(t->frames, &t->frame_cap, cnt, sizeof(*t->frames));
	for (uint32_t i = 0; i < cnt; i++)
		t->frames[i] = frame_in(t, dial9_frame_at(le, i));
	ev->frames = t->frames;
	ev->frame_cnt = cnt;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static __attribute__((noinline)) const struct names_task *find_task(const struct trace *t,
								    uint64_t key, uint32_t tid)
{
	const struct names_task *cur = hmap_get(&t->tasks, key);

	if (!cur)
		cur = names_task_first(t->names, t->part, tid);
	if (cur)
		t->recent[key % RECENT_CNT] = (struct recent_task){ key, cur };
	return cur;
}

static inline const struct names_task *task_of(const struct trace *t, uint32_t tid)
{
	const uint64_t key = names_task_key(t->names, t->part, tid);
	const struct recent_task *recent = &t->recent[key % RECENT_CNT];

	return recent->task && recent->key == key ? recent->task : find_task(t, key, tid);
}

static void task_set(struct trace *t, const struct names_task *task)
{
	uint64_t key = names_task_key(t->names, t->part, task->tid);
	struct names_task *cur = hmap_get(&t->tasks, key);

	if (cur) {
		*cur = *task;
	} else {
		cur = xmemdup(task, sizeof(*task));
		hmap_set(&t->tasks, key, cur);
	}
	/* the cache may have had its first name */
	t->recent[key % RECENT_CNT] = (struct recent_task){ key, cur };
	if (t->learn)
		names_task_learn(t->names, t->part, task);
}

static void absorb_task(struct trace *t, const struct trace_event *ev)
{
	struct own_task own = { .pid = TRACE_NONE, .tid = TRACE_NONE, .ppid = TRACE_NONE };

	trace_read_task(t, ev, &own);
	if (own.tid != TRACE_NONE)
		task_set(t, &(struct names_task){ .tid = own.tid,
						  .pid = own.pid,
						  .ppid = own.ppid,
						  .comm = text_id(t, own.comm),
						  .exe = text_id(t, own.exe),
						  .cgroup = text_id(t, own.cgroup),
						  .recorded = true });
}

static bool is_named(const struct trace *t, const struct names_task *task, struct dial9_str name)
{
	size_t len;
	const char *now = names_str(t->names, task->comm, &len);

	return len == name.len && !memcmp(now, name.ptr, len);
}

/* A thread without a TaskEvent gets its name from the switch. */
static __attribute__((noinline)) void guess_task(struct trace *t, const struct trace_event *ev,
						 uint32_t tid, enum trace_role comm)
{
	const struct names_task *cur = task_of(t, tid);
	struct names_task task = { .tid = tid,
				   .pid = TRACE_NONE,
				   .ppid = TRACE_NONE,
				   .exe = NAMES_NONE,
				   .cgroup = NAMES_NONE };
	struct dial9_str name;

	if (!trace_str(t, ev, comm, &name) || !name.len || (cur && is_named(t, cur, name)))
		return;
	task.comm = names_add(t->names, name.ptr, name.len);
	task_set(t, &task);
}

/* A thread without a TaskEvent gets its process from its samples. */
static void guess_task_by_sample(struct trace *t, const struct trace_event *ev)
{
	const struct dial9_value *v = role_value(ev, ROLE_THREAD_NAME);
	const struct names_task *cur;
	struct names_task task = { .tid = role_u32(ev, ROLE_TID),
				   .pid = role_u32(ev, ROLE_PID),
				   .ppid = TRACE_NONE,
				   .exe = NAMES_NONE,
				   .cgroup = NAMES_NONE };

	if (!v || !v->type || task.tid == TRACE_NONE || !task.tid)
		return;
	cur = task_of(t, task.tid);
	if (cur && cur->comm != NAMES_NONE)
		return;
	if (cur)
		task = *cur;
	task.comm = trace_str_id(t, ev, ROLE_THREAD_NAME);
	if (task.comm != NAMES_NONE)
		task_set(t, &task);
}

static inline void guess_tasks_by_switch(struct trace *t, const struct trace_event *ev,
					 enum trace_role pid, enum trace_role comm)
{
	const uint32_t tid = role_u32(ev, pid);
	const struct names_task *cur;

	if (tid == TRACE_NONE || !tid)
		return;
	cur = task_of(t, tid);
	if (!cur || !cur->recorded)
		guess_task(t, ev, tid, comm);
}

const struct names_task *trace_task(const struct trace *t, uint32_t tid)
{
	return task_of(t, tid);
}

static void clear_event_task(struct trace_event *ev)
{
	ev->tid = ev->pid = ev->cpu = TRACE_NONE;
	ev->comm = ev->cgroup = NAMES_NONE;
}

/* Finds the thread of this event. */
static void find_event_task(struct trace *t, struct trace_event *ev)
{
	const struct names_task *task;
	bool tp = ev->schema->role[ROLE_COMMON_PID] >= 0;

	ev->tid = role_u32(ev, tp ? ROLE_COMMON_PID : ROLE_TID);
	ev->cpu = role_u32(ev, tp ? ROLE_COMMON_CPU : ROLE_CPU);
	ev->pid = tp ? TRACE_NONE : role_u32(ev, ROLE_PID);
	ev->comm = ev->cgroup = NAMES_NONE;
	if (!ev->tid) {
		ev->pid = 0;
		ev->comm = t->swapper;
		return;
	}
	task = ev->tid != TRACE_NONE ? task_of(t, ev->tid) : NULL;
	if (task) {
		ev->comm = task->comm;
		ev->cgroup = task->cgroup;
		if (ev->pid == TRACE_NONE)
			ev->pid = task->pid;
	}
	if (ev->comm == NAMES_NONE)
		ev->comm = trace_str_id(t, ev, ROLE_THREAD_NAME);
}

/* ---- the rest of the metadata ------------------------------------------------------------------ */

static void absorb_tp_symbol(struct trace *t, const struct trace_event *ev)
{
	struct own_tp_symbol own = { .kind = 0 };
	const uint64_t filled = trace_read_tp_symbol(t, ev, &own);
	struct tp_symbols_row row = { .kind = own.kind, .value = own.value };

	if (!own.event.len || !own.field.len || !OWN_HAS(filled, TP_SYMBOL, tp_symbol, kind) ||
	    !OWN_HAS(filled, TP_SYMBOL, tp_symbol, value))
		return;
	row.name = names_str(t->names, text_id(t, own.name), &row.name_len);
	row.source = hash_u64(ev->ts + t->part);
	names_add_tp_symbol(t->names, t->part, text_id(t, own.event), text_id(t, own.field), &row);
}

static inline void absorb(struct trace *t, const struct trace_event *ev)
{
	if (ev->kind == TRACE_SCHED_SWITCH) {
		guess_tasks_by_switch(t, ev, ROLE_PREV_PID, ROLE_PREV_COMM);
		guess_tasks_by_switch(t, ev, ROLE_NEXT_PID, ROLE_NEXT_COMM);
	} else if (ev->kind == TRACE_SAMPLE) {
		guess_task_by_sample(t, ev);
	} else if (ev->kind == TRACE_OFF_CPU) {
		guess_tasks_by_switch(t, ev, ROLE_COMMON_PID, ROLE_COMM);
	} else if (!trace_is_naming(ev->kind)) {
		return;
	} else if (ev->kind == TRACE_MODULE) {
		absorb_module(t, ev);
	} else if (ev->kind == TRACE_TASK) {
		absorb_task(t, ev);
	} else if (t->learn) {
		if (ev->kind == TRACE_SYMBOL)
			absorb_symbol(t, ev);
		else if (ev->kind == TRACE_MODULE_STATUS)
			absorb_module_status(t, ev);
		else if (ev->kind == TRACE_TP_SYMBOL)
			absorb_tp_symbol(t, ev);
	}
}

/* ---- parts ------------------------------------------------------------------------------------- */

static void learn_metadata(struct trace *t, const struct trace_event *ev, uint32_t part)
{
	struct parts *p = &t->names->parts;
	const struct dial9_value *v = role_value(ev, ROLE_ENTRIES);
	struct parts_meta meta[PARTS_META_MAX];
	struct dial9_value key, val;
	struct dial9_iter it;
	size_t cnt = 0;

	if (v && v->type == DIAL9_STRING_MAP) {
		dial9_iter_init(&it, v);
		while (cnt < PARTS_META_MAX && dial9_map_next(&it, &key, &val) == 1) {
			meta[cnt].key = names_add(t->names, key.str.ptr, key.str.len);
			meta[cnt++].value = names_add(t->names, val.str.ptr, val.str.len);
		}
	}
	if (part != p->last)
		parts_merged_metadata(p, part, meta, cnt);
	else
		parts_metadata(p, ev->offset, meta, cnt);
}

static void learn_clock(struct trace *t, const struct trace_event *ev, uint32_t part, uint64_t real)
{
	struct parts *p = &t->names->parts;

	if (part != p->last)
		parts_merged_clock(p, part, ev->ts, real);
	else
		parts_clock(p, ev->offset, ev->ts, real);
}

static void learn_part(struct trace *t, const struct trace_event *ev)
{
	struct parts *p = &t->names->parts;
	const uint64_t number = trace_u64_or(ev, ROLE_PART, 0);
	const uint32_t part = parts_of(p, p->last, number);
	struct own_merged_part merged = { 0 };
	uint64_t real;

	if (ev->kind == TRACE_MERGED_PART && trace_read_merged_part(t, ev, &merged))
		parts_merged(p, ev->offset, number, merged.clock, merged.shift_ns);
	else if (ev->kind == TRACE_METADATA)
		learn_metadata(t, ev, part);
	else if (ev->kind == TRACE_CLOCK_SYNC && ev->has_ts &&
		 trace_u64(ev, ROLE_REALTIME_NS, &real))
		learn_clock(t, ev, part, real);
	else if (part != p->last)
		p->v[part].events++;
	else
		parts_event(p, ev->offset);
}

/* Addresses without a module belong to another program in the next part. */
static void drop_raw_modules(struct trace *t)
{
	while (t->raw_used_cnt) {
		const uint32_t id = t->raw_used[--t->raw_used_cnt];

		if (t->modules[id] & MODULE_RAW)
			t->modules[id] = 0;
	}
}

static void find_part(struct trace *t, const struct trace_event *ev)
{
	uint32_t part;

	if (t->learn)
		learn_part(t, ev);
	t->base = parts_at(&t->names->parts, t->base, ev->offset);
	part = parts_of(&t->names->parts, t->base, trace_u64_or(ev, ROLE_PART, 0));
	if (part != t->part)
		drop_raw_modules(t);
	t->part = part;
}

/* ---- iteration --------------------------------------------------------------------------------- */

static void begin_segment(struct trace *t, uint64_t offset)
{
	t->segments++;
	layout_set_segment(&t->schemas);
	drop_raw_modules(t);
	while (t->module_used_cnt)
		t->modules[t->module_used[--t->module_used_cnt]] = 0;
	if (t->learn) {
		t->names->segment++;
		parts_segment(&t->names->parts, offset);
	}
}

/* Reads the fields of a sample. */
static void load_sample(struct trace_event *ev)
{
	ev->source = (uint8_t)trace_u64_or(ev, ROLE_SOURCE, PROF_SOURCE_SAMPLE);
	ev->flags = (uint8_t)trace_u64_or(ev, ROLE_FLAGS, 0);
	ev->user_end = (uint8_t)trace_u64_or(ev, ROLE_USER_END, PROF_END_NOT_WALKED);
}

static void learn_schema(struct trace *t, uint16_t type_id, const struct dial9_schema *schema)
{
	struct dial9_iter notes;

	dial9_dec_annotations(t->dec, type_id, &notes);
	layout_set_add(&t->schemas, t->names, type_id, schema, notes);
	skip_type(t, type_id);
}

/* The schema of an event whose annotations changed before it. */
static struct trace_schema *rebuild_schema(struct trace *t, const struct dial9_frame *f)
{
	learn_schema(t, f->event.type_id, f->event.schema);
	return layout_set_get(&t->schemas, f->event.type_id);
}

/* Sets each member: clearing the struct first would cost as much as everything else. */
static int fill_event(struct trace *t, const struct dial9_frame *f, struct trace_event *ev)
{
	struct trace_schema *schema = layout_set_get(&t->schemas, f->event.type_id);

	if (!schema)
		schema = rebuild_schema(t, f);
	schema->has_events = true;
	ev->schema = schema;
	ev->kind = schema->kind;
	ev->has_ts = f->event.has_ts;
	ev->ts = f->event.ts;
	ev->offset = f->offset;
	ev->bytes = dial9_dec_consumed(t->dec) - f->offset;
	ev->segment = t->segments - 1;
	ev->values = f->event.values;
	ev->frames = NULL;
	ev->frame_cnt = 0;
	ev->source = ev->flags = ev->user_end = 0;
	t->event_bytes += ev->bytes;
	find_part(t, ev);
	ev->part = t->part;
	absorb(t, ev);
	if (t->names_only) {
		clear_event_task(ev);
		return 1;
	}
	find_event_task(t, ev);
	if (ev->kind == TRACE_SAMPLE)
		load_sample(ev);
	if (ev->source == PROF_SOURCE_SAMPLE || !t->skip_stacks)
		load_frames(t, ev);
	return 1;
}

/* Adds the events that the decoder skipped: between the previous frame and the one at @offset. */
static void add_skipped(struct trace *t, uint64_t offset)
{
	struct parts *parts = &t->names->parts;
	struct dial9_skipped s, *sum;
	uint32_t part;

	if (!dial9_dec_skipped(t->dec, &s))
		return;
	if (t->learn) {
		parts_event(parts, offset - 1);
		parts->v[parts->last].events += s.cnt - 1;
	}
	part = parts_at(parts, t->base, offset - 1);
	t->skipped =
		array_reserve(t->skipped, &t->skipped_cap, (size_t)part + 1, sizeof(*t->skipped));
	while (t->skipped_cnt <= part)
		t->skipped[t->skipped_cnt++] = (struct dial9_skipped){ .first_ts = UINT64_MAX };
	sum = &t->skipped[part];
	sum->cnt += s.cnt;
	sum->first_ts = s.first_ts < sum->first_ts ? s.first_ts : sum->first_ts;
	sum->last_ts = s.last_ts > sum->last_ts ? s.last_ts : sum->last_ts;
}

struct dial9_skipped trace_skipped(const struct trace *t, uint32_t part)
{
	return part < t->skipped_cnt ? t->skipped[part] :
				       (struct dial9_skipped){ .first_ts = UINT64_MAX };
}

int trace_next(struct trace *t, struct trace_event *ev)
{
	struct dial9_frame f;
	int ret;

	for (;;) {
		ret = dial9_dec_next(t->dec, &f);
		if (t->skip_kinds)
			add_skipped(t, ret == 1 ? f.offset : trace_consumed(t));
		if (ret != 1)
			return ret;
		if (f.kind == DIAL9_FRAME_EVENT)
			return fill_event(t, &f, ev);
		format_level_add_frame(&t->uses, &f);
		if (f.kind == DIAL9_FRAME_HEADER || f.kind == DIAL9_FRAME_MIDHEADER)
			begin_segment(t, f.offset);
		else if (f.kind == DIAL9_FRAME_SCHEMA)
			learn_schema(t, f.schema.type_id, f.schema.schema);
		else if (f.kind == DIAL9_FRAME_ANNOTATIONS)
			layout_set_outdate(&t->schemas, f.pool.type_id);
	}
}

void trace_error(const struct trace *t, struct dial9_error *err)
{
	dial9_dec_error(t->dec, err);
}

uint64_t trace_consumed(const struct trace *t)
{
	return dial9_dec_consumed(t->dec);
}

uint64_t trace_overhead_bytes(const struct trace *t)
{
	return dial9_dec_consumed(t->dec) - t->event_bytes;
}

unsigned int trace_uses(const struct trace *t)
{
	return t->uses.level4;
}

struct trace_schema *const *trace_schemas(const struct trace *t, size_t *cnt)
{
	*cnt = t->schemas.cnt;
	return t->schemas.all;
}

/*
 * Sources in order: the schema's annotations, the rows for the event's name, the defaults of the
 * field's kind.
 */
const struct tp_symbols *trace_schema_symbols(const struct trace *t, const struct trace_schema *ts,
					      uint32_t part, size_t i)
{
	const struct field_units *m = &ts->units[i];
	const struct tp_symbols *syms = NULL;
	const char *text;

	if (m->names != NAMES_NONE)
		syms = names_enum(t->names, m->names);
	if (!syms)
		syms = names_tp_symbols(t->names, part, ts->name, ts->field_names[i]);
	text = syms ? NULL : field_units_default_names(m);
	return text ? names_enum(t->names, names_add(t->names, text, strlen(text))) : syms;
}

const struct tp_symbols *trace_field_symbols(const struct trace *t, const struct trace_event *ev,
					     size_t i)
{
	struct trace_schema *ts = (struct trace_schema *)ev->schema;

	if (ts->syms_version != t->names->tp_symbols_version || ts->syms_part != ev->part) {
		for (size_t f = 0; f < ts->field_cnt; f++)
			ts->syms[f] = trace_schema_symbols(t, ts, ev->part, f);
		ts->syms_version = t->names->tp_symbols_version;
		ts->syms_part = ev->part;
	}
	return ts->syms[i];
}

bool trace_field_text(const struct trace *t, const struct trace_event *ev, size_t i,
		      struct buf *out)
{
	const struct tp_symbols *syms = trace_field_symbols(t, ev, i);
	const struct dial9_value *v = &ev->values[i];
	uint64_t x;

	if (!syms)
		return false;
	if (v->type == DIAL9_BYTES)
		return tp_symbols_render_array(syms, (const uint8_t *)v->str.ptr, v->str.len, out);
	if (v->type == DIAL9_I64)
		x = (uint64_t)v->i64;
	else if (v->type == DIAL9_VARINT || (v->type >= DIAL9_U8 && v->type <= DIAL9_U32))
		x = v->u64;
	else
		return false;
	return tp_symbols_render(syms, x, out);
}
