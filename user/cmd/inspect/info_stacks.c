// SPDX-License-Identifier: BSD-2-Clause
/* info_stacks.c - how a recording took its stacks: by which tables, and in which way */
#include "base/str.h"
#include "cmd/common/report_text.h"
#include "cmd/inspect/info.h"

static void put_left_out(struct info *in, uint64_t cnt, const char *noun)
{
	if (!cnt)
		return;
	buf_addstr(&in->out, ", no space for ");
	str_counted(&in->out, cnt, noun);
}

static void put_unwinding(struct info *in, const struct event_counts_stats *s)
{
	char bytes[32], evicted[32];

	if (!s->v.unwind_lists)
		return;
	buf_printf(&in->out, "%-15s ", "unwinding");
	str_bytes(bytes, s->v.unwind_bytes);
	str_counted(&in->out, s->v.unwind_tables, "table");
	buf_printf(&in->out, ", %s now", bytes);
	if (s->v.unwind_evicted) {
		str_count(evicted, s->v.unwind_evicted);
		buf_printf(&in->out, ", %s removed", evicted);
	}
	put_left_out(in, s->v.unwind_tables_left_out, "table");
	put_left_out(in, s->v.unwind_lists_left_out, "list");
	put_left_out(in, s->v.unwind_modules_left_out, "module");
	buf_addstr(&in->out, "; ");
	str_counted(&in->out, s->v.unwind_lists, "mapping list");
	buf_addstr(&in->out, "\n");
}

/* How they were taken, which is what they cost. */
static void put_kernel_stacks(struct info *in, const struct event_counts_stats *s)
{
	char walked[32], helped[32], compared[32], differing[32];

	if (!s->v.kernel_stacks_walked && !s->v.kernel_stacks_helped)
		return;
	str_count(walked, s->v.kernel_stacks_walked);
	str_count(helped, s->v.kernel_stacks_helped);
	buf_printf(&in->out, "%-15s ", "kernel stacks");
	buf_printf(&in->out, "%s walked, %s from the kernel helper", walked, helped);
	if (s->v.stacks_compared) {
		str_count(compared, s->v.stacks_compared);
		str_count(differing, s->v.stacks_differing);
		buf_printf(&in->out, "; %s compared, %s different", compared, differing);
	}
	buf_addch(&in->out, '\n');
}

void info_stacks(struct info *in, const struct event_counts_stats *s)
{
	put_unwinding(in, s);
	put_kernel_stacks(in, s);
}
