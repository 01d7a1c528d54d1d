/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_filter.h - compiled --filter expressions: which records of an event are wanted
 *
 * A filter is a program of terms that only jump forward, as in the kernel's own filters. Each term
 * tests one field and has a target for true and one for false. So `a && (b
 *
 * !c)` needs no stack and ends after at most as many steps as there are terms.
 *
 * Text is matched by a bit set: bit i of a state means that the first i elements of the pattern (a
 * character, `?`, a class) match the text so far. One table lookup per byte updates all bits, so a
 * pattern with any number of stars takes one step per byte without backtracking.
 *
 * The evaluation is in this header because it runs in the kernel, and in tests that compare it with
 * other implementations.
 */
#ifndef D9_PROF_FILTER_H
#define D9_PROF_FILTER_H

#ifndef __bpf__
#include <linux/types.h>

#include "prof_bound.h"
#endif

enum {
	PROF_FILTER_TERMS = 16,
	PROF_FILTER_TRUE = 32, /* targets: the record is wanted */
	PROF_FILTER_FALSE = 33,
	PROF_FILTER_ELEMENTS = 63, /* maximum of a pattern, without stars */
	PROF_FILTER_TEXT_MAX = 512, /* bytes of a text that are compared */
};

enum prof_filter_op {
	PROF_FILTER_EQ,
	PROF_FILTER_LT,
	PROF_FILTER_LE,
	PROF_FILTER_AND, /* any of these bits */
	PROF_FILTER_CHARS, /* text in place */
	PROF_FILTER_LOC, /* text at the location in a __data_loc word */
	PROF_FILTER_REL_LOC,
};

enum prof_filter_flags {
	PROF_FILTER_SIGNED = 1,
	/* the offset refers to struct prof_filter_context, not to the record */
	PROF_FILTER_CONTEXT = 2,
};

/* After the record, at the end of its buffer */
struct prof_filter_context {
	__u8 comm[16]; /* of the current task */
	__u32 cpu;
	__u32 spare[3];
};

struct prof_filter_term {
	__u16 off;
	__u16 size; /* 1, 2, 4 or 8 for numbers; any for CHARS; 4 for words */
	__u8 op;
	__u8 flags;
	__u8 on_true, on_false; /* later terms, or PROF_FILTER_TRUE, _FALSE */
	__u64 value; /* a number, sign-extended if signed; for text the index of the pattern */
};

struct prof_filter {
	struct prof_filter_term terms[PROF_FILTER_TERMS];
};

struct prof_filter_pattern {
	__u64 stars; /* states where any bytes may follow */
	__u64 end; /* the bit of the complete pattern */
	__u64 match[256]; /* for each byte the elements that match it */
};

#ifdef __bpf__
#define PROF_FILTER_INLINE static inline __attribute__((always_inline))
#else
#define PROF_FILTER_INLINE static inline
#endif

/* Reads a word at an offset up to @mask; the buffer has eight more bytes. */
PROF_FILTER_INLINE __u64 prof_filter_word(const __u8 *bytes, __u32 mask, __u32 off)
{
	__u64 word;

#ifdef __bpf__
	word = *(const __u64 *)(bytes + PROF_BOUND_MASK(off, mask));
#else
	__builtin_memcpy(&word, bytes + PROF_BOUND_MASK(off, mask), sizeof(word));
#endif
	return word;
}

/* Whether the text of at most @n bytes, up to the first NUL, at @off matches @p. */
PROF_FILTER_INLINE int prof_filter_match(const struct prof_filter_pattern *p, const __u8 *bytes,
					 __u32 mask, __u32 off, __u32 n)
{
	__u64 state = 1;
	__u32 i;
	__u8 c;

	for (i = 0; i < PROF_FILTER_TEXT_MAX; i++) {
		if (i >= n)
			break;
		c = bytes[PROF_BOUND_MASK(off + i, mask)];
		if (!c)
			break;
		state = (state & p->match[c]) << 1 | (state & p->stars);
		if (!state)
			return 0;
	}
	return !!(state & p->end);
}

#ifdef PROF_FILTER_HERE
/* prof_filter_match() with the pattern of an index; the includer defines it. */
PROF_FILTER_INLINE int prof_filter_text(const __u8 *bytes, __u32 mask, __u32 off, __u32 n,
					__u32 pattern);

PROF_FILTER_INLINE int prof_filter_number(const struct prof_filter_term *t, __u64 word)
{
	__u32 shift = 64 - 8 * (__u32)t->size;
	__s64 value;

	word <<= shift & 63;
	if (t->flags & PROF_FILTER_SIGNED) {
		value = (__s64)word >> (shift & 63);
		return t->op == PROF_FILTER_EQ ? value == (__s64)t->value :
		       t->op == PROF_FILTER_LT ? value < (__s64)t->value :
		       t->op == PROF_FILTER_LE ? value <= (__s64)t->value :
						 !!(value & (__s64)t->value);
	}
	word >>= shift & 63;
	return t->op == PROF_FILTER_EQ ? word == t->value :
	       t->op == PROF_FILTER_LT ? word < t->value :
	       t->op == PROF_FILTER_LE ? word <= t->value :
					 !!(word & t->value);
}

/* If the record is too short for the field, the comparison is false. */
PROF_FILTER_INLINE int prof_filter_term(const struct prof_filter_term *t, const __u8 *bytes,
					__u32 mask, __u32 len)
{
	__u32 off = t->off, n = t->size, word;

	if (t->flags & PROF_FILTER_CONTEXT) {
		off += mask + 1 - sizeof(struct prof_filter_context);
		len = mask + 1;
	}
	if (off + n > len)
		return 0;
	if (t->op < PROF_FILTER_CHARS)
		return prof_filter_number(t, prof_filter_word(bytes, mask, off));
	if (t->op != PROF_FILTER_CHARS) {
		word = prof_filter_word(bytes, mask, off);
		off = (word & 0xffff) + (t->op == PROF_FILTER_REL_LOC ? off + 4 : 0);
		n = word >> 16;
		if (off + n > len)
			return 0;
	}
	return prof_filter_text(bytes, mask, off, n, (__u32)t->value);
}

/*
 * Whether a record of @len bytes passes. @bytes: a buffer of mask + 1 bytes, a power of two, plus
 * eight. The record is at its start and a struct prof_filter_context at its end.
 */
PROF_FILTER_INLINE int prof_filter_run(const struct prof_filter *f, const __u8 *bytes, __u32 mask,
				       __u32 len)
{
	const struct prof_filter_term *t;
	__u32 i, at = 0;

	for (i = 0; i < PROF_FILTER_TERMS; i++) {
		t = &f->terms[PROF_BOUND_INDEX(at, PROF_FILTER_TERMS)];
		at = prof_filter_term(t, bytes, mask, len) ? t->on_true : t->on_false;
		if (at >= PROF_FILTER_TERMS)
			break;
	}
	return at == PROF_FILTER_TRUE;
}
#endif

#endif
