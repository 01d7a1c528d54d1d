/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_extract.h - extracts that build a tracepoint's record from the tracepoint's arguments
 *
 * A program that the kernel runs at the tracepoint itself gets no record, only the arguments of the
 * tracepoint. An extract has a step per field: it takes an argument, follows pointers, and stores the
 * result at the field's offset in the event's format. user/record/tracepoint/field_extract.c makes
 * extracts.
 */
#ifndef D9_PROF_EXTRACT_H
#define D9_PROF_EXTRACT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum prof_extract_limits {
	PROF_EXTRACT_STEPS = 8,
	PROF_EXTRACT_HOPS = 3,
	PROF_EXTRACT_ARGS = 12, /* maximum of a tracepoint in the kernel */
	PROF_EXTRACT_FIXED_MAX = 128, /* end of the fixed part */
	PROF_EXTRACT_TEXT_MAX = 256, /* bytes of a text with its NUL */
	PROF_EXTRACT_RECORD_MAX =
		PROF_EXTRACT_FIXED_MAX + PROF_EXTRACT_STEPS * PROF_EXTRACT_TEXT_MAX,
};

enum prof_extract_kind {
	PROF_EXTRACT_NUMBER, /* `from` bytes, converted as in C */
	PROF_EXTRACT_BOOL, /* 1 if any of them is not 0 */
	PROF_EXTRACT_JIFFIES, /* the kernel's tick count; uses no argument */
	PROF_EXTRACT_CHARS, /* `size` bytes after the hops */
	PROF_EXTRACT_TEXT, /* a __data_loc string; its text is at the end of the hops */
	PROF_EXTRACT_TEXT_AT, /* the same; a pointer to the text is at the end of the hops */
};

struct prof_extract_step {
	__u16 at; /* offset in the record */
	__u8 kind; /* enum prof_extract_kind */
	__u8 size; /* bytes in the record: 1, 2, 4 or 8; CHARS: any */
	__u8 arg; /* from 0 on */
	__u8 from; /* bytes of the number: 1, 2, 4 or 8 */
	__u8 is_signed; /* sign-extended */
	/*
	 * 0: the argument is the value. Otherwise the argument and each value but the last are
	 * pointers
	 */
	__u8 hop_cnt;
	__u16 hops[PROF_EXTRACT_HOPS]; /* offset from each pointer */
	__u16 spare;
};

struct prof_extract {
	__u16 cnt; /* number of steps; 0: there is no extract */
	__u16 arg_cnt; /* number of arguments used */
	struct prof_extract_step steps[PROF_EXTRACT_STEPS];
};

#endif
