/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_STR_H
#define D9_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Value parsers. All parse the whole string, without leading or trailing blanks. They return 0,
 * -EINVAL for invalid text, or -ERANGE for a value that is too large. *out is unchanged on failure.
 */

/* Decimal, or hexadecimal with 0x; at most max */
int str_parse_u64(const char *s, uint64_t max, uint64_t *out);
/* "7" and "7d": 1 to 36500 days, as the text says */
#define STR_DAYS "1 to 36500 days, for example 7d"
int str_parse_days(const char *s, uint64_t *days);
/* "4096", "64K", "4M", "1G", "2T", also "4MB" and "4MiB": powers of 1024 */
int str_parse_size(const char *s, uint64_t *bytes);
/* "10" and "1.5s" are seconds; units are ns, us, ms, s, m, h */
int str_parse_duration(const char *s, uint64_t *ns);
/* The same, but a unit is required: for options whose plain numbers mean something else */
int str_parse_unit_duration(const char *s, uint64_t *ns);
/*
 * "1,2,5": appended to *arr (from malloc, or NULL), which the caller frees. Appends all or nothing.
 */
int str_parse_list_u32(const char *s, uint32_t **arr, size_t *cnt);
/*
 * A CPU list in the kernel's format, "0-3,8"; otherwise like str_parse_list_u32. CPUs up to 65535.
 */
int str_parse_ranges_u32(const char *s, uint32_t **arr, size_t *cnt);

/*
 * Shell-like match of the whole string: `*`, `?`, `[a-z]`, `[!a]`, `\x`. Takes O(pattern * s) time
 * at most.
 */
bool str_glob(const char *pattern, const char *s);

/* True if s starts with prefix. */
bool str_starts(const char *s, const char *prefix);

/* Length of the longest valid UTF-8 prefix (no surrogates, no overlong forms, up to U+10FFFF) */
size_t str_utf8_valid_len(const char *s, size_t n);

/* True if s is printable ASCII without quotes and backslashes, so no escaping changes it. */
bool str_is_plain(const char *s, size_t n);

/*
 * Appends s as valid UTF-8 text: each byte outside a valid sequence, and each NUL, becomes \xHH.
 * Backslashes are unchanged, so ordinary text stays the same.
 */
void str_escape_utf8(struct buf *out, const char *s, size_t n);
/* The same, but keeps NULs: they are valid UTF-8. */
void str_escape_invalid(struct buf *out, const char *s, size_t n);

/*
 * Appends s as a quoted JSON string; each byte outside a valid sequence becomes U+FFFD, and what is
 * unprintable an escape sequence.
 */
void str_json(struct buf *out, const char *s, size_t n);
/* Appends the escape sequence of a code point: "\u202e", or two of them above U+FFFF. */
void str_json_escape(struct buf *out, uint32_t c);
/*
 * Appends s as printable text: each byte of invalid UTF-8 and of unprintable characters becomes \xHH.
 */
void str_printable(struct buf *out, const char *s, size_t n);

/* Appends two hexadecimal digits for each byte. */
void str_hex(struct buf *out, const void *p, size_t n);

/* "1,204,332" */
void str_count(char out[32], uint64_t v);
/*
 * Appends a count with its noun, given in the singular: "1 sample", "1,204 samples", "2 entries".
 */
void str_counted(struct buf *out, uint64_t v, const char *noun);
/* Powers of 1000, three or four digits: "512 B", "18.4 MB" */
void str_bytes(char out[32], uint64_t v);

#endif /* D9_BASE_STR_H */
