// SPDX-License-Identifier: BSD-2-Clause
/*
 * Basic wire types that are too long to inline: LEB128 with its limits, and UTF-8.
 *
 * This file does not use frames, schemas or limits. Reading is bounded by the caller's end pointer
 * and distinguishes truncated input (-ENODATA) from invalid input (-EBADMSG). All layers above keep
 * this difference, because a file that is still being written can end anywhere.
 *
 * Text is nearly always ASCII, so UTF-8 is checked many bytes at a time until a high bit occurs.
 */
#include "wire.h"

#include <errno.h>

#include "dial9.h"

int wire_get_varint(const uint8_t **pos, const uint8_t *end, uint64_t *out)
{
	const uint8_t *p = *pos;
	uint64_t v = 0;
	unsigned int shift;

	for (shift = 0; shift < 63; shift += 7) {
		if (p == end)
			return -ENODATA;
		v |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p++ & 0x80))
			goto done;
	}
	if (p == end)
		return -ENODATA;
	if (*p > 1)
		return -EBADMSG;
	v |= (uint64_t)*p++ << 63;
done:
	*pos = p;
	*out = v;
	return 0;
}

/*
 * Length of the UTF-8 sequence at s, or 0. The range of the second byte excludes overlong forms,
 * surrogates and values above U+10FFFF.
 */
static size_t sequence_len(const uint8_t *s, size_t left)
{
	uint8_t lo = 0x80, hi = 0xbf;
	size_t len, i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (len > left)
		return 0;
	if (s[0] == 0xe0)
		lo = 0xa0;
	else if (s[0] == 0xed)
		hi = 0x9f;
	else if (s[0] == 0xf0)
		lo = 0x90;
	else if (s[0] == 0xf4)
		hi = 0x8f;
	if (s[1] < lo || s[1] > hi)
		return 0;
	for (i = 2; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

#define HIGH_BITS 0x8080808080808080ull

/*
 * The length of a prefix of ASCII: len if all of s is ASCII. Reads the last eight bytes once more
 * rather than one by one.
 */
static size_t ascii_len(const uint8_t *s, size_t len)
{
	size_t i = 0;

	if (len < 8) {
		while (i < len && s[i] < 0x80)
			i++;
		return i;
	}
	for (; len - i >= 32; i += 32)
		if ((wire_get_u64(s + i) | wire_get_u64(s + i + 8) | wire_get_u64(s + i + 16) |
		     wire_get_u64(s + i + 24)) &
		    HIGH_BITS)
			return i;
	for (; len - i >= 8; i += 8)
		if (wire_get_u64(s + i) & HIGH_BITS)
			return i;
	return wire_get_u64(s + len - 8) & HIGH_BITS ? i : len;
}

size_t dial9_utf8_valid_len(const char *s, size_t len)
{
	const uint8_t *p = (const uint8_t *)s;
	size_t i = ascii_len(p, len), n;

	while (i < len) {
		if (len - i >= sizeof(uint64_t) && !(wire_get_u64(p + i) & HIGH_BITS)) {
			i += sizeof(uint64_t);
			continue;
		}
		n = sequence_len(p + i, len - i);
		if (!n)
			break;
		i += n;
	}
	return i;
}
