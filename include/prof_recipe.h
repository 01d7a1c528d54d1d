/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_recipe.h - how a tracepoint's record is made from the tracepoint's own arguments
 *
 * A program that the kernel runs at the tracepoint itself has no record, only what the tracepoint was
 * called with. A recipe has a step for each field: it takes an argument, follows pointers from there, and
 * puts what it comes to where the event's format has that field. user/record/tracepoint/field_extract.c makes recipes.
 */
#ifndef D9_PROF_RECIPE_H
#define D9_PROF_RECIPE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum prof_recipe_limits {
	PROF_RECIPE_STEPS = 8,
	PROF_RECIPE_HOPS = 3,
	PROF_RECIPE_ARGS = 12, /* of a tracepoint at most, in the kernel */
	PROF_RECIPE_FIXED_MAX = 128, /* end of the fixed part */
	PROF_RECIPE_TEXT_MAX = 256, /* bytes of a text, its NUL included */
	PROF_RECIPE_RECORD_MAX = PROF_RECIPE_FIXED_MAX + PROF_RECIPE_STEPS * PROF_RECIPE_TEXT_MAX,
};

enum prof_recipe_kind {
	PROF_RECIPE_NUMBER, /* `from` bytes, made longer or shorter as C does it */
	PROF_RECIPE_BOOL, /* 1 unless all of them are 0 */
	PROF_RECIPE_JIFFIES, /* the kernel's count of ticks; of no argument */
	PROF_RECIPE_CHARS, /* `size` bytes, at what the hops lead to */
	PROF_RECIPE_TEXT, /* a __data_loc string, whose text is at what the hops lead to */
	PROF_RECIPE_TEXT_AT, /* the same; it is where a pointer there points to */
};

struct prof_recipe_step {
	__u16 at; /* where in the record */
	__u8 kind; /* enum prof_recipe_kind */
	__u8 size; /* bytes in the record: 1, 2, 4 or 8, but for CHARS */
	__u8 arg; /* from 0 on */
	__u8 from; /* bytes of the number: 1, 2, 4 or 8 */
	__u8 is_signed; /* and may be below 0 */
	/* 0: the argument is the value. Else it is a pointer, and so is what is there, but for the last one */
	__u8 hop_cnt;
	__u16 hops[PROF_RECIPE_HOPS]; /* bytes to go on from each pointer */
	__u16 spare;
};

struct prof_recipe {
	__u16 cnt; /* of steps; 0: there is no recipe */
	__u16 arg_cnt; /* that are needed */
	struct prof_recipe_step steps[PROF_RECIPE_STEPS];
};

#endif
