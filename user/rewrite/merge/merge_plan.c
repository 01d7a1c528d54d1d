// SPDX-License-Identifier: BSD-2-Clause
/*
 * First pass of a merge. Owns the data for the second pass: the number of valid events of each file and whether
 * they are ordered, all parts in sequence and their equal ones, the workers' threads, and the ids of modules.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/exit_code.h"
#include "base/log.h"
#include "rewrite/merge/merge_impl.h"

#define FIRST_FREE_ID 256 /* smaller ids are addresses of processes */

/* ---- one file ---------------------------------------------------------------------------------- */

struct scan {
	struct merge_plan *plan;
	struct merge_file *file;
	struct reader *reader;
	bool begun;
	uint64_t last_ts;
	uint64_t *announced; /* id of a module -> segment + 1 of its last ModuleEvent */
	size_t announced_cap;
	struct hmap schemas; /* for merge_same_add() */
};

static bool is_taken(const struct merge_plan *p, uint32_t id)
{
	return p->ids_taken[id / 64] >> id % 64 & 1;
}

static void claim_id(struct merge_plan *p, uint32_t id)
{
	p->ids_taken[id / 64] |= 1ULL << id % 64;
}

static bool is_announced(const struct scan *l, uint64_t segment, uint64_t id)
{
	return id < l->announced_cap && l->announced[id] == segment + 1;
}

/* In an address without a module, the upper bits are not an id. */
static void note_frame(struct scan *l, uint64_t segment, uint64_t addr)
{
	const uint32_t id = names_frame_module(addr);

	if (!is_announced(l, segment, id))
		claim_id(l->plan, id);
}

static void note_frames(struct scan *l, const struct trace_event *ev)
{
	const uint8_t *le;
	uint32_t cnt;

	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		if (!trace_value_stack(reader_trace(l->reader), &ev->values[i], &le, &cnt))
			continue;
		for (uint32_t k = 0; k < cnt; k++)
			note_frame(l, ev->segment, dial9_frame_at(le, k));
	}
}

static uint64_t awaited_key(const struct merge_plan *p, const struct merge_file *f,
			    uint64_t segment, uint64_t id)
{
	const uint64_t all[] = { (uint64_t)(f - p->files), segment, id };

	return hash_bytes(all, sizeof(all));
}

/* A mapping may name its module before the ModuleEvent. */
static void note_mapping(struct scan *l, const struct trace_event *ev)
{
	const uint64_t id = trace_u64_or(ev, ROLE_MODULE_ID, 0);
	const uint64_t key = awaited_key(l->plan, l->file, ev->segment, id);

	if (!id || id > PROF_FRAME_MODULE_MAX || is_announced(l, ev->segment, id) ||
	    hmap_get(&l->plan->early_modules, key) || l->plan->early_modules.cnt == MERGE_EARLY_MAX)
		return;
	hmap_set(&l->plan->early_modules, key, xcalloc(1, sizeof(struct merge_content)));
}

static void note_module(struct scan *l, const struct trace_event *ev)
{
	const uint64_t id = trace_u64_or(ev, ROLE_MODULE_ID, 0);
	struct merge_content *early_modules;

	if (!id || id > PROF_FRAME_MODULE_MAX)
		return;
	early_modules =
		hmap_get(&l->plan->early_modules, awaited_key(l->plan, l->file, ev->segment, id));
	if (early_modules && !early_modules->bytes.len)
		*early_modules = merge_plan_content(reader_trace(l->reader), ev);
	l->announced =
		array_reserve(l->announced, &l->announced_cap, id + 1, sizeof(*l->announced));
	l->announced[id] = ev->segment + 1;
}

static struct merge_part *part_at(struct merge_plan *p, uint32_t part)
{
	p->parts = array_reserve(p->parts, &p->part_cap, (size_t)part + 1, sizeof(*p->parts));
	return &p->parts[part];
}

/* The time of an event, or the time when it was written. */
static void note_time(struct scan *l, const struct trace_event *ev, struct merge_part *part)
{
	if (!ev->has_ts)
		return;
	if (ev->ts < l->last_ts)
		l->file->sorted = false;
	l->last_ts = ev->ts;
	if (trace_is_naming(ev->kind))
		return;
	if (!part->has_ts || ev->ts < part->first_ts)
		part->first_ts = ev->ts;
	if (ev->ts > part->last_ts)
		part->last_ts = ev->ts;
	part->has_ts = true;
}

static void scan_event(struct scan *l, const struct trace_event *ev)
{
	struct merge_part *part = part_at(l->plan, l->file->part + ev->part);
	uint32_t worker, tid;
	uint64_t addr;

	l->file->events++;
	/* it is not copied, but made again */
	if (ev->kind == TRACE_MERGED_PART)
		return;
	if (!l->begun)
		l->file->first_ts = ev->ts;
	l->begun = true;
	part->any = true;
	note_time(l, ev, part);
	merge_same_add(&l->schemas, reader_trace(l->reader), ev, part);
	if (ev->kind == TRACE_MODULE)
		note_module(l, ev);
	else if (ev->kind == TRACE_PROC_MAPS)
		note_mapping(l, ev);
	else if (ev->kind == TRACE_SYMBOL && trace_u64(ev, ROLE_ADDR, &addr))
		note_frame(l, ev->segment, addr);
	else
		note_frames(l, ev);
	if (worker_threads_parse(ev, &worker, &tid))
		worker_threads_learn(&l->plan->workers, l->file->part + ev->part, worker, tid,
				     ev->ts);
}

/* A file without a clock is assumed to have the clock of its directory, which has one application. */
static void find_clock(struct merge_plan *p, const struct merge_file *f, uint32_t at)
{
	struct part *part = &p->names->parts.v[at];

	parts_find_clock(&p->names->parts, at);
	if (f->made)
		part->clock = names_part(p->names, p->files[f->of].part)->clock;
	if (!f->found || part->synced || part->host != NAMES_NONE || part->boot_id != NAMES_NONE)
		return;
	for (uint32_t i = 0; i < at; i++)
		if (p->has_recording || (p->files[p->parts[i].file].found &&
					 p->files[p->parts[i].file].arg == f->arg)) {
			part->clock = names_part(p->names, i)->clock;
			return;
		}
}

/* Appends its parts with their properties after the parts of earlier files. */
static void adopt_parts(struct merge_plan *p, struct merge_file *f, const struct names *from)
{
	struct parts *all = &p->names->parts;

	f->part_cnt = (uint32_t)from->parts.cnt;
	for (uint32_t i = 0; i < f->part_cnt; i++) {
		const struct part *src = &from->parts.v[i];
		const uint32_t at = f->part + i;
		struct part *dst;

		part_at(p, at)->file = (uint32_t)(f - p->files);
		all->v = array_reserve(all->v, &all->cap, (size_t)at + 1, sizeof(*all->v));
		all->cnt = (size_t)at + 1;
		dst = &all->v[at];
		*dst = *src;
		dst->base = f->part + src->base;
		dst->next = 0;
		dst->clock = at;
		dst->host = dst->boot_id = NAMES_NONE;
		/* the first sync is enough */
		dst->syncs = NULL;
		dst->sync_cnt = dst->sync_cap = 0;
		dst->meta = xcalloc(src->meta_cnt + 1, sizeof(*dst->meta));
		dst->meta_cap = src->meta_cnt + 1;
		for (size_t k = 0; k < src->meta_cnt; k++) {
			size_t len;
			const char *s = names_str(from, src->meta[k].key, &len);

			dst->meta[k].key = names_add(p->names, s, len);
			s = names_str(from, src->meta[k].value, &len);
			dst->meta[k].value = names_add(p->names, s, len);
			if (src->meta[k].key == from->parts.host)
				dst->host = dst->meta[k].value;
			if (src->meta[k].key == from->parts.boot_id)
				dst->boot_id = dst->meta[k].value;
		}
		find_clock(p, f, at);
	}
}

/* Counts the valid events; the reader has reported errors. */
static int scan_file(struct merge_plan *p, struct merge_file *f)
{
	struct scan l = { .plan = p, .file = f };
	struct trace_event ev;
	int ret = merge_inputs_read(f, &l.reader);

	if (ret)
		return CMD_INPUT;
	reader_skip_tasks(l.reader);
	f->sorted = true;
	f->part = (uint32_t)p->names->parts.cnt;
	while ((ret = reader_next(l.reader, &ev)) == 1)
		scan_event(&l, &ev);
	p->incomplete |= ret < 0 || reader_is_incomplete(l.reader);
	f->level4 = trace_uses(reader_trace(l.reader)) != 0;
	part_at(p, f->part + (uint32_t)reader_names(l.reader)->parts.cnt);
	adopt_parts(p, f, reader_names(l.reader));
	reader_free(l.reader);
	free(l.announced);
	hmap_fini(&l.schemas);
	return CMD_OK;
}

/* ---- parts of the result ----------------------------------------------------------------------- */

static void compare(const struct names *n, uint32_t a, uint32_t b, size_t *same, size_t *other)
{
	const struct part *x = names_part(n, a);

	*same = *other = 0;
	for (size_t i = 0; i < x->meta_cnt; i++) {
		const uint32_t value = parts_get(&n->parts, b, x->meta[i].key);

		*same += value == x->meta[i].value;
		*other += value != x->meta[i].value && value != NAMES_NONE;
	}
}

/*
 * Whether two parts are equal: rotated files of a recording begin with the same metadata; files of an application
 * do not contradict each other, and a directory has one application.
 */
static bool are_one(const struct merge_plan *p, uint32_t a, uint32_t b)
{
	const struct part *x = names_part(p->names, a), *y = names_part(p->names, b);
	const struct merge_file *f = &p->files[p->parts[a].file], *g = &p->files[p->parts[b].file];
	size_t same, other;

	if (x->clock != y->clock || x->shift_ns != y->shift_ns || x->by_recorder != y->by_recorder)
		return false;
	compare(p->names, a, b, &same, &other);
	if (x->by_recorder)
		return same == x->meta_cnt && same == y->meta_cnt;
	return f != g && !other && (same || (f->found && g->found && f->arg == g->arg));
}

static bool make_parts(struct merge_plan *p)
{
	const uint32_t cnt = (uint32_t)p->names->parts.cnt;

	p->firsts = xcalloc((size_t)cnt + 1, sizeof(*p->firsts));
	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t k = 0;

		if (!p->parts[i].any)
			continue;
		while (k < p->out_cnt && !are_one(p, p->firsts[k], i))
			k++;
		if (k == p->out_cnt)
			p->firsts[p->out_cnt++] = i;
		p->parts[i].out = k;
		p->merged |= p->parts[i].shift_ns || names_part(p->names, i)->shift_ns;
	}
	p->merged |= p->out_cnt > 1;
	if (p->out_cnt < PARTS_MAX)
		return true;
	log_error("%s: more than %d recordings, the limit of readers", p->opts.word, PARTS_MAX - 1);
	return false;
}

/* Whether a part that does not belong to the recording has events within the time of its parts. */
static bool overlaps_recording(const struct merge_plan *p, uint32_t part)
{
	const struct merge_part *a = &p->parts[part];

	for (uint32_t i = 0; i < p->files[0].part_cnt; i++) {
		const struct merge_part *b = &p->parts[i];

		if (a->has_ts && b->has_ts && a->first_ts <= b->last_ts &&
		    b->first_ts <= a->last_ts &&
		    names_part(p->names, part)->clock == names_part(p->names, i)->clock)
			return true;
	}
	return false;
}

/* Skips found files that do not overlap the recording. */
static void leave_out(struct merge_plan *p)
{
	for (size_t i = 1; i < p->file_cnt; i++) {
		struct merge_file *f = &p->files[i];
		bool overlaps = false;

		for (uint32_t k = 0; k < f->part_cnt; k++)
			overlaps |= overlaps_recording(p, f->part + k);
		for (uint32_t k = 0; k < f->part_cnt && !overlaps; k++)
			p->parts[f->part + k] = (struct merge_part){ .file = (uint32_t)i };
		p->left_out += !overlaps && f->events;
		f->events = overlaps ? f->events : 0;
	}
}

/* Ordered events with equal shifts stay ordered. */
static void find_order(struct merge_plan *p)
{
	for (size_t i = 0; i < p->file_cnt; i++) {
		struct merge_file *f = &p->files[i];

		for (uint32_t k = 1; k < f->part_cnt; k++)
			f->sorted &= p->parts[f->part + k].shift_ns == p->parts[f->part].shift_ns;
	}
}

int merge_plan_make(struct merge_plan *p)
{
	uint64_t events = 0;
	int code = CMD_OK;

	if (names_new(&p->names))
		return CMD_INPUT;
	p->names->parts.cnt = 0;
	p->ids_taken = xcalloc(PROF_FRAME_MODULE_MAX / 64 + 1, sizeof(*p->ids_taken));
	p->next_id = FIRST_FREE_ID;
	for (size_t i = 0; i < p->file_cnt && code == CMD_OK; i++) {
		code = scan_file(p, &p->files[i]);
		events += p->files[i].events;
	}
	claim_id(p, 0);
	if (code != CMD_OK)
		return code;
	if (!events && p->incomplete)
		return CMD_INPUT;
	if (p->has_recording)
		leave_out(p);
	merge_same_find(p);
	merge_same_warn(p);
	if (!merge_align_parts(p) || !make_parts(p))
		return CMD_USAGE;
	find_order(p);
	return CMD_OK;
}

/* ---- modules ----------------------------------------------------------------------------------- */

static void add_role(struct buf *out, const struct trace *t, const struct trace_event *ev,
		     enum trace_role role)
{
	struct dial9_str s;

	if (!trace_str(t, ev, role, &s))
		s = (struct dial9_str){ "", 0 };
	buf_add(out, &s.len, sizeof(s.len));
	buf_add(out, s.ptr, s.len);
}

struct merge_content merge_plan_content(const struct trace *t, const struct trace_event *ev)
{
	const uint64_t kind = trace_u64_or(ev, ROLE_KIND, PROF_MODULE_ELF);
	const int32_t at = ev->schema->role[ROLE_BUILD_ID];
	const struct dial9_value *id = at >= 0 ? &ev->values[at] : NULL;
	struct merge_content c = { .vague = true };

	if (id && id->type == DIAL9_BYTES && id->str.len && kind != PROF_MODULE_ANON) {
		c.vague = false;
		buf_add(&c.bytes, id->str.ptr, id->str.len);
	}
	buf_add(&c.bytes, &kind, sizeof(kind));
	add_role(&c.bytes, t, ev, ROLE_PATH);
	return c;
}

const struct merge_content *merge_plan_early_module(const struct merge_plan *p,
						    const struct merge_file *f, uint64_t segment,
						    uint64_t id)
{
	const struct merge_content *c = hmap_get(&p->early_modules, awaited_key(p, f, segment, id));

	return c && c->bytes.len ? c : NULL;
}

/* Keeps the id of a module unless another module uses it. */
static uint32_t new_id(struct merge_plan *p, uint64_t wish)
{
	uint32_t id = (uint32_t)wish;

	if (!id || id > PROF_FRAME_MODULE_MAX || is_taken(p, id)) {
		while (p->next_id <= PROF_FRAME_MODULE_MAX && is_taken(p, p->next_id))
			p->next_id++;
		id = p->next_id <= PROF_FRAME_MODULE_MAX ? p->next_id : 0;
	}
	claim_id(p, id);
	return id;
}

uint32_t merge_plan_module(struct merge_plan *p, uint32_t part, uint64_t id,
			   const struct merge_content *content)
{
	const uint64_t who[] = { content->vague ? 1 + (uint64_t)p->parts[part].out : 0,
				 content->vague ? id : 0 };
	struct buf all = { 0 };
	struct merge_module *m;
	uint64_t h;

	buf_add(&all, who, sizeof(who));
	buf_add(&all, content->bytes.data, content->bytes.len);
	h = hash_bytes(all.data, all.len);
	while ((m = hmap_get(&p->modules, h)) &&
	       (m->content.len != all.len || memcmp(m->content.data, all.data, all.len)))
		h++;
	if (m) {
		buf_free(&all);
		return m->id;
	}
	m = xcalloc(1, sizeof(*m));
	m->content = all;
	m->id = new_id(p, id);
	hmap_set(&p->modules, h, m);
	return m->id;
}

void merge_plan_fini(struct merge_plan *p)
{
	size_t pos = 0;
	uint64_t key;
	void *m;

	while (hmap_next(&p->modules, &pos, &key, &m)) {
		buf_free(&((struct merge_module *)m)->content);
		free(m);
	}
	hmap_fini(&p->modules);
	pos = 0;
	while (hmap_next(&p->early_modules, &pos, &key, &m)) {
		buf_free(&((struct merge_content *)m)->bytes);
		free(m);
	}
	hmap_fini(&p->early_modules);
	worker_threads_fini(&p->workers);
	names_free(p->names);
	free(p->ids_taken);
	free(p->firsts);
	for (size_t i = 0; i < p->part_cap; i++)
		free(p->parts[i].few);
	free(p->parts);
	merge_inputs_close(p);
}
