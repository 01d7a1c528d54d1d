/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_CAUSE_H
#define D9_CMD_CAUSE_H

#include "base/buf.h"
#include "profile/event_counts.h"

/*
 * Appends why addresses in a module have no name, as the trace itself says it: "the file has no
 * symbols: install its debug symbols". What it does not say is called unknown. @index as
 * names_module(), 0 for addresses in no module; @c has seen the trace to its end.
 */
void cause_of_unnamed(struct buf *out, const struct names *n, const struct event_counts *c,
		      uint32_t index);

#endif /* D9_CMD_CAUSE_H */
