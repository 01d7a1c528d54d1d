/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_STACK_UNWIND_H
#define D9_FORMATS_PERFDATA_STACK_UNWIND_H

#include "formats/foreign.h"
#include "formats/perfdata/sample.h"
#include "formats/perfdata/tasks.h"

/* Unwinds the stacks that perf copied (--call-graph dwarf). */
struct perfdata_unwind;

/* Both are borrowed. @files NULL: only frame pointers are used. */
void perfdata_unwind_new(const struct foreign_unwind *files, const struct perfdata_tasks *tasks,
			 struct perfdata_unwind **out);
void perfdata_unwind_free(struct perfdata_unwind *u);

/*
 * Writes at most @max addresses, leaf first, of callers the address of their call; and the reason of the end, as
 * TRACE events have it. Returns their number, 0 if the sample has no registers.
 */
size_t perfdata_unwind_walk(struct perfdata_unwind *u, const struct perfdata_sample *s,
			    uint64_t *addrs, size_t max, uint8_t *end);

#endif /* D9_FORMATS_PERFDATA_STACK_UNWIND_H */
