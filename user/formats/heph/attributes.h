/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_ATTRIBUTES_H
#define D9_FORMATS_HEPH_ATTRIBUTES_H

#include "base/buf.h"
#include "dial9.h"
#include "formats/foreign.h"

/* Where attributes go, and where is said what became of their values. */
struct heph_attr_out {
	struct buf buf; /* encoded attributes */
	size_t max; /* what buf may hold; what would go beyond is left out */
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

/* Bytes as they are: the end of a packet, which nobody could decode. */
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

#endif /* D9_FORMATS_HEPH_ATTRIBUTES_H */
