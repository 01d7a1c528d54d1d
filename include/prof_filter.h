/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_filter.h - which records of an event are wanted: --filter, compiled
 *
 * A filter is a program of terms that only jump forward: each looks at one field and says where to go on
 * when it is true and when it is not, as the kernel's own filters do. So `a && (b || !c)` needs no stack
 * and ends after at most as many steps as there are terms.
 *
 * Text is matched by bits: bit i of a state says that the first i elements of the pattern (a character,
 * `?`, a class) account for the text so far. A byte of text moves all of them by one table look-up, so
 * that a pattern of whatever stars needs one step a byte and never goes back.
 *
 * The evaluation is here because it runs in the kernel, and in tests beside other implementations of it.
 */
#ifndef D9_PROF_FILTER_H
#define D9_PROF_FILTER_H

#ifndef __bpf__
#include <linux/types.h>

#include "prof_bound.h"
#endif

enum {
	PROF_FILTER_TERMS = 16,
	PROF_FILTER_TRUE = 32, /* places to go on at: the record is wanted */
	PROF_FILTER_FALSE = 33,
	PROF_FILTER_ELEMENTS = 63, /* of a pattern, besides stars */
	PROF_FILTER_TEXT_MAX = 512, /* bytes of a text that are looked at */
};

enum prof_filter_op {
	PROF_FILTER_EQ,
	PROF_FILTER_LT,
	PROF_FILTER_LE,
	PROF_FILTER_AND, /* any of these bits */
	PROF_FILTER_CHARS, /* text in place */
	PROF_FILTER_LOC, /* text where a __data_loc word says */
	PROF_FILTER_REL_LOC,
};

enum prof_filter_flags {
	PROF_FILTER_SIGNED = 1,
	/* the offset is one in struct prof_filter_context, not in the record */
	PROF_FILTER_CONTEXT = 2,
};

/* Behind the record, in the last bytes of the place where it lies. */
struct prof_filter_context {
	__u8 comm[16]; /* of the current task */
	__u32 cpu;
	__u32 spare[3];
};

struct prof_filter_term {
	__u16 off;
	__u16 size; /* of numbers 1, 2, 4 or 8; of CHARS any; of words 4 */
	__u8 op;
	__u8 flags;
	__u8 on_true, on_false; /* terms behind this one, or PROF_FILTER_TRUE, _FALSE */
	__u64 value; /* a number, sign-extended if signed; of text the pattern's index */
};

struct prof_filter {
	struct prof_filter_term terms[PROF_FILTER_TERMS];
};

struct prof_filter_pattern {
	__u64 stars; /* where bytes may be passed over */
	__u64 end; /* the one bit that says that all of it is there */
	__u64 match[256]; /* for each byte the elements that it is one of */
};

#ifdef __bpf__
#define PROF_FILTER_INLINE static inline __attribute__((always_inline))
#else
#define PROF_FILTER_INLINE static inline
#endif

/* Bytes as far as @mask, and eight more. */
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

/* Whether @p is the text of at most @n bytes, up to the first NUL, at @off. */
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
/* prof_filter_match() with the pattern of an index: whoever defines the above has it. */
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

/* A field that the record is too short for is nothing: no comparison with it is true. */
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
 * Whether a record of @len bytes passes. @bytes: mask + 1 of them, a power of two, and eight more; the
 * record is at their beginning and a struct prof_filter_context at their end.
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
