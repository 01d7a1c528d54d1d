// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where one recording ends in a stream and the next begins. Owns the parts with their metadata and
 * clocks; knows no frames, and strings only by id.
 *
 * A header begins a segment, but not always a part. An application writes a segment for each of its
 * buffers, mostly without metadata. A new part begins:
 *
 *   at a segment of this recorder that begins with different metadata: all of its segments repeat them;
 *   at metadata in any segment that contradicts the part's;
 *   at an application's segment whose wall clock differs by more than a second.
 *
 * A merged stream lists its parts (MergedPart), and each event has its part.
 *
 * A part begins at its segment's header if the first event of the segment starts it, otherwise at
 * the event that does. Two parts share a clock if they have the same boot id. If one has no boot
 * id, their wall clocks must agree and their hosts must not differ. In doubt they do not share one.
 */
#include "trace/read/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trace/read/names.h"

static struct part *last_part(struct parts *p)
{
	return &p->v[p->last];
}

/* Beyond the maximum, all further parts are one, without rate, host and clock. */
static void part_overflow(struct parts *p)
{
	struct part *part = last_part(p);

	p->overflow = true;
	part->meta_cnt = 0;
	p->meta_version++;
	part->synced = part->by_recorder = false;
	p->sync_cnt -= part->sync_cnt;
	part->sync_cnt = 0;
	part->host = part->boot_id = NAMES_NONE;
	part->merged = false;
	part->clock = p->last;
}

static uint32_t part_add(struct parts *p, uint64_t offset, uint32_t base)
{
	const uint32_t at = (uint32_t)p->cnt;

	p->v = array_reserve(p->v, &p->cap, p->cnt + 1, sizeof(*p->v));
	p->v[at] = (struct part){ .begin = offset,
				  .clock = at,
				  .base = base,
				  .host = NAMES_NONE,
				  .boot_id = NAMES_NONE };
	p->cnt++;
	return at;
}

static void part_begin(struct parts *p, uint64_t offset)
{
	uint32_t at;

	if (p->cnt == PARTS_MAX) {
		part_overflow(p);
		return;
	}
	at = part_add(p, offset, (uint32_t)p->cnt);
	if (at)
		last_part(p)->next = at;
	p->last = at;
}

void parts_init(struct parts *p, uint32_t host, uint32_t boot_id, uint32_t start)
{
	*p = (struct parts){ .host = host, .boot_id = boot_id, .start = start };
	part_begin(p, 0);
}

void parts_fini(struct parts *p)
{
	for (size_t i = 0; i < p->cnt; i++)
		free(p->v[i].meta);
	for (size_t i = 0; i < p->cnt; i++)
		free(p->v[i].syncs);
	hmap_fini(&p->merged);
	free(p->v);
	memset(p, 0, sizeof(*p));
}

uint32_t parts_get(const struct parts *p, uint32_t part, uint32_t key)
{
	const struct part *v = &p->v[part < p->cnt ? part : 0];

	for (size_t i = 0; i < v->meta_cnt; i++)
		if (v->meta[i].key == key)
			return v->meta[i].value;
	return NAMES_NONE;
}

/* ---- clocks ------------------------------------------------------------------------------------ */

static bool are_known(uint32_t a, uint32_t b)
{
	return a != NAMES_NONE && b != NAMES_NONE;
}

/* In one merged stream the clocks are recorded; clocks of different streams were moved apart. */
static bool is_contradiction(const struct part *x, const struct part *y)
{
	if (x->merged && y->merged && x->base == y->base)
		return x->told_clock != y->told_clock;
	if (x->shift_ns != y->shift_ns)
		return true;
	if (are_known(x->boot_id, y->boot_id))
		return x->boot_id != y->boot_id;
	return are_known(x->host, y->host) && x->host != y->host;
}

static bool wall_clocks_agree(const struct part *x, const struct part *y)
{
	uint64_t apart = (x->real - x->mono) - (y->real - y->mono);

	return x->synced && y->synced && (apart <= PARTS_CLOCK_NS || -apart <= PARTS_CLOCK_NS);
}

/* A part must not join a clock that any part of another boot is on. */
static bool may_join(const struct parts *p, uint32_t at, uint32_t clock)
{
	for (size_t i = 0; i < at; i++)
		if (p->v[i].clock == clock && is_contradiction(&p->v[i], &p->v[at]))
			return false;
	return true;
}

/* Whether only the wall clocks must be compared. */
static bool is_of_one_clock(const struct part *x, const struct part *y)
{
	if (x->merged && y->merged && x->base == y->base)
		return x->told_clock == y->told_clock;
	return are_known(x->boot_id, y->boot_id) && !is_contradiction(x, y);
}

/* Wall clocks that agree with two boots prove nothing. */
void parts_find_clock(struct parts *p, uint32_t at)
{
	struct part *part = &p->v[at];
	uint32_t found = at;
	bool doubt = false;

	for (uint32_t i = 0; i < at; i++) {
		const struct part *other = &p->v[i];

		if (is_of_one_clock(part, other)) {
			part->clock = other->clock;
			return;
		}
		if (is_contradiction(part, other) || !wall_clocks_agree(part, other))
			continue;
		doubt |= found != at && found != other->clock;
		found = other->clock;
	}
	part->clock = doubt || !may_join(p, at, found) ? at : found;
}

/* The overflow part shares no clock. */
static void find_clock(struct parts *p, uint32_t at)
{
	if (!p->overflow || at != p->last)
		parts_find_clock(p, at);
}

size_t parts_clocks(const struct parts *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->cnt; i++)
		n += p->v[i].clock == i;
	return n;
}

bool parts_share_ids(const struct parts *p)
{
	uint32_t host = NAMES_NONE;

	for (size_t i = 0; i < p->cnt; i++) {
		if (are_known(host, p->v[i].host) && host != p->v[i].host)
			return false;
		host = p->v[i].host != NAMES_NONE ? p->v[i].host : host;
	}
	return parts_clocks(p) < 2;
}

/* ---- starting parts -------------------------------------------------------------------------- */

void parts_segment(struct parts *p, uint64_t offset)
{
	p->segment = offset;
	p->at_header = true;
	p->segment_synced = false;
}

/* The current event starts a new part. */
static void begin_at(struct parts *p, uint64_t offset)
{
	part_begin(p, p->at_header ? p->segment : offset);
}

void parts_first_event(struct parts *p, uint64_t offset)
{
	if (last_part(p)->by_recorder || last_part(p)->merged)
		begin_at(p, offset);
	p->at_header = false;
}

/* Counts the entries that the part has with the same value, and with another value. */
static void compare(const struct parts *p, const struct parts_meta *meta, size_t cnt, size_t *same,
		    size_t *other)
{
	*same = *other = 0;
	for (size_t i = 0; i < cnt; i++) {
		uint32_t value = parts_get(p, p->last, meta[i].key);

		*same += value == meta[i].value;
		*other += value != meta[i].value && value != NAMES_NONE;
	}
}

static bool belongs(struct parts *p, const struct parts_meta *meta, size_t cnt, bool by_recorder)
{
	const struct part *part = last_part(p);
	size_t same, other;

	if (part->merged)
		return !p->at_header;
	if (!part->meta_cnt)
		return !by_recorder || !part->events;
	compare(p, meta, cnt, &same, &other);
	if (by_recorder || part->by_recorder)
		return same == cnt && cnt == part->meta_cnt;
	return same && !other;
}

static void meta_set(struct parts *p, struct part *part, const struct parts_meta *m)
{
	size_t i;

	if (m->key == p->host)
		part->host = m->value;
	if (m->key == p->boot_id)
		part->boot_id = m->value;
	for (i = 0; i < part->meta_cnt && part->meta[i].key != m->key; i++)
		;
	if (i == PARTS_META_MAX)
		return;
	if (i == part->meta_cnt) {
		part->meta = array_reserve(part->meta, &part->meta_cap, i + 1, sizeof(*part->meta));
		part->meta_cnt++;
	}
	p->meta_version++;
	part->meta[i] = *m;
}

static bool is_ours(const struct parts *p, const struct parts_meta *meta, size_t cnt)
{
	bool by_recorder = false;

	for (size_t i = 0; i < cnt; i++)
		by_recorder |= meta[i].key == p->start;
	return by_recorder;
}

static void add_metadata(struct parts *p, uint32_t at, const struct parts_meta *meta, size_t cnt)
{
	struct part *part = &p->v[at];
	const uint32_t host = part->host, boot_id = part->boot_id;

	part->by_recorder |= is_ours(p, meta, cnt);
	for (size_t i = 0; i < cnt; i++)
		meta_set(p, part, &meta[i]);
	if (part->host != host || part->boot_id != boot_id)
		find_clock(p, at);
}

void parts_metadata(struct parts *p, uint64_t offset, const struct parts_meta *meta, size_t cnt)
{
	if (!belongs(p, meta, cnt, is_ours(p, meta, cnt)))
		begin_at(p, offset);
	p->at_header = false;
	last_part(p)->events++;
	if (!p->overflow)
		add_metadata(p, p->last, meta, cnt);
}

/* Nothing, if the stream is read again. */
static void add_sync(struct parts *p, struct part *part, uint64_t mono, uint64_t real)
{
	const struct parts_sync *last = part->sync_cnt ? &part->syncs[part->sync_cnt - 1] : NULL;

	if ((last && (mono < last->mono || mono - last->mono < PARTS_SYNC_NS)) ||
	    p->sync_cnt == PARTS_SYNCS_MAX)
		return;
	part->syncs = array_reserve(part->syncs, &part->sync_cap, part->sync_cnt + 1,
				    sizeof(*part->syncs));
	part->syncs[part->sync_cnt++] = (struct parts_sync){ mono, real };
	p->sync_cnt++;
}

static void set_clock(struct parts *p, uint32_t at, uint64_t mono, uint64_t real)
{
	struct part *part = &p->v[at];

	part->events++;
	if (p->overflow && at == p->last)
		return;
	add_sync(p, part, mono, real);
	if (part->synced)
		return;
	part->synced = true;
	part->mono = mono;
	part->real = real;
	find_clock(p, at);
}

void parts_clock(struct parts *p, uint64_t offset, uint64_t mono, uint64_t real)
{
	const struct part *part = last_part(p);
	uint64_t apart = (real - mono) - (part->real - part->mono);

	if (p->at_header && (part->by_recorder || part->merged))
		begin_at(p, offset);
	else if (!part->by_recorder && !part->merged && part->synced && !p->segment_synced &&
		 apart > PARTS_CLOCK_NS && -apart > PARTS_CLOCK_NS)
		begin_at(p, offset);
	p->at_header = false;
	p->segment_synced = true;
	set_clock(p, p->last, mono, real);
}

/* ---- merged streams ---------------------------------------------------------------------------- */

static uint64_t merged_key(uint32_t base, uint64_t number)
{
	return (uint64_t)base << 32 | number;
}

uint32_t parts_of(const struct parts *p, uint32_t base, uint64_t number)
{
	const uintptr_t at = number && number < PARTS_MAX ?
				     (uintptr_t)hmap_get(&p->merged, merged_key(base, number)) :
				     0;

	return at ? (uint32_t)(at - 1) : base;
}

void parts_merged(struct parts *p, uint64_t offset, uint64_t number, uint64_t clock,
		  int64_t shift_ns)
{
	struct part *part;
	uint32_t at;

	if (!number && (last_part(p)->events || last_part(p)->merged))
		begin_at(p, offset);
	p->at_header = false;
	at = parts_of(p, p->last, number);
	if (number && number < PARTS_MAX && at == p->last && last_part(p)->merged &&
	    p->cnt < PARTS_MAX) {
		at = part_add(p, offset, p->last);
		hmap_set(&p->merged, merged_key(p->last, number), (void *)((uintptr_t)at + 1));
	}
	part = &p->v[at];
	part->events++;
	if (part->merged || (number && at == p->last) || p->overflow)
		return;
	part->merged = true;
	part->number = number;
	part->told_clock = clock;
	part->shift_ns = shift_ns;
	find_clock(p, at);
}

void parts_merged_metadata(struct parts *p, uint32_t part, const struct parts_meta *meta,
			   size_t cnt)
{
	p->v[part].events++;
	add_metadata(p, part, meta, cnt);
}

void parts_merged_clock(struct parts *p, uint32_t part, uint64_t mono, uint64_t real)
{
	set_clock(p, part, mono, real);
}

/* ---- the wall clock ---------------------------------------------------------------------------- */

/* The index of the last sync up to @mono; 0 if there is none. */
static size_t sync_before(const struct part *part, uint64_t mono)
{
	size_t from = 0, to = part->sync_cnt;

	while (to - from > 1) {
		const size_t mid = from + (to - from) / 2;

		if (part->syncs[mid].mono <= mono)
			from = mid;
		else
			to = mid;
	}
	return from;
}

bool parts_wall(const struct parts *p, uint32_t part, uint64_t mono, uint64_t *wall)
{
	const struct part *v = &p->v[part < p->cnt ? part : 0];
	const struct parts_sync *a, *b;
	__int128 moved;

	if (!v->sync_cnt)
		v = &p->v[v->clock];
	if (!v->sync_cnt)
		return false;
	a = &v->syncs[sync_before(v, mono)];
	b = a + 1;
	*wall = a->real + (mono - a->mono);
	if (mono < a->mono || b == v->syncs + v->sync_cnt)
		return true;
	/* how far the clocks move apart until the next sync */
	moved = (int64_t)((b->real - a->real) - (b->mono - a->mono));
	if (moved)
		*wall += (uint64_t)(moved * (__int128)(mono - a->mono) /
				    (__int128)(b->mono - a->mono));
	return true;
}

bool parts_are_aligned(const struct parts *p)
{
	for (size_t i = 0; i < p->cnt; i++) {
		const struct part *a = &p->v[0], *b = &p->v[i];

		if (!b->merged || b->base)
			return false;
		if (b->clock == i &&
		    (!a->synced || !b->synced || a->real - a->mono != b->real - b->mono))
			return false;
	}
	return true;
}
