/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PERFETTO_PERFETTO_STACKS_H
#define D9_EXPORT_PERFETTO_PERFETTO_STACKS_H

#include "export/perfetto/perfetto_packet.h"

/*
 * Within a packet of the sequence: writes the new parts of a stack (its leaf, of stack_tree_add()).
 * @text: also its text, for viewers without stacks.
 */
void perfetto_intern(struct export *x, uint32_t leaf, bool text);
/* The id of a stack and its text in packets. It is the leaf. */
uint64_t perfetto_stack_id(uint32_t leaf);

void perfetto_stacks_fini(struct perfetto *p);

#endif /* D9_EXPORT_PERFETTO_PERFETTO_STACKS_H */
