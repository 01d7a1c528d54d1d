// SPDX-License-Identifier: BSD-2-Clause
/* Parquet's encodings of numbers, by its Encodings.md. Owns nothing; knows no pages and columns. */
#include "export/parquet/parquet_encode.h"

#include "base/buf.h"

enum {
	GROUP = 8, /* values of the hybrid that are packed together */
	DELTA_BLOCK = 128, /* values with a common smallest difference */
	DELTA_MINI = 32, /* values with a common width */
	DELTA_MINIS = DELTA_BLOCK / DELTA_MINI,
	VARINT_MAX = 10, /* bytes */
};

static size_t put_varint(char *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (char)(v | 0x80);
	to[n++] = (char)v;
	return n;
}

void parquet_encode_varint(struct buf *out, uint64_t v)
{
	out->len += put_varint(buf_reserve(out, VARINT_MAX), v);
}

unsigned int parquet_encode_width(uint64_t max)
{
	return max ? 64 - (unsigned int)__builtin_clzll(max) : 1;
}

/* ---- bits ------------------------------------------------------------------------------------- */

/* Bits that are written to @to, lowest first. */
struct bits {
	char *to;
	unsigned __int128 word; /* below 2^@used */
	unsigned int used;
};

static void put_bits(struct bits *b, uint64_t v, unsigned int width)
{
	uint64_t low;

	b->word |= (unsigned __int128)v << b->used;
	b->used += width;
	if (b->used < 64)
		return;
	low = (uint64_t)b->word;
	memcpy(b->to, &low, sizeof(low));
	b->to += sizeof(low);
	b->word >>= 64;
	b->used -= 64;
}

static void end_bits(struct bits *b)
{
	for (; b->used; b->used -= b->used < 8 ? b->used : 8) {
		*b->to++ = (char)b->word;
		b->word >>= 8;
	}
}

/* ---- the hybrid ------------------------------------------------------------------------------- */

/* The last group of a page is filled up with zeros. */
static void put_packed(struct buf *out, const uint32_t *v, size_t cnt, unsigned int width)
{
	const size_t groups = (cnt + GROUP - 1) / GROUP, sz = groups * width;
	struct bits b = { 0 };

	if (!cnt)
		return;
	parquet_encode_varint(out, groups << 1 | 1);
	b.to = buf_reserve(out, sz);
	for (size_t i = 0; i < cnt; i++)
		put_bits(&b, v[i], width);
	for (size_t i = cnt; i < groups * GROUP; i++)
		put_bits(&b, 0, width);
	end_bits(&b);
	out->len += sz;
}

static void put_run(struct buf *out, uint32_t v, size_t cnt, unsigned int width)
{
	parquet_encode_varint(out, cnt << 1);
	for (unsigned int shift = 0; shift < width; shift += 8)
		buf_addch(out, (char)(v >> shift));
}

static size_t run_length(const uint32_t *v, size_t cnt)
{
	size_t n = 1;

	while (n < cnt && v[n] == *v)
		n++;
	return n;
}

/* A run fills the group before it first, since only the last group may be short. */
void parquet_encode_hybrid(struct buf *out, const uint32_t *v, size_t cnt, unsigned int width)
{
	size_t packed = 0, run, fill;

	for (size_t i = 0; i < cnt; i += run) {
		run = run_length(v + i, cnt - i);
		fill = (GROUP - (i - packed) % GROUP) % GROUP;
		if (run < fill + GROUP)
			continue;
		put_packed(out, v + packed, i + fill - packed, width);
		put_run(out, v[i], run - fill, width);
		packed = i + run;
	}
	put_packed(out, v + packed, cnt - packed, width);
}

/* ---- differences ------------------------------------------------------------------------------ */

static int64_t smallest(const uint64_t *deltas, size_t cnt)
{
	int64_t min = (int64_t)deltas[0];

	for (size_t i = 1; i < cnt; i++)
		if ((int64_t)deltas[i] < min)
			min = (int64_t)deltas[i];
	return min;
}

/* Miniblocks without values have no bytes; the last one with values is filled up with zeros. */
static void put_block(struct buf *out, const uint64_t *values, size_t cnt)
{
	uint64_t deltas[DELTA_BLOCK] = { 0 }, min;
	unsigned int widths[DELTA_MINIS] = { 0 };
	struct bits b = { 0 };
	char *start;

	for (size_t i = 0; i < cnt; i++)
		deltas[i] = values[i + 1] - values[i];
	min = (uint64_t)smallest(deltas, cnt);
	parquet_encode_varint(out, parquet_encode_zigzag((int64_t)min));
	for (size_t i = 0; i < cnt; i++)
		deltas[i] -= min;
	start = buf_reserve(out, DELTA_MINIS + DELTA_BLOCK * sizeof(uint64_t));
	for (size_t m = 0; m < DELTA_MINIS; m++) {
		uint64_t all = 0;

		for (size_t i = m * DELTA_MINI; i < (m + 1) * DELTA_MINI; i++)
			all |= i < cnt ? deltas[i] : 0;
		widths[m] = all ? parquet_encode_width(all) : 0;
		start[m] = (char)widths[m];
	}
	b.to = start + DELTA_MINIS;
	for (size_t i = 0; i < (cnt + DELTA_MINI - 1) / DELTA_MINI * DELTA_MINI; i++)
		put_bits(&b, i < cnt ? deltas[i] : 0, widths[i / DELTA_MINI]);
	end_bits(&b);
	out->len += (size_t)(b.to - start);
}

void parquet_encode_delta(struct buf *out, const uint64_t *v, size_t cnt)
{
	parquet_encode_varint(out, DELTA_BLOCK);
	parquet_encode_varint(out, DELTA_MINIS);
	parquet_encode_varint(out, cnt);
	parquet_encode_varint(out, parquet_encode_zigzag(cnt ? (int64_t)v[0] : 0));
	for (size_t i = 1; i < cnt; i += DELTA_BLOCK)
		put_block(out, v + i - 1, cnt - i < DELTA_BLOCK ? cnt - i : DELTA_BLOCK);
}

void parquet_encode_bits(struct buf *out, const uint64_t *v, size_t cnt)
{
	struct bits b = { buf_reserve(out, (cnt + 7) / 8), 0, 0 };

	for (size_t i = 0; i < cnt; i++)
		put_bits(&b, v[i], 1);
	end_bits(&b);
	out->len += (cnt + 7) / 8;
}
