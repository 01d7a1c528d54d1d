/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_STACK_ENDS_H
#define D9_PROFILE_SUMS_STACK_ENDS_H

#include "base/hmap.h"
#include "trace/read/trace.h"

/* Unknown reasons count as one, after enum prof_user_end. */
enum { STACK_ENDS_OTHER = PROF_END_CNT, STACK_ENDS_CNT };

/*
 * Where unwinding of user stacks ended. {0} is empty. Traces of older recorders have no reasons;
 * nothing is counted then.
 */
struct stack_ends {
	uint64_t stacks; /* user stacks with a recorded reason */
	uint64_t by_end[STACK_ENDS_CNT]; /* enum prof_user_end, or STACK_ENDS_OTHER */
	uint64_t frame_pointers; /* some frames by checked frame pointers */
	uint64_t signals; /* through a signal frame */
	uint64_t guessed; /* the caller of some frame is uncertain */
	struct hmap modules; /* index << 8 | end -> stacks */
};

/* Incomplete stacks whose last frame is in one module. */
struct stack_ends_module {
	uint32_t module; /* index of the first of its group; 0: no known module, or no frame */
	uint8_t end; /* enum prof_user_end */
	uint64_t stacks;
};

/* Counts a sample or a switch-out stack; ignores other events. */
void stack_ends_add(struct stack_ends *e, const struct names *n, const struct trace_event *ev);
void stack_ends_fini(struct stack_ends *e);

/* The reason in one event: enum prof_user_end, or STACK_ENDS_OTHER. */
uint8_t stack_ends_of(const struct trace_event *ev);
/* Whether a caller in an event's user stack is uncertain: PROF_USER_GUESSED. */
bool stack_ends_is_guessed(const struct trace_event *ev);

/*
 * Modules whose code is the reason for incomplete stacks, most stacks first. Returns an array of
 * *@cnt that the caller frees, NULL if there are none.
 */
struct stack_ends_module *stack_ends_modules(const struct stack_ends *e, size_t *cnt);

/* Reasons that occurred, without "complete", most stacks first; returns their number. */
size_t stack_ends_early(const struct stack_ends *e, uint8_t ends[STACK_ENDS_CNT]);

#endif /* D9_PROFILE_SUMS_STACK_ENDS_H */
