/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PARQUET_PARQUET_ENCODE_H
#define D9_EXPORT_PARQUET_PARQUET_ENCODE_H

#include <stddef.h>
#include <stdint.h>

struct buf;

/* Encodings of numbers in Parquet pages. All functions append to @out. */

/* Signed numbers as unsigned ones, small ones in front: 0, -1, 1, -2, ... */
static inline uint64_t parquet_encode_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

/* ULEB128. */
void parquet_encode_varint(struct buf *out, uint64_t v);

/* Bits that numbers up to @max need, at least 1. */
unsigned int parquet_encode_width(uint64_t max);

/* The hybrid of run lengths and bit packing, for levels and dictionary indexes below 2^@width; width 1 to 32. */
void parquet_encode_hybrid(struct buf *out, const uint32_t *v, size_t cnt, unsigned int width);

/* DELTA_BINARY_PACKED of 64-bit numbers; differences wrap around. */
void parquet_encode_delta(struct buf *out, const uint64_t *v, size_t cnt);

/* PLAIN booleans: a bit for each value, lowest first. */
void parquet_encode_bits(struct buf *out, const uint64_t *v, size_t cnt);

#endif /* D9_EXPORT_PARQUET_PARQUET_ENCODE_H */
