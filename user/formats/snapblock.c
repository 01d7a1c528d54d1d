// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is left of a raw snappy block that is not whole.
 *
 * libsnappy decompresses whole blocks and gives nothing at all for others. A traced program that was
 * killed leaves half a block, in which the very calls stand that one wants to see, so this walks the
 * block's elements one by one and keeps what they yield up to the cut or the damage. It is not used
 * for blocks that libsnappy accepts, and does not interpret the contents.
 *
 * An element is a tag byte, whose low two bits say what it is: 0 literal bytes, 1 to 3 a copy from
 * what was decompressed before, with an offset of 11, 16 or 32 bits. Copies may overlap their own
 * output.
 */
#include "formats/snapblock.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

int snapblock_size(const void *block, size_t sz, uint32_t *plain_sz, size_t *head_sz)
{
	const uint8_t *p = block;
	uint64_t v = 0;

	for (size_t i = 0; i < 5; i++) {
		if (i == sz)
			return -ENODATA;
		v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (p[i] & 0x80)
			continue;
		if (v > UINT32_MAX)
			return -EBADMSG;
		*plain_sz = (uint32_t)v;
		*head_sz = i + 1;
		return 0;
	}
	return -EBADMSG;
}

struct element {
	bool literal;
	size_t len;
	size_t offset; /* of a copy, backwards */
};

static size_t le_bytes(const uint8_t *p, size_t n)
{
	size_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (size_t)p[i] << (8 * i);
	return v;
}

/* Bytes that the element's tag and numbers take, or 0 when they are cut off. */
static size_t read_element(const uint8_t *in, size_t sz, struct element *el)
{
	static const uint8_t offset_bytes[] = { 0, 1, 2, 4 };
	unsigned int kind = in[0] & 3;
	size_t extra = offset_bytes[kind];

	if (!kind) {
		el->literal = true;
		el->len = (size_t)(in[0] >> 2) + 1;
		extra = el->len > 60 ? el->len - 60 : 0;
		if (sz < 1 + extra)
			return 0;
		if (extra)
			el->len = le_bytes(in + 1, extra) + 1;
		return 1 + extra;
	}
	if (sz < 1 + extra)
		return 0;
	el->literal = false;
	el->offset = le_bytes(in + 1, extra);
	if (kind == 1) {
		el->len = (size_t)((in[0] >> 2) & 7) + 4;
		el->offset |= (size_t)(in[0] >> 5) << 8;
	} else {
		el->len = (size_t)(in[0] >> 2) + 1;
	}
	return 1 + extra;
}

static void copy_back(uint8_t *plain, size_t at, size_t offset, size_t len)
{
	for (size_t i = 0; i < len; i++)
		plain[at + i] = plain[at + i - offset];
}

enum snapblock_end snapblock_salvage(const uint8_t *in, size_t sz, uint8_t *plain, size_t plain_sz,
				     size_t *got, const char **reason)
{
	size_t pos = 0, n = 0, used, have;
	struct element el;

	for (; n < plain_sz; n += el.len) {
		*got = n;
		if (pos == sz)
			return SNAPBLOCK_CUT;
		used = read_element(in + pos, sz - pos, &el);
		if (!used)
			return SNAPBLOCK_CUT;
		pos += used;
		if (el.len > plain_sz - n) {
			*reason = "snappy: bad length";
			return SNAPBLOCK_BAD;
		}
		if (el.literal) {
			have = sz - pos < el.len ? sz - pos : el.len;
			memcpy(plain + n, in + pos, have);
			pos += have;
			*got = n + have;
			if (have < el.len)
				return SNAPBLOCK_CUT;
		} else if (!el.offset || el.offset > n) {
			*reason = "snappy: bad offset";
			return SNAPBLOCK_BAD;
		} else {
			copy_back(plain, n, el.offset, el.len);
		}
	}
	*got = n;
	if (pos < sz) {
		*reason = "snappy: bad length";
		return SNAPBLOCK_BAD;
	}
	return SNAPBLOCK_WHOLE;
}
