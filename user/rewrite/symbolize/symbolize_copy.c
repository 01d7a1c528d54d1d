// SPDX-License-Identifier: BSD-2-Clause
/*
 * The trace that `dial9-prof symbolize` writes: all bytes of the input, with symbols between its segments. Owns the
 * addresses in events, and the places to insert symbols.
 *
 * A file that was read and has no symbols gets its status in the same way, so that reports print the reason.
 * Ids of modules are valid in one segment only, and its schemas and pools end with it. So symbols get a separate
 * segment right after the segment with the addresses. It begins with the same metadata, because it belongs to the
 * same recording, and introduces the modules by the same ids. Input bytes are copied without decoding, so they
 * cannot change.
 */
#include "rewrite/symbolize/symbolize_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "events/emit.h"

#define BLOCK (1 << 16)

static char met; /* marks known addresses */

/* Field indexes in events of one schema; -1: none. */
struct copy_schema {
	size_t stack_cnt;
	uint16_t *stacks;
	int32_t start, end, offset; /* of mappings */
};

static void forget_schemas(struct symbolize_copy *c)
{
	struct copy_schema *s;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&c->schemas, &pos, &key, &value)) {
		s = value;
		free(s->stacks);
		free(s);
	}
	hmap_fini(&c->schemas);
}

void symbolize_copy_fini(struct symbolize_copy *c)
{
	forget_schemas(c);
	hmap_fini(&c->frames);
	hmap_fini(&c->raw_frames);
	hmap_fini(&c->ids);
	free(c->segments);
}

static struct copy_schema *schema_of(struct symbolize_copy *c, const struct trace_schema *ts)
{
	struct copy_schema *s = hmap_get(&c->schemas, (uintptr_t)ts);
	const struct names *n = reader_names(c->reader);

	if (s)
		return s;
	s = xcalloc(1, sizeof(*s));
	s->stacks = xcalloc(ts->field_cnt, sizeof(*s->stacks));
	s->start = s->end = s->offset = -1;
	for (size_t i = 0; i < ts->field_cnt; i++) {
		uint8_t type = dial9_schema_field_type(ts->schema, i) & 0x7f;
		const char *name = names_str(n, ts->field_names[i], NULL);

		if (type == DIAL9_STACK || type == DIAL9_POOLED_STACK)
			s->stacks[s->stack_cnt++] = (uint16_t)i;
		else if (!strcmp(name, PROF_F_START))
			s->start = (int32_t)i;
		else if (!strcmp(name, PROF_F_END))
			s->end = (int32_t)i;
		else if (!strcmp(name, PROF_F_OFFSET))
			s->offset = (int32_t)i;
	}
	hmap_set(&c->schemas, (uintptr_t)ts, s);
	return s;
}

/* Addresses differ between segments, and after a module's id is reused. */
static void note_place_in_stream(struct symbolize_copy *c, const struct trace_event *ev)
{
	uint64_t id;

	if (ev->segment != c->segment) {
		hmap_fini(&c->raw_frames);
		hmap_fini(&c->ids);
		c->segment = ev->segment;
	}
	if (ev->kind != TRACE_MODULE || !trace_u64(ev, ROLE_MODULE_ID, &id))
		return;
	if (hmap_get(&c->ids, id))
		hmap_fini(&c->raw_frames);
	hmap_set(&c->ids, id, &met);
}

/* Calls fn for each new address of a segment. */
static void each_frame(struct symbolize_copy *c, const struct trace_event *ev,
		       void (*fn)(void *ctx, uint64_t addr, uint64_t frame), void *ctx)
{
	const struct copy_schema *s = schema_of(c, ev->schema);
	const struct trace *t = reader_trace(c->reader);
	const uint8_t *le;
	uint32_t cnt;

	note_place_in_stream(c, ev);
	for (size_t i = 0; i < s->stack_cnt; i++) {
		if (!trace_value_stack(t, &ev->values[s->stacks[i]], &le, &cnt))
			continue;
		for (uint32_t k = 0; k < cnt; k++) {
			uint64_t addr = dial9_frame_at(le, k);

			if (hmap_get(&c->raw_frames, addr))
				continue;
			hmap_set(&c->raw_frames, addr, &met);
			fn(ctx, addr, reader_frame(c->reader, addr));
		}
	}
}

/* ---- looking ----------------------------------------------------------------------------------- */

/* A module's mapping. */
struct mapping {
	uint32_t module; /* index */
	bool several; /* with different values */
	uint64_t off, size;
};

/* Mappings, one per module. */
struct mappings {
	struct mapping *v;
	size_t cnt, cap;
	struct hmap at; /* module -> 1 + index */
};

struct scan {
	struct symbolize_copy *c;
	struct mappings known;
	struct mappings early; /* of modules that this segment introduces later, by their ids in it */
	uint64_t segment; /* of `early` */
};

static void note_frame(void *ctx, uint64_t addr, uint64_t frame)
{
	struct scan *scan = ctx;

	hmap_set(&scan->c->frames, frame, &met);
}

static void mappings_fini(struct mappings *m)
{
	hmap_fini(&m->at);
	free(m->v);
	memset(m, 0, sizeof(*m));
}

static void add_mapping(struct mappings *all, const struct mapping *m)
{
	uintptr_t at = (uintptr_t)hmap_get(&all->at, m->module);

	if (at) {
		struct mapping *was = &all->v[at - 1];

		was->several |= m->several || was->off != m->off || was->size != m->size;
		return;
	}
	all->v = array_reserve(all->v, &all->cap, all->cnt + 1, sizeof(*m));
	all->v[all->cnt++] = *m;
	hmap_set(&all->at, m->module, (void *)(uintptr_t)all->cnt);
}

static bool number_at(const struct trace_event *ev, int32_t field, uint64_t *out)
{
	return field >= 0 && trace_value_u64(&ev->values[field], out);
}

/* The module of an id in the current segment. */
static uint32_t module_of(struct symbolize_copy *c, uint64_t id)
{
	return names_frame_module(reader_frame(c->reader, id << PROF_FRAME_MODULE_SHIFT));
}

static void note_mapping(struct scan *scan, const struct trace_event *ev, uint64_t id)
{
	const struct copy_schema *s = schema_of(scan->c, ev->schema);
	uint64_t start, end;
	struct mapping m = { 0 };

	if (!number_at(ev, s->start, &start) || !number_at(ev, s->end, &end) || end <= start ||
	    !number_at(ev, s->offset, &m.off))
		return;
	m.size = end - start;
	m.module = module_of(scan->c, id);
	if (names_module(reader_names(scan->c->reader), m.module)->announced) {
		add_mapping(&scan->known, &m);
	} else {
		m.module = (uint32_t)id;
		add_mapping(&scan->early, &m);
	}
}

/* A mapping may precede its module. */
static void note_module(struct scan *scan, uint64_t id)
{
	uintptr_t at = (uintptr_t)hmap_del(&scan->early.at, id);
	struct mapping m;

	if (!at)
		return;
	m = scan->early.v[at - 1];
	m.module = module_of(scan->c, id);
	add_mapping(&scan->known, &m);
}

static void note_modules(struct scan *scan, const struct trace_event *ev)
{
	uint64_t id;

	if (ev->segment != scan->segment)
		mappings_fini(&scan->early);
	scan->segment = ev->segment;
	if ((ev->kind != TRACE_MODULE && ev->kind != TRACE_PROC_MAPS) ||
	    !trace_u64(ev, ROLE_MODULE_ID, &id) || !id || id > PROF_FRAME_MODULE_MAX)
		return;
	if (ev->kind == TRACE_MODULE)
		note_module(scan, id);
	else
		note_mapping(scan, ev, id);
}

static void note_segment(struct symbolize_copy *c, uint64_t segment)
{
	uint64_t header = reader_names(c->reader)->parts.segment;

	c->segments = array_reserve(c->segments, &c->segment_cap, segment + 1, sizeof(uint64_t));
	c->segments[segment] = header;
	c->segment_cnt = segment + 1;
}

static void hand_over(struct scan *scan, struct symbolize_find *find)
{
	struct symbolize_copy *c = scan->c;
	uint64_t frame;
	size_t pos = 0;
	void *value;

	while (hmap_next(&c->frames, &pos, &frame, &value))
		symbolize_find_want(find, frame);
	for (size_t i = 0; i < scan->known.cnt; i++) {
		const struct mapping *m = &scan->known.v[i];

		if (!m->several)
			symbolize_find_mapping(find, m->module, m->off, m->size);
	}
}

int symbolize_copy_scan(struct symbolize_copy *c, struct symbolize_find *find,
			const volatile sig_atomic_t *stop)
{
	struct scan scan = { .c = c };
	struct trace_event ev;
	int ret;

	reader_skip_tasks(c->reader);
	while ((ret = reader_next(c->reader, &ev)) == 1 && !*stop) {
		if (!c->events++ || ev.segment != c->segment)
			note_segment(c, ev.segment);
		each_frame(c, &ev, note_frame, &scan);
		note_modules(&scan, &ev);
	}
	if (!ret)
		hand_over(&scan, find);
	c->consumed = trace_consumed(reader_trace(c->reader));
	forget_schemas(c);
	hmap_fini(&c->raw_frames);
	hmap_fini(&c->ids);
	mappings_fini(&scan.known);
	mappings_fini(&scan.early);
	return ret == 1 ? -EINTR : ret;
}

/* ---- writing ----------------------------------------------------------------------------------- */

/*
 * An address with a new symbol in the current segment, or one in a file whose status is new: the raw frame, and the
 * frame of names.
 */
struct place {
	uint64_t addr, frame;
};

struct writer {
	struct symbolize_copy *c;
	struct symbolize_find *find;
	struct names *names;
	struct source *src;
	const struct cut_out *out;
	uint64_t pos; /* bytes copied */
	char *block;
	struct place *places;
	size_t place_cnt, place_cap;
	struct hmap placed; /* their frames */
	struct hmap stated; /* modules with a new status, in any segment */
	uint32_t part; /* of the segment's last event */
	uint64_t ts;
	uint64_t added;
	bool printed;
};

static int write_bytes(struct writer *w, const void *data, size_t sz)
{
	int err = w->out->write(w->out->ctx, data, sz);

	w->printed |= err != 0;
	return err;
}

static int copy_up_to(struct writer *w, uint64_t offset)
{
	int err = 0;
	ssize_t n;

	while (!err && w->pos < offset) {
		n = source_read(w->src, w->block,
				offset - w->pos < BLOCK ? (size_t)(offset - w->pos) : BLOCK);
		if (n <= 0)
			return n ? (int)n : -ENODATA;
		w->pos += (uint64_t)n;
		err = write_bytes(w, w->block, (size_t)n);
	}
	return err;
}

/* The module has a new status, which is not written yet. */
static bool has_status(struct writer *w, uint64_t frame)
{
	const uint32_t module = names_frame_module(frame);
	const char *detail;

	if (hmap_get(&w->stated, module) || !symbolize_find_status(w->find, module, &detail))
		return false;
	hmap_set(&w->stated, module, &met);
	return true;
}

static void add_place(void *ctx, uint64_t addr, uint64_t frame)
{
	struct writer *w = ctx;

	if (hmap_get(&w->placed, frame) ||
	    (!symbolize_find_symbol(w->find, frame) && !has_status(w, frame)))
		return;
	hmap_set(&w->placed, frame, &met);
	w->places = array_reserve(w->places, &w->place_cap, w->place_cnt + 1, sizeof(*w->places));
	w->places[w->place_cnt++] = (struct place){ addr, frame };
}

/* By module: a segment may have two ids for one. */
static int by_module(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;
	const uint32_t a_module = names_frame_module(a->frame);
	const uint32_t b_module = names_frame_module(b->frame);

	if (a_module != b_module)
		return a_module < b_module ? -1 : 1;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static bool same_module(const struct place *a, const struct place *b)
{
	return names_frame_module(a->frame) == names_frame_module(b->frame) &&
	       names_frame_module(a->addr) == names_frame_module(b->addr);
}

/* A metadata text; false: it is not UTF-8 and cannot be written again. */
static bool metadata_text(const struct writer *w, uint32_t id, struct dial9_str *out)
{
	out->ptr = names_str(w->names, id, &out->len);
	return str_utf8_valid_len(out->ptr, out->len) == out->len;
}

/* The metadata of the part, so that the segment belongs to it. */
static int put_metadata(struct writer *w, struct emit *emit)
{
	const struct part *part = names_part(w->names, w->part);
	struct dial9_str(*kv)[2] = xcalloc(part->meta_cnt + 1, sizeof(*kv));
	size_t cnt = 0;
	int err = 0;

	for (size_t i = 0; i < part->meta_cnt; i++)
		cnt += metadata_text(w, part->meta[i].key, &kv[cnt][0]) &&
		       metadata_text(w, part->meta[i].value, &kv[cnt][1]);
	if (cnt)
		err = emit_metadata(emit, w->ts, (const struct dial9_str(*)[2])kv, cnt);
	free(kv);
	return err;
}

static int put_module(struct writer *w, struct emit *emit, const struct place *p)
{
	const struct names_module *m = names_module(w->names, names_frame_module(p->frame));
	const uint32_t id = names_frame_module(p->addr), index = names_frame_module(p->frame);
	const char *status, *detail;
	int err;

	if (!m->announced)
		return 0;
	err = emit_module(emit, w->ts, id, names_str(w->names, m->path, NULL), m->build_id,
			  m->build_id_sz, m->kind);
	status = symbolize_find_status(w->find, index, &detail);
	if (!err && status)
		return emit_module_status(emit, EMIT_NOW, id, status, detail);
	if (!err && m->kind == PROF_MODULE_ELF &&
	    (strcmp(names_str(w->names, m->status, NULL), PROF_STATUS_NAMED) != 0 ||
	     *names_str(w->names, m->detail, NULL)))
		err = emit_module_status(emit, EMIT_NOW, id, PROF_STATUS_NAMED,
					 symbolize_find_lacks(w->find, index));
	return err;
}

static int put_names(struct writer *w, struct emit *emit, const struct place *p)
{
	const uint64_t module = p->addr & ~PROF_FRAME_OFFSET_MASK;
	const struct names_symbol *sym = symbolize_find_symbol(w->find, p->frame);
	int err = 0;

	for (uint32_t i = 0; sym && !err && i < sym->cnt; i++) {
		const struct names_frame *f = &sym->frames[i];
		struct emit_symbol row = {
			.addr = p->addr, .size = f->size, .depth = i, .line = f->line
		};

		if (f->name == NAMES_NONE)
			continue;
		row.name = symbolize_find_str(w->find, f->name, &row.name_len);
		row.file = symbolize_find_str(w->find, f->file, &row.file_len);
		row.base = module | (f->base & PROF_FRAME_OFFSET_MASK);
		err = emit_symbol(emit, &row);
	}
	return err;
}

static int put_places(struct writer *w, struct emit *emit)
{
	int err = put_metadata(w, emit);

	for (size_t i = 0; !err && i < w->place_cnt; i++) {
		const struct place *p = &w->places[i];

		if (!i || !same_module(p, p - 1))
			err = put_module(w, emit, p);
		if (!err)
			err = put_names(w, emit, p);
		w->added += !err && symbolize_find_symbol(w->find, p->frame);
	}
	return err;
}

/* Drops kernel addresses without a module that belong to another recording than the segment's end. */
static void drop_strangers(struct writer *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->place_cnt; i++) {
		const struct names_module *m =
			names_module(w->names, names_frame_module(w->places[i].frame));

		if (m->announced || m->part == w->part)
			w->places[kept++] = w->places[i];
	}
	w->place_cnt = kept;
}

/* The current segment ends at that byte of the input. */
static int end_segment(struct writer *w, uint64_t end)
{
	struct dial9_enc *enc = NULL;
	struct emit *emit = NULL;
	const void *data;
	size_t sz;
	int err;

	hmap_fini(&w->placed);
	drop_strangers(w);
	if (!w->place_cnt)
		return 0;
	qsort(w->places, w->place_cnt, sizeof(*w->places), by_module);
	err = copy_up_to(w, end);
	if (!err)
		err = dial9_enc_new(NULL, &enc);
	if (!err)
		err = emit_new(enc, false, &emit);
	if (!err)
		err = put_places(w, emit);
	if (!err) {
		data = dial9_enc_data(enc, &sz);
		err = write_bytes(w, data, sz);
	}
	emit_free(emit);
	dial9_enc_free(enc);
	w->place_cnt = 0;
	return err;
}

/* Writes as many events as the first pass read: a trace may grow, or be overwritten. */
static int write_segments(struct writer *w, const volatile sig_atomic_t *stop)
{
	struct symbolize_copy *c = w->c;
	struct trace_event ev;
	uint64_t left = c->events;
	bool first = true;
	int ret = 0, err = 0;

	while (!err && left && (ret = reader_next(c->reader, &ev)) == 1) {
		left--;
		if (*stop)
			return -EINTR;
		if (ev.segment >= c->segment_cnt)
			return -ESTALE;
		if (!first && ev.segment != c->segment)
			err = end_segment(w, c->segments[ev.segment]);
		first = false;
		each_frame(c, &ev, add_place, w);
		w->part = ev.part;
		if (ev.has_ts)
			w->ts = ev.ts;
	}
	if (!err && ret < 0) {
		w->printed = true;
		err = ret;
	}
	if (!err && left)
		err = -ESTALE;
	if (!err)
		err = end_segment(w, c->consumed);
	return err ? err : copy_up_to(w, c->consumed);
}

int symbolize_copy_write(struct symbolize_copy *c, struct symbolize_find *find, struct source *src,
			 const struct cut_out *out, const volatile sig_atomic_t *stop,
			 uint64_t *added, bool *printed)
{
	struct writer w = {
		.c = c,
		.find = find,
		.names = reader_names(c->reader),
		.src = src,
		.out = out,
		.block = xmalloc(BLOCK),
	};
	int err;

	c->segment = 0;
	reader_skip_tasks(c->reader);
	err = write_segments(&w, stop);
	*added = w.added;
	*printed = w.printed;
	hmap_fini(&w.placed);
	hmap_fini(&w.stated);
	free(w.places);
	free(w.block);
	return err;
}
