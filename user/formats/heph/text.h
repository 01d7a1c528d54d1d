/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_TEXT_H
#define D9_FORMATS_HEPH_TEXT_H

#include "base/buf.h"
#include "formats/heph/scan.h"
#include "formats/heph/wire.h"

/* "u64[]"; type as in an attribute. Static text. */
const char *heph_text_type_name(uint8_t type);

/* The type of that name, or 0. */
uint8_t heph_text_type_find(struct dial9_str name);

/*
 * A double as JSON: the shortest decimal that gives the same bits back, with a point or an
 * exponent; "NaN", "Infinity" and "-Infinity" as strings, a NaN of other bits than the usual ones
 * with them.
 */
void heph_text_f64(struct buf *out, uint64_t bits);

/* An attribute's value as JSON. Text that is not UTF-8 is mended. */
void heph_text_value(struct buf *out, const struct heph_attr *a);

/* "type byte 0x80", or "short at +121 need 8" with the offset counted from `base`. */
void heph_text_fault(struct buf *out, const struct heph_fault *fault, uint64_t base);

void heph_text_hex(struct buf *out, const void *p, size_t sz);

#endif /* D9_FORMATS_HEPH_TEXT_H */
