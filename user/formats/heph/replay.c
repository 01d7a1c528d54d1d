// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events that an import from Heph made, as their original packets.
 *
 * Decides which events are imported, and restores their bytes, damage included. Times relative to other
 * events are the caller's.
 */
#include "formats/heph/replay.h"

#include <string.h>

#include "formats/heph/layout.h"

uint64_t heph_replay_time(struct foreign_notes *notes, __int128 ns)
{
	if (ns >= 0 && ns <= UINT64_MAX)
		return (uint64_t)ns;
	foreign_note(notes, FOREIGN_NOTE_CHANGED, 1, "time out of range, at its limit", NULL);
	return ns < 0 ? 0 : UINT64_MAX;
}

void heph_replay_epoch(struct buf *out, uint64_t epoch)
{
	struct buf value = { 0 };
	struct heph_meta m = { .name = { "epoch", 5 } };

	heph_wire_put_bits(&value, epoch);
	m.value = (struct dial9_str){ value.data, value.len };
	heph_wire_put_meta(out, &m);
	buf_free(&value);
}

static bool is_option_map(const struct dial9_value *map)
{
	static const char prefix[] = HEPH_LAYOUT_OPTION;
	struct dial9_value key, value;
	struct dial9_iter it;
	bool any = false;

	dial9_iter_init(&it, map);
	for (; dial9_map_next(&it, &key, &value) > 0; any = true)
		if (key.str.len < sizeof(prefix) - 1 ||
		    memcmp(key.str.ptr, prefix, sizeof(prefix) - 1) != 0 ||
		    key.str.len > HEPH_TEXT_MAX)
			return false;
	return any;
}

bool heph_replay_packet(const struct dial9_value *v, struct heph_event *out)
{
	struct heph_fault fault;

	return v->str.len >= HEPH_EVENT_MIN && v->str.len <= HEPH_PACKET_MAX &&
	       heph_wire_magic(v->str.ptr) == HEPH_EVENT_MAGIC &&
	       heph_wire_u32(v->str.ptr + 4) == v->str.len &&
	       heph_wire_event(v->str.ptr, v->str.len, out, &fault);
}

bool heph_replay_is(const struct heph_mapping *mapping, const struct dial9_event *ev)
{
	struct heph_event packet;

	switch (mapping->kind) {
	case HEPH_MAPPING_FIELDS:
	case HEPH_MAPPING_INVALID:
	case HEPH_MAPPING_LOST:
		return true;
	case HEPH_MAPPING_PACKET:
		return heph_replay_packet(&ev->values[6], &packet);
	case HEPH_MAPPING_CLOCK:
		return mapping->cnt == 1 && ev->has_ts && !ev->ts;
	case HEPH_MAPPING_METADATA:
		return is_option_map(&ev->values[0]);
	case HEPH_MAPPING_SPAN_ENTER:
	case HEPH_MAPPING_SPAN_EXIT:
	case HEPH_MAPPING_POLL_START:
	case HEPH_MAPPING_POLL_END:
	case HEPH_MAPPING_OTHER:
		break;
	}
	return false;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes what the import does to an option's value. */
static void add_option_value(struct buf *out, struct dial9_str text)
{
	if (text.len < 2 || memcmp(text.ptr, "0x", 2) != 0) {
		buf_add(out, text.ptr, text.len);
		return;
	}
	for (size_t i = 2; i + 1 < text.len; i += 2) {
		int hi = hex_digit(text.ptr[i]), lo = hex_digit(text.ptr[i + 1]);

		if (hi >= 0 && lo >= 0)
			buf_addch(out, (char)(hi << 4 | lo));
	}
}

static void write_options(struct buf *out, const struct dial9_value *map)
{
	size_t skip = sizeof(HEPH_LAYOUT_OPTION) - 1;
	struct dial9_value key, value;
	struct buf bytes = { 0 };
	struct dial9_iter it;

	dial9_iter_init(&it, map);
	while (dial9_map_next(&it, &key, &value) > 0) {
		struct heph_meta m = { .name = { key.str.ptr + skip, key.str.len - skip } };

		buf_clear(&bytes);
		add_option_value(&bytes, (struct dial9_str){ value.str.ptr, value.str.len });
		m.value = (struct dial9_str){ bytes.data, bytes.len };
		heph_wire_put_meta(out, &m);
	}
	buf_free(&bytes);
}

void heph_replay_fields(struct heph_attr_out *attrs, const struct heph_mapping *mapping,
			const struct dial9_event *ev, struct heph_event *out)
{
	const struct dial9_value *v = ev->values;
	size_t i = HEPH_LAYOUT_FIXED_CNT, end = mapping->cnt - mapping->undecoded;
	size_t max = attrs->max;

	*out = (struct heph_event){ .stream = (uint32_t)v[0].u64,
				    .counter = (uint32_t)v[1].u64,
				    .substream = v[2].u64,
				    .start_ns = ev->ts,
				    .desc = mapping->desc };
	out->end_ns = mapping->ends_before ?
			      v[3].u64 :
			      heph_replay_time(attrs->notes, (__int128)ev->ts + v[3].u64);
	if (mapping->has_desc && dial9_value_str(attrs->dec, &v[i++], &out->desc)) {
		foreign_note(attrs->notes, FOREIGN_NOTE_NOT_KEPT, 1,
			     "text whose pool id is not defined", "a description");
		out->desc = (struct dial9_str){ "", 0 };
	}
	if (out->desc.len > HEPH_TEXT_MAX + 1)
		out->desc = heph_attr_fit(attrs, out->desc);
	attrs->max = HEPH_PACKET_MAX - HEPH_EVENT_MIN - out->desc.len;
	for (; i < end; i++)
		heph_attr_put_exact(attrs, mapping->names[i], &v[i], mapping->wire_types[i]);
	if (mapping->undecoded)
		heph_attr_put_raw(attrs, v[end].str.ptr, v[end].str.len);
	attrs->max = max;
}

void heph_replay_put(struct buf *out, struct heph_attr_out *attrs, struct heph_event *ev)
{
	ev->attrs = (struct dial9_str){ attrs->buf.data, attrs->buf.len };
	heph_wire_put_event(out, ev);
	buf_clear(&attrs->buf);
}

void heph_replay_write(struct buf *out, struct heph_attr_out *attrs,
		       const struct heph_mapping *mapping, const struct dial9_event *ev)
{
	struct heph_event event;

	switch (mapping->kind) {
	case HEPH_MAPPING_FIELDS:
		heph_replay_fields(attrs, mapping, ev, &event);
		heph_replay_put(out, attrs, &event);
		break;
	case HEPH_MAPPING_PACKET:
		buf_add(out, ev->values[6].str.ptr, ev->values[6].str.len);
		break;
	case HEPH_MAPPING_INVALID:
		buf_add(out, ev->values[1].str.ptr, ev->values[1].str.len);
		break;
	case HEPH_MAPPING_CLOCK:
		heph_replay_epoch(out, ev->values[0].u64);
		break;
	case HEPH_MAPPING_METADATA:
		write_options(out, &ev->values[0]);
		break;
	case HEPH_MAPPING_LOST:
	case HEPH_MAPPING_SPAN_ENTER:
	case HEPH_MAPPING_SPAN_EXIT:
	case HEPH_MAPPING_POLL_START:
	case HEPH_MAPPING_POLL_END:
	case HEPH_MAPPING_OTHER:
		break;
	}
}
