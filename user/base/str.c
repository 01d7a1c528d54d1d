/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text: values typed by users, names with any bytes, numbers for output.
 *
 * The parsers accept the whole string or nothing, and detect overflow. The two escapers differ
 * intentionally: str_escape_utf8 makes valid text for traces without losing a byte, str_json makes
 * JSON for any parser.
 */
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/utf8.h"

#define DAYS_MAX 36500

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

/* Parses digits at *s up to another character; -EINVAL if there are none. */
static int parse_digits(const char **s, unsigned int base, uint64_t max, uint64_t *out)
{
	const char *p = *s;
	uint64_t v = 0;
	unsigned int d;

	if ((unsigned int)digit_value(*p) >= base)
		return -EINVAL;
	for (; (d = digit_value(*p)) < base; p++) {
		if (v > (UINT64_MAX - d) / base)
			return -ERANGE;
		v = v * base + d;
	}
	if (v > max)
		return -ERANGE;
	*s = p;
	*out = v;
	return 0;
}

int str_parse_u64(const char *s, uint64_t max, uint64_t *out)
{
	unsigned int base = 10;
	uint64_t v;
	int err;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	}
	err = parse_digits(&s, base, UINT64_MAX, &v);
	if (!err && *s)
		return -EINVAL;
	if (err || v > max)
		return err ? err : -ERANGE;
	*out = v;
	return 0;
}

int str_parse_days(const char *s, uint64_t *days)
{
	uint64_t v;
	int err = parse_digits(&s, 10, UINT64_MAX, &v);

	if (!err && (!v || (*s && strcmp(s, "d") != 0)))
		return -EINVAL;
	if (err || v > DAYS_MAX)
		return err ? err : -ERANGE;
	*days = v;
	return 0;
}

int str_parse_size(const char *s, uint64_t *bytes)
{
	static const char units[] = "kmgt";
	const char *unit;
	unsigned int shift = 0;
	uint64_t v;
	int err = parse_digits(&s, 10, UINT64_MAX, &v);

	if (err)
		return err;
	unit = *s ? strchr(units, *s | 0x20) : NULL;
	if (unit) {
		shift = 10 * (unit - units + 1);
		s++;
	}
	if (strcmp(s, "") && strcmp(s, "B") && (!unit || strcmp(s, "iB")))
		return -EINVAL;
	if (shift && v >> (64 - shift))
		return -ERANGE;
	*bytes = v << shift;
	return 0;
}

static const struct {
	const char *name;
	uint64_t ns;
} time_units[] = {
	{ "", 1000000000ULL },
	{ "s", 1000000000ULL },
	{ "ms", 1000000ULL },
	{ "us", 1000ULL },
	{ "ns", 1ULL },
	{ "m", 60000000000ULL },
	{ "min", 60000000000ULL },
	{ "h", 3600000000000ULL },
	{ "d", 86400000000000ULL },
};

/* Parses digits after a decimal point: a fraction of one unit, rounded down. */
static int parse_fraction(const char **s, uint64_t *num, uint64_t *den)
{
	const char *p = *s;

	*num = 0;
	*den = 1;
	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (*den >= 1000000000ULL)
			continue; /* more digits than the precision needs */
		*num = *num * 10 + (*p - '0');
		*den *= 10;
	}
	*s = p;
	return 0;
}

int str_parse_duration(const char *s, uint64_t *ns)
{
	uint64_t whole = 0, num = 0, den = 1, v, part;
	int err;

	err = *s == '.' ? 0 : parse_digits(&s, 10, UINT64_MAX, &whole);
	if (!err && *s == '.') {
		s++;
		err = parse_fraction(&s, &num, &den);
	}
	if (err)
		return err;
	for (size_t i = 0; i < sizeof(time_units) / sizeof(time_units[0]); i++) {
		if (strcmp(s, time_units[i].name))
			continue;
		part = (unsigned __int128)num * time_units[i].ns / den;
		if (__builtin_mul_overflow(whole, time_units[i].ns, &v) ||
		    __builtin_add_overflow(v, part, &v))
			return -ERANGE;
		*ns = v;
		return 0;
	}
	return -EINVAL;
}

int str_parse_unit_duration(const char *s, uint64_t *ns)
{
	return s[strspn(s, "0123456789.")] ? str_parse_duration(s, ns) : -EINVAL;
}

/* Parses "7" or, with ranges, "3-9", and appends the numbers to *arr. */
static int parse_item(const char **s, uint64_t max, bool ranges, uint32_t **arr, size_t *cnt,
		      size_t *cap)
{
	uint64_t first, last;
	int err;

	err = parse_digits(s, 10, max, &first);
	if (err)
		return err;
	last = first;
	if (ranges && **s == '-') {
		(*s)++;
		err = parse_digits(s, 10, max, &last);
		if (err)
			return err;
		if (last < first)
			return -EINVAL;
	}
	for (uint64_t v = first; v <= last; v++) {
		*arr = array_reserve(*arr, cap, *cnt + 1, sizeof(**arr));
		(*arr)[(*cnt)++] = v;
	}
	return 0;
}

static int parse_list(const char *s, uint64_t max, bool ranges, uint32_t **arr, size_t *cnt)
{
	uint32_t *items = NULL;
	size_t item_cnt = 0, cap = 0;
	int err;

	for (;;) {
		err = parse_item(&s, max, ranges, &items, &item_cnt, &cap);
		if (err || *s != ',')
			break;
		s++;
		/* A list of ranges could repeat 2^16 CPUs many times. */
		if (item_cnt > (1U << 20)) {
			err = -ERANGE;
			break;
		}
	}
	if (!err && *s)
		err = -EINVAL;
	if (!err) {
		*arr = xreallocarray(*arr, *cnt + item_cnt, sizeof(**arr));
		memcpy(*arr + *cnt, items, item_cnt * sizeof(*items));
		*cnt += item_cnt;
	}
	free(items);
	return err;
}

int str_parse_list_u32(const char *s, uint32_t **arr, size_t *cnt)
{
	return parse_list(s, UINT32_MAX, false, arr, cnt);
}

int str_parse_ranges_u32(const char *s, uint32_t **arr, size_t *cnt)
{
	return parse_list(s, 65535, true, arr, cnt);
}

/* Matches one character with the bracket expression after '['; NULL if it is not closed. */
static const char *match_bracket(const char *p, unsigned char c, bool *matched)
{
	bool negated = *p == '!' || *p == '^';
	bool found = false;
	const char *first;

	if (negated)
		p++;
	for (first = p; *p && (*p != ']' || p == first); p++) {
		unsigned char low = *p, high = *p;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			high = p[2];
			p += 2;
		}
		if (c >= low && c <= high)
			found = true;
	}
	if (!*p)
		return NULL;
	*matched = found != negated;
	return p + 1;
}

/*
 * Matches one pattern element other than a star. Returns the rest of the pattern, or NULL if it
 * does not match.
 */
static const char *match_one(const char *p, char c)
{
	const char *after;
	bool matched;

	switch (*p) {
	case '?':
		return p + 1;
	case '[':
		after = match_bracket(p + 1, c, &matched);
		if (after)
			return matched ? after : NULL;
		break; /* not closed: an ordinary character */
	case '\\':
		if (p[1])
			p++;
		break;
	}
	return *p == c ? p + 1 : NULL;
}

bool str_glob(const char *p, const char *s)
{
	const char *star = NULL, *resume = NULL, *next;

	while (*s) {
		if (*p == '*') {
			star = ++p;
			resume = s;
			continue;
		}
		next = *p ? match_one(p, *s) : NULL;
		if (next) {
			p = next;
			s++;
		} else if (star) {
			/* Retrying only the last star is enough: it matches one more character. */
			p = star;
			s = ++resume;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return !*p;
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

size_t str_utf8_valid_len(const char *s, size_t n)
{
	size_t i = 0, len;

	while (i < n) {
		if (utf8_code_point(s + i, n - i, &len) == UTF8_INVALID)
			break;
		i += len;
	}
	return i;
}

#define EACH_BYTE(c) (0x0101010101010101ULL * (c))

/*
 * Sets the top bit of some byte if one of the eight is a control character, 0x7f, non-ASCII, '"' or
 * '\\'.
 */
static uint64_t odd_bytes(uint64_t x)
{
	uint64_t quote = x ^ EACH_BYTE('"'), backslash = x ^ EACH_BYTE('\\');

	/* only such a byte causes a borrow or a carry */
	return x | (x - EACH_BYTE(0x20)) | (x + EACH_BYTE(1)) | ((quote - EACH_BYTE(1)) & ~quote) |
	       ((backslash - EACH_BYTE(1)) & ~backslash);
}

bool str_is_plain(const char *s, size_t n)
{
	uint64_t word, odd = 0;
	uint32_t half[2];

	if (n >= 8) {
		for (size_t i = 0; i < n - 8; i += 8) {
			memcpy(&word, s + i, 8);
			odd |= odd_bytes(word);
		}
		/* the last eight bytes; some were checked already */
		memcpy(&word, s + n - 8, 8);
	} else if (n >= 4) {
		memcpy(&half[0], s, 4);
		memcpy(&half[1], s + n - 4, 4);
		word = (uint64_t)half[1] << 32 | half[0];
	} else {
		word = EACH_BYTE(' ');
		memcpy(&word, s, n);
	}
	return !((odd | odd_bytes(word)) & EACH_BYTE(0x80));
}

static void escape(struct buf *out, const char *s, size_t n, bool nul)
{
	size_t i = 0, run, len;

	while (i < n) {
		for (run = i; run < n && (s[run] || !nul); run += len) {
			if (utf8_code_point(s + run, n - run, &len) == UTF8_INVALID)
				break;
		}
		buf_add(out, s + i, run - i);
		i = run;
		if (i < n)
			buf_printf(out, "\\x%02x", (unsigned char)s[i++]);
	}
}

void str_escape_utf8(struct buf *out, const char *s, size_t n)
{
	escape(out, s, n, true);
}

void str_escape_invalid(struct buf *out, const char *s, size_t n)
{
	escape(out, s, n, false);
}

void str_printable(struct buf *out, const char *s, size_t n)
{
	size_t from = 0, len;

	for (size_t i = 0; i < n; i += len) {
		const uint32_t c = utf8_code_point(s + i, n - i, &len);

		if (c != UTF8_INVALID && !utf8_is_unprintable(c))
			continue;
		buf_add(out, s + from, i - from);
		from = i + len;
		for (size_t k = i; k < from; k++)
			buf_printf(out, "\\x%02x", (unsigned char)s[k]);
	}
	buf_add(out, s + from, n - from);
}

void str_json_escape(struct buf *out, uint32_t c)
{
	if (c > 0xffff)
		buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
	else
		buf_printf(out, "\\u%04x", c);
}

/* True if the character has a short escape sequence. */
static bool json_short(struct buf *out, uint32_t c)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (size_t i = 0; i < sizeof(named) - 1; i += 2) {
		if ((unsigned char)named[i] == c) {
			buf_addch(out, '\\');
			buf_addch(out, named[i + 1]);
			return true;
		}
	}
	return false;
}

void str_json(struct buf *out, const char *s, size_t n)
{
	uint32_t c;
	size_t len;

	buf_addch(out, '"');
	if (str_is_plain(s, n)) {
		buf_add(out, s, n);
		n = 0;
	}
	for (size_t i = 0; i < n; i += len) {
		c = utf8_code_point(s + i, n - i, &len);
		if (c == UTF8_INVALID)
			buf_addstr(out, "\xef\xbf\xbd");
		else if (json_short(out, c))
			continue;
		else if (utf8_is_unprintable(c))
			str_json_escape(out, c);
		else
			buf_add(out, s + i, len);
	}
	buf_addch(out, '"');
}

void str_hex(struct buf *out, const void *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *to = buf_reserve(out, n * 2);
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++) {
		*to++ = digits[b[i] >> 4];
		*to++ = digits[b[i] & 15];
	}
	*to = '\0';
	out->len += n * 2;
}

void str_count(char out[32], uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
	char *to = out;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
}

void str_counted(struct buf *out, uint64_t v, const char *noun)
{
	size_t n = strlen(noun);
	char count[32];

	str_count(count, v);
	buf_printf(out, "%s ", count);
	if (v == 1)
		buf_add(out, noun, n);
	else if (n > 1 && noun[n - 1] == 'y' && !strchr("aeiou", noun[n - 2]))
		buf_printf(out, "%.*sies", (int)n - 1, noun);
	else if (n > 1 && (noun[n - 1] == 's' || !strcmp(noun + n - 2, "ch")))
		buf_printf(out, "%ses", noun);
	else
		buf_printf(out, "%ss", noun);
}

void str_bytes(char out[32], uint64_t v)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	double scaled = v;
	size_t unit = 0;

	if (v < 1000) {
		snprintf(out, 32, "%u B", (unsigned int)v);
		return;
	}
	/* 999.95 would print as 1000.0: use the next unit. */
	while (scaled >= 999.95 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		scaled /= 1000;
		unit++;
	}
	snprintf(out, 32, "%.1f %s", scaled, units[unit]);
}
