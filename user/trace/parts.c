// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where one recording ends in a stream and the next one begins. Owns the parts with their metadata and
 * clocks; knows nothing of frames, and strings only by their ids.
 *
 * A header begins a segment, and not always a part: an application writes a segment for each of its
 * buffers, most of them without metadata. What tells recordings apart is what they say of themselves:
 *
 *   the recorder's segments begin with the same metadata each: any other beginning is another part;
 *   metadata that contradict the part's, in any segment, begin another one;
 *   so does a wall clock that differs by more than a second at the start of an application's segment.
 *
 * A part begins at its segment's header if the first event of the segment tells of it, else at the
 * event that does. Two parts are on one clock when they are of one boot, by their boot id or, where
 * one does not have that, because their wall clocks agree and their hosts do not differ. In doubt they
 * are not.
 */
#include "trace/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trace/names.h"

static struct part *last(struct parts *p)
{
	return &p->v[p->cnt - 1];
}

/* No more parts than this: what cannot be told apart gets no rate, no host and no clock. */
static void part_overflow(struct parts *p)
{
	struct part *part = last(p);

	p->more = true;
	part->meta_cnt = 0;
	part->synced = part->ours = false;
	part->host = part->boot_id = NAMES_NONE;
	part->clock = (uint32_t)(p->cnt - 1);
}

static void part_begin(struct parts *p, uint64_t offset)
{
	if (p->cnt == PARTS_MAX) {
		part_overflow(p);
		return;
	}
	p->v = array_reserve(p->v, &p->cap, p->cnt + 1, sizeof(*p->v));
	p->v[p->cnt] = (struct part){ .begin = offset,
				      .clock = (uint32_t)p->cnt,
				      .host = NAMES_NONE,
				      .boot_id = NAMES_NONE };
	p->cnt++;
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

static bool both(uint32_t a, uint32_t b)
{
	return a != NAMES_NONE && b != NAMES_NONE;
}

static bool contradict(const struct part *x, const struct part *y)
{
	if (both(x->boot_id, y->boot_id))
		return x->boot_id != y->boot_id;
	return both(x->host, y->host) && x->host != y->host;
}

static bool wall_clocks_agree(const struct part *x, const struct part *y)
{
	uint64_t apart = (x->real - x->mono) - (y->real - y->mono);

	return x->synced && y->synced && (apart <= PARTS_CLOCK_NS || -apart <= PARTS_CLOCK_NS);
}

/* The last part may join no clock of which any part is known to be another boot's. */
static bool may_join(const struct parts *p, uint32_t clock)
{
	for (size_t i = 0; i + 1 < p->cnt; i++)
		if (p->v[i].clock == clock && contradict(&p->v[i], &p->v[p->cnt - 1]))
			return false;
	return true;
}

/* Wall clocks that agree with those of two boots tell nothing. */
static void find_clock(struct parts *p)
{
	uint32_t at = (uint32_t)(p->cnt - 1), found = at;
	struct part *part = last(p);
	bool doubt = false;

	if (p->more)
		return;
	for (uint32_t i = 0; i < at; i++) {
		const struct part *other = &p->v[i];

		if (both(part->boot_id, other->boot_id) && part->boot_id == other->boot_id) {
			part->clock = other->clock;
			return;
		}
		if (contradict(part, other) || !wall_clocks_agree(part, other))
			continue;
		doubt |= found != at && found != other->clock;
		found = other->clock;
	}
	part->clock = doubt || !may_join(p, found) ? at : found;
}

size_t parts_clocks(const struct parts *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->cnt; i++)
		n += p->v[i].clock == i;
	return n;
}

/* ---- learning ---------------------------------------------------------------------------------- */

void parts_segment(struct parts *p, uint64_t offset)
{
	p->segment = offset;
	p->fresh = true;
	p->segment_synced = false;
}

/* Another part begins with the event at hand. */
static void begin_at(struct parts *p, uint64_t offset)
{
	part_begin(p, p->fresh ? p->segment : offset);
}

void parts_first_event(struct parts *p, uint64_t offset)
{
	if (last(p)->ours)
		begin_at(p, offset);
	p->fresh = false;
}

/* How many of these entries the part has with this value, and with another one. */
static void compare(const struct parts *p, const struct parts_meta *meta, size_t cnt, size_t *same,
		    size_t *other)
{
	*same = *other = 0;
	for (size_t i = 0; i < cnt; i++) {
		uint32_t value = parts_get(p, (uint32_t)(p->cnt - 1), meta[i].key);

		*same += value == meta[i].value;
		*other += value != meta[i].value && value != NAMES_NONE;
	}
}

static bool belongs(struct parts *p, const struct parts_meta *meta, size_t cnt, bool ours)
{
	const struct part *part = last(p);
	size_t same, other;

	if (!part->meta_cnt)
		return !ours || !part->events;
	compare(p, meta, cnt, &same, &other);
	if (ours || part->ours)
		return same == cnt && cnt == part->meta_cnt;
	return same && !other;
}

static void meta_set(struct parts *p, const struct parts_meta *m)
{
	struct part *part = last(p);
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
	part->meta[i] = *m;
}

void parts_metadata(struct parts *p, uint64_t offset, const struct parts_meta *meta, size_t cnt)
{
	uint32_t host, boot_id;
	bool ours = false;

	for (size_t i = 0; i < cnt; i++)
		ours |= meta[i].key == p->start;
	if (!belongs(p, meta, cnt, ours))
		begin_at(p, offset);
	p->fresh = false;
	last(p)->events++;
	if (p->more)
		return;
	last(p)->ours |= ours;
	host = last(p)->host;
	boot_id = last(p)->boot_id;
	for (size_t i = 0; i < cnt; i++)
		meta_set(p, &meta[i]);
	if (last(p)->host != host || last(p)->boot_id != boot_id)
		find_clock(p);
}

void parts_clock(struct parts *p, uint64_t offset, uint64_t mono, uint64_t real)
{
	struct part *part = last(p);
	uint64_t apart = (real - mono) - (part->real - part->mono);

	if (p->fresh && part->ours)
		begin_at(p, offset);
	else if (!part->ours && part->synced && !p->segment_synced && apart > PARTS_CLOCK_NS &&
		 -apart > PARTS_CLOCK_NS)
		begin_at(p, offset);
	p->fresh = false;
	p->segment_synced = true;
	part = last(p);
	part->events++;
	if (part->synced || p->more)
		return;
	part->synced = true;
	part->mono = mono;
	part->real = real;
	find_clock(p);
}
