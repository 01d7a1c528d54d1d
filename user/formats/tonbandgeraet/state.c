// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a Tonbandgerät recording means beyond its single frames.
 *
 * Names come as metadata, before or after what they name; curtask_* and task_* events do not say
 * which task, so the one last switched in on the core is kept; drop counts are totals since boot,
 * shared by all cores and repeated at will. Names and resolution stay (learned in a first pass where
 * there can be one), the rest passes (stepped through event by event).
 *
 * Targets write task-local marker names with task 0, because their kernel has no number for "me": such
 * a name is also filed under the task that runs at that point, and looked up under 0 as a last resort.
 *
 * The file decides how many names and cores there are, so both have a cap.
 */
#include "formats/tonbandgeraet/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "base/strtab.h"

#define NAMES_MAX (256 * 1024)
#define NAME_BYTES_MAX (16 * 1024 * 1024)
#define CORES_MAX 1024

enum name_class {
	NAME_ISR, /* core << 32 | isr */
	NAME_EVTMARKER,
	NAME_VALMARKER,
	NAME_TASK,
	NAME_QUEUE,
	NAME_TASK_EVTMARKER, /* task << 32 | marker */
	NAME_TASK_VALMARKER,
	NAME_CLASSES,
};

struct core {
	bool has_task, has_drops, has_ts;
	uint32_t task, drops;
	uint64_t ts;
};

struct tonband_state {
	struct hmap names[NAME_CLASSES]; /* to id in strs, plus 1 */
	struct strtab strs;
	size_t name_cnt;
	uint64_t ns_per_ts;
	struct hmap cores; /* to struct core */
	uint32_t drops; /* the highest total so far */
};

void tonband_state_new(struct tonband_state **out)
{
	struct tonband_state *st = xcalloc(1, sizeof(*st));

	for (int i = 0; i < NAME_CLASSES; i++)
		hmap_init(&st->names[i]);
	hmap_init(&st->cores);
	strtab_init(&st->strs);
	*out = st;
}

static void free_cores(struct tonband_state *st)
{
	uint64_t key;
	void *core;
	size_t pos = 0;

	while (hmap_next(&st->cores, &pos, &key, &core))
		free(core);
	hmap_fini(&st->cores);
}

void tonband_state_free(struct tonband_state *st)
{
	if (!st)
		return;
	for (int i = 0; i < NAME_CLASSES; i++)
		hmap_fini(&st->names[i]);
	free_cores(st);
	strtab_fini(&st->strs);
	free(st);
}

void tonband_state_restart(struct tonband_state *st)
{
	free_cores(st);
	hmap_init(&st->cores);
	st->drops = 0;
}

uint64_t tonband_state_ns_per_ts(const struct tonband_state *st)
{
	return st->ns_per_ts;
}

size_t tonband_state_core_cnt(const struct tonband_state *st)
{
	return st->cores.cnt;
}

/* ---- what passes ------------------------------------------------------------------------------- */

static struct core *core_of(struct tonband_state *st, uint32_t id, struct foreign_notes *notes)
{
	struct core *core = hmap_get(&st->cores, id);

	if (core)
		return core;
	if (st->cores.cnt >= CORES_MAX) {
		foreign_note(notes, FOREIGN_NOTE_HINT, 1,
			     "events of cores beyond the limit of distinct cores", "core %u", id);
		return NULL;
	}
	core = xcalloc(1, sizeof(*core));
	hmap_set(&st->cores, id, core);
	return core;
}

bool tonband_state_task(const struct tonband_state *st, uint32_t core, uint32_t *task)
{
	const struct core *c = hmap_get(&st->cores, core);

	if (!c || !c->has_task)
		return false;
	*task = c->task;
	return true;
}

/*
 * The total is one for all cores, but merged recordings may show a core's older one later: only a
 * step back on the same core is real. Then the counter wrapped, or the target restarted.
 */
static uint64_t step_drops(struct tonband_state *st, struct core *core, uint32_t total,
			   struct foreign_notes *notes)
{
	bool back = core->has_drops && total < core->drops;
	uint64_t lost = 0;

	core->has_drops = true;
	core->drops = total;
	if (total > st->drops) {
		lost = total - st->drops;
	} else if (back && total < st->drops) {
		lost = st->drops - total > UINT32_MAX / 2 ? total - st->drops : total;
		foreign_note(notes, FOREIGN_NOTE_HINT, 1, "drop counters that started again",
			     "%u after %u", total, st->drops);
		lost &= UINT32_MAX;
	} else {
		return 0;
	}
	st->drops = total;
	return lost;
}

static void step_ts(struct core *core, const struct tonband_item *item, struct foreign_notes *notes)
{
	if (core->has_ts && item->ev.ts < core->ts)
		foreign_note(notes, FOREIGN_NOTE_HINT, 1, "timestamps that step back on their core",
			     "byte %llu", (unsigned long long)item->offset);
	core->has_ts = true;
	core->ts = item->ev.ts;
}

uint64_t tonband_state_step(struct tonband_state *st, const struct tonband_item *item,
			    struct foreign_notes *notes)
{
	struct core *core = core_of(st, item->core, notes);

	if (!core)
		return 0;
	if (item->ev.id == TONBAND_CORE_ID) {
		if (core->has_ts && core->ts && !item->ev.ts)
			foreign_note(notes, FOREIGN_NOTE_HINT, 1,
				     "restarts of streaming within the recording", "byte %llu",
				     (unsigned long long)item->offset);
		return 0;
	}
	if (item->ev.type->has_ts)
		step_ts(core, item, notes);
	if (item->ev.id == TONBAND_TASK_SWITCHED_IN) {
		core->has_task = true;
		core->task = (uint32_t)item->ev.num[0];
	}
	if (item->ev.id == TONBAND_DROPPED_EVT_CNT)
		return step_drops(st, core, (uint32_t)item->ev.num[0], notes);
	return 0;
}

/* ---- names and the resolution: kept by a restart --------------------------------------------- */

static void set_name(struct tonband_state *st, enum name_class cls, uint64_t key, const char *s,
		     size_t len, struct foreign_notes *notes)
{
	bool known = hmap_get(&st->names[cls], key);

	if ((!known && st->name_cnt >= NAMES_MAX) || st->strs.bytes + len >= NAME_BYTES_MAX) {
		foreign_note(notes, FOREIGN_NOTE_HINT, 1, "names beyond the limit, not looked up",
			     NULL);
		return;
	}
	st->name_cnt += !known;
	hmap_set(&st->names[cls], key, (void *)((uintptr_t)strtab_add(&st->strs, s, len) + 1));
}

static struct tonband_str get_name(const struct tonband_state *st, enum name_class cls,
				   uint64_t key)
{
	uintptr_t id = (uintptr_t)hmap_get(&st->names[cls], key);
	struct tonband_str str = { 0 };

	if (id)
		str.s = strtab_get(&st->strs, (uint32_t)(id - 1), &str.len);
	return str;
}

static void learn_resolution(struct tonband_state *st, uint64_t ns, struct foreign_notes *notes)
{
	if (!ns) {
		foreign_note(notes, FOREIGN_NOTE_HINT, 1, "resolutions of 0 ns, ignored", NULL);
		return;
	}
	if (st->ns_per_ts && st->ns_per_ts != ns)
		foreign_note(notes, FOREIGN_NOTE_HINT, 1, "changes of the resolution",
			     "%llu ns to %llu ns", (unsigned long long)st->ns_per_ts,
			     (unsigned long long)ns);
	st->ns_per_ts = ns;
}

static void learn_task_marker(struct tonband_state *st, enum name_class cls,
			      const struct tonband_item *item, struct foreign_notes *notes)
{
	const struct tonband_event *ev = &item->ev;
	uint32_t task;

	set_name(st, cls, ev->num[1] << 32 | ev->num[0], ev->str, ev->str_len, notes);
	if (!ev->num[1] && tonband_state_task(st, item->core, &task))
		set_name(st, cls, (uint64_t)task << 32 | ev->num[0], ev->str, ev->str_len, notes);
}

void tonband_state_learn(struct tonband_state *st, const struct tonband_item *item,
			 struct foreign_notes *notes)
{
	static const struct {
		uint8_t id;
		enum name_class cls;
	} plain[] = {
		{ TONBAND_EVTMARKER_NAME, NAME_EVTMARKER },
		{ TONBAND_VALMARKER_NAME, NAME_VALMARKER },
		{ TONBAND_TASK_NAME, NAME_TASK },
		{ TONBAND_QUEUE_NAME, NAME_QUEUE },
	};
	const struct tonband_event *ev = &item->ev;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (ev->id == plain[i].id)
			set_name(st, plain[i].cls, ev->num[0], ev->str, ev->str_len, notes);
	if (ev->id == TONBAND_ISR_NAME)
		set_name(st, NAME_ISR, (uint64_t)item->core << 32 | ev->num[0], ev->str,
			 ev->str_len, notes);
	else if (ev->id == TONBAND_TASK_EVTMARKER_NAME)
		learn_task_marker(st, NAME_TASK_EVTMARKER, item, notes);
	else if (ev->id == TONBAND_TASK_VALMARKER_NAME)
		learn_task_marker(st, NAME_TASK_VALMARKER, item, notes);
	else if (ev->id == TONBAND_TS_RESOLUTION_NS)
		learn_resolution(st, ev->num[0], notes);
}

/* ---- who is meant ------------------------------------------------------------------------------ */

/* The class of what an event's first field names; NAME_CLASSES: nothing that has names. */
static enum name_class subject(uint8_t id)
{
	const struct tonband_type *type = tonband_event_type(id);
	const char *field = type && type->has_ts ? type->fields[0].name : NULL;

	if (id >= TONBAND_TASK_EVTMARKER && id <= TONBAND_TASK_EVTMARKER_END)
		return NAME_TASK_EVTMARKER;
	if (id == TONBAND_TASK_VALMARKER)
		return NAME_TASK_VALMARKER;
	if (!field)
		return NAME_CLASSES;
	if (!strcmp(field, "isr_id"))
		return NAME_ISR;
	if (!strcmp(field, "evtmarker_id"))
		return NAME_EVTMARKER;
	if (!strcmp(field, "valmarker_id"))
		return NAME_VALMARKER;
	if (!strcmp(field, "task_id"))
		return NAME_TASK;
	return strcmp(field, "queue_id") ? NAME_CLASSES : NAME_QUEUE;
}

bool tonband_state_is_nameable(uint8_t id)
{
	return subject(id) != NAME_CLASSES;
}

bool tonband_state_is_of_task(uint8_t id)
{
	return id == TONBAND_CURTASK_DELAY || id == TONBAND_CURTASK_DELAY_UNTIL ||
	       (id >= TONBAND_CURTASK_BLOCK_FIRST && id <= TONBAND_CURTASK_BLOCK_LAST) ||
	       (id >= TONBAND_TASK_EVTMARKER && id <= TONBAND_TASK_EVTMARKER_END) ||
	       id == TONBAND_TASK_VALMARKER;
}

struct tonband_str tonband_state_task_name(const struct tonband_state *st, uint32_t task)
{
	return get_name(st, NAME_TASK, task);
}

struct tonband_str tonband_state_name(const struct tonband_state *st,
				      const struct tonband_item *item)
{
	enum name_class cls = subject(item->ev.id);
	uint64_t key = item->ev.num[0];
	struct tonband_str str = { 0 };
	uint32_t task;

	if (cls == NAME_CLASSES)
		return str;
	if (cls == NAME_ISR)
		key |= (uint64_t)item->core << 32;
	if (cls == NAME_TASK_EVTMARKER || cls == NAME_TASK_VALMARKER) {
		if (tonband_state_task(st, item->core, &task))
			str = get_name(st, cls, (uint64_t)task << 32 | key);
		if (str.s)
			return str;
	}
	return get_name(st, cls, key);
}
