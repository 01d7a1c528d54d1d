// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables of events: one for each name, with a column for each field, and `events` with all. Owns the union of the
 * schemas of one name, which differ between traces and versions; a field that an event does not have is NULL.
 *
 * Fields keep their names, as in a tracepoint filter. The thread in which an event happened is in task_tid and so on,
 * so it cannot be mistaken for a field.
 */
#include "query/event_tables.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/str.h"
#include "query/field_value.h"

/* clang-format off */
#define EVENT_COLUMNS \
	{ "task_tid", "INTEGER", "thread in which it happened", SCAN_ROLE_TID }, \
	{ "task_pid", "INTEGER", "its process", SCAN_ROLE_PID }, \
	{ "task_comm", "TEXT", "its name", SCAN_ROLE_NONE }, \
	{ "task_cgroup", "TEXT", "path of its control group", SCAN_ROLE_NONE }, \
	{ "task_cpu", "INTEGER", "CPU", SCAN_ROLE_NONE }
/* clang-format on */

enum event_column {
	EVENT_TID = SCAN_OWN,
	EVENT_PID,
	EVENT_COMM,
	EVENT_CGROUP,
	EVENT_CPU,
	EVENT_FIELDS, /* first field; of `events`: name and fields */
	EVENT_JSON,
};

static const struct scan_column common[] = { SCAN_COLUMNS, EVENT_COLUMNS };

static const struct scan_column all_columns[] = {
	SCAN_COLUMNS,
	EVENT_COLUMNS,
	{ "event", "TEXT", "name of the event", SCAN_ROLE_WORD },
	{ "fields", "TEXT", "its fields, a JSON object", SCAN_ROLE_NONE },
};

struct event_name_table {
	struct scan_table table;
	char *event; /* its name in the traces */
	struct scan_column *columns; /* names and types are owned from EVENT_FIELDS on */
	size_t cnt, cap;
	char **fields; /* names in the traces, from column EVENT_FIELDS on */
	size_t field_cap;
};

/* What a scan knows of a trace. */
struct event_tables_scan {
	uint32_t name; /* of the table's event */
	uint32_t word; /* of a condition on `event` */
	struct hmap maps; /* schema -> field by column, an array */
	const struct trace_schema *last;
	const int32_t *map;
};

/* ---- schemas to tables -------------------------------------------------------------------------- */

static bool has_column(const struct event_name_table *t, const char *name)
{
	for (size_t i = 0; i < t->cnt; i++)
		if (!strcasecmp(t->columns[i].name, name))
			return true;
	return false;
}

static char *column_name(const struct event_name_table *t, const char *field, size_t len)
{
	struct buf name = { 0 };

	str_printable(&name, field, len);
	if (!name.len)
		buf_addstr(&name, "field");
	while (has_column(t, buf_cstr(&name))) {
		struct buf longer = { 0 };

		buf_printf(&longer, "field_%s", buf_cstr(&name));
		buf_free(&name);
		name = longer;
	}
	return buf_steal(&name);
}

static void add_field(struct event_name_table *t, struct dial9_str field, uint8_t type)
{
	const char *sql = field_value_type(type);

	for (size_t i = EVENT_FIELDS; i < t->cnt; i++) {
		const char *known = t->fields[i - EVENT_FIELDS];

		if (strlen(known) != field.len || memcmp(known, field.ptr, field.len) != 0)
			continue;
		if (strcmp(t->columns[i].type, sql) != 0)
			t->columns[i].type = "";
		return;
	}
	if (t->cnt - EVENT_FIELDS == EVENT_TABLES_FIELDS_MAX || memchr(field.ptr, 0, field.len))
		return;
	t->columns = array_reserve(t->columns, &t->cap, t->cnt + 1, sizeof(*t->columns));
	t->fields =
		array_reserve(t->fields, &t->field_cap, t->cnt - EVENT_FIELDS + 1, sizeof(char *));
	t->columns[t->cnt] = (struct scan_column){ .name = column_name(t, field.ptr, field.len),
						   .type = sql,
						   .doc = "field" };
	t->fields[t->cnt - EVENT_FIELDS] = xstrndup(field.ptr, field.len);
	t->cnt++;
}

static void add_schema(struct event_name_table *t, const struct dial9_schema *schema)
{
	for (size_t i = 0; i < dial9_schema_field_cnt(schema); i++)
		add_field(t, dial9_schema_field_name_n(schema, i),
			  dial9_schema_field_type(schema, i));
}

static bool is_taken(const struct event_tables *e, const char *name, const char *const *taken,
		     size_t taken_cnt)
{
	for (size_t i = 0; i < taken_cnt; i++)
		if (!strcasecmp(taken[i], name))
			return true;
	for (size_t i = 0; i < e->cnt; i++)
		if (!strcasecmp(e->v[i]->table.name, name))
			return true;
	return false;
}

static char *table_name(const struct event_tables *e, const char *event, const char *const *taken,
			size_t taken_cnt)
{
	struct buf name = { 0 };

	str_printable(&name, event, strlen(event));
	while (is_taken(e, buf_cstr(&name), taken, taken_cnt)) {
		struct buf longer = { 0 };

		buf_printf(&longer, "event:%s", buf_cstr(&name));
		buf_free(&name);
		name = longer;
	}
	return buf_steal(&name);
}

static struct event_name_table *table_new(const char *event)
{
	struct event_name_table *t = xcalloc(1, sizeof(*t));

	t->event = xstrdup(event);
	t->columns = array_reserve(NULL, &t->cap, EVENT_FIELDS, sizeof(*t->columns));
	memcpy(t->columns, common, sizeof(common));
	t->cnt = EVENT_FIELDS;
	return t;
}

static void add_trace(struct event_tables *e, const struct trace_input *in,
		      const char *const *taken, size_t taken_cnt)
{
	size_t cnt, len;
	struct trace_schema *const *schemas = trace_schemas(reader_trace(in->first), &cnt);

	for (size_t i = 0; i < cnt; i++) {
		const char *event = names_str(in->names, schemas[i]->name, &len);
		uint32_t at;

		/* SQL cannot name it */
		if (!trace_schema_is_real(schemas[i]) || !len || strlen(event) != len)
			continue;
		at = strtab_add(&e->names, event, len);
		if (at == e->cnt) {
			e->v = array_reserve(e->v, &e->cap, e->cnt + 1,
					     sizeof(struct event_name_table *));
			e->v[at] = table_new(event);
			e->v[at]->table.name = table_name(e, event, taken, taken_cnt);
			e->cnt++;
		}
		add_schema(e->v[at], schemas[i]->schema);
	}
}

/* ---- rows --------------------------------------------------------------------------------------- */

static void begin_events(struct scan *s)
{
	const struct event_name_table *t = s->table->of;
	struct event_tables_scan *r = s->state;

	r->name = r->word = NAMES_NONE;
	if (t)
		r->name = names_add(s->in->names, t->event, strlen(t->event));
	else if (s->filter.has_word)
		r->word = names_add(s->in->names, s->filter.word, strlen(s->filter.word));
	if (t && !scan_filter_uses(&s->filter, EVENT_COMM) &&
	    !scan_filter_uses(&s->filter, EVENT_CGROUP)) {
		unsigned int skip = TRACE_KINDS_TRACEPOINT;

		/* a tracepoint's kind follows from its name, which its events have to show */
		if (strchr(t->event, ':'))
			skip = !strcmp(t->event, "sched:sched_switch") ? TRACE_KINDS_QUIET : 0;
		s->skip.kinds = skip;
	}
}

static void end_events(struct scan *s)
{
	struct event_tables_scan *r = s->state;
	size_t pos = 0;
	uint64_t key;
	void *value;

	/* schemas belong to the reader */
	while (hmap_next(&r->maps, &pos, &key, &value))
		free(value);
	hmap_fini(&r->maps);
	*r = (struct event_tables_scan){ .last = NULL };
}

static bool is_event(struct scan *s, const struct trace_event *ev)
{
	const struct event_tables_scan *r = s->state;

	if (s->table->of ? ev->schema->name != r->name :
			   s->filter.has_word && ev->schema->name != r->word)
		return false;
	if (!scan_wants(s, ev->part, ev->ts, ev->pid, ev->tid))
		return false;
	s->part = ev->part;
	s->ts = ev->ts;
	return true;
}

static bool is_other_event(struct scan *s, const struct trace_event *ev)
{
	return (ev->kind == TRACE_TRACEPOINT || ev->kind == TRACE_OTHER) && is_event(s, ev);
}

/* The field of each column in the schema of the current event; -1: it has none. */
static const int32_t *map_of(struct scan *s, const struct event_name_table *t)
{
	struct event_tables_scan *r = s->state;
	const uint64_t key = (uintptr_t)s->ev->schema;
	int32_t *map;

	if (r->last == s->ev->schema)
		return r->map;
	map = hmap_get(&r->maps, key);
	if (!map) {
		map = xcalloc(t->cnt - EVENT_FIELDS + 1, sizeof(*map));
		for (size_t i = EVENT_FIELDS; i < t->cnt; i++)
			map[i - EVENT_FIELDS] =
				trace_field_at(s->ev->schema, t->fields[i - EVENT_FIELDS]);
		hmap_set(&r->maps, key, map);
	}
	r->last = s->ev->schema;
	r->map = map;
	return map;
}

static void set_json(struct scan *s, struct query_value *out)
{
	const struct trace_schema *schema = s->ev->schema;

	buf_clear(&s->text);
	json_object(&s->text, NULL);
	for (size_t i = 0; i < schema->field_cnt; i++) {
		size_t len;
		const char *name = names_str(s->in->names, schema->field_names[i], &len);

		json_key_text(&s->text, name, len);
		field_value_json(&s->text, s->in, s->trace, &s->ev->values[i]);
	}
	json_end(&s->text, "}");
	scan_value_built(s, out);
}

static void set_own(struct scan *s, size_t column, struct query_value *out)
{
	const struct event_name_table *t = s->table->of;
	int32_t at;

	if (t) {
		at = map_of(s, t)[column - EVENT_FIELDS];
		if (at >= 0)
			field_value_get(s, &s->ev->values[at], out);
	} else if (column == EVENT_FIELDS) {
		scan_value_string(s, out, s->ev->schema->name);
	} else {
		set_json(s, out);
	}
}

static void event_column(struct scan *s, size_t column, struct query_value *out)
{
	switch (column) {
	case EVENT_TID:
		scan_value_id(out, s->ev->tid);
		break;
	case EVENT_PID:
		scan_value_id(out, s->ev->pid);
		break;
	case EVENT_COMM:
		scan_value_string(s, out, s->ev->comm);
		break;
	case EVENT_CGROUP:
		scan_value_string(s, out, s->ev->cgroup);
		break;
	case EVENT_CPU:
		scan_value_id(out, s->ev->cpu);
		break;
	default:
		set_own(s, column, out);
	}
}

static const struct scan_ops event_ops = {
	.begin = begin_events,
	.event = is_event,
	.end = end_events,
	.column = event_column,
	.fini = end_events,
	.state_sz = sizeof(struct event_tables_scan),
	.in_range = true,
};

struct scan_table event_tables_all(struct trace_inputs *all)
{
	return (struct scan_table){ .name = "events",
				    .doc = "all events, with their fields as JSON",
				    .columns = all_columns,
				    .column_cnt = sizeof(all_columns) / sizeof(all_columns[0]),
				    .ops = &event_ops,
				    .all = all };
}

struct scan_table event_tables_other(struct trace_inputs *all)
{
	static const struct scan_ops ops = {
		.begin = begin_events,
		.event = is_other_event,
		.end = end_events,
		.column = event_column,
		.fini = end_events,
		.state_sz = sizeof(struct event_tables_scan),
		.in_range = true,
	};
	struct scan_table table = event_tables_all(all);

	table.ops = &ops;
	return table;
}

/* ---- all tables --------------------------------------------------------------------------------- */

void event_tables_init(struct event_tables *e, struct trace_inputs *all, const char *const *taken,
		       size_t taken_cnt)
{
	for (size_t i = 0; i < all->cnt; i++)
		add_trace(e, all->v[i], taken, taken_cnt);
	for (size_t i = 0; i < e->cnt; i++) {
		struct event_name_table *t = e->v[i];

		t->table.doc = "events of this name";
		t->table.columns = t->columns;
		t->table.column_cnt = t->cnt;
		t->table.ops = &event_ops;
		t->table.all = all;
		t->table.of = t;
	}
}

const struct scan_table *event_tables_get(const struct event_tables *e, size_t i)
{
	return &e->v[i]->table;
}

void event_tables_fini(struct event_tables *e)
{
	for (size_t i = 0; i < e->cnt; i++) {
		struct event_name_table *t = e->v[i];

		for (size_t k = EVENT_FIELDS; k < t->cnt; k++) {
			free((char *)t->columns[k].name);
			free(t->fields[k - EVENT_FIELDS]);
		}
		free(t->columns);
		free(t->fields);
		free((char *)t->table.name);
		free(t->event);
		free(t);
	}
	free(e->v);
	strtab_fini(&e->names);
	*e = (struct event_tables){ 0 };
}
