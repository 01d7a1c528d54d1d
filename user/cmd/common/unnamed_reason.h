/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_UNNAMED_REASON_H
#define D9_CMD_COMMON_UNNAMED_REASON_H

#include "base/buf.h"
#include "profile/sums/event_counts.h"

/*
 * Appends why addresses in a module have no name, as the trace itself says it: "the file has no
 * symbols: install its debug symbols". What it does not say is called unknown. @index as
 * names_module(), 0 for addresses in no module; @c has seen the trace to its end.
 */
void unnamed_reason_of_unnamed(struct buf *out, const struct names *n, const struct event_counts *c,
			       uint32_t index);

/* Whether a file with symbols for such addresses can be found later by its build-id. */
bool unnamed_reason_may_be_mended(const struct names *n, uint32_t index);
/* Appends the command that looks for them in the trace @input, as reader_input() has it. */
void unnamed_reason_put_remedy(struct buf *out, const char *input);

#endif /* D9_CMD_COMMON_UNNAMED_REASON_H */
