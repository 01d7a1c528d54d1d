/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PERFETTO_PERFETTO_STACKS_H
#define D9_EXPORT_PERFETTO_PERFETTO_STACKS_H

#include "export/perfetto/perfetto_packet.h"

/*
 * Within a packet of the sequence: tells of a stack (its leaf, of stack_tree_add()) what was not told before.
 * @text: also of its text, for who shows no stacks.
 */
void perfetto_intern(struct export *x, uint32_t leaf, bool text);
/* By which number the sequence's packets call a stack and its text. The leaf is one. */
uint64_t perfetto_stack_id(uint32_t leaf);

void perfetto_stacks_fini(struct perfetto *p);

#endif /* D9_EXPORT_PERFETTO_PERFETTO_STACKS_H */
