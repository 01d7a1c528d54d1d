/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_LAYOUT_H
#define D9_FORMATS_HEPH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dial9.h"
#include "formats/heph/wire.h"

/*
 * How Heph events are laid out in dial9. All begin with the same four fields; the fourth says which
 * of the two times is there. Then:
 *
 *   NAME        the description is the type's name; a field for each attribute
 *   heph.event  description (STRING or POOLED_STRING), then a field for each attribute
 *   heph.event  description (STRING), attributes (STRING_MAP, for people), packet (BYTES, exact)
 *
 * The first two may end with undecoded (BYTES): what of the packet's tail could not be decoded.
 */
#define HEPH_LAYOUT_EVENT "heph.event"
#define HEPH_LAYOUT_STREAM "stream" /* u32 */
#define HEPH_LAYOUT_COUNTER "counter" /* u32 */
#define HEPH_LAYOUT_SUBSTREAM "substream" /* varint */
#define HEPH_LAYOUT_DURATION "duration_ns" /* varint */
#define HEPH_LAYOUT_END "end_ns" /* varint: instead, when it is before the start */
#define HEPH_LAYOUT_FIXED_CNT 4
#define HEPH_LAYOUT_DESCRIPTION "description"
#define HEPH_LAYOUT_ATTRIBUTES "attributes"
#define HEPH_LAYOUT_PACKET "packet"
#define HEPH_LAYOUT_UNDECODED "heph.undecoded"

/* Level 4: the annotation of a list field that says what the elements are, "u64[]" and so on. */
#define HEPH_LAYOUT_TYPE_KEY "heph.type"

/* Bytes that are no packet: offset in the file, and the bytes, in pieces of up to 64 KiB. */
#define HEPH_LAYOUT_INVALID "heph.invalid" /* offset varint, bytes bytes */
#define HEPH_LAYOUT_OFFSET "offset"
#define HEPH_LAYOUT_BYTES "bytes"

/* A gap in a stream's counters: `expected` never came, nor anything up to `got`. */
#define HEPH_LAYOUT_LOST "heph.lost" /* stream u32, expected u32, got u32 */
#define HEPH_LAYOUT_EXPECTED "expected"
#define HEPH_LAYOUT_GOT "got"

/* Options that have no meaning here are entries of SegmentMetadataEvent, under this prefix. */
#define HEPH_LAYOUT_OPTION "heph:"

#define HEPH_LAYOUT_CLOCK "ClockSyncEvent"
#define HEPH_LAYOUT_REALTIME "realtime_ns"
#define HEPH_LAYOUT_METADATA "SegmentMetadataEvent"
#define HEPH_LAYOUT_ENTRIES "entries"

/* The most attributes that become fields, and descriptions that become types. */
#define HEPH_LAYOUT_ATTRS_MAX 256
#define HEPH_LAYOUT_FIELDS_MAX (HEPH_LAYOUT_FIXED_CNT + 2 + HEPH_LAYOUT_ATTRS_MAX)
#define HEPH_LAYOUT_NAMES_MAX 1024
#define HEPH_LAYOUT_SCHEMAS_MAX 16384

/*
 * Field names of one event are made different by #2, #3 and so on. This takes it off: the name that
 * `field` stands for, given the true names of the fields before it.
 */
struct dial9_str heph_layout_strip(struct dial9_str field, const struct dial9_str *before,
				   size_t cnt);

/* What decides the layout of an event; types are the dial9 types chosen for the attributes. */
struct heph_layout_key {
	bool ends_before; /* it starts */
	bool undecoded;
	struct dial9_str desc;
	uint8_t desc_type; /* STRING or POOLED_STRING, if it has to be a field */
	const struct heph_attr *attrs;
	const uint8_t *types;
	size_t cnt;
};

struct heph_layout {
	struct dial9_schema *schema;
	bool has_desc; /* a description field follows the fixed ones */
	uint8_t *wire_types; /* of the attributes */
};

/* The layouts of one stream: bounded, and never forgotten. */
struct heph_layouts;

void heph_layout_new(struct heph_layouts **out);
void heph_layout_free(struct heph_layouts *s);

/*
 * The layout for an event, made when it is new; *is_new says so. NULL when the event has to go in
 * as a packet: there are too many layouts, or names that dial9 or the way back cannot take, or a
 * list of another type than it was when the layout was new.
 */
const struct heph_layout *heph_layout_get(struct heph_layouts *s, const struct heph_layout_key *key,
					  bool *is_new);

/* The layout of events that go in as packets. Borrowed. */
const struct dial9_schema *heph_layout_packet(struct heph_layouts *s, bool ends_before);

/* A schema, for those that need no table. Dies when memory is gone. */
struct dial9_schema *heph_layout_schema(const char *name, const struct dial9_field *f, size_t cnt);

#endif /* D9_FORMATS_HEPH_LAYOUT_H */
