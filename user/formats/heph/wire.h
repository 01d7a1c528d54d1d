/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_WIRE_H
#define D9_FORMATS_HEPH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dial9.h"

#define HEPH_META_MAGIC 0x75d11d4dU
#define HEPH_EVENT_MAGIC 0xc1fc1fb7U
#define HEPH_MAGIC_SZ 4
#define HEPH_META_MIN 10
#define HEPH_EVENT_MIN 42

/* The specification allows larger packets; they are treated as damage. */
#define HEPH_PACKET_MAX (16u << 20)

/* The most bytes in a text, and elements in an array, that the format's own writer asserts. */
#define HEPH_TEXT_MAX 65534

/* The type byte of an attribute. */
enum heph_type {
	HEPH_U64 = 1,
	HEPH_I64 = 2,
	HEPH_F64 = 3,
	HEPH_STR = 4,
	HEPH_ARRAY = 0x80, /* or-ed to one of the others; invalid alone */
};

/* Why decoding stopped. */
struct heph_fault {
	enum { HEPH_FINE, HEPH_BAD_TYPE, HEPH_SHORT } kind;
	uint8_t type; /* BAD_TYPE */
	size_t at; /* SHORT: where in the packet bytes are missing, and how many were needed */
	size_t need;
};

/* A metadata packet. Text and value borrow the packet. */
struct heph_meta {
	struct dial9_str name;
	struct dial9_str value;
};

/* An event packet; attrs are the encoded attributes. Pointers borrow the packet. */
struct heph_event {
	uint32_t stream, counter;
	uint64_t substream;
	uint64_t start_ns, end_ns; /* relative to the epoch */
	struct dial9_str desc;
	struct dial9_str attrs;
};

/* One attribute. */
struct heph_attr {
	struct dial9_str name;
	uint8_t type; /* enum heph_type, perhaps with HEPH_ARRAY */
	uint64_t bits; /* U64, I64, F64: the value's 64 bits */
	struct dial9_str text; /* STR */
	uint16_t cnt; /* arrays: elements, and their encoding */
	struct dial9_str elems;
};

uint32_t heph_wire_u32(const void *p);
uint64_t heph_wire_u64(const void *p);

/* HEPH_META_MAGIC or HEPH_EVENT_MAGIC when one of them is the first 4 bytes of p, otherwise 0. */
uint32_t heph_wire_magic(const void *p);

/*
 * Decode a packet of sz bytes, at least HEPH_META_MIN or HEPH_EVENT_MIN, whose magic is right.
 * False, and *fault, when the name or the description does not fit; an event's fixed fields are set
 * even then.
 */
bool heph_wire_meta(const void *p, size_t sz, struct heph_meta *out, struct heph_fault *fault);
bool heph_wire_event(const void *p, size_t sz, struct heph_event *out, struct heph_fault *fault);

/*
 * The attributes one by one: *rest starts as event->attrs and shrinks. 1 and an attribute, 0 at the
 * end, -EBADMSG, and *fault with offsets from `base`, when *rest cannot be decoded; *rest then is
 * the tail.
 */
int heph_wire_attr(struct dial9_str *rest, const void *base, struct heph_attr *out,
		   struct heph_fault *fault);

/*
 * The elements of an array one by one: *elems starts as attr->elems; type as attr->type. False at
 * the end. *bits or *text is set.
 */
bool heph_wire_elem(struct dial9_str *elems, uint8_t type, uint64_t *bits, struct dial9_str *text);

/*
 * Append a packet. The caller sees to it that texts have at most 65535 bytes and the packet 2^32-1.
 */
void heph_wire_put_meta(struct buf *out, const struct heph_meta *m);
void heph_wire_put_event(struct buf *out, const struct heph_event *ev);

/*
 * Append an attribute (of `elems` only the bytes: the caller gives elements as _put_bits,
 * _put_text).
 */
void heph_wire_put_attr(struct buf *out, const struct heph_attr *a);
void heph_wire_put_bits(struct buf *out, uint64_t bits);
void heph_wire_put_text(struct buf *out, struct dial9_str text);

#endif /* D9_FORMATS_HEPH_WIRE_H */
