/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_STACK_ENDS_H
#define D9_PROFILE_SUMS_STACK_ENDS_H

#include "base/hmap.h"
#include "trace/read/trace.h"

/* Reasons that this version does not know are counted as one, behind those of enum prof_user_end. */
enum { STACK_ENDS_OTHER = PROF_END_CNT, STACK_ENDS_CNT };

/* How user stacks end. {0} is empty. Traces of older recorders do not say: nothing is counted then. */
struct stack_ends {
	uint64_t stacks; /* that were walked, and of which the trace says how they end */
	uint64_t by_end[STACK_ENDS_CNT]; /* enum prof_user_end, or STACK_ENDS_OTHER */
	uint64_t frame_pointers; /* with steps by checked frame pointers */
	uint64_t signals; /* through a signal frame */
	uint64_t guessed; /* whose leaf has no frame, so that its caller is a guess */
	struct hmap modules; /* index << 8 | end -> stacks */
};

/* Stacks that end early in one module. */
struct stack_ends_module {
	uint32_t module; /* index, the first of its group; 0: in no known module, or without a frame */
	uint8_t end; /* enum prof_user_end */
	uint64_t stacks;
};

/* Counts a sample or the stack of a switch-out; other events are left alone. */
void stack_ends_add(struct stack_ends *e, const struct names *n, const struct trace_event *ev);
void stack_ends_fini(struct stack_ends *e);

/* The reason of one event: enum prof_user_end, or STACK_ENDS_OTHER. */
uint8_t stack_ends_of(const struct trace_event *ev);
/* Whether the caller of the leaf, in one event's user stack, is a guess: PROF_USER_GUESSED. */
bool stack_ends_is_guessed(const struct trace_event *ev);

/*
 * Where stacks end early because of the code that their last frame lies in, most stacks first. Returns
 * an array of *@cnt that the caller frees, NULL when there are none.
 */
struct stack_ends_module *stack_ends_modules(const struct stack_ends *e, size_t *cnt);

/* The reasons that occurred, but for "complete", most stacks first; returns how many. */
size_t stack_ends_early(const struct stack_ends *e, uint8_t ends[STACK_ENDS_CNT]);

#endif /* D9_PROFILE_SUMS_STACK_ENDS_H */
