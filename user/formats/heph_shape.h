/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_SHAPE_H
#define D9_FORMATS_HEPH_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dial9.h"
#include "formats/heph_wire.h"

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
#define HEPH_SHAPE_EVENT "heph.event"
#define HEPH_SHAPE_STREAM "stream" /* u32 */
#define HEPH_SHAPE_COUNTER "counter" /* u32 */
#define HEPH_SHAPE_SUBSTREAM "substream" /* varint */
#define HEPH_SHAPE_DURATION "duration_ns" /* varint */
#define HEPH_SHAPE_END "end_ns" /* varint: instead, when it is before the start */
#define HEPH_SHAPE_FIXED_CNT 4
#define HEPH_SHAPE_DESCRIPTION "description"
#define HEPH_SHAPE_ATTRIBUTES "attributes"
#define HEPH_SHAPE_PACKET "packet"
#define HEPH_SHAPE_UNDECODED "heph.undecoded"

/* Level 4: the annotation of a list field that says what the elements are, "u64[]" and so on. */
#define HEPH_SHAPE_TYPE_KEY "heph.type"

/* Bytes that are no packet: offset in the file, and the bytes, in pieces of up to 64 KiB. */
#define HEPH_SHAPE_INVALID "heph.invalid" /* offset varint, bytes bytes */
#define HEPH_SHAPE_OFFSET "offset"
#define HEPH_SHAPE_BYTES "bytes"

/* A gap in a stream's counters: `expected` never came, nor anything up to `got`. */
#define HEPH_SHAPE_LOST "heph.lost" /* stream u32, expected u32, got u32 */
#define HEPH_SHAPE_EXPECTED "expected"
#define HEPH_SHAPE_GOT "got"

/* Options that have no meaning here are entries of SegmentMetadataEvent, under this prefix. */
#define HEPH_SHAPE_OPTION "heph:"

#define HEPH_SHAPE_CLOCK "ClockSyncEvent"
#define HEPH_SHAPE_REALTIME "realtime_ns"
#define HEPH_SHAPE_METADATA "SegmentMetadataEvent"
#define HEPH_SHAPE_ENTRIES "entries"

/* The most attributes that become fields, and descriptions that become types. */
#define HEPH_SHAPE_ATTRS_MAX 256
#define HEPH_SHAPE_FIELDS_MAX (HEPH_SHAPE_FIXED_CNT + 2 + HEPH_SHAPE_ATTRS_MAX)
#define HEPH_SHAPE_NAMES_MAX 1024
#define HEPH_SHAPE_SCHEMAS_MAX 16384

/*
 * Field names of one event are made different by #2, #3 and so on. This takes it off: the name that
 * `field` stands for, given the true names of the fields before it.
 */
struct dial9_str heph_shape_strip(struct dial9_str field, const struct dial9_str *before,
				  size_t cnt);

/* What decides the layout of an event; types are the dial9 types chosen for the attributes. */
struct heph_shape_key {
	bool ends_before; /* it starts */
	bool undecoded;
	struct dial9_str desc;
	uint8_t desc_type; /* STRING or POOLED_STRING, if it has to be a field */
	const struct heph_attr *attrs;
	const uint8_t *types;
	size_t cnt;
};

struct heph_shape {
	struct dial9_schema *schema;
	bool has_desc; /* a description field follows the fixed ones */
	uint8_t *wire_types; /* of the attributes */
};

/* The layouts of one stream: bounded, and never forgotten. */
struct heph_shapes;

void heph_shape_new(struct heph_shapes **out);
void heph_shape_free(struct heph_shapes *s);

/*
 * The layout for an event, made when it is new; *is_new says so. NULL when the event has to go in
 * as a packet: there are too many layouts, or names that dial9 or the way back cannot take, or a
 * list of another type than it was when the layout was new.
 */
const struct heph_shape *heph_shape_get(struct heph_shapes *s, const struct heph_shape_key *key,
					bool *is_new);

/* The layout of events that go in as packets. Borrowed. */
const struct dial9_schema *heph_shape_packet(struct heph_shapes *s, bool ends_before);

/* A schema, for those that need no table. Dies when memory is gone. */
struct dial9_schema *heph_shape_schema(const char *name, const struct dial9_field *f, size_t cnt);

#endif /* D9_FORMATS_HEPH_SHAPE_H */
