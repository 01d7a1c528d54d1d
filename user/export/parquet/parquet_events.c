// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables of events. Owns their columns: types and names that databases accept. Names of columns are distinct also when
 * case is ignored, as databases do.
 */
#include "export/parquet/parquet_events.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "export/value_text.h"
#include "profile/sums/content_ids.h"

#define NO_COLUMN UINT32_MAX

struct event_table {
	struct event_table *next;
	uint32_t event; /* string id */
	uint32_t table;
	struct parquet_def *defs; /* with names of their own from PARQUET_EVENT_FIELDS on */
	size_t def_cnt;
};

/* Of one schema. */
struct event_columns {
	struct event_table *table;
	uint32_t *columns; /* by field, or NO_COLUMN */
};

static const struct parquet_def common[] = {
	PARQUET_DEFS_TIMES,
	[PARQUET_EVENT_CPU] = { "cpu", PARQUET_U32, true, PARQUET_PLAIN },
	[PARQUET_EVENT_TID] = { "tid", PARQUET_U32, true, PARQUET_PLAIN },
	[PARQUET_EVENT_PID] = { "pid", PARQUET_U32, true, PARQUET_PLAIN },
	[PARQUET_EVENT_COMM] = { "comm", PARQUET_TEXT, true, PARQUET_PLAIN },
};

/* ---- columns ---------------------------------------------------------------------------------- */

/* The thread, the CPU and the part have columns in each table, and the stack has its own table. */
static bool has_column(const struct trace_schema *s, size_t field)
{
	const int32_t i = (int32_t)field;

	return i != s->role[ROLE_COMMON_CPU] && i != s->role[ROLE_COMMON_PID] &&
	       i != s->role[ROLE_CALLCHAIN] && i != s->role[ROLE_PART];
}

/* What has no type in a table becomes text, as in JSON. */
static uint8_t column_type(uint8_t type)
{
	static const uint8_t types[] = {
		[DIAL9_I64] = PARQUET_I64,
		[DIAL9_VARINT] = PARQUET_I64,
		[DIAL9_F64] = PARQUET_F64,
		[DIAL9_BOOL] = PARQUET_BOOL,
		[DIAL9_U8] = PARQUET_U8,
		[DIAL9_U16] = PARQUET_U16,
		[DIAL9_U32] = PARQUET_U32,
		[DIAL9_STRING] = PARQUET_TEXT,
		[DIAL9_POOLED_STRING] = PARQUET_TEXT,
		[DIAL9_BYTES] = PARQUET_BYTES,
		[DIAL9_STACK] = PARQUET_TEXT,
		[DIAL9_POOLED_STACK] = PARQUET_TEXT,
		[DIAL9_LIST] = PARQUET_TEXT,
		[DIAL9_MAP] = PARQUET_TEXT,
		[DIAL9_STRING_MAP] = PARQUET_TEXT,
	};

	type &= (uint8_t)~DIAL9_OPTIONAL;
	return type < sizeof(types) ? types[type] : PARQUET_TEXT;
}

/* Marks a name as used, without its case: false if it was already. */
static bool use_name(struct hmap *used, const char *name)
{
	uint64_t hash = CONTENT_IDS_HASH;

	for (; *name; name++) {
		const char c = (char)tolower((unsigned char)*name);

		hash = content_ids_hash(hash, &c, 1);
	}
	if (hmap_get(used, hash))
		return false;
	hmap_set(used, hash, used);
	return true;
}

static char *column_name(const struct trace_schema *s, const struct names *n, size_t field,
			 struct hmap *used)
{
	struct buf name = { 0 };
	size_t len;
	const char *text = names_str(n, s->field_names[field], &len);

	str_escape_utf8(&name, text, len);
	if (!name.len)
		buf_addstr(&name, "field");
	if (use_name(used, buf_cstr(&name)))
		return buf_steal(&name);
	buf_clear(&name);
	buf_addstr(&name, "arg_");
	str_escape_utf8(&name, text, len);
	while (!use_name(used, buf_cstr(&name)))
		buf_printf(&name, "_%zu", field + 1);
	return buf_steal(&name);
}

static void use_common_names(struct hmap *used)
{
	for (size_t i = 0; i < PARQUET_EVENT_FIELDS; i++)
		use_name(used, common[i].name);
	/* of the partitions */
	use_name(used, "day");
	use_name(used, "host");
}

static void free_table(struct event_table *t)
{
	for (size_t i = PARQUET_EVENT_FIELDS; i < t->def_cnt; i++)
		free((char *)t->defs[i].name);
	free(t->defs);
	free(t);
}

/* The table that a schema asks for; @columns receives the places of its fields. */
static struct event_table *make_table(const struct trace_schema *s, const struct names *n,
				      uint32_t *columns)
{
	struct event_table *t = xcalloc(1, sizeof(*t));
	struct hmap used = { 0 };

	t->event = s->name;
	t->defs = xcalloc(PARQUET_EVENT_FIELDS + s->field_cnt, sizeof(*t->defs));
	memcpy(t->defs, common, sizeof(common));
	t->def_cnt = PARQUET_EVENT_FIELDS;
	use_common_names(&used);
	for (size_t i = 0; i < s->field_cnt; i++) {
		columns[i] = NO_COLUMN;
		if (!has_column(s, i))
			continue;
		columns[i] = (uint32_t)t->def_cnt;
		t->defs[t->def_cnt++] = (struct parquet_def){
			.name = column_name(s, n, i, &used),
			.type = column_type(dial9_schema_field_type(s->schema, i)),
			.optional = true,
		};
	}
	hmap_fini(&used);
	return t;
}

static bool are_equal(const struct event_table *a, const struct event_table *b)
{
	if (a->event != b->event || a->def_cnt != b->def_cnt)
		return false;
	for (size_t i = PARQUET_EVENT_FIELDS; i < a->def_cnt; i++)
		if (a->defs[i].type != b->defs[i].type || strcmp(a->defs[i].name, b->defs[i].name))
			return false;
	return true;
}

static void register_table(struct parquet_events *e, const struct names *n, struct event_table *t)
{
	struct buf name = { 0 };
	size_t len;
	const char *event = names_str(n, t->event, &len);

	parquet_tables_put_event_name(&name, event, len);
	t->table = parquet_tables_add(e->tables, buf_cstr(&name), t->defs, t->def_cnt, true);
	t->next = e->first;
	e->first = t;
	buf_free(&name);
}

static const struct event_columns *columns_of(struct parquet_events *e, const struct names *n,
					      const struct trace_schema *s)
{
	struct event_columns *c = hmap_get(&e->by_schema, (uintptr_t)s);
	struct event_table *t, *known;

	if (c)
		return c;
	c = xcalloc(1, sizeof(*c));
	c->columns = xcalloc(s->field_cnt, sizeof(*c->columns));
	t = make_table(s, n, c->columns);
	for (known = e->first; known && !are_equal(known, t); known = known->next)
		;
	if (known)
		free_table(t);
	else
		register_table(e, n, t);
	c->table = known ?: t;
	hmap_set(&e->by_schema, (uintptr_t)s, c);
	return c;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static void put_text(struct parquet_file *f, uint32_t column, const struct trace *t,
		     const struct dial9_value *v)
{
	struct dial9_str s;

	if (trace_value_str(t, v, &s))
		parquet_file_put_text(f, column, s.ptr, s.len);
}

/* The value has the type of the schema, or is absent. */
static void put_value(struct parquet_events *e, struct parquet_file *f, uint32_t column,
		      const struct trace *t, const struct trace_event *ev, size_t field)
{
	const struct dial9_value *v = &ev->values[field];

	switch (v->type) {
	case 0:
		break;
	case DIAL9_I64:
	case DIAL9_F64: /* its bits are at the same place */
	case DIAL9_VARINT:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
		parquet_file_put(f, column, v->u64);
		break;
	case DIAL9_BOOL:
		parquet_file_put(f, column, v->b);
		break;
	case DIAL9_STRING:
	case DIAL9_POOLED_STRING:
		put_text(f, column, t, v);
		break;
	case DIAL9_BYTES:
		parquet_file_put_bytes(f, column, v->str.ptr, v->str.len);
		break;
	default:
		buf_clear(&e->text);
		value_text_json_field(&e->text, t, ev, field);
		parquet_file_put_text(f, column, buf_cstr(&e->text), e->text.len);
	}
}

static void put_id(struct parquet_file *f, uint32_t column, uint32_t id)
{
	if (id != TRACE_NONE)
		parquet_file_put(f, column, id);
}

void parquet_events_add(struct parquet_events *e, struct export *x,
			const struct export_thread *thread, const struct trace_event *ev)
{
	const struct event_columns *c = columns_of(e, x->names, ev->schema);
	const struct parquet_place at = { ev->has_ts, ev->ts, ev->part };
	struct parquet_file *f = parquet_tables_row(e->tables, &at, c->table->table);
	size_t len;

	if (!f)
		return;
	put_id(f, PARQUET_EVENT_CPU, ev->cpu);
	if (thread)
		put_id(f, PARQUET_EVENT_TID, thread->tid);
	/* events such as RecorderProcess have a process only */
	put_id(f, PARQUET_EVENT_PID, thread ? thread->pid : ev->pid);
	if (thread && thread->comm != NAMES_NONE) {
		const char *comm = names_str(x->names, thread->comm, &len);

		parquet_file_put_text(f, PARQUET_EVENT_COMM, comm, len);
	}
	for (size_t i = 0; i < ev->schema->field_cnt; i++)
		if (c->columns[i] != NO_COLUMN)
			put_value(e, f, c->columns[i], reader_trace(x->reader), ev, i);
	parquet_tables_end_row(e->tables, f);
}

void parquet_events_fini(struct parquet_events *e)
{
	struct event_table *t;
	size_t pos = 0;
	void *value;

	while (hmap_next(&e->by_schema, &pos, NULL, &value)) {
		struct event_columns *c = value;

		free(c->columns);
		free(c);
	}
	hmap_fini(&e->by_schema);
	while ((t = e->first)) {
		e->first = t->next;
		free_table(t);
	}
	buf_free(&e->text);
}
