// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where packets are, in a file that may be damaged.
 *
 * Packets have a magic and a size, which is enough to find the next one after any damage, and not
 * enough to know that a size is right. The writer leaves a torn packet in the file when a write
 * falls short: the size then covers the start of the next packets. So a size is believed when
 * the inside agrees with it; when the inside does not decode, or decodes but is followed by no
 * packet, and another packet starts within, that one is believed. Recovery costs a search of what
 * was claimed, and a hostile file can ask for it again and again: past a budget sizes are believed
 * without.
 *
 * The window grows with the bytes that arrive, never with the size that a packet claims.
 */
#include "formats/heph/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define READ_SZ (64u << 10)
#define DISTRUST_FREE (64u << 20)
#define DISTRUST_SHARE 16

struct heph_scan {
	const struct foreign_input *in;
	bool follow;
	bool eof;
	bool in_run; /* inside bytes that belong to nothing, whose end is not in sight */
	char *buf;
	size_t pos, len, cap;
	uint64_t off; /* of pos in the file */
	size_t given; /* bytes of the last item */
	uint64_t searched; /* bytes of packets that were decoded in vain */
};

void heph_scan_new(const struct foreign_input *in, bool follow, struct heph_scan **out)
{
	struct heph_scan *s = xcalloc(1, sizeof(*s));

	s->in = in;
	s->follow = follow;
	*out = s;
}

void heph_scan_free(struct heph_scan *s)
{
	if (!s)
		return;
	free(s->buf);
	free(s);
}

static size_t avail(const struct heph_scan *s)
{
	return s->len - s->pos;
}

static const char *at(const struct heph_scan *s, size_t i)
{
	return s->buf + s->pos + i;
}

static int read_some(struct heph_scan *s)
{
	ssize_t n;

	if (s->pos && (s->pos == s->len || s->pos >= READ_SZ)) {
		memmove(s->buf, s->buf + s->pos, avail(s));
		s->len -= s->pos;
		s->pos = 0;
	}
	s->buf = array_reserve(s->buf, &s->cap, s->len + READ_SZ, 1);
	n = s->in->read(s->in->ctx, s->buf + s->len, s->cap - s->len);
	if (n < 0)
		return (int)n;
	if (!n)
		s->eof = true;
	s->len += (size_t)n;
	return 0;
}

/* At least n bytes from pos on, or all there are. */
static int fill(struct heph_scan *s, size_t n)
{
	int err = 0;

	while (!err && avail(s) < n && !s->eof)
		err = read_some(s);
	return err;
}

bool heph_scan_is_epoch(const struct heph_meta *m)
{
	return m->name.len == 5 && !memcmp(m->name.ptr, "epoch", 5) && m->value.len == 8;
}

const char *heph_scan_damage_name(enum heph_damage damage)
{
	switch (damage) {
	case HEPH_TRUNCATED:
		return "packet that is cut off";
	case HEPH_CUT:
		return "packet that does not decode";
	case HEPH_NO_PACKET:
		break;
	}
	return "bytes between packets";
}

/*
 * ---- what looks like a packet ------------------------------------------------------------------
 */

bool heph_scan_plausible(const char *p)
{
	uint32_t magic = heph_wire_magic(p), size = heph_wire_u32(p + 4);

	return magic && size <= HEPH_PACKET_MAX &&
	       size >= (magic == HEPH_EVENT_MAGIC ? HEPH_EVENT_MIN : HEPH_META_MIN);
}

/* First byte of a magic at or after i, up to end; end if there is none. */
static size_t next_byte(const struct heph_scan *s, size_t i, size_t end)
{
	for (; i < end; i++)
		if ((uint8_t)*at(s, i) == HEPH_EVENT_MAGIC >> 24 ||
		    (uint8_t)*at(s, i) == HEPH_META_MAGIC >> 24)
			break;
	return i;
}

/*
 * *found is the first plausible start in [from, end), or end. Reads ahead as far as
 * necessary, but end is not beyond the buffered bytes.
 */
static int find(struct heph_scan *s, size_t from, size_t end, size_t *found)
{
	int err;

	for (*found = next_byte(s, from, end); *found < end;
	     *found = next_byte(s, *found + 1, end)) {
		err = fill(s, *found + HEPH_START_SZ);
		if (err)
			return err;
		if (avail(s) - *found >= HEPH_START_SZ && heph_scan_plausible(at(s, *found)))
			return 0;
	}
	return 0;
}

/* Whether the byte at i is where a packet, the end, or as far as one can see a packet begins. */
static int is_boundary(struct heph_scan *s, size_t i, bool *out)
{
	static const uint8_t magics[2][HEPH_MAGIC_SZ] = { { 0x75, 0xd1, 0x1d, 0x4d },
							  { 0xc1, 0xfc, 0x1f, 0xb7 } };
	int err = s->follow ? 0 : fill(s, i + HEPH_MAGIC_SZ);
	size_t n;

	if (err)
		return err;
	n = avail(s) < i ? 0 : avail(s) - i;
	if (n > HEPH_MAGIC_SZ)
		n = HEPH_MAGIC_SZ;
	*out = (avail(s) >= i && !n) ||
	       (n && (!memcmp(at(s, i), magics[0], n) || !memcmp(at(s, i), magics[1], n)));
	return 0;
}

/*
 * A packet of `size` bytes that decodes, but that no packet follows. *found is the start of one
 * within that another packet or the end does follow; size when there is none.
 */
static int find_chained(struct heph_scan *s, size_t size, size_t *found)
{
	bool fits = false;
	int err;

	for (*found = HEPH_MAGIC_SZ;; (*found)++) {
		err = find(s, *found, size, found);
		if (err || *found == size)
			return err;
		err = is_boundary(s, *found + heph_wire_u32(at(s, *found + 4)), &fits);
		if (err || fits)
			return err;
	}
}

/*
 * ---- items -------------------------------------------------------------------------------------
 */

static int return_item(struct heph_scan *s, struct heph_item *out, size_t sz)
{
	out->off = s->off;
	out->p = at(s, 0);
	out->sz = sz;
	s->given = sz;
	return 1;
}

static int return_damage(struct heph_scan *s, struct heph_item *out, enum heph_damage damage,
			 size_t sz)
{
	out->kind = HEPH_DAMAGE;
	out->damage = damage;
	out->fresh = !s->in_run;
	return return_item(s, out, sz);
}

/*
 * From pos to the next plausible start, wherever that is; the end may be for a later call to find.
 */
static int return_run(struct heph_scan *s, struct heph_item *out, enum heph_damage damage)
{
	size_t end = avail(s), found;
	int err = find(s, s->in_run ? 0 : 1, end, &found);

	if (err)
		return err;
	if (found == end && (!s->eof || avail(s) > end)) {
		/* What may be the start of a magic stays. */
		return_damage(s, out, damage, end - (HEPH_MAGIC_SZ - 1));
		s->in_run = true;
		return 1;
	}
	return_damage(s, out, damage, found);
	s->in_run = false;
	return 1;
}

/* Attributes are walked once here, so that what is given can be trusted. */
static bool decode(const struct heph_scan *s, size_t size, struct heph_item *out, bool *has_text)
{
	struct dial9_str rest;
	struct heph_attr attr;
	int ret;

	if (heph_wire_magic(at(s, 0)) == HEPH_META_MAGIC) {
		out->kind = HEPH_META;
		*has_text = heph_wire_meta(at(s, 0), size, &out->meta, &out->fault);
		return *has_text;
	}
	out->kind = HEPH_EVENT;
	out->is_event = true;
	*has_text = heph_wire_event(at(s, 0), size, &out->event, &out->fault);
	if (!*has_text)
		return false;
	rest = out->event.attrs;
	do
		ret = heph_wire_attr(&rest, at(s, 0), &attr, &out->fault);
	while (ret > 0);
	return !ret;
}

static bool may_search(struct heph_scan *s, size_t size)
{
	if (s->searched > DISTRUST_FREE && s->searched / DISTRUST_SHARE > s->off)
		return false;
	s->searched += size;
	return true;
}

/* All `size` bytes that the packet at pos claims are there. */
static int return_packet(struct heph_scan *s, size_t size, struct heph_item *out)
{
	bool has_text, fits, good = decode(s, size, out, &has_text);
	size_t found = size;
	int err = 0;

	if (!good) {
		if (may_search(s, size))
			err = find(s, HEPH_MAGIC_SZ, size, &found);
	} else {
		err = is_boundary(s, size, &fits);
		if (!err && !fits && may_search(s, size))
			err = find_chained(s, size, &found);
	}
	if (err)
		return err;
	if (found < size || !has_text)
		return return_damage(s, out, HEPH_CUT, found);
	/* Reading ahead may have moved the window. */
	decode(s, size, out, &has_text);
	return return_item(s, out, size);
}

int heph_scan_next(struct heph_scan *s, struct heph_item *out)
{
	uint32_t magic;
	size_t found;
	int err;

	s->pos += s->given;
	s->off += s->given;
	s->given = 0;
	*out = (struct heph_item){ 0 };
	err = fill(s, HEPH_START_SZ);
	if (err || !avail(s))
		return err;
	if (avail(s) < HEPH_START_SZ || !(magic = heph_wire_magic(at(s, 0))) ||
	    (s->in_run && !heph_scan_plausible(at(s, 0))))
		return return_run(s, out, HEPH_NO_PACKET);
	s->in_run = false;
	out->claimed = heph_wire_u32(at(s, 0) + 4);
	if (out->claimed < (magic == HEPH_EVENT_MAGIC ? HEPH_EVENT_MIN : HEPH_META_MIN))
		return return_run(s, out, HEPH_NO_PACKET);
	if (out->claimed > HEPH_PACKET_MAX)
		return return_run(s, out, HEPH_TRUNCATED);
	err = fill(s, out->claimed);
	if (err)
		return err;
	if (avail(s) >= out->claimed)
		return return_packet(s, out->claimed, out);
	err = find(s, HEPH_MAGIC_SZ, avail(s), &found);
	return err ? err : return_damage(s, out, HEPH_TRUNCATED, found);
}
