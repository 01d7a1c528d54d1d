// SPDX-License-Identifier: BSD-2-Clause
/*
 * Detects recordings that are given twice: as a copy, before and after symbolize, alone and within a merged trace.
 * Owns the compared data: the number of events of each part, and the sum of their hashes. The sum does not depend
 * on order, later symbols, or module ids. Times are the part's own in nanoseconds, so different recordings never
 * match.
 *
 * A recording and a fragment of it do not match, but share some of the smallest hashes. A fragment with a hundredth
 * of the events shares about ten of the thousand stored hashes. This is reported, and both are merged.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "prof_events.h"
#include "rewrite/merge/merge_impl.h"

static uint64_t hash_text(const struct names *n, uint32_t id)
{
	size_t len;
	const char *s;

	if (id == NAMES_NONE)
		return 0;
	s = names_str(n, id, &len);
	return hash_bytes(s, len);
}

/* Hashes its name and annotations, without the part fields, which only merged events have. Never 0. */
static uint64_t hash_schema(const struct names *n, const struct trace_schema *ts)
{
	uint64_t h = hash_text(n, ts->name);

	for (size_t i = 0; i < ts->field_cnt; i++) {
		const struct field_units *m = trace_field_units(ts, i);

		if ((int32_t)i == ts->role[ROLE_PART])
			continue;
		h = mix(h, (uint64_t)m->kind + 1);
		h = mix(h, m->ns + hash_text(n, m->unit) + hash_text(n, m->names));
	}
	return h ? h : 1;
}

/* Numbers of workers and modules, and stacks that contain them, may change by merging. */
static bool is_kept(const struct trace_event *ev, size_t i)
{
	const int32_t *role = ev->schema->role, at = (int32_t)i;

	return at != role[ROLE_PART] && at != role[ROLE_MODULE_ID] &&
	       (ev->kind != TRACE_SAMPLE || at != role[ROLE_WORKER_ID]);
}

static uint64_t hash_values(const struct trace *t, const struct trace_event *ev, uint64_t h)
{
	struct dial9_str s;
	uint64_t number;

	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		if (!is_kept(ev, i))
			continue;
		if (trace_value_u64(&ev->values[i], &number))
			h = mix(h, number + 1);
		else if (trace_value_str(t, &ev->values[i], &s))
			h = mix(h, hash_bytes(s.ptr, s.len));
	}
	return h;
}

#define FEW 1024 /* hashes stored per part */

static void swap_few(uint64_t *v, size_t a, size_t b)
{
	const uint64_t was = v[a];

	v[a] = v[b];
	v[b] = was;
}

/* Replaces the greatest hash and restores the heap. */
static void replace_greatest(struct merge_part *part, uint64_t h)
{
	uint64_t *v = part->few;
	size_t i = 0, child;

	v[0] = h;
	for (; (child = 2 * i + 1) < part->few_cnt; i = child) {
		if (child + 1 < part->few_cnt && v[child + 1] > v[child])
			child++;
		if (v[child] <= v[i])
			break;
		swap_few(v, child, i);
	}
}

static void keep_few(struct merge_part *part, uint64_t h)
{
	size_t i;

	if (part->few_cnt == FEW) {
		if (h < part->few[0])
			replace_greatest(part, h);
		return;
	}
	part->few = array_reserve(part->few, &part->few_cap, part->few_cnt + 1, sizeof(*part->few));
	part->few[part->few_cnt] = h;
	for (i = part->few_cnt++; i && part->few[i] > part->few[(i - 1) / 2]; i = (i - 1) / 2)
		swap_few(part->few, i, (i - 1) / 2);
}

void merge_same_add(struct hmap *schemas, const struct trace *t, const struct trace_event *ev,
		    struct merge_part *part)
{
	const struct names *n = trace_names(t);
	uint64_t h, ts;

	part->all_events++;
	if (trace_is_naming(ev->kind))
		return;
	h = (uintptr_t)hmap_get(schemas, (uintptr_t)ev->schema);
	if (!h) {
		h = hash_schema(n, ev->schema);
		hmap_set(schemas, (uintptr_t)ev->schema, (void *)(uintptr_t)h);
	}
	ts = ev->has_ts ? ev->ts - (uint64_t)names_part(n, ev->part)->shift_ns : 0;
	h = mix(h, ts);
	/* times within losses are shifted as well */
	if (ev->kind != TRACE_LOST)
		h = hash_values(t, ev, h);
	h = hash_u64(h);
	part->happened++;
	part->digest += h;
	if (ev->has_ts)
		keep_few(part, h);
}

/* ---- comparing --------------------------------------------------------------------------------- */

/* Whether the metadata of two parts allow them to be equal. */
static bool may_be_same(const struct merge_plan *p, uint32_t a, uint32_t b)
{
	const struct part *x = names_part(p->names, a), *y = names_part(p->names, b);

	if (x->by_recorder != y->by_recorder)
		return false;
	for (size_t i = 0; i < x->meta_cnt; i++) {
		const uint32_t value = parts_get(&p->names->parts, b, x->meta[i].key);

		if (value != NAMES_NONE && value != x->meta[i].value)
			return false;
	}
	return true;
}

/* Skips part @a, which equals @b. */
static void skip_duplicate(struct merge_plan *p, uint32_t a, uint32_t b)
{
	struct merge_part *part = &p->parts[a];

	part->again = true;
	part->any = part->has_ts = false;
	log_warn("%s: %s has the same recording as %s; it is used once", p->opts.word,
		 p->files[part->file].name, p->files[p->parts[b].file].name);
}

static bool is_candidate(const struct merge_part *part)
{
	return !part->again && part->has_ts && part->happened;
}

/* Keeps the part with more names, or the current recording. */
static void find_pairs(struct merge_plan *p)
{
	for (uint32_t a = 1; a < p->names->parts.cnt; a++)
		for (uint32_t b = 0; b < a && is_candidate(&p->parts[a]); b++) {
			const struct merge_part *x = &p->parts[a], *y = &p->parts[b];

			if (!is_candidate(y) || x->happened != y->happened ||
			    x->digest != y->digest || !may_be_same(p, a, b))
				continue;
			if (x->all_events > y->all_events && !p->has_recording)
				skip_duplicate(p, b, a);
			else
				skip_duplicate(p, a, b);
		}
}

/* Whether @b lies within the time of @a, by their own clocks. */
static bool lies_within(const struct merge_plan *p, uint32_t a, uint32_t b)
{
	const struct merge_part *x = &p->parts[a], *y = &p->parts[b];
	const uint64_t apart = (uint64_t)names_part(p->names, a)->shift_ns -
			       (uint64_t)names_part(p->names, b)->shift_ns;

	return x->file != y->file && y->happened < x->happened &&
	       y->first_ts + apart >= x->first_ts && y->last_ts + apart <= x->last_ts;
}

/* Files of an application that became one part by an earlier merge. */
static void find_sums(struct merge_plan *p)
{
	for (uint32_t a = 0; a < p->names->parts.cnt; a++) {
		uint64_t happened = 0, digest = 0;
		uint32_t first = TRACE_NONE;

		for (uint32_t b = 0; b < p->names->parts.cnt && is_candidate(&p->parts[a]); b++) {
			if (!is_candidate(&p->parts[b]) || !lies_within(p, a, b) ||
			    !may_be_same(p, a, b))
				continue;
			happened += p->parts[b].happened;
			digest += p->parts[b].digest;
			first = first == TRACE_NONE ? b : first;
		}
		if (first != TRACE_NONE && happened == p->parts[a].happened &&
		    digest == p->parts[a].digest)
			skip_duplicate(p, a, first);
	}
}

void merge_same_find(struct merge_plan *p)
{
	find_pairs(p);
	find_sums(p);
	for (size_t i = 0; i < p->file_cnt; i++) {
		struct merge_file *f = &p->files[i];
		bool some = !f->part_cnt;

		for (uint32_t k = 0; k < f->part_cnt; k++)
			some |= !p->parts[f->part + k].again;
		f->events = some ? f->events : 0;
	}
}

/* ---- events in common -------------------------------------------------------------------------- */

#define COMMON_MIN 2 /* hashes */
#define PRINTED_MAX 5 /* reported pairs of files */

struct common {
	uint64_t hash;
	uint32_t part;
};

/* Pairs of files with common hashes. */
struct pairs {
	struct hmap met; /* both files -> number of common hashes */
	size_t printed;
};

static int by_hash(const void *pa, const void *pb)
{
	const struct common *a = pa, *b = pb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->part < b->part ? -1 : a->part > b->part;
}

static bool differ(uint32_t a, uint32_t b)
{
	return a != NAMES_NONE && b != NAMES_NONE && a != b;
}

static void count_common(const struct merge_plan *p, struct pairs *pairs, uint32_t a, uint32_t b)
{
	const struct part *x = names_part(p->names, a), *y = names_part(p->names, b);
	const uint32_t file = p->parts[a].file, other = p->parts[b].file;
	const uint64_t key = (uint64_t)file << 32 | other;
	uintptr_t cnt;

	if (file == other || differ(x->host, y->host) || differ(x->boot_id, y->boot_id))
		return;
	cnt = (uintptr_t)hmap_get(&pairs->met, key) + 1;
	hmap_set(&pairs->met, key, (void *)cnt);
	if (cnt != COMMON_MIN || pairs->printed++ >= PRINTED_MAX)
		return;
	log_warn(
		"%s: %s and %s share events, which the output has twice; merge only one of these files",
		p->opts.word, p->files[file].name, p->files[other].name);
}

/* ---- at the same time --------------------------------------------------------------------------- */

#define BESIDE_NS 100000000ULL /* shorter overlaps of consecutive recordings are ignored */

/* Whether both recorded the same threads, by their targets. */
static bool follow_some_alike(const struct merge_plan *p, uint32_t a, uint32_t b)
{
	const char *x = names_meta(p->names, a, PROF_META_TARGET);
	const char *y = names_meta(p->names, b, PROF_META_TARGET);

	return x && y && (!strcmp(x, y) || !strcmp(x, "system") || !strcmp(y, "system"));
}

static bool are_beside(const struct merge_plan *p, uint32_t a, uint32_t b)
{
	const struct part *x = names_part(p->names, a), *y = names_part(p->names, b);
	const struct merge_part *v = &p->parts[a], *w = &p->parts[b];
	const uint64_t first = v->first_ts > w->first_ts ? v->first_ts : w->first_ts;
	const uint64_t last = v->last_ts < w->last_ts ? v->last_ts : w->last_ts;

	return v->file != w->file && x->by_recorder && y->by_recorder && x->boot_id != NAMES_NONE &&
	       x->boot_id == y->boot_id && last > first && last - first > BESIDE_NS &&
	       follow_some_alike(p, a, b);
}

static void warn_of_those_beside(const struct merge_plan *p)
{
	size_t printed = 0;

	for (uint32_t a = 1; a < p->names->parts.cnt; a++)
		for (uint32_t b = 0; b < a && is_candidate(&p->parts[a]); b++) {
			if (!is_candidate(&p->parts[b]) || !are_beside(p, a, b) ||
			    printed++ >= PRINTED_MAX)
				continue;
			log_warn("%s: %s and %s overlap on the same host: what both recorded "
				 "counts twice (report -s part separates them)",
				 p->opts.word, p->files[p->parts[a].file].name,
				 p->files[p->parts[b].file].name);
		}
	if (printed > PRINTED_MAX)
		log_warn("%s: %zu more pairs overlap", p->opts.word, printed - PRINTED_MAX);
}

void merge_same_warn(const struct merge_plan *p)
{
	struct pairs pairs = { .printed = 0 };
	struct common *v = NULL;
	size_t cnt = 0, cap = 0;

	for (uint32_t i = 0; i < p->names->parts.cnt; i++) {
		const struct merge_part *part = &p->parts[i];

		for (size_t k = 0; is_candidate(part) && k < part->few_cnt; k++) {
			v = array_reserve(v, &cap, cnt + 1, sizeof(*v));
			v[cnt++] = (struct common){ part->few[k], i };
		}
	}
	if (cnt)
		qsort(v, cnt, sizeof(*v), by_hash);
	hmap_init(&pairs.met);
	for (size_t i = 1; i < cnt; i++)
		if (v[i].hash == v[i - 1].hash)
			count_common(p, &pairs, v[i - 1].part, v[i].part);
	hmap_fini(&pairs.met);
	if (pairs.printed > PRINTED_MAX)
		log_warn("%s: %zu more pairs share events", p->opts.word,
			 pairs.printed - PRINTED_MAX);
	free(v);
	warn_of_those_beside(p);
}
