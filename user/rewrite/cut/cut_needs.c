// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collects the names that the kept events of a trace need. Owns sets of frames, modules, threads and event names;
 * independent of options and output.
 *
 * There may be many TaskEvents of a thread. All inside the window are kept, and only the last one before it. If
 * there is none of either, the first one after the window is kept, which readers apply to earlier events.
 */
#include "rewrite/cut/cut_needs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define NOWHERE UINT64_MAX

struct cut_task {
	bool needed;
	uint64_t outside; /* offset of the TaskEvent to keep outside the window */
	bool inside; /* there is one in the window */
	bool before; /* the one outside is before the window */
};

/* Field indexes in events of one schema. */
struct cut_schema {
	size_t id_cnt, stack_cnt;
	uint16_t *ids, *stacks;
};

void cut_needs_fini(struct cut_needs *n)
{
	struct cut_schema *s;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&n->tasks, &pos, &key, &value))
		free(value);
	pos = 0;
	while (hmap_next(&n->schemas, &pos, &key, &value)) {
		s = value;
		free(s->ids);
		free(s->stacks);
		free(s);
	}
	hmap_fini(&n->frames);
	hmap_fini(&n->tasks);
	hmap_fini(&n->events);
	hmap_fini(&n->schemas);
	free(n->modules);
	memset(n, 0, sizeof(*n));
}

/* ---- schemas ----------------------------------------------------------------------------------- */

static bool is_id(const char *name)
{
	size_t len = strlen(name);

	return len >= 3 && (!strcmp(name + len - 3, "pid") || !strcmp(name + len - 3, "tid"));
}

static struct cut_schema *schema_look(struct cut_needs *n, const struct names *names,
				      const struct trace_schema *ts)
{
	struct cut_schema *s = xcalloc(1, sizeof(*s));

	s->ids = xcalloc(ts->field_cnt, sizeof(*s->ids));
	s->stacks = xcalloc(ts->field_cnt, sizeof(*s->stacks));
	for (size_t i = 0; i < ts->field_cnt; i++) {
		uint8_t type = dial9_schema_field_type(ts->schema, i) & 0x7f;

		if (type == DIAL9_STACK || type == DIAL9_POOLED_STACK)
			s->stacks[s->stack_cnt++] = (uint16_t)i;
		else if (is_id(names_str(names, ts->field_names[i], NULL)))
			s->ids[s->id_cnt++] = (uint16_t)i;
	}
	hmap_set(&n->schemas, (uintptr_t)ts, s);
	return s;
}

/* ---- what is needed ---------------------------------------------------------------------------- */

static uint64_t task_key(struct reader *r, const struct trace_event *ev, uint32_t id)
{
	return (uint64_t)names_part(reader_names(r), ev->part)->clock << 32 | id;
}

static struct cut_task *task_at(struct cut_needs *n, uint64_t key)
{
	struct cut_task *task = hmap_get(&n->tasks, key);

	if (!task) {
		task = xcalloc(1, sizeof(*task));
		task->outside = NOWHERE;
		hmap_set(&n->tasks, key, task);
	}
	return task;
}

/* Keeps a thread, and its process, whose name is in its first thread. */
static void need_task(struct cut_needs *n, struct reader *r, const struct trace_event *ev,
		      uint64_t id)
{
	const struct names_task *known;

	if (!id || id >= TRACE_NONE)
		return;
	task_at(n, task_key(r, ev, (uint32_t)id))->needed = true;
	known = trace_task(reader_trace(r), (uint32_t)id);
	if (known && known->pid != TRACE_NONE)
		task_at(n, task_key(r, ev, known->pid))->needed = true;
}

static void need_module(struct cut_needs *n, uint32_t index)
{
	n->modules = array_reserve(n->modules, &n->module_cap, (size_t)index + 1, 1);
	n->modules[index] = 1;
}

static void need_frame(struct cut_needs *n, uint64_t frame)
{
	if (hmap_get(&n->frames, frame))
		return;
	hmap_set(&n->frames, frame, n);
	need_module(n, names_frame_module(frame));
}

static void need_stack(struct cut_needs *n, struct reader *r, const struct dial9_value *v)
{
	const uint8_t *le;
	uint32_t cnt;

	if (!trace_value_stack(reader_trace(r), v, &le, &cnt))
		return;
	for (uint32_t i = 0; i < cnt; i++)
		need_frame(n, reader_frame(r, dial9_frame_at(le, i)));
}

void cut_needs_event(struct cut_needs *n, struct reader *r, const struct trace_event *ev)
{
	const struct cut_schema *s = hmap_get(&n->schemas, (uintptr_t)ev->schema);
	uint64_t id;

	if (!s)
		s = schema_look(n, reader_names(r), ev->schema);
	if (!hmap_get(&n->events, ev->schema->name))
		hmap_set(&n->events, ev->schema->name, n);
	for (size_t i = 0; i < s->id_cnt; i++)
		if (trace_value_u64(&ev->values[s->ids[i]], &id))
			need_task(n, r, ev, id);
	for (size_t i = 0; i < s->stack_cnt; i++)
		need_stack(n, r, &ev->values[s->stacks[i]]);
}

void cut_needs_add_task(struct cut_needs *n, struct reader *r, const struct trace_event *ev,
			enum cut_place place)
{
	uint64_t tid = trace_u64_or(ev, ROLE_TID, TRACE_NONE);
	struct cut_task *task;

	if (tid >= TRACE_NONE)
		return;
	task = task_at(n, task_key(r, ev, (uint32_t)tid));
	if (place == CUT_INSIDE) {
		task->inside = true;
	} else if (place == CUT_BEFORE || task->outside == NOWHERE) {
		task->outside = ev->offset;
		task->before = place == CUT_BEFORE;
	}
}

/* ---- asking ------------------------------------------------------------------------------------ */

static bool task_needed(const struct cut_needs *n, struct reader *r, const struct trace_event *ev,
			enum cut_place place)
{
	uint64_t tid = trace_u64_or(ev, ROLE_TID, TRACE_NONE);
	const struct cut_task *task;

	if (tid >= TRACE_NONE)
		return false;
	task = hmap_get(&n->tasks, task_key(r, ev, (uint32_t)tid));
	if (!task || !task->needed)
		return false;
	if (place == CUT_INSIDE)
		return true;
	return task->outside == ev->offset && (task->before || !task->inside);
}

static bool module_needed(const struct cut_needs *n, uint32_t index)
{
	return index && index < n->module_cap && n->modules[index];
}

static bool mapping_needed(const struct cut_needs *n, struct reader *r,
			   const struct trace_event *ev)
{
	uint64_t pid = trace_u64_or(ev, ROLE_PID, TRACE_NONE);
	const struct cut_task *task;

	if (pid >= TRACE_NONE)
		return false;
	task = hmap_get(&n->tasks, task_key(r, ev, (uint32_t)pid));
	return task && task->needed && module_needed(n, cut_needs_module(r, ev));
}

bool cut_needs_has_event(const struct cut_needs *n, uint32_t name)
{
	return hmap_get(&n->events, name);
}

static bool event_needed(const struct cut_needs *n, struct reader *r, const struct trace_event *ev)
{
	struct dial9_str s;

	return trace_str(reader_trace(r), ev, ROLE_EVENT, &s) &&
	       cut_needs_has_event(n, names_add(reader_names(r), s.ptr, s.len));
}

bool cut_needs_naming(const struct cut_needs *n, struct reader *r, const struct trace_event *ev,
		      enum cut_place place)
{
	uint64_t addr;

	if (ev->kind == TRACE_TASK)
		return task_needed(n, r, ev, place);
	if (ev->kind == TRACE_MODULE || ev->kind == TRACE_MODULE_STATUS)
		return module_needed(n, cut_needs_module(r, ev));
	if (ev->kind == TRACE_PROC_MAPS)
		return place != CUT_AFTER && mapping_needed(n, r, ev);
	if (ev->kind == TRACE_SYMBOL)
		return trace_u64(ev, ROLE_ADDR, &addr) &&
		       hmap_get(&n->frames, reader_frame(r, addr));
	return ev->kind == TRACE_TP_SYMBOL && event_needed(n, r, ev);
}

uint32_t cut_needs_module(struct reader *r, const struct trace_event *ev)
{
	enum trace_role role = ev->kind == TRACE_SYMBOL ? ROLE_ADDR : ROLE_MODULE_ID;
	uint64_t v;

	if (!trace_is_naming(ev->kind) || !trace_u64(ev, role, &v))
		return 0;
	if (role == ROLE_MODULE_ID) {
		if (!v || v > PROF_FRAME_MODULE_MAX)
			return 0;
		v <<= PROF_FRAME_MODULE_SHIFT;
	}
	return names_frame_module(reader_frame(r, v));
}
