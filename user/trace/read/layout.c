// SPDX-License-Identifier: BSD-2-Clause
/*
 * Schemas as readers need them: the kind of event, and the positions of the fields that readers
 * use. Owns these descriptions; libdial9 owns the layouts.
 *
 * They are found once per distinct schema, not per event. An event name may have several layouts
 * (narrow and wide integers), and a type id has another meaning in each segment. A file with many
 * segments repeats its schemas in each, so they are interned by content: layout and annotations.
 */
#include "trace/read/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* cost of a schema's annotations, counted in fields, if it has no fields */
#define SCHEMA_COST 32
#define NOTES_COST_MAX (8u << 20)
/* How often annotations of a type may follow its events, per segment. */
#define LATE_NOTES_MAX 64

static const char *const role_names[TRACE_ROLE_CNT] = {
#define ROLE(role, name) [ROLE_##role] = (name),
	TRACE_ROLES(ROLE)
#undef ROLE
};

static const struct {
	const char *name;
	enum trace_kind kind;
} kinds[] = {
	{ PROF_EV_SCHED_SWITCH, TRACE_SCHED_SWITCH },
	{ PROF_EV_SCHED_WAKING, TRACE_SCHED_WAKING },
	{ PROF_EV_SCHED_WAKEUP_NEW, TRACE_SCHED_WAKING },
	{ PROF_EV_CPU_WATCH, TRACE_CPU_WATCH },
	{ PROF_EV_OFF_CPU, TRACE_OFF_CPU },
	{ PROF_EV_CPU_SAMPLE, TRACE_SAMPLE },
	{ PROF_EV_MODULE, TRACE_MODULE },
	{ PROF_EV_MODULE_STATUS, TRACE_MODULE_STATUS },
	{ PROF_EV_PROC_MAPS, TRACE_PROC_MAPS },
	{ PROF_EV_TASK, TRACE_TASK },
	{ PROF_EV_SYMBOL, TRACE_SYMBOL },
	{ PROF_EV_CLOCK_SYNC, TRACE_CLOCK_SYNC },
	{ PROF_EV_METADATA, TRACE_METADATA },
	{ PROF_EV_MERGED_PART, TRACE_MERGED_PART },
	{ PROF_EV_TP_SYMBOL, TRACE_TP_SYMBOL },
	{ PROF_EV_LOST, TRACE_LOST },
	{ PROF_EV_STATS, TRACE_STATS },
	{ PROF_EV_COST, TRACE_COST },
	{ PROF_EV_SUMMARY, TRACE_SUMMARY },
	{ PROF_EV_SEGMENT_END, TRACE_SEGMENT_END },
};

static bool str_is(struct dial9_str s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.ptr, text, s.len);
}

static enum trace_kind kind_of(struct dial9_str name, const int32_t *role)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_is(name, kinds[i].name))
			return kinds[i].kind;
	if (role[ROLE_COMMON_PID] >= 0 && memchr(name.ptr, ':', name.len))
		return TRACE_TRACEPOINT;
	return TRACE_OTHER;
}

/* The value of trace_schema.number for field @i. */
static int32_t number_of(const struct dial9_schema *schema, int32_t i)
{
	const uint8_t type = i < 0 ? DIAL9_BYTES : dial9_schema_field_type(schema, (size_t)i);

	switch (type) {
	case DIAL9_VARINT:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
	case DIAL9_I64: /* its bits are at the same place */
		return (int32_t)((size_t)i * sizeof(struct dial9_value) +
				 offsetof(struct dial9_value, u64));
	case DIAL9_BOOL:
		return TRACE_NUMBER_MAYBE;
	default:
		return type & DIAL9_OPTIONAL ? TRACE_NUMBER_MAYBE : -1;
	}
}

static void describe_fields(struct names *n, struct trace_schema *ts, struct dial9_iter notes)
{
	struct dial9_str name = dial9_schema_name_n(ts->schema);
	const size_t sz = (size_t)(notes.end - notes.pos);

	ts->notes = notes;
	if (notes.left) {
		ts->notes.pos = xmemdup(notes.pos, sz);
		ts->notes.end = ts->notes.pos + sz;
	}
	ts->units = field_units_declared(n, ts->field_cnt, ts->notes);
	for (size_t i = 0; i < ts->field_cnt; i++)
		field_units_fill_known(n, name, dial9_schema_field_name_n(ts->schema, i),
				       &ts->units[i]);
}

static struct trace_schema *schema_describe(struct names *n, const struct dial9_schema *schema,
					    struct dial9_iter notes)
{
	struct dial9_str name = dial9_schema_name_n(schema);
	struct trace_schema *ts = xcalloc(1, sizeof(*ts));

	ts->schema = dial9_schema_ref(schema);
	ts->name = names_add(n, name.ptr, name.len);
	ts->field_cnt = dial9_schema_field_cnt(schema);
	ts->field_names = xcalloc(ts->field_cnt, sizeof(*ts->field_names));
	ts->syms = xcalloc(ts->field_cnt, sizeof(*ts->syms));
	ts->syms_version = UINT64_MAX;
	for (size_t r = 0; r < TRACE_ROLE_CNT; r++)
		ts->role[r] = -1;
	for (size_t i = 0; i < ts->field_cnt; i++) {
		struct dial9_str f = dial9_schema_field_name_n(schema, i);

		ts->field_names[i] = names_add(n, f.ptr, f.len);
		for (size_t r = 0; r < TRACE_ROLE_CNT; r++)
			if (ts->role[r] < 0 && str_is(f, role_names[r]))
				ts->role[r] = (int32_t)i;
	}
	for (size_t r = 0; r < TRACE_ROLE_CNT; r++)
		ts->number[r] = number_of(schema, ts->role[r]);
	ts->kind = kind_of(name, ts->role);
	ts->is_birth = str_is(name, PROF_EV_SCHED_WAKEUP_NEW);
	own_fields_init(&ts->own, schema);
	describe_fields(n, ts, notes);
	return ts;
}

static unsigned int type_uses(uint8_t type)
{
	switch (type & ~DIAL9_OPTIONAL) {
	case DIAL9_POOLED_STACK:
		return TRACE_USES_STACK_POOL;
	case DIAL9_LIST:
	case DIAL9_MAP:
		return TRACE_USES_NESTING;
	default:
		return 0;
	}
}

unsigned int layout_uses(const struct dial9_schema *schema)
{
	unsigned int uses = 0;

	for (size_t i = 0; i < dial9_schema_field_cnt(schema); i++)
		uses |= type_uses(dial9_schema_field_type(schema, i));
	return uses;
}

bool trace_schema_needs_level4(const struct trace_schema *schema)
{
	return layout_uses(schema->schema) || schema->notes.left;
}

uint64_t layout_hash(const struct dial9_schema *s)
{
	struct dial9_str name = dial9_schema_name_n(s);
	uint64_t h = hash_bytes(name.ptr, name.len) + dial9_schema_has_timestamp(s);

	for (size_t i = 0; i < dial9_schema_field_cnt(s); i++) {
		name = dial9_schema_field_name_n(s, i);
		h = hash_u64(h ^ hash_bytes(name.ptr, name.len)) + dial9_schema_field_type(s, i);
	}
	return h;
}

static bool same_notes(const struct trace_schema *ts, const struct dial9_iter *notes)
{
	const size_t sz = (size_t)(notes->end - notes->pos);

	return ts->notes.left == notes->left &&
	       (!notes->left || ((size_t)(ts->notes.end - ts->notes.pos) == sz &&
				 !memcmp(ts->notes.pos, notes->pos, sz)));
}

/* NULL if there is none; *hash is then its free slot. */
static struct trace_schema *find(const struct layout_set *set, const struct dial9_schema *schema,
				 struct dial9_iter notes, uint64_t *hash)
{
	const size_t sz = notes.left ? (size_t)(notes.end - notes.pos) : 0;
	struct trace_schema *ts;

	*hash = layout_hash(schema) + (sz ? hash_bytes(notes.pos, sz) : 0);
	for (; (ts = hmap_get(&set->by_content, *hash)); ++*hash)
		if (dial9_schema_equal(ts->schema, schema) && same_notes(ts, &notes))
			break;
	return ts;
}

/*
 * The description of a schema with these annotations. Descriptions of one layout share the schema.
 */
static struct trace_schema *intern(struct layout_set *set, struct names *n,
				   const struct dial9_schema *schema, struct dial9_iter notes)
{
	const struct dial9_iter none = { 0 };
	struct trace_schema *bare, *ts;
	uint64_t h;

	bare = find(set, schema, none, &h);
	ts = find(set, schema, notes, &h);
	if (ts)
		return ts;
	if (notes.left)
		set->notes_cost += SCHEMA_COST + dial9_schema_field_cnt(schema) +
				   (size_t)(notes.end - notes.pos) / 8;
	ts = schema_describe(n, bare ? bare->schema : schema, notes);
	hmap_set(&set->by_content, h, ts);
	set->all = array_reserve(set->all, &set->cap, set->cnt + 1, sizeof(*set->all));
	set->all[set->cnt++] = ts;
	return ts;
}

void layout_set_add(struct layout_set *set, struct names *n, uint16_t type_id,
		    const struct dial9_schema *schema, struct dial9_iter notes)
{
	const struct dial9_iter none = { 0 };
	struct buf bytes = { 0 };
	struct layout_slot *slot;

	if (!set->by_type)
		set->by_type = xcalloc(UINT16_MAX + 1, sizeof(*set->by_type));
	slot = &set->by_type[type_id];
	/* limits a hostile number of annotations */
	if (slot->late_notes)
		set->notes_cost += SCHEMA_COST + notes.left;
	if (set->notes_cost < NOTES_COST_MAX)
		notes = field_units_compact(notes, &bytes);
	else
		notes = none;
	slot->schema = intern(set, n, schema, notes);
	buf_free(&bytes);
	if (!slot->used) {
		set->used = array_reserve(set->used, &set->used_cap, set->used_cnt + 1,
					  sizeof(*set->used));
		set->used[set->used_cnt++] = type_id;
	}
	slot->used = true;
}

int32_t trace_field_at(const struct trace_schema *schema, const char *name)
{
	for (size_t i = 0; i < schema->field_cnt; i++)
		if (str_is(dial9_schema_field_name_n(schema->schema, i), name))
			return (int32_t)i;
	return -1;
}

void layout_set_outdate(struct layout_set *set, uint16_t type_id)
{
	struct layout_slot *slot = set->by_type ? &set->by_type[type_id] : NULL;

	if (!slot || !slot->schema || slot->late_notes == LATE_NOTES_MAX)
		return;
	slot->late_notes++;
	slot->schema->outdated = true;
	slot->schema = NULL;
}

void layout_set_segment(struct layout_set *set)
{
	while (set->used_cnt)
		set->by_type[set->used[--set->used_cnt]] = (struct layout_slot){ 0 };
}

void layout_set_fini(struct layout_set *set)
{
	for (size_t i = 0; i < set->cnt; i++) {
		dial9_schema_free((struct dial9_schema *)set->all[i]->schema);
		free(set->all[i]->field_names);
		free(set->all[i]->syms);
		free(set->all[i]->units);
		own_fields_fini(&set->all[i]->own);
		if (set->all[i]->notes.left)
			free((uint8_t *)set->all[i]->notes.pos);
		free(set->all[i]);
	}
	hmap_fini(&set->by_content);
	free(set->all);
	free(set->used);
	free(set->by_type);
	memset(set, 0, sizeof(*set));
}
