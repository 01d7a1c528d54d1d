// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processed profile of the Firefox Profiler: each thread has its tables (firefox_tables.c), and
 * its samples and markers as columns. Owns the pending records, and the profile's metadata, which
 * is written last.
 *
 * A column needs all data of a thread at once, and threads come interleaved. So samples, intervals
 * and events go to a temporary file by thread, and are written column by column at the end. Off-CPU
 * intervals are markers with the stack of the switch. Events are markers too; each type has a
 * schema with its fields.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/str.h"
#include "export/firefox/firefox_tables.h"
#include "export/formats.h"
#include "export/value_text.h"
#include "export/temp_lists.h"
#include "profile/sched/intervals.h"

/* Fields in an event's label. */
#define LABEL_FIELDS 4

enum record_what { A_SAMPLE, A_WAIT, AN_EVENT };

struct record {
	uint64_t start;
	union {
		uint64_t end; /* of an interval */
		uint64_t cpu_ns; /* that a sample stands for; 0: unknown */
	};
	uint32_t stack; /* leaf, or STACK_TREE_NONE */
	uint32_t type; /* of an event */
	uint32_t waker; /* in texts; NAMES_NONE: unknown */
	uint8_t what; /* enum record_what */
	uint8_t state; /* enum interval_state */
	char letter;
	char fields[]; /* of an event: members of a JSON object, each with a leading comma */
};

/* Events of one schema. */
struct type {
	uint32_t name; /* string id, like the fields */
	uint32_t *fields;
	const char **formats;
	size_t field_cnt;
};

struct firefox {
	struct temp_lists *records; /* by thread: list_of() */
	struct firefox_tables tables;
	struct strtab texts; /* of wakers */
	struct export_thread *threads; /* as announced last */
	size_t thread_cnt, thread_cap;
	struct hmap processes; /* clock << 32 | pid -> last name of the first thread + 1 */
	struct hmap type_index; /* schema -> number + 1 */
	struct type *types;
	size_t type_cnt, type_cap;
	struct buf text, record;
	/* of the thread being written */
	uint64_t samples, markers;
};

/* ---- collecting ------------------------------------------------------------------------------ */

/* Records without a thread come first. */
static uint32_t list_of(const struct export_thread *t)
{
	return t ? t->idx + 1 : 0;
}

static void firefox_begin(struct export *x)
{
	struct firefox *f = x->state;

	f->records = temp_lists_new();
}

static void firefox_thread(struct export *x, const struct export_thread *t)
{
	struct firefox *f = x->state;

	f->threads =
		array_reserve(f->threads, &f->thread_cap, (size_t)t->idx + 1, sizeof(*f->threads));
	f->threads[t->idx] = *t;
	f->thread_cnt = t->idx >= f->thread_cnt ? (size_t)t->idx + 1 : f->thread_cnt;
	if (t->tid == t->pid && t->comm != NAMES_NONE)
		hmap_set(&f->processes, names_task_key(x->names, t->part, t->pid),
			 (void *)((uintptr_t)t->comm + 1));
}

static void firefox_sample(struct export *x, const struct export_sample *s)
{
	struct firefox *f = x->state;
	const struct record r = { .start = s->ts,
				  .cpu_ns = s->ns,
				  .stack = stack_tree_add(&f->tables.stacks, x->names, s->frames,
							  s->frame_cnt),
				  .what = A_SAMPLE };

	temp_lists_add(f->records, list_of(s->thread), &r, sizeof(r));
}

static void firefox_interval(struct export *x, const struct export_interval *i)
{
	struct firefox *f = x->state;
	struct record r = { .start = i->raw->start,
			    .end = i->raw->end,
			    .stack = stack_tree_add(&f->tables.stacks, x->names, i->frames,
						    i->frame_cnt),
			    .waker = NAMES_NONE,
			    .what = A_WAIT,
			    .state = (uint8_t)i->raw->state,
			    .letter = interval_letter(i->raw->prev_state) };

	if (r.state == INTERVAL_RUNNING)
		return;
	if (i->raw->waker) {
		buf_clear(&f->text);
		value_text_waker(&f->text, x->names, i->raw->waker);
		r.waker = strtab_add(&f->texts, buf_cstr(&f->text), f->text.len);
	}
	temp_lists_add(f->records, list_of(i->thread), &r, sizeof(r));
}

static const char *format_of(const struct export *x, const struct field_units *m)
{
	const char *unit = names_str(x->names, m->unit, NULL);

	if (!strcmp(unit, PROF_UNIT_NS))
		return "nanoseconds";
	return strcmp(unit, PROF_UNIT_BYTES) ? "string" : "bytes";
}

static uint32_t type_of(struct export *x, const struct trace_schema *schema)
{
	struct firefox *f = x->state;
	uintptr_t known = (uintptr_t)hmap_get(&f->type_index, (uintptr_t)schema);
	struct type *type;

	if (known)
		return (uint32_t)(known - 1);
	f->types = array_reserve(f->types, &f->type_cap, f->type_cnt + 1, sizeof(*f->types));
	type = &f->types[f->type_cnt++];
	*type = (struct type){ .name = schema->name, .field_cnt = schema->field_cnt };
	type->fields = xmemdup(schema->field_names, type->field_cnt * sizeof(*type->fields));
	type->formats = xcalloc(type->field_cnt, sizeof(*type->formats));
	for (size_t i = 0; i < type->field_cnt; i++)
		type->formats[i] = format_of(x, trace_field_units(schema, i));
	hmap_set(&f->type_index, (uintptr_t)schema, (void *)f->type_cnt);
	return (uint32_t)(f->type_cnt - 1);
}

/* As many as fit into one record. */
static void add_fields(struct export *x, const struct trace_event *ev)
{
	struct firefox *f = x->state;
	size_t whole;

	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		if ((int32_t)i == ev->schema->role[ROLE_CALLCHAIN] || !ev->values[i].type)
			continue;
		whole = f->record.len;
		buf_addstr(&f->record, ",\"f");
		buf_addu(&f->record, i);
		buf_addstr(&f->record, "\":");
		value_text_json_field(&f->record, reader_trace(x->reader), ev, i);
		if (f->record.len > TEMP_LISTS_RECORD_MAX) {
			f->record.len = whole;
			return;
		}
	}
}

/*
 * Switches, wakeups and off-CPU intervals are drawn as intervals; recorder information is not an
 * event.
 */
static void firefox_event(struct export *x, const struct export_thread *t,
			  const struct trace_event *ev)
{
	struct firefox *f = x->state;
	struct record r = { .start = ev->ts, .what = AN_EVENT };

	if (!ev->has_ts || ev->kind == TRACE_SCHED_SWITCH || ev->kind == TRACE_SCHED_WAKING ||
	    ev->kind == TRACE_OFF_CPU || ev->kind == TRACE_SAMPLE ||
	    trace_is_recorder_info(ev->kind))
		return;
	r.stack = stack_tree_add(&f->tables.stacks, x->names, ev->frames, ev->frame_cnt);
	r.type = type_of(x, ev->schema);
	buf_clear(&f->record);
	buf_add(&f->record, &r, offsetof(struct record, fields));
	add_fields(x, ev);
	temp_lists_add(f->records, list_of(t), f->record.data, f->record.len);
}

/* ---- columns ----------------------------------------------------------------------------------- */

static void put_ms(struct buf *out, uint64_t ns)
{
	buf_addu(out, ns / 1000000);
	buf_addch(out, '.');
	buf_addu_padded(out, ns % 1000000, 6, '0');
}

static void add_type_fields(void *ctx, const void *record, size_t sz)
{
	const struct record *r = record;
	struct firefox *f = ctx;

	firefox_tables_use(&f->tables, r->stack);
	if (r->what == A_SAMPLE)
		f->samples++;
	else
		f->markers++;
}

/* One value of a column. */
typedef void (*put_fn)(struct export *x, const struct record *r, size_t sz);

struct column {
	const char *name;
	put_fn put;
};

struct each {
	struct export *x;
	put_fn put;
	bool samples; /* column of samples, or of markers */
};

static void put_value(void *ctx, const void *record, size_t sz)
{
	const struct record *r = record;
	const struct each *each = ctx;
	struct firefox *f = each->x->state;

	if ((r->what == A_SAMPLE) != each->samples)
		return;
	firefox_tables_next(each->x, &f->tables);
	each->put(each->x, r, sz);
}

static void put_columns(struct export *x, uint32_t list, bool samples, const struct column *columns,
			size_t cnt)
{
	struct firefox *f = x->state;
	struct each each = { .x = x, .samples = samples };

	for (size_t i = 0; i < cnt; i++) {
		each.put = columns[i].put;
		firefox_tables_column(x, &f->tables, columns[i].name);
		temp_lists_each(f->records, list, put_value, &each);
		firefox_tables_end_column(x);
	}
	buf_addch(&x->out, '}');
}

/* ---- samples ----------------------------------------------------------------------------------- */

static void put_stack(struct export *x, const struct record *r, size_t sz)
{
	struct firefox *f = x->state;

	firefox_tables_put_stack(&f->tables, &x->out, r->stack);
}

static void put_start(struct export *x, const struct record *r, size_t sz)
{
	put_ms(&x->out, r->start - x->first_ts);
}

/* CPU time since the sample before: a thread is sampled after each period of its CPU time. */
static void put_cpu(struct export *x, const struct record *r, size_t sz)
{
	if (r->cpu_ns)
		buf_addu(&x->out, r->cpu_ns);
	else
		buf_addstr(&x->out, "null");
}

static void put_samples(struct export *x, uint32_t list)
{
	static const struct column columns[] = { { "stack", put_stack },
						 { "time", put_start },
						 { "threadCPUDelta", put_cpu } };
	struct firefox *f = x->state;

	json_object(&x->out, "samples");
	json_u64(&x->out, "length", f->samples);
	json_null(&x->out, "weight");
	json_str(&x->out, "weightType", "samples");
	put_columns(x, list, true, columns, sizeof(columns) / sizeof(columns[0]));
}

/* ---- markers ----------------------------------------------------------------------------------- */

static void put_name(struct export *x, const struct record *r, size_t sz)
{
	struct firefox *f = x->state;

	buf_clear(&f->text);
	if (r->what == AN_EVENT)
		value_text_name(&f->text, x->names, f->types[r->type].name);
	else
		buf_addstr(&f->text, value_text_state(r->state));
	buf_addu(&x->out, firefox_tables_string(&f->tables, buf_cstr(&f->text), f->text.len));
}

static void put_end(struct export *x, const struct record *r, size_t sz)
{
	if (r->what == AN_EVENT)
		buf_addstr(&x->out, "null");
	else
		put_ms(&x->out, r->end - x->first_ts);
}

/* An instant, or a start and an end. */
static void put_phase(struct export *x, const struct record *r, size_t sz)
{
	buf_addch(&x->out, r->what == AN_EVENT ? '0' : '1');
}

static void put_category(struct export *x, const struct record *r, size_t sz)
{
	buf_addu(&x->out, r->what == AN_EVENT ? FIREFOX_EVENT : FIREFOX_OFF);
}

static void put_wait(struct export *x, const struct record *r)
{
	struct firefox *f = x->state;
	const char *waker;
	size_t len;

	buf_printf(&x->out, "{\"type\":\"offcpu\",\"state\":\"%s", value_text_state(r->state));
	if (r->state == INTERVAL_BLOCKED)
		buf_printf(&x->out, " %c", r->letter);
	buf_addch(&x->out, '"');
	if (r->waker != NAMES_NONE) {
		waker = strtab_get(&f->texts, r->waker, &len);
		json_text(&x->out, "waker", waker, len);
	}
}

static void put_data(struct export *x, const struct record *r, size_t sz)
{
	if (r->what == AN_EVENT) {
		buf_printf(&x->out, "{\"type\":\"event%u\"", r->type);
		buf_add(&x->out, r->fields, sz - offsetof(struct record, fields));
	} else {
		put_wait(x, r);
	}
	if (r->stack != STACK_TREE_NONE) {
		json_object(&x->out, "cause");
		json_key(&x->out, "stack");
		put_stack(x, r, sz);
		json_end(&x->out, "}");
	}
	json_end(&x->out, "}");
}

static void put_markers(struct export *x, uint32_t list)
{
	static const struct column columns[] = {
		{ "name", put_name }, { "startTime", put_start }, { "endTime", put_end },
		{ "data", put_data }, { "phase", put_phase },	  { "category", put_category },
	};
	struct firefox *f = x->state;

	json_object(&x->out, "markers");
	json_u64(&x->out, "length", f->markers);
	put_columns(x, list, false, columns, sizeof(columns) / sizeof(columns[0]));
}

/* ---- metadata -------------------------------------------------------------------------------- */

static void put_string(struct export *x, uint32_t name)
{
	struct firefox *f = x->state;

	buf_clear(&f->text);
	value_text_name(&f->text, x->names, name);
	str_json(&x->out, buf_cstr(&f->text), f->text.len);
}

/*
 * "prio={marker.data.f3} ...", for the event's own fields. Braces in a field name would be
 * placeholders.
 */
static void put_label(struct export *x, const struct type *type)
{
	struct firefox *f = x->state;
	size_t label_cnt = 0;
	const char *name;

	buf_clear(&f->text);
	for (size_t i = 0; i < type->field_cnt && label_cnt < LABEL_FIELDS; i++) {
		name = names_str(x->names, type->fields[i], NULL);
		if (!strncmp(name, "common_", 7) || strpbrk(name, "{}"))
			continue;
		buf_addstr(&f->text, label_cnt++ ? " " : "");
		value_text_name(&f->text, x->names, type->fields[i]);
		buf_printf(&f->text, "={marker.data.f%zu}", i);
	}
	str_json(&x->out, buf_cstr(&f->text), f->text.len);
}

static void put_type(struct export *x, size_t i)
{
	const struct firefox *f = x->state;
	const struct type *type = &f->types[i];

	buf_printf(&x->out,
		   ",{\"name\":\"event%zu\",\"display\":[\"marker-chart\",\"marker-table\"],"
		   "\"tooltipLabel\":\"{marker.name}\",\"chartLabel\":\"{marker.name}\"",
		   i);
	json_key(&x->out, "tableLabel");
	put_label(x, type);
	json_array(&x->out, "data");
	for (size_t k = 0; k < type->field_cnt; k++) {
		buf_printf(&x->out, "%s{\"key\":\"f%zu\",\"label\":", k ? "," : "", k);
		put_string(x, type->fields[k]);
		json_str(&x->out, "format", type->formats[k]);
		json_end(&x->out, "}");
	}
	json_end(&x->out, "]}");
	export_flush(x);
}

static void put_meta(struct export *x)
{
	static const char head[] =
		"],\"meta\":{\"version\":24,\"preprocessedProfileVersion\":49,\"processType\":0,"
		"\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,\"pausedRanges\":[],"
		"\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,"
		"\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},"
		"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
		"\"categories\":["
		"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"JIT\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Off-CPU\",\"color\":\"purple\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Event\",\"color\":\"green\",\"subcategories\":[\"Other\"]}],"
		"\"markerSchema\":[{\"name\":\"offcpu\","
		"\"display\":[\"marker-chart\",\"marker-table\"],"
		"\"chartLabel\":\"{marker.data.state}\","
		"\"tableLabel\":\"{marker.data.state}\",\"data\":["
		"{\"key\":\"state\",\"label\":\"State\",\"format\":\"string\"},"
		"{\"key\":\"waker\",\"label\":\"Woken by\",\"format\":\"string\"}]}";
	const struct firefox *f = x->state;
	const struct part *part = names_part(x->names, 0);

	buf_add(&x->out, head, sizeof(head) - 1);
	for (size_t i = 0; i < f->type_cnt; i++)
		put_type(x, i);
	json_end(&x->out, "]");
	json_str(&x->out, "product", "dial9-prof");
	json_key(&x->out, "interval");
	put_ms(&x->out, names_period_ns(x->names, 0));
	json_key(&x->out, "startTime");
	put_ms(&x->out, part->synced ? part->real + (x->first_ts - part->mono) : 0);
	/* otherwise the profile would begin at the first sample */
	json_u64(&x->out, "profilingStartTime", 0);
	json_key(&x->out, "profilingEndTime");
	put_ms(&x->out, x->last_ts - x->first_ts);
	json_end(&x->out, "}}\n");
}

/* ---- threads ----------------------------------------------------------------------------------- */

/* The last name of a process, because exec changes it; @t is one of its threads. */
static uint32_t process_name(const struct export *x, const struct export_thread *t)
{
	const struct firefox *f = x->state;
	const uintptr_t comm =
		(uintptr_t)hmap_get(&f->processes, names_task_key(x->names, t->part, t->pid));
	const struct names_task *task = trace_task(reader_trace(x->reader), t->pid);

	if (comm)
		return (uint32_t)(comm - 1);
	if (!task || task->pid != t->pid || task->comm == NAMES_NONE ||
	    parts_clocks(&x->names->parts) > 1)
		task = names_task_first(x->names, t->part, t->pid);
	return task ? task->comm : t->comm;
}

/* @t NULL: records without a thread. */
static void put_thread(struct export *x, const struct export_thread *t)
{
	const struct export_thread none = { .comm = NAMES_NONE };
	const struct export_thread *who = t ?: &none;
	struct firefox *f = x->state;

	buf_printf(&x->out, "{\"tid\":%u,\"pid\":\"%u\",\"isMainThread\":%s,\"name\":", who->tid,
		   who->pid != TRACE_NONE ? who->pid : who->tid,
		   who->pid == who->tid ? "true" : "false");
	if (t)
		put_string(x, t->comm);
	else
		json_str(&x->out, NULL, "[no thread]");
	json_key(&x->out, "processName");
	put_string(x, t ? process_name(x, t) : who->comm);
	buf_addstr(&x->out, ",\"processType\":\"default\",\"processStartupTime\":0,"
			    "\"processShutdownTime\":null,\"registerTime\":0,"
			    "\"unregisterTime\":null,\"pausedRanges\":[]");
	put_samples(x, list_of(t));
	put_markers(x, list_of(t));
	firefox_tables_put(x, &f->tables);
	json_end(&x->out, "}");
}

static void firefox_end(struct export *x)
{
	struct firefox *f = x->state;
	const struct export_thread *t;
	const char *sep = "\n";

	firefox_tables_begin(&f->tables);
	buf_addstr(&x->out, "{\"libs\":[],\"pages\":[],\"profilerOverhead\":[],\"counters\":[],"
			    "\"threads\":[");
	for (size_t i = 0; i <= f->thread_cnt; i++) {
		t = i ? &f->threads[i - 1] : NULL;
		firefox_tables_thread(&f->tables);
		f->samples = f->markers = 0;
		temp_lists_each(f->records, list_of(t), add_type_fields, f);
		if (!f->samples && !f->markers)
			continue;
		buf_addstr(&x->out, sep);
		sep = ",\n";
		put_thread(x, t);
	}
	put_meta(x);
	export_check_lists(x, f->records);
}

static void firefox_fini(struct export *x)
{
	struct firefox *f = x->state;

	for (size_t i = 0; i < f->type_cnt; i++) {
		free(f->types[i].fields);
		free(f->types[i].formats);
	}
	free(f->types);
	hmap_fini(&f->type_index);
	hmap_fini(&f->processes);
	temp_lists_free(f->records);
	firefox_tables_fini(&f->tables);
	strtab_fini(&f->texts);
	free(f->threads);
	buf_free(&f->text);
	buf_free(&f->record);
}

const struct exporter export_firefox = {
	.name = "firefox",
	.brief =
		"samples over time by thread, off-CPU intervals and events, for profiler.firefox.com",
	.one_axis = true,
	.state_sz = sizeof(struct firefox),
	.begin = firefox_begin,
	.thread = firefox_thread,
	.sample = firefox_sample,
	.interval = firefox_interval,
	.event = firefox_event,
	.end = firefox_end,
	.fini = firefox_fini,
};
