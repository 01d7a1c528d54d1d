// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pairs of events and the longest of them. Owns the open ones, by a hash of the key that ties start
 * and end, and a heap of the longest with the shortest on top. Numbers only.
 *
 * The role of an event is found once per schema, not per event.
 */
#include "profile/explain/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/str.h"
#include "profile/sched/loss_accounting.h"

#define CALLS_MAX 4096 /* cache of system call numbers; there are fewer */

enum role { NEITHER, ENTER, EXIT, THREAD_EXIT };

/* The role of events of one schema. */
struct kind {
	enum role role;
	uint32_t pattern;
	int32_t tie; /* tie field; -1: the thread */
	int32_t number; /* field with the system call number of a start or end, or -1 */
	uint64_t own_call; /* hash of the call's name in syscalls:sys_enter_NAME or syscalls:sys_exit_NAME, or 0 */
	bool by_call; /* the pattern depends on the number */
	bool syscall, lacks_field; /* lacks_field: the requested field is missing */
};

struct open {
	struct span span; /* without its end */
	uint64_t losses; /* before it */
	uint64_t own_call; /* of its start's schema */
	uint64_t depth; /* number of pairs within it */
	bool wanted; /* false: kept only so that its end does not close another one */
	bool syscall;
	uint64_t place; /* hash of the thread of its start */
	struct open *outer, *inner; /* open ones of the same thread, started before and after it */
};

/* ---- schemas --------------------------------------------------------------------------------- */

static enum role role_of(const struct spans *s, const char *name, uint32_t *pattern)
{
	for (uint32_t k = 0; k < s->opts.pattern_cnt; k++) {
		*pattern = k;
		if (str_glob(s->opts.patterns[k].enter, name))
			return ENTER;
		if (str_glob(s->opts.patterns[k].exit, name))
			return EXIT;
	}
	return strcmp(name, PROF_EV_SCHED_PROCESS_EXIT) ? NEITHER : THREAD_EXIT;
}

static bool has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

enum { OWN_ENTER = 1, OWN_EXIT = 2, OWN_BOTH = OWN_ENTER | OWN_EXIT };

static uint64_t name_hash(const char *name)
{
	return hash_bytes(name, strlen(name));
}

static bool is_own(const struct spans *s, uint64_t name)
{
	return (uintptr_t)hmap_get(&s->own_calls, name) == OWN_BOTH;
}

/* Notes a call that has events of its own, one half of them. The hash of its name; 0: it is not such an event. */
static uint64_t add_own_call(struct spans *s, const char *name)
{
	static const char enter[] = "syscalls:sys_enter_", exit[] = "syscalls:sys_exit_";
	const bool is_enter = has_prefix(name, enter);
	uintptr_t halves = is_enter ? OWN_ENTER : OWN_EXIT;
	uint64_t hash;

	if (!is_enter && !has_prefix(name, exit))
		return 0;
	hash = name_hash(name + (is_enter ? sizeof(enter) : sizeof(exit)) - 1);
	halves |= (uintptr_t)hmap_get(&s->own_calls, hash);
	hmap_set(&s->own_calls, hash, (void *)halves);
	return hash;
}

static const struct kind *kind_of(struct spans *s, const struct trace_schema *ts)
{
	const uint64_t key = (uint64_t)(uintptr_t)ts;
	struct kind *k = hmap_get(&s->schemas, key);
	const char *name = dial9_schema_name(ts->schema);

	if (k)
		return k;
	k = xcalloc(1, sizeof(*k));
	k->role = role_of(s, name, &k->pattern);
	k->tie = trace_field_at(ts, s->opts.field ? s->opts.field : "span_id");
	k->lacks_field = s->opts.field && k->tie < 0;
	k->syscall = has_prefix(name, "syscalls:") || has_prefix(name, "raw_syscalls:");
	k->number = -1;
	/* the number ties an enter to its exit, not an exit to the next enter */
	if (k->syscall && strstr(name, k->role == ENTER ? ":sys_enter" : ":sys_exit")) {
		k->number = trace_field_at(ts, "id");
		if (k->number < 0)
			k->number = trace_field_at(ts, "__syscall_nr");
	}
	k->by_call = (k->role == ENTER || k->role == EXIT) && k->number >= 0 &&
		     s->opts.patterns[k->pattern].call;
	if (k->role == ENTER || k->role == EXIT)
		k->own_call = add_own_call(s, name);
	hmap_set(&s->schemas, key, k);
	return k;
}

/* UINT64_MAX: unknown. */
static uint64_t number_of(const struct trace_event *ev, const struct kind *k)
{
	uint64_t number;

	return k->number >= 0 && trace_value_u64(&ev->values[k->number], &number) ? number :
										    UINT64_MAX;
}

/*
 * The first pattern that matches a system call of that name from raw_syscalls; pattern_cnt if there
 * is none.
 */
static uint32_t pattern_by_name(const struct spans *s, const struct kind *k, const char *event,
				const char *call)
{
	const uint32_t none = (uint32_t)s->opts.pattern_cnt;
	uint32_t at = is_own(s, name_hash(call)) ? none : k->pattern;

	for (; at < none; at++) {
		const struct spans_pattern *p = &s->opts.patterns[at];

		if (str_glob(k->role == ENTER ? p->enter : p->exit, event) &&
		    (!p->call || str_glob(p->call, call)))
			break;
	}
	return at;
}

/* The pattern of a system call; pattern_cnt if none matches it. */
static uint32_t pattern_of_call(struct spans *s, const struct trace *t,
				const struct trace_event *ev, const struct kind *k)
{
	const uint64_t number = number_of(ev, k);
	const char *name = dial9_schema_name(ev->schema->schema);
	uintptr_t known = (uintptr_t)hmap_get(&s->calls, number);
	const uint32_t none = (uint32_t)s->opts.pattern_cnt;
	struct buf text = { 0 };

	if (known)
		return (uint32_t)(known - 1);
	/* the names of numbers may come later */
	if (!trace_field_text(t, ev, (size_t)k->number, &text))
		return none;
	known = pattern_by_name(s, k, name, buf_cstr(&text));
	if (known < none && s->raw_calls.cnt < CALLS_MAX)
		hmap_set(&s->raw_calls, name_hash(buf_cstr(&text)), s);
	if (s->calls.cnt < CALLS_MAX)
		hmap_set(&s->calls, number, (void *)(known + 1));
	buf_free(&text);
	return (uint32_t)known;
}

/* ---- threads ----------------------------------------------------------------------------------- */

static uint32_t worker_of(const struct trace_event *ev)
{
	const uint64_t worker = trace_u64_or(ev, ROLE_WORKER_ID, PROF_WORKER_NONE);

	return worker == PROF_WORKER_NONE || worker >= TRACE_NONE ? TRACE_NONE : (uint32_t)worker;
}

/* As far as it is known now. */
static uint32_t thread_of(const struct spans *s, const struct trace_event *ev)
{
	const uint32_t worker = worker_of(ev);

	return ev->tid != TRACE_NONE || worker == TRACE_NONE ?
		       ev->tid :
		       worker_threads_tid(&s->workers, ev->part, worker, ev->ts);
}

/* ---- ties ------------------------------------------------------------------------------------ */

enum by { BY_THREAD, BY_WORKER, BY_NUMBER, BY_TEXT };

struct tie {
	uint64_t hash; /* equal for a start and its end */
	uint64_t id; /* BY_NUMBER */
	enum by by;
};

static uint64_t tie_hash(uint32_t part, uint32_t pattern, enum by by, uint64_t value)
{
	const uint64_t all[] = { (uint64_t)part << 32 | pattern, by, value };

	return hash_bytes(all, sizeof(all));
}

/* False: no key. */
static bool tie_of(const struct trace *t, const struct trace_event *ev, const struct kind *k,
		   uint32_t pattern, struct tie *tie)
{
	const struct dial9_value *v = k->tie >= 0 ? &ev->values[k->tie] : NULL;
	const uint32_t worker = worker_of(ev);
	struct dial9_str text;
	uint64_t value = 0;

	*tie = (struct tie){ 0 };
	if (v && trace_value_u64(v, &value)) {
		tie->by = BY_NUMBER;
		tie->id = value;
	} else if (v && trace_value_str(t, v, &text)) {
		tie->by = BY_TEXT;
		value = hash_bytes(text.ptr, text.len);
	} else if (v || k->lacks_field || (ev->tid == TRACE_NONE && worker == TRACE_NONE)) {
		return false;
	} else {
		tie->by = ev->tid == TRACE_NONE ? BY_WORKER : BY_THREAD;
		value = ev->tid == TRACE_NONE ? worker : ev->tid;
	}
	tie->hash = tie_hash(ev->part, pattern, tie->by, value);
	return true;
}

static bool is_same_call(uint64_t a, uint64_t b)
{
	return a == b || a == UINT64_MAX || b == UINT64_MAX;
}

/* ---- the longest ------------------------------------------------------------------------------- */

static uint64_t length(const struct span *p)
{
	return p->end - p->start;
}

/* Whether @a comes before @b, longest first. */
static bool is_before(const struct span *a, const struct span *b)
{
	if (length(a) != length(b))
		return length(a) > length(b);
	return a->start != b->start ? a->start < b->start : a->tid < b->tid;
}

static void sift_down(struct spans *s, size_t at)
{
	const struct span p = s->v[at];
	size_t child;

	for (; (child = 2 * at + 1) < s->cnt; at = child) {
		if (child + 1 < s->cnt && is_before(&s->v[child], &s->v[child + 1]))
			child++;
		if (!is_before(&p, &s->v[child]))
			break;
		s->v[at] = s->v[child];
	}
	s->v[at] = p;
}

static void sift_up(struct spans *s, size_t at)
{
	const struct span p = s->v[at];

	for (; at && is_before(&s->v[(at - 1) / 2], &p); at = (at - 1) / 2)
		s->v[at] = s->v[(at - 1) / 2];
	s->v[at] = p;
}

static void count_kind(struct spans *s, const struct span *p)
{
	size_t at = (uintptr_t)hmap_get(&s->kind_index, (uint64_t)p->name + 1);

	if (!at) {
		s->kinds =
			array_reserve(s->kinds, &s->kind_cap, s->kind_cnt + 1, sizeof(*s->kinds));
		s->kinds[s->kind_cnt++] = (struct spans_kind){ .name = p->name };
		at = s->kind_cnt;
		hmap_set(&s->kind_index, (uint64_t)p->name + 1, (void *)(uintptr_t)at);
	}
	s->kinds[at - 1].pairs++;
	s->kinds[at - 1].ns += length(p);
}

static int most_time_first(const void *a, const void *b)
{
	const struct spans_kind *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static void keep_longest(struct spans *s, const struct span *p)
{
	s->pairs++;
	count_kind(s, p);
	s->ns += length(p);
	quantile_add(&s->lengths, length(p));
	if (length(p) < s->opts.min_ns)
		return;
	s->slow++;
	s->slow_ns += length(p);
	if (!s->opts.max)
		return;
	if (s->cnt < s->opts.max) {
		s->v = array_reserve(s->v, &s->cap, s->cnt + 1, sizeof(*s->v));
		s->v[s->cnt++] = *p;
		sift_up(s, s->cnt - 1);
	} else if (is_before(p, &s->v[0])) {
		s->v[0] = *p;
		sift_down(s, 0);
	}
}

static int longest_first(const void *a, const void *b)
{
	return is_before(b, a) - is_before(a, b);
}

/* ---- events ------------------------------------------------------------------------------------ */

static bool is_wanted(const struct spans *s, uint32_t tid, uint32_t cpu)
{
	return !s->opts.is_wanted || s->opts.is_wanted(s->opts.ctx, tid, cpu);
}

/* ---- without the other end --------------------------------------------------------------------- */

static void count_single(struct hmap *single, uint64_t own_call)
{
	if (own_call)
		hmap_set(single, own_call, (void *)((uintptr_t)hmap_get(single, own_call) + 1));
}

static void count_unended(struct spans *s, const struct open *o)
{
	s->unended++;
	count_single(&s->own_unended, o->own_call);
}

static void count_unstarted(struct spans *s, const struct kind *k)
{
	s->unstarted++;
	count_single(&s->own_unstarted, k->own_call);
}

static void drop_single(struct spans *s, uint64_t call)
{
	if (is_own(s, call))
		return;
	s->unended -= (uintptr_t)hmap_del(&s->own_unended, call);
	s->unstarted -= (uintptr_t)hmap_del(&s->own_unstarted, call);
}

void spans_drop_single(struct spans *s, const char *call)
{
	drop_single(s, name_hash(call));
}

/* ---- nesting of open pairs in a thread ------------------------------------------------------- */

static uint64_t place_of(const struct trace_event *ev)
{
	return ev->tid == TRACE_NONE ? tie_hash(ev->part, 0, BY_WORKER, worker_of(ev)) :
				       tie_hash(ev->part, 0, BY_THREAD, ev->tid);
}

static void put_innermost(struct spans *s, struct open *o)
{
	o->outer = hmap_get(&s->last_open, o->place);
	if (o->outer)
		o->outer->inner = o;
	hmap_set(&s->last_open, o->place, o);
}

static void remove_open(struct spans *s, struct open *o)
{
	if (o->outer)
		o->outer->inner = o->inner;
	if (o->inner)
		o->inner->outer = o->outer;
	else if (o->outer)
		hmap_set(&s->last_open, o->place, o->outer);
	else
		hmap_del(&s->last_open, o->place);
}

/*
 * Whether another pair of the same thread is open around it. Not if a loss may hide an end. System
 * calls never nest, and a requested field ties events across threads.
 */
static bool is_inside(const struct spans *s, const struct open *o, const struct trace_event *end)
{
	const struct open *outer = s->opts.field ? NULL : o->outer;

	return outer && outer->losses == s->losses && !(outer->syscall && o->syscall) &&
	       place_of(end) == o->place;
}

/* Whether events may be missing since the start of an open pair. */
static bool has_loss(const struct spans *s, const struct open *o, uint64_t now)
{
	return s->opts.is_cut ? s->opts.is_cut(s->opts.ctx, o->span.part, o->span.start, now) :
				o->losses != s->losses;
}

static void begin_span(struct spans *s, const struct trace *t, const struct trace_event *ev,
		       const struct kind *k, uint32_t pattern)
{
	const uint32_t tid = thread_of(s, ev);
	const bool wanted = is_wanted(s, tid, ev->cpu);
	struct tie tie;
	struct open *o;

	s->enters++;
	if (!tie_of(t, ev, k, pattern, &tie)) {
		s->untied++;
		return;
	}
	s->workers_incomplete |= s->opts.by_thread && ev->tid == TRACE_NONE;
	/* with a tie field it may end in any thread */
	if (!wanted && (tie.by == BY_THREAD || tie.by == BY_WORKER))
		return;
	o = hmap_get(&s->open, tie.hash);
	/* after a loss the end of the open pair may be lost */
	if (o && !k->syscall && !has_loss(s, o, ev->ts)) {
		o->depth++;
		s->nested += wanted || o->wanted;
		return;
	}
	if (o) {
		if (o->wanted)
			count_unended(s, o);
		remove_open(s, o);
	} else if (s->open.cnt >= SPANS_OPEN_MAX) {
		s->dropped += wanted;
		return;
	} else {
		o = xmalloc(sizeof(*o));
		hmap_set(&s->open, tie.hash, o);
	}
	*o = (struct open){ .span = { .start = ev->ts,
				      .part = ev->part,
				      .tid = tid,
				      .pid = ev->pid,
				      .comm = ev->comm,
				      .worker = ev->tid == TRACE_NONE ? worker_of(ev) : TRACE_NONE,
				      .name = ev->schema->name,
				      .id = tie.id,
				      .has_id = tie.by == BY_NUMBER,
				      .call = number_of(ev, k),
				      .call_field = k->number < 0 ?
							    NAMES_NONE :
							    ev->schema->field_names[k->number] },
			    .losses = s->losses,
			    .own_call = k->own_call,
			    .wanted = wanted,
			    .syscall = k->syscall,
			    .place = place_of(ev) };
	put_innermost(s, o);
}

static void add_pair(struct spans *s, const struct trace *t, const struct open *o,
		     const struct trace_event *end)
{
	const bool cut = s->opts.pair && has_loss(s, o, end->ts);

	if (s->opts.pair)
		s->opts.pair(s->opts.ctx, &o->span, cut, t, end);
	if (cut)
		return;
	s->inside += is_inside(s, o, end);
	keep_longest(s, &o->span);
}

static void end_span(struct spans *s, const struct trace *t, const struct trace_event *ev,
		     const struct kind *k, uint32_t pattern)
{
	const uint32_t tid = thread_of(s, ev);
	struct tie tie;
	struct open *o;

	s->exits++;
	if (!tie_of(t, ev, k, pattern, &tie)) {
		s->untied++;
		return;
	}
	o = hmap_get(&s->open, tie.hash);
	if (!o) {
		if (is_wanted(s, tid, ev->cpu))
			count_unstarted(s, k);
		return;
	}
	if (o->depth && !has_loss(s, o, ev->ts)) {
		o->depth--;
		return;
	}
	hmap_del(&s->open, tie.hash);
	remove_open(s, o);
	if (!o->wanted) {
		free(o);
		return;
	}
	if (!is_same_call(o->span.call, number_of(ev, k)) || ev->ts < o->span.start) {
		count_unended(s, o);
		count_unstarted(s, k);
	} else {
		o->span.end = ev->ts;
		o->span.end_tid = tid;
		o->span.end_worker = ev->tid == TRACE_NONE ? worker_of(ev) : TRACE_NONE;
		add_pair(s, t, o, ev);
	}
	free(o);
}

/* The TID may be reused, and the pairs open in it have no end. */
static void forget_thread(struct spans *s, const struct trace_event *ev)
{
	struct open *o;

	for (uint32_t k = 0; k < s->opts.pattern_cnt && ev->tid != TRACE_NONE; k++) {
		o = hmap_del(&s->open, tie_hash(ev->part, k, BY_THREAD, ev->tid));
		if (!o)
			continue;
		if (o->wanted)
			count_unended(s, o);
		remove_open(s, o);
		free(o);
	}
}

void spans_add(struct spans *s, const struct trace *t, const struct trace_event *ev)
{
	const struct kind *k;
	struct dial9_str lost;
	uint32_t pattern;

	if (ev->kind == TRACE_LOST)
		s->losses += trace_str(t, ev, ROLE_KIND, &lost) &&
			     loss_accounting_hides_switches(lost.ptr, lost.len);
	if (!ev->has_ts || trace_is_naming(ev->kind))
		return;
	worker_threads_add(&s->workers, ev);
	k = kind_of(s, ev->schema);
	pattern = k->by_call ? pattern_of_call(s, t, ev, k) : k->pattern;
	if (pattern == s->opts.pattern_cnt)
		return;
	if (k->role == ENTER)
		begin_span(s, t, ev, k, pattern);
	else if (k->role == EXIT)
		end_span(s, t, ev, k, pattern);
	else if (k->role == THREAD_EXIT)
		forget_thread(s, ev);
}

void spans_finish(struct spans *s)
{
	uint64_t call;
	size_t pos = 0;
	void *open;

	while (hmap_next(&s->open, &pos, NULL, &open))
		if (((const struct open *)open)->wanted)
			count_unended(s, open);
	pos = 0;
	while (hmap_next(&s->raw_calls, &pos, &call, NULL))
		drop_single(s, call);
	for (size_t k = 0; k < s->cnt; k++) {
		struct span *p = &s->v[k];

		if (p->worker != TRACE_NONE)
			p->tid = worker_threads_tid(&s->workers, p->part, p->worker, p->start);
		if (p->end_worker != TRACE_NONE)
			p->end_tid =
				worker_threads_tid(&s->workers, p->part, p->end_worker, p->end);
		if (p->tid == TRACE_NONE)
			p->tid = p->end_tid;
		if (p->end_tid == TRACE_NONE)
			p->end_tid = p->tid;
	}
	if (s->cnt)
		qsort(s->v, s->cnt, sizeof(*s->v), longest_first);
	if (s->kind_cnt)
		qsort(s->kinds, s->kind_cnt, sizeof(*s->kinds), most_time_first);
}

static void free_values(struct hmap *m)
{
	size_t pos = 0;
	uint64_t key;
	void *v;

	while (hmap_next(m, &pos, &key, &v))
		free(v);
	hmap_fini(m);
}

bool spans_needs_rerun(const struct spans *s)
{
	uint64_t name;
	size_t pos = 0;
	void *v;

	if (s->workers_incomplete)
		return true;
	while (hmap_next(&s->raw_calls, &pos, &name, &v))
		if (is_own(s, name))
			return true;
	return false;
}

void spans_restart(struct spans *s)
{
	free_values(&s->schemas);
	free_values(&s->open);
	hmap_fini(&s->last_open);
	hmap_fini(&s->kind_index);
	free(s->kinds);
	hmap_fini(&s->calls);
	hmap_fini(&s->raw_calls);
	hmap_fini(&s->own_unended);
	hmap_fini(&s->own_unstarted);
	quantile_fini(&s->lengths);
	free(s->v);
	*s = (struct spans){ .opts = s->opts, .own_calls = s->own_calls, .workers = s->workers };
}

void spans_fini(struct spans *s)
{
	spans_restart(s);
	hmap_fini(&s->own_calls);
	worker_threads_fini(&s->workers);
}
