/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_STR_H
#define D9_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Value parsers. All take the whole string (no leading or trailing blanks) and return 0, -EINVAL
 * for text that is not of the form, -ERANGE for a value too large. *out is untouched on failure.
 */

/* Decimal, or 0x hexadecimal; at most max. */
int str_parse_u64(const char *s, uint64_t max, uint64_t *out);
/* "4096", "64K", "4M", "1G", "2T", also "4MB" and "4MiB": powers of 1024. */
int str_parse_size(const char *s, uint64_t *bytes);
/* "10" and "1.5s" are seconds; ns, us, ms, s, m, h are known. */
int str_parse_duration(const char *s, uint64_t *ns);
/* The same with a unit: for options whose plain numbers are something else. */
int str_parse_unit_duration(const char *s, uint64_t *ns);
/* "1,2,5": appended to *arr (from malloc, or NULL), which the caller frees. All or nothing. */
int str_parse_list_u32(const char *s, uint32_t **arr, size_t *cnt);
/* A CPU list as the kernel writes it, "0-3,8": as str_parse_list_u32; ids up to 65535. */
int str_parse_ranges_u32(const char *s, uint32_t **arr, size_t *cnt);

/* Shell-like match of all of s: `*`, `?`, `[a-z]`, `[!a]`, `\x`. Time is O(pattern * s) at worst. */
bool str_glob(const char *pattern, const char *s);

/* True when s begins with prefix. */
bool str_starts(const char *s, const char *prefix);

/* Length of the longest valid UTF-8 prefix (no surrogates, no overlong forms, up to U+10FFFF). */
size_t str_utf8_valid_len(const char *s, size_t n);

/* True when s is printable ASCII without quotes and backslashes: what no escaping ever changes. */
bool str_is_plain(const char *s, size_t n);

/*
 * Appends s as valid UTF-8 text: each byte that is part of no valid sequence, and each NUL, becomes
 * \xHH. A backslash stays as it is, so ordinary text is unchanged.
 */
void str_escape_utf8(struct buf *out, const char *s, size_t n);
/* The same, but a NUL stays, too: it is valid. */
void str_escape_invalid(struct buf *out, const char *s, size_t n);

/* Appends s as a quoted JSON string; each byte that is part of no valid sequence becomes U+FFFD. */
void str_json(struct buf *out, const char *s, size_t n);

/* Appends two hexadecimal digits for each byte. */
void str_hex(struct buf *out, const void *p, size_t n);

/* "1,204,332" */
void str_count(char out[32], uint64_t v);
/* Appends a count with its noun, given in the singular: "1 sample", "1,204 samples", "2 entries". */
void str_counted(struct buf *out, uint64_t v, const char *noun);
/* Powers of 1000, three or four digits: "512 B", "18.4 MB". */
void str_bytes(char out[32], uint64_t v);

#endif /* D9_BASE_STR_H */
