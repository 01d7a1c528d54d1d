// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processed profile of the Firefox Profiler: a thread has tables of its own for strings, functions and
 * stacks, and its samples and markers as columns. Owns these tables, of one thread at a time.
 *
 * A column needs all of a thread at once, and threads come mixed: so samples and times wait in a temporary
 * file, by thread, and are written column by column at the end. Functions are of one category: user,
 * kernel, or made at run time. Times off the CPU are markers with the stack of the switch.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/strtab.h"
#include "export/formats.h"
#include "export/spill.h"
#include "export/stack_tree.h"
#include "export/text.h"
#include "profile/intervals.h"

/* Indices in the list of categories that put_meta() writes. */
enum category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_JIT, CATEGORY_OFF };

struct record {
	uint64_t start, end;
	uint32_t stack; /* leaf, or STACK_TREE_NONE */
	uint32_t state; /* enum interval_state; INTERVAL_RUNNING: a sample */
	uint32_t waker; /* of the texts; NAMES_NONE: unknown */
	char letter;
};

struct firefox {
	struct spill *records; /* by thread */
	struct stack_tree stacks;
	struct strtab texts; /* of wakers */
	struct export_thread *threads; /* as they were told of last */
	size_t thread_cnt, thread_cap;
	struct buf text;
	/* of the thread that is being written */
	struct strtab strings, resources;
	uint32_t *stack_ids,
		*func_ids; /* by number in stacks: one more than in the thread's table */
	uint32_t *stack_order, *func_order; /* the other way round */
	uint32_t stack_cnt, func_cnt;
	uint64_t samples, markers;
	const char *sep;
};

/* ---- reading ----------------------------------------------------------------------------------- */

static void firefox_begin(struct export *x)
{
	struct firefox *f = x->state;

	f->records = spill_new(sizeof(struct record));
}

static void firefox_thread(struct export *x, const struct export_thread *t)
{
	struct firefox *f = x->state;

	f->threads =
		array_reserve(f->threads, &f->thread_cap, (size_t)t->idx + 1, sizeof(*f->threads));
	f->threads[t->idx] = *t;
	f->thread_cnt = t->idx >= f->thread_cnt ? (size_t)t->idx + 1 : f->thread_cnt;
}

static void firefox_sample(struct export *x, const struct export_sample *s)
{
	struct firefox *f = x->state;
	const struct record r = { .start = s->ts,
				  .end = s->ts,
				  .stack = stack_tree_add(&f->stacks, x->names, s->frames,
							  s->frame_cnt),
				  .state = INTERVAL_RUNNING,
				  .waker = NAMES_NONE };

	spill_add(f->records, s->thread->idx, &r);
}

static void firefox_interval(struct export *x, const struct export_interval *i)
{
	struct firefox *f = x->state;
	struct record r = { .start = i->raw->start,
			    .end = i->raw->end,
			    .stack = stack_tree_add(&f->stacks, x->names, i->frames, i->frame_cnt),
			    .state = i->raw->state,
			    .waker = NAMES_NONE,
			    .letter = interval_letter(i->raw->prev_state) };

	if (r.state == INTERVAL_RUNNING)
		return;
	if (i->raw->waker) {
		buf_clear(&f->text);
		text_waker(&f->text, x->names, i->raw->waker);
		r.waker = strtab_add(&f->texts, buf_cstr(&f->text), f->text.len);
	}
	spill_add(f->records, i->thread->idx, &r);
}

/* ---- tables of a thread ------------------------------------------------------------------------ */

static uint32_t string_of(struct firefox *f, const char *s)
{
	return strtab_add(&f->strings, s, strlen(s));
}

/* What was put into the text. */
static uint32_t text_of(struct firefox *f)
{
	return strtab_add(&f->strings, buf_cstr(&f->text), f->text.len);
}

static void use_func(struct firefox *f, uint32_t func)
{
	if (f->func_ids[func])
		return;
	f->func_order[f->func_cnt++] = func;
	f->func_ids[func] = f->func_cnt;
}

/* Gives numbers to a stack and those above it, the outermost first. */
static void use_stack(struct firefox *f, uint32_t leaf)
{
	uint32_t depth = 0, end;

	for (uint32_t at = leaf; at != STACK_TREE_NONE && !f->stack_ids[at];
	     at = f->stacks.nodes[at].parent)
		f->stack_order[f->stack_cnt + depth++] = at;
	end = f->stack_cnt + depth;
	for (uint32_t i = 0; i < depth / 2; i++) {
		uint32_t swap = f->stack_order[f->stack_cnt + i];

		f->stack_order[f->stack_cnt + i] = f->stack_order[end - 1 - i];
		f->stack_order[end - 1 - i] = swap;
	}
	while (f->stack_cnt < end) {
		uint32_t node = f->stack_order[f->stack_cnt];

		f->stack_ids[node] = ++f->stack_cnt;
		use_func(f, f->stacks.nodes[node].func);
	}
}

static void learn(void *ctx, const void *record)
{
	const struct record *r = record;
	struct firefox *f = ctx;

	use_stack(f, r->stack);
	if (r->state == INTERVAL_RUNNING)
		f->samples++;
	else
		f->markers++;
}

static void begin_thread(struct firefox *f, uint32_t idx)
{
	for (uint32_t i = 0; i < f->stack_cnt; i++)
		f->stack_ids[f->stack_order[i]] = 0;
	for (uint32_t i = 0; i < f->func_cnt; i++)
		f->func_ids[f->func_order[i]] = 0;
	strtab_fini(&f->strings);
	strtab_fini(&f->resources);
	f->strings = f->resources = (struct strtab){ 0 };
	f->stack_cnt = f->func_cnt = 0;
	f->samples = f->markers = 0;
	spill_each(f->records, idx, learn, f);
}

static enum category category_of(const struct export *x, const struct stack_tree_func *func)
{
	const struct names_module *m = names_module(x->names, func->module);

	if (func->kernel)
		return CATEGORY_KERNEL;
	if (!m->announced)
		return CATEGORY_OTHER;
	return m->kind == PROF_MODULE_ANON ? CATEGORY_JIT : CATEGORY_USER;
}

/* ---- columns ----------------------------------------------------------------------------------- */

static void put_ms(struct buf *out, uint64_t ns)
{
	buf_addu(out, ns / 1000000);
	buf_addch(out, '.');
	buf_addu_padded(out, ns % 1000000, 6, '0');
}

/* ,"name":[ */
static void begin_column(struct export *x, const char *name)
{
	struct firefox *f = x->state;

	buf_printf(&x->out, ",\"%s\":[", name);
	f->sep = "";
}

static void next(struct export *x)
{
	struct firefox *f = x->state;

	export_flush(x);
	buf_addstr(&x->out, f->sep);
	f->sep = ",";
}

static void end_column(struct export *x)
{
	buf_addch(&x->out, ']');
}

static void put_same(struct export *x, const char *name, const char *value, uint64_t cnt)
{
	begin_column(x, name);
	while (cnt--) {
		next(x);
		buf_addstr(&x->out, value);
	}
	end_column(x);
}

static void put_stack_id(struct export *x, uint32_t stack)
{
	const struct firefox *f = x->state;

	if (stack == STACK_TREE_NONE)
		buf_addstr(&x->out, "null");
	else
		buf_addu(&x->out, f->stack_ids[stack] - 1);
}

static void put_stacks(struct export *x)
{
	struct firefox *f = x->state;
	const struct stack_tree_node *nodes = f->stacks.nodes;

	buf_printf(&x->out, ",\"stackTable\":{\"length\":%u", f->stack_cnt);
	begin_column(x, "prefix");
	for (uint32_t i = 0; i < f->stack_cnt; i++) {
		next(x);
		put_stack_id(x, nodes[f->stack_order[i]].parent);
	}
	end_column(x);
	begin_column(x, "frame");
	for (uint32_t i = 0; i < f->stack_cnt; i++) {
		next(x);
		buf_addu(&x->out, f->func_ids[nodes[f->stack_order[i]].func] - 1);
	}
	end_column(x);
	begin_column(x, "category");
	for (uint32_t i = 0; i < f->stack_cnt; i++) {
		next(x);
		buf_addu(&x->out, category_of(x, &f->stacks.funcs[nodes[f->stack_order[i]].func]));
	}
	end_column(x);
	put_same(x, "subcategory", "0", f->stack_cnt);
	buf_addch(&x->out, '}');
}

/* A frame for each function: they are told apart by nothing else. */
static void put_frames(struct export *x)
{
	static const char *const none[] = { "nativeSymbol", "innerWindowID", "implementation",
					    "line",	    "column",	     "optimizations" };
	struct firefox *f = x->state;

	buf_printf(&x->out, ",\"frameTable\":{\"length\":%u", f->func_cnt);
	begin_column(x, "func");
	for (uint32_t i = 0; i < f->func_cnt; i++) {
		next(x);
		buf_addu(&x->out, i);
	}
	end_column(x);
	begin_column(x, "category");
	for (uint32_t i = 0; i < f->func_cnt; i++) {
		next(x);
		buf_addu(&x->out, category_of(x, &f->stacks.funcs[f->func_order[i]]));
	}
	end_column(x);
	put_same(x, "subcategory", "0", f->func_cnt);
	put_same(x, "address", "-1", f->func_cnt);
	put_same(x, "inlineDepth", "0", f->func_cnt);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		put_same(x, none[i], "null", f->func_cnt);
	buf_addch(&x->out, '}');
}

static void put_funcs(struct export *x)
{
	struct firefox *f = x->state;

	buf_printf(&x->out, ",\"funcTable\":{\"length\":%u", f->func_cnt);
	begin_column(x, "name");
	for (uint32_t i = 0; i < f->func_cnt; i++) {
		const struct stack_tree_func *func = &f->stacks.funcs[f->func_order[i]];

		next(x);
		buf_clear(&f->text);
		text_function(&f->text, x->names, func->sym, func->inlined);
		buf_addu(&x->out, text_of(f));
	}
	end_column(x);
	begin_column(x, "resource");
	for (uint32_t i = 0; i < f->func_cnt; i++) {
		next(x);
		buf_clear(&f->text);
		text_module(&f->text, x->names, f->stacks.funcs[f->func_order[i]].module);
		buf_addu(&x->out, strtab_add(&f->resources, buf_cstr(&f->text), f->text.len));
	}
	end_column(x);
	put_same(x, "isJS", "false", f->func_cnt);
	put_same(x, "relevantForJS", "false", f->func_cnt);
	put_same(x, "fileName", "null", f->func_cnt);
	put_same(x, "lineNumber", "null", f->func_cnt);
	put_same(x, "columnNumber", "null", f->func_cnt);
	buf_addch(&x->out, '}');
}

static void put_resources(struct export *x)
{
	struct firefox *f = x->state;
	const uint32_t cnt = f->resources.cnt;

	buf_printf(&x->out, ",\"resourceTable\":{\"length\":%u", cnt);
	begin_column(x, "name");
	for (uint32_t i = 0; i < cnt; i++) {
		next(x);
		buf_addu(&x->out, string_of(f, strtab_get(&f->resources, i, NULL)));
	}
	end_column(x);
	put_same(x, "lib", "null", cnt);
	put_same(x, "host", "null", cnt);
	put_same(x, "type", "1", cnt); /* a library */
	buf_addstr(&x->out, "},\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],"
			    "\"name\":[],\"functionSize\":[]}");
}

static void put_strings(struct export *x)
{
	struct firefox *f = x->state;
	const char *s;
	size_t len;

	begin_column(x, "stringArray");
	for (uint32_t i = 0; i < f->strings.cnt; i++) {
		next(x);
		s = strtab_get(&f->strings, i, &len);
		str_json(&x->out, s, len);
	}
	end_column(x);
}

/* ---- samples and markers ----------------------------------------------------------------------- */

static void put_sample_stack(void *ctx, const void *record)
{
	const struct record *r = record;

	if (r->state != INTERVAL_RUNNING)
		return;
	next(ctx);
	put_stack_id(ctx, r->stack);
}

static void put_sample_time(void *ctx, const void *record)
{
	const struct record *r = record;
	struct export *x = ctx;

	if (r->state != INTERVAL_RUNNING)
		return;
	next(x);
	put_ms(&x->out, r->start - x->first_ts);
}

static void put_samples(struct export *x, uint32_t idx)
{
	struct firefox *f = x->state;

	buf_addstr(&x->out, ",\"samples\":{\"length\":");
	buf_addu(&x->out, f->samples);
	buf_addstr(&x->out, ",\"weight\":null,\"weightType\":\"samples\"");
	begin_column(x, "stack");
	spill_each(f->records, idx, put_sample_stack, x);
	end_column(x);
	begin_column(x, "time");
	spill_each(f->records, idx, put_sample_time, x);
	end_column(x);
	buf_addch(&x->out, '}');
}

static void put_marker_name(void *ctx, const void *record)
{
	const struct record *r = record;
	struct export *x = ctx;

	if (r->state == INTERVAL_RUNNING)
		return;
	next(x);
	buf_addu(&x->out, string_of(x->state, text_state(r->state)));
}

static void put_marker_start(void *ctx, const void *record)
{
	const struct record *r = record;
	struct export *x = ctx;

	if (r->state == INTERVAL_RUNNING)
		return;
	next(x);
	put_ms(&x->out, r->start - x->first_ts);
}

static void put_marker_end(void *ctx, const void *record)
{
	const struct record *r = record;
	struct export *x = ctx;

	if (r->state == INTERVAL_RUNNING)
		return;
	next(x);
	put_ms(&x->out, r->end - x->first_ts);
}

static void put_marker_data(void *ctx, const void *record)
{
	const struct record *r = record;
	struct export *x = ctx;
	struct firefox *f = x->state;
	const char *waker;
	size_t len;

	if (r->state == INTERVAL_RUNNING)
		return;
	next(x);
	buf_printf(&x->out, "{\"type\":\"offcpu\",\"state\":\"%s", text_state(r->state));
	if (r->state == INTERVAL_BLOCKED)
		buf_printf(&x->out, " %c", r->letter);
	buf_addch(&x->out, '"');
	if (r->waker != NAMES_NONE) {
		waker = strtab_get(&f->texts, r->waker, &len);
		buf_addstr(&x->out, ",\"waker\":");
		str_json(&x->out, waker, len);
	}
	if (r->stack != STACK_TREE_NONE) {
		buf_addstr(&x->out, ",\"cause\":{\"stack\":");
		put_stack_id(x, r->stack);
		buf_addch(&x->out, '}');
	}
	buf_addch(&x->out, '}');
}

static void put_markers(struct export *x, uint32_t idx)
{
	static const struct {
		const char *name;
		void (*put)(void *ctx, const void *record);
	} columns[] = {
		{ "name", put_marker_name },
		{ "startTime", put_marker_start },
		{ "endTime", put_marker_end },
		{ "data", put_marker_data },
	};
	struct firefox *f = x->state;

	buf_addstr(&x->out, ",\"markers\":{\"length\":");
	buf_addu(&x->out, f->markers);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		begin_column(x, columns[i].name);
		spill_each(f->records, idx, columns[i].put, x);
		end_column(x);
	}
	put_same(x, "phase", "1", f->markers); /* from start to end */
	put_same(x, "category", "4", f->markers); /* CATEGORY_OFF */
	buf_addch(&x->out, '}');
}

/* ---- the profile ------------------------------------------------------------------------------- */

static void put_meta(struct export *x)
{
	static const char head[] =
		"{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":49,\"processType\":0,"
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
		"{\"name\":\"Off-CPU\",\"color\":\"purple\",\"subcategories\":[\"Other\"]}],"
		"\"markerSchema\":[{\"name\":\"offcpu\","
		"\"display\":[\"marker-chart\",\"marker-table\"],"
		"\"chartLabel\":\"{marker.data.state}\","
		"\"tableLabel\":\"{marker.data.state}\",\"data\":["
		"{\"key\":\"state\",\"label\":\"State\",\"format\":\"string\"},"
		"{\"key\":\"waker\",\"label\":\"Woken by\",\"format\":\"string\"}]}],"
		"\"product\":\"dial9-prof\",\"interval\":";
	const struct part *part = names_part(x->names, 0);

	buf_add(&x->out, head, sizeof(head) - 1);
	put_ms(&x->out, names_period_ns(x->names, 0));
	buf_addstr(&x->out, ",\"startTime\":");
	put_ms(&x->out, part->synced ? part->real + (x->first_ts - part->mono) : 0);
	/* or it would begin with the first sample */
	buf_addstr(&x->out, ",\"profilingStartTime\":0,\"profilingEndTime\":");
	put_ms(&x->out, x->last_ts - x->first_ts);
	buf_addstr(&x->out, "},\"libs\":[],\"pages\":[],\"profilerOverhead\":[],\"counters\":[],"
			    "\"threads\":[");
}

static void put_name(struct export *x, const char *key, uint32_t name)
{
	struct firefox *f = x->state;

	buf_clear(&f->text);
	text_name(&f->text, x->names, name);
	buf_printf(&x->out, ",\"%s\":", key);
	str_json(&x->out, buf_cstr(&f->text), f->text.len);
}

static void put_thread(struct export *x, const struct export_thread *t)
{
	const struct names_task *process = names_task_first(x->names, t->part, t->pid);

	buf_printf(&x->out, "{\"tid\":%u,\"pid\":\"%u\",\"isMainThread\":%s", t->tid,
		   t->pid != TRACE_NONE ? t->pid : t->tid, t->pid == t->tid ? "true" : "false");
	put_name(x, "name", t->comm);
	put_name(x, "processName", process ? process->comm : t->comm);
	buf_addstr(&x->out, ",\"processType\":\"default\",\"processStartupTime\":0,"
			    "\"processShutdownTime\":null,\"registerTime\":0,"
			    "\"unregisterTime\":null,\"pausedRanges\":[]");
	put_samples(x, t->idx);
	put_markers(x, t->idx);
	put_stacks(x);
	put_frames(x);
	put_funcs(x);
	put_resources(x);
	put_strings(x);
	buf_addch(&x->out, '}');
}

static void firefox_end(struct export *x)
{
	struct firefox *f = x->state;
	const char *sep = "\n";

	f->stack_ids = xcalloc(f->stacks.node_cnt, sizeof(*f->stack_ids));
	f->stack_order = xcalloc(f->stacks.node_cnt, sizeof(*f->stack_order));
	f->func_ids = xcalloc(f->stacks.func_cnt, sizeof(*f->func_ids));
	f->func_order = xcalloc(f->stacks.func_cnt, sizeof(*f->func_order));
	put_meta(x);
	for (uint32_t idx = 0; idx < f->thread_cnt; idx++) {
		begin_thread(f, idx);
		if (!f->samples && !f->markers)
			continue;
		buf_addstr(&x->out, sep);
		sep = ",\n";
		put_thread(x, &f->threads[idx]);
	}
	buf_addstr(&x->out, "]}\n");
	if (spill_error(f->records))
		export_fail(x, "a temporary file (TMPDIR says where)", spill_error(f->records));
}

static void firefox_fini(struct export *x)
{
	struct firefox *f = x->state;

	spill_free(f->records);
	stack_tree_fini(&f->stacks);
	strtab_fini(&f->texts);
	strtab_fini(&f->strings);
	strtab_fini(&f->resources);
	free(f->threads);
	free(f->stack_ids);
	free(f->stack_order);
	free(f->func_ids);
	free(f->func_order);
	buf_free(&f->text);
}

const struct exporter export_firefox = {
	.name = "firefox",
	.brief = "samples over time by thread, and times off the CPU, for profiler.firefox.com",
	.state_sz = sizeof(struct firefox),
	.begin = firefox_begin,
	.thread = firefox_thread,
	.sample = firefox_sample,
	.interval = firefox_interval,
	.end = firefox_end,
	.fini = firefox_fini,
};
