/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_ATTRIBUTES_H
#define D9_FORMATS_HEPH_ATTRIBUTES_H

#include "base/buf.h"
#include "dial9.h"
#include "formats/foreign.h"
#include "formats/heph/scan.h"
#include "formats/heph/wire.h"

/* Output of attributes, and notes on changed values. */
struct heph_attr_out {
	struct buf buf; /* encoded attributes */
	size_t max; /* limit of buf; attributes beyond it are dropped */
	struct buf tmp; /* private */
	const struct dial9_dec *dec; /* resolves pool ids */
	struct foreign_notes *notes;
};

/*
 * A dial9 value of any type as the attribute that is nearest to it, or several; absent values as
 * none.
 */
void heph_attr_put(struct heph_attr_out *o, struct dial9_str name, const struct dial9_value *v);

/*
 * A value that the import made of an attribute, as that attribute. wire_type says what an empty
 * list was; 0 when that is not known.
 */
void heph_attr_put_exact(struct heph_attr_out *o, struct dial9_str name,
			 const struct dial9_value *v, uint8_t wire_type);

/* Bytes as they are: the undecoded end of a packet. */
void heph_attr_put_raw(struct heph_attr_out *o, const void *p, size_t sz);

void heph_attr_put_u64(struct heph_attr_out *o, const char *name, uint64_t v);
void heph_attr_put_text(struct heph_attr_out *o, struct dial9_str name, struct dial9_str text);

/*
 * Text as Heph takes it: UTF-8, and cut at its limit. Borrows text, or o->tmp until the next call
 * on o.
 */
struct dial9_str heph_attr_fit(struct heph_attr_out *o, struct dial9_str text);

/* Frees the buffers. */
void heph_attr_fini(struct heph_attr_out *o);

/* "u64[]"; type as in an attribute. Static text. */
const char *heph_attr_type_name(uint8_t type);

/* The type of that name, or 0. */
uint8_t heph_attr_type_find(struct dial9_str name);

/*
 * A double as JSON: the shortest decimal that gives the same bits back, with a point or an
 * exponent; "NaN", "Infinity" and "-Infinity" as strings, a NaN of other bits than the usual ones
 * with them.
 */
void heph_attr_json_f64(struct buf *out, uint64_t bits);

/* An attribute's value as JSON. Text that is not UTF-8 is escaped. */
void heph_attr_json(struct buf *out, const struct heph_attr *a);

/* "type byte 0x80", or "short at +121 need 8" with the offset counted from `base`. */
void heph_attr_fault(struct buf *out, const struct heph_fault *fault, uint64_t base);

#endif /* D9_FORMATS_HEPH_ATTRIBUTES_H */
