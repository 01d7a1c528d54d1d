// SPDX-License-Identifier: BSD-2-Clause
/*
 * speedscope's file format: a sampled profile for each thread, over one table of frames. Owns that
 * table, which is written after the profiles.
 *
 * Samples with an unknown period are counted, in a separate profile next to the one with times.
 * Samples and intervals are in the order of the trace, each as wide as its weight; consecutive ones with one
 * stack are written as one. Frames are functions, not lines: otherwise a function would have as many frames
 * as lines.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/str.h"
#include "export/formats.h"
#include "export/value_text.h"
#include "export/temp_lists.h"
#include "profile/sched/intervals.h"

/* Frames that stand for a state, with EXPORT_WALL. */
#define STATE_FRAME(state) (UINT64_MAX - (state))

struct frame {
	struct profile_frame f;
	uint32_t state; /* or INTERVAL_STATE_CNT: a function */
};

struct speedscope {
	struct hmap index; /* see key_of() -> frame + 1 */
	struct frame *frames;
	size_t cnt, cap;
	struct buf text;
};

static uint64_t index_of(struct speedscope *s, uint64_t key, const struct frame *f)
{
	uintptr_t at = (uintptr_t)hmap_get(&s->index, key);

	if (at)
		return at - 1;
	s->frames = array_reserve(s->frames, &s->cap, s->cnt + 1, sizeof(*s->frames));
	s->frames[s->cnt++] = *f;
	hmap_set(&s->index, key, (void *)s->cnt);
	return s->cnt - 1;
}

static uint64_t function_of(struct speedscope *s, const struct profile_frame *f)
{
	const struct frame frame = { *f, INTERVAL_STATE_CNT };

	return index_of(s, (uint64_t)f->sym << 32 | f->module << 1 | f->inlined, &frame);
}

static void put_stack(struct export *x, struct profile *p, const struct profile_stack *stack)
{
	const struct frame state = { .state = stack->state };
	const struct profile_frame *frames;
	struct speedscope *s = x->state;
	const char *sep = "";
	size_t cnt;

	buf_addch(&x->out, '[');
	if (x->kind == EXPORT_WALL) {
		buf_addu(&x->out, index_of(s, STATE_FRAME(stack->state), &state));
		sep = ",";
	}
	frames = profile_expand(p, stack, &cnt);
	while (cnt--) {
		buf_addstr(&x->out, sep);
		buf_addu(&x->out, function_of(s, &frames[cnt]));
		sep = ",";
	}
	buf_addch(&x->out, ']');
}

/* ---- profiles ---------------------------------------------------------------------------------- */

/* Stacks in the order of writing. */
struct order {
	const struct names *names;
	struct profile *p;
	const struct profile_stack *v;
	bool timed;
	struct hmap pids; /* names_task_key() -> pid + 1, if a stack has it */
};

static void collect_pids(struct order *o, size_t cnt)
{
	for (const struct profile_stack *s = o->v; s < o->v + cnt; s++)
		if (s->pid != TRACE_NONE)
			hmap_set(&o->pids, names_task_key(o->names, s->part, s->tid),
				 (void *)(uintptr_t)((uint64_t)s->pid + 1));
}

/* The process of a thread, also for its stacks before the trace named it. */
static uint32_t pid_of(const struct order *o, const struct profile_stack *s)
{
	uint32_t pid = s->pid, comm = NAMES_NONE;
	uintptr_t pid_and_1;

	names_task_fill(o->names, s->part, s->tid, &pid, &comm);
	if (pid != TRACE_NONE)
		return pid;
	pid_and_1 = (uintptr_t)hmap_get(&o->pids, names_task_key(o->names, s->part, s->tid));
	return pid_and_1 ? (uint32_t)(pid_and_1 - 1) : TRACE_NONE;
}

/* Samples with an unknown period are counted: in profiles of their own if others have times. */
static bool is_counted(const struct order *o, uint32_t i)
{
	return !o->timed || profile_stack_is_weightless(o->p, &o->v[i]);
}

static uint64_t weight_of(const struct order *o, uint32_t i)
{
	return is_counted(o, i) ? o->v[i].samples : profile_stack_weight(o->p, &o->v[i]);
}

static int by_number(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

/* Parts of one boot share their threads; names change. */
static int by_thread(const struct order *o, uint32_t a, uint32_t b)
{
	const struct profile_stack *x = &o->v[a], *y = &o->v[b];
	const uint32_t clock = names_part(o->names, x->part)->clock;
	int diff = by_number(clock, names_part(o->names, y->part)->clock);

	if (!diff)
		diff = by_number(pid_of(o, x), pid_of(o, y));
	if (!diff)
		diff = by_number(x->tid, y->tid);
	return diff ? diff : by_number(is_counted(o, a), is_counted(o, b));
}

static int by_weight(const void *a, const void *b, void *ctx)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct order *o = ctx;
	int diff = by_thread(o, x, y);

	if (diff)
		return diff;
	if (weight_of(o, x) != weight_of(o, y))
		return weight_of(o, x) < weight_of(o, y) ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* Its last name, if the trace still has it; otherwise the name in its heaviest stack. */
static uint32_t comm_of(const struct export *x, const struct order *o,
			const struct profile_stack *v)
{
	const struct names_task *task = trace_task(reader_trace(x->reader), v->tid);

	if (task && task->comm != NAMES_NONE && task->pid == pid_of(o, v) &&
	    v->part + 1 == x->names->parts.cnt)
		return task->comm;
	return profile_task_row(o->p, v, 1u << PROFILE_COMM).comm;
}

/* "comm 12/13" */
static void put_thread(struct export *x, const struct order *o, uint32_t i)
{
	const struct profile_stack *v = &o->v[i];
	const uint32_t pid = pid_of(o, v);
	struct speedscope *s = x->state;

	buf_clear(&s->text);
	value_text_name(&s->text, x->names, comm_of(x, o, v));
	if (pid != TRACE_NONE)
		buf_printf(&s->text, " %u/%u", pid, v->tid);
	else if (v->tid != TRACE_NONE)
		buf_printf(&s->text, " %u", v->tid);
	if (x->names->parts.cnt > 1)
		buf_printf(&s->text, " part %u", v->part + 1);
	str_json(&x->out, buf_cstr(&s->text), s->text.len);
}

/* ---- the order of a profile -------------------------------------------------------------------- */

#define NO_PROFILE UINT32_MAX

/* Consecutive observations of one stack. */
struct run {
	uint64_t weight;
	uint32_t stack;
};

/* Observations of all stacks on their way into lists, one for each profile. */
struct split {
	const struct order *o;
	const uint32_t *profile_of; /* by stack */
	struct run *last; /* by profile: not yet in its list; weight 0: none */
	uint64_t *left; /* by stack: weight that was not observed yet */
	struct temp_lists *lists;
};

static void end_run(struct split *s, uint32_t profile)
{
	if (s->last[profile].weight)
		temp_lists_add(s->lists, profile, &s->last[profile], sizeof(s->last[profile]));
	s->last[profile].weight = 0;
}

static void add_to_run(struct split *s, uint32_t stack, uint64_t weight)
{
	const uint32_t profile = s->profile_of[stack];

	if (s->last[profile].stack != stack)
		end_run(s, profile);
	s->last[profile].stack = stack;
	s->last[profile].weight += weight;
	s->left[stack] -= weight;
}

static void split_observation(void *ctx, uint32_t stack, uint64_t ns)
{
	struct split *s = ctx;
	const struct profile_stack *v = &s->o->v[stack];

	if (s->profile_of[stack] == NO_PROFILE)
		return;
	if (is_counted(s->o, stack))
		add_to_run(s, stack, 1);
	else
		add_to_run(s, stack, v->by_time ? ns : weight_of(s->o, stack) / v->samples);
}

/*
 * Fills a list for each of @cnt profiles. Times without an order, such as CPU time from switches where there
 * are no samples, come last.
 */
static void split_order(struct export *x, struct split *s, const uint32_t *ids, size_t id_cnt,
			size_t cnt)
{
	export_each_in_order(x, split_observation, s);
	for (size_t i = 0; i < id_cnt; i++)
		if (s->left[ids[i]])
			add_to_run(s, ids[i], s->left[ids[i]]);
	for (uint32_t i = 0; i < cnt; i++)
		end_run(s, i);
}

/* ---- writing ----------------------------------------------------------------------------------- */

struct writing {
	struct export *x;
	struct profile *p;
	const struct profile_stack *v;
	const char *sep; /* before the next value */
};

static void next_value(struct writing *w)
{
	export_flush(w->x);
	buf_addstr(&w->x->out, w->sep);
	w->sep = ",";
}

static void put_run_stack(void *ctx, const void *record, size_t sz)
{
	const struct run *r = record;
	struct writing *w = ctx;

	next_value(w);
	put_stack(w->x, w->p, &w->v[r->stack]);
}

static void put_run_weight(void *ctx, const void *record, size_t sz)
{
	const struct run *r = record;
	struct writing *w = ctx;

	next_value(w);
	buf_addu(&w->x->out, r->weight);
}

/* @ids: the stacks of one profile, heaviest first. */
static void put_profile(struct export *x, const struct split *s, const uint32_t *ids, size_t cnt)
{
	struct writing w = { .x = x, .p = s->o->p, .v = s->o->v, .sep = "" };
	const uint32_t profile = s->profile_of[ids[0]];
	uint64_t sum = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += weight_of(s->o, ids[i]);
	json_object(&x->out, NULL);
	json_str(&x->out, "type", "sampled");
	json_key(&x->out, "name");
	put_thread(x, s->o, ids[0]);
	json_str(&x->out, "unit", is_counted(s->o, ids[0]) ? "none" : "nanoseconds");
	json_u64s(&x->out, { "startValue", 0 }, { "endValue", sum });
	json_array(&x->out, "samples");
	temp_lists_each(s->lists, profile, put_run_stack, &w);
	json_end(&x->out, "]");
	json_array(&x->out, "weights");
	w.sep = "";
	temp_lists_each(s->lists, profile, put_run_weight, &w);
	json_end(&x->out, "]}");
}

/* The end of the profile that begins at ids[from]. */
static size_t profile_end(const struct order *o, const uint32_t *ids, size_t cnt, size_t from)
{
	size_t to = from + 1;

	while (to < cnt && !by_thread(o, ids[from], ids[to]))
		to++;
	return to;
}

static void put_split(struct export *x, const struct order *o, const uint32_t *ids, size_t cnt,
		      size_t all)
{
	uint32_t *profile_of = xcalloc(all + 1, sizeof(*profile_of)), profiles = 0;
	struct split s = { .o = o, .profile_of = profile_of, .lists = temp_lists_new() };

	s.left = xcalloc(all + 1, sizeof(*s.left));
	s.last = xcalloc(cnt + 1, sizeof(*s.last));
	memset(profile_of, 0xff, all * sizeof(*profile_of));
	for (size_t from = 0, to; from < cnt; from = to, profiles++) {
		to = profile_end(o, ids, cnt, from);
		for (size_t i = from; i < to; i++) {
			profile_of[ids[i]] = profiles;
			s.left[ids[i]] = weight_of(o, ids[i]);
		}
	}
	split_order(x, &s, ids, cnt, profiles);
	for (size_t from = 0, to; from < cnt; from = to) {
		to = profile_end(o, ids, cnt, from);
		buf_addstr(&x->out, from ? ",\n" : "\n");
		put_profile(x, &s, ids + from, to - from);
	}
	export_check_lists(x, s.lists);
	temp_lists_free(s.lists);
	free(profile_of);
	free(s.left);
	free(s.last);
}

static void put_profiles(struct export *x, struct profile *p)
{
	struct order o = { .names = x->names, .p = p, .timed = profile_weight(p) };
	size_t all, cnt = 0;
	uint32_t *ids;

	o.v = profile_stacks(p, &all);
	collect_pids(&o, all);
	ids = xcalloc(all + 1, sizeof(*ids));
	for (uint32_t i = 0; i < all; i++)
		if (weight_of(&o, i))
			ids[cnt++] = i;
	if (cnt)
		qsort_r(ids, cnt, sizeof(*ids), by_weight, &o);
	put_split(x, &o, ids, cnt, all);
	free(ids);
	hmap_fini(&o.pids);
}

/* ---- frames ------------------------------------------------------------------------------------ */

static void put_frame(struct export *x, const struct frame *frame)
{
	const struct profile_frame *f = &frame->f;
	struct speedscope *s = x->state;

	if (frame->state != INTERVAL_STATE_CNT) {
		buf_printf(&x->out, "{\"name\":\"[%s]\"}", value_text_state(frame->state));
		return;
	}
	buf_clear(&s->text);
	value_text_function(&s->text, x->names, f->sym, f->inlined);
	json_object(&x->out, NULL);
	json_text(&x->out, "name", buf_cstr(&s->text), s->text.len);
	buf_clear(&s->text);
	if (f->file != NAMES_NONE)
		value_text_name(&s->text, x->names, f->file);
	else if (f->module)
		value_text_module(&s->text, x->names, f->module);
	if (s->text.len)
		json_text(&x->out, "file", buf_cstr(&s->text), s->text.len);
	json_end(&x->out, "}");
}

static void speedscope_profile(struct export *x, struct profile *p)
{
	struct speedscope *s = x->state;

	json_object(&x->out, NULL);
	json_str(&x->out, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_str(&x->out, "exporter", "dial9-prof");
	json_key(&x->out, "name");
	buf_clear(&s->text);
	value_text_clean(&s->text, x->file, strlen(x->file));
	str_json(&x->out, buf_cstr(&s->text), s->text.len);
	json_array(&x->out, "profiles");
	put_profiles(x, p);
	json_end(&x->out, "]");
	json_line(&x->out);
	json_object(&x->out, "shared");
	json_array(&x->out, "frames");
	for (size_t i = 0; i < s->cnt; i++) {
		buf_addstr(&x->out, i ? ",\n" : "\n");
		put_frame(x, &s->frames[i]);
		export_flush(x);
	}
	json_end(&x->out, "]}}\n");
}

static void speedscope_fini(struct export *x)
{
	struct speedscope *s = x->state;

	hmap_fini(&s->index);
	free(s->frames);
	buf_free(&s->text);
}

const struct exporter export_speedscope = {
	.name = "speedscope",
	.brief = "flame graphs by thread, for speedscope.app",
	.in_order = true,
	.state_sz = sizeof(struct speedscope),
	.untimed = { [EXPORT_CPU] = "counted, without time", [EXPORT_WALL] = "counted, without time" },
	.profile = speedscope_profile,
	.fini = speedscope_fini,
};
