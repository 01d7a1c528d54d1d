/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_UNWIND_STATUS_H
#define D9_EXPORT_UNWIND_STATUS_H

#include "base/buf.h"
#include "profile/sums/stack_ends.h"

/* A reason of struct stack_ends as an identifier, such as "no_table". */
const char *unwind_status_id(uint8_t end);
/* The same as text, such as "no unwind information". */
const char *unwind_status_text(uint8_t end);

/* "97.50% of 1,204 complete", and the methods that some of them needed. */
void unwind_status_put_sum(struct buf *out, const struct stack_ends *e);
/*
 * "no unwind information 2.31%" for the most frequent reasons. Nothing if all stacks are complete.
 */
void unwind_status_put_reasons(struct buf *out, const struct stack_ends *e);
/* Percentage of the stacks. */
double unwind_status_percent(const struct stack_ends *e, uint64_t stacks);

/*
 * A JSON object: stacks, ends by identifier, frame_pointer_steps, signal_frames, uncertain_callers,
 * modules.
 */
void unwind_status_json(struct buf *out, const char *key, const struct stack_ends *e,
			const struct names *n);

#endif /* D9_EXPORT_UNWIND_STATUS_H */
