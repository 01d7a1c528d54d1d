// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code points of UTF-8, and which of them are printed. Allocates nothing, so that log.c can use it.
 */
#include "base/utf8.h"

/* Length of the valid UTF-8 sequence at s, or 0. */
static size_t sequence_len(const unsigned char *s, size_t n)
{
	size_t len;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		len = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4;
	else
		return 0;
	if (n < len)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0; /* overlong, surrogate, above U+10FFFF */
	return len;
}

uint32_t utf8_code_point(const char *s, size_t n, size_t *len)
{
	const unsigned char *u = (const unsigned char *)s;
	uint32_t c = u[0];

	*len = sequence_len(u, n);
	if (*len > 1) {
		c &= 0x7fu >> *len;
		for (size_t i = 1; i < *len; i++)
			c = c << 6 | (u[i] & 0x3f);
	} else if (!*len) {
		*len = 1;
		c = UTF8_INVALID;
	}
	return c;
}

bool utf8_is_unprintable(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0, 0x1f },	      { 0x7f, 0x9f }, { 0xad, 0xad }, /* soft hyphen */
		{ 0x61c, 0x61c }, /* Arabic letter mark */
		{ 0x180e, 0x180e }, /* Mongolian vowel separator */
		{ 0x200b, 0x200b }, /* zero width space */
		{ 0x200e, 0x200f }, /* marks of direction */
		{ 0x2028, 0x202e }, /* line and paragraph separator, embeddings, overrides */
		{ 0x2060, 0x206f }, /* invisible operators, isolates */
		{ 0xfeff, 0xfeff }, /* byte order mark */
		{ 0xfff9, 0xfffb }, /* interlinear annotation */
		{ 0xe0000, 0xe0fff }, /* tags, variation selectors */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && c >= ranges[i].first; i++)
		if (c <= ranges[i].last)
			return true;
	return false;
}
