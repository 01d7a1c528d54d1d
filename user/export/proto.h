/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PROTO_H
#define D9_EXPORT_PROTO_H

#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Messages of Protocol Buffers, field by field, in canonical bytes. Fields may be in any order;
 * fields not written have their default, 0 or empty.
 */

/* int32, int64, uint32, uint64, bool and enums; a negative number as its 64 bits. */
void proto_u64(struct buf *out, uint32_t field, uint64_t v);
/* fixed64 */
void proto_fixed64(struct buf *out, uint32_t field, uint64_t v);
void proto_double(struct buf *out, uint32_t field, double v);
/* bytes, and strings, which must be valid UTF-8. */
void proto_bytes(struct buf *out, uint32_t field, const void *p, size_t sz);
/* Repeated numbers, packed. */
void proto_packed(struct buf *out, uint32_t field, const uint64_t *v, size_t cnt);

/* Starts and ends a nested message; what is written in between belongs to it. */
size_t proto_begin(struct buf *out, uint32_t field);
void proto_end(struct buf *out, size_t begun);

#endif /* D9_EXPORT_PROTO_H */
