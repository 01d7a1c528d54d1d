/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWREAD_H
#define D9_SYMBOL_DWARF_DWREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A position in the bytes of a file. Reads after the end return zeros and set bad, so one check
 * after several reads is enough.
 */
struct dwread {
	const uint8_t *p, *end;
	bool bad;
};

/* Starts at off; an off after the end sets bad. */
static inline struct dwread dwread_at(const uint8_t *data, size_t size, uint64_t off)
{
	static const uint8_t none;

	if (!data || off > size)
		return (struct dwread){ .p = &none, .end = &none, .bad = true };
	return (struct dwread){ .p = data + off, .end = data + size };
}

static inline size_t dwread_left(const struct dwread *r)
{
	return r->end - r->p;
}

static inline void dwread_skip(struct dwread *r, uint64_t n)
{
	if (n > dwread_left(r)) {
		r->bad = true;
		n = dwread_left(r);
	}
	r->p += n;
}

/* A number of 1 to 8 bytes, in native byte order */
static inline uint64_t dwread_num(struct dwread *r, unsigned int sz)
{
	uint64_t v = 0;
	unsigned int i;

	if (sz > dwread_left(r)) {
		r->bad = true;
		r->p = r->end;
		return 0;
	}
	if (sz == 8) {
		memcpy(&v, r->p, 8);
	} else if (sz == 4) {
		uint32_t v4;

		memcpy(&v4, r->p, 4);
		v = v4;
	} else if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
		for (i = 0; i < sz; i++)
			v |= (uint64_t)r->p[i] << 8 * i;
	} else {
		for (i = 0; i < sz; i++)
			v = v << 8 | r->p[i];
	}
	r->p += sz;
	return v;
}

/* Reads a LEB128 number: its bits, their number in *shift, and whether the sign bit is set. */
static inline uint64_t dwread_leb(struct dwread *r, unsigned int *shift, bool *negative)
{
	uint64_t v = 0;

	*shift = 0;
	while (r->p < r->end) {
		uint8_t byte = *r->p++;

		if (*shift < 64)
			v |= (uint64_t)(byte & 0x7f) << *shift;
		*shift += 7;
		*negative = byte & 0x40;
		if (!(byte & 0x80))
			return v;
		if (*shift > 140)
			break;
	}
	r->bad = true;
	*negative = false;
	return 0;
}

static inline uint64_t dwread_uleb(struct dwread *r)
{
	unsigned int shift;
	bool negative;

	return dwread_leb(r, &shift, &negative);
}

static inline int64_t dwread_sleb(struct dwread *r)
{
	unsigned int shift;
	bool negative;
	uint64_t v = dwread_leb(r, &shift, &negative);

	return negative && shift < 64 ? (int64_t)(v | ~0ull << shift) : (int64_t)v;
}

/* Skips a string and its NUL. */
static inline void dwread_skip_str(struct dwread *r)
{
	const uint8_t *nul = r->p < r->end ? memchr(r->p, '\0', dwread_left(r)) : NULL;

	if (nul)
		r->p = nul + 1;
	else
		r->bad = true;
}

#endif /* D9_SYMBOL_DWARF_DWREAD_H */
