// SPDX-License-Identifier: BSD-2-Clause
/*
 * Text for the reasons why unwinding of user stacks ended (enum prof_user_end), and the JSON form
 * that `report` and `info` share. profile/sums/stack_ends.c counts them.
 */
#include "export/unwind_status.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "export/value_text.h"

static const struct {
	const char *word, *text;
} ends[STACK_ENDS_CNT] = {
	[PROF_END_NOT_WALKED] = { "not_walked", "no user stack" },
	[PROF_END_COMPLETE] = { "complete", "complete" },
	[PROF_END_FULL] = { "full", "frame limit reached" },
	[PROF_END_NO_LIST] = { "no_list", "mappings not known yet" },
	[PROF_END_NO_MAPPING] = { "no_mapping", "caller in no known code" },
	[PROF_END_NO_TABLE] = { "no_table", "no unwind information" },
	[PROF_END_NO_ROW] = { "no_row", "no unwind information for this code" },
	[PROF_END_UNSUPPORTED] = { "unsupported", "unwind rule not supported" },
	[PROF_END_READ_FAILED] = { "read_failed", "stack memory not readable" },
	[PROF_END_NO_PROGRESS] = { "no_progress", "caller's stack not above" },
	[PROF_END_NO_RETURN] = { "no_return", "return address is 0" },
	[PROF_END_FRAME_POINTER] = { "frame_pointer", "frame pointer not valid" },
	[PROF_END_32BIT] = { "32bit", "32-bit program" },
	[PROF_END_UNCHECKED] = { "unchecked", "by frame pointers, unchecked" },
	[PROF_END_COPY_LIMIT] = { "copy_limit", "deeper than the 16 KiB copied" },
	[PROF_END_EXEC] = { "exec", "inside execve" },
	[PROF_END_OVER_BUDGET] = { "over_budget", "process over its share of the recorder" },
	[STACK_ENDS_OTHER] = { "other", "reason unknown to this version" },
};

/* number of reasons in a report's header */
#define REASONS_MAX 3

const char *unwind_status_id(uint8_t end)
{
	return ends[end].word;
}

const char *unwind_status_text(uint8_t end)
{
	return ends[end].text;
}

double unwind_status_percent(const struct stack_ends *e, uint64_t stacks)
{
	return e->stacks ? 100.0 * (double)stacks / (double)e->stacks : 0;
}

void unwind_status_put_sum(struct buf *out, const struct stack_ends *e)
{
	char all[32], some[32];

	str_count(all, e->stacks);
	buf_printf(out, "%.2f%% of %s complete",
		   unwind_status_percent(e, e->by_end[PROF_END_COMPLETE]), all);
	if (e->frame_pointers) {
		str_count(some, e->frame_pointers);
		buf_printf(out, ", %s with steps by frame pointers", some);
	}
	if (e->signals) {
		str_count(some, e->signals);
		buf_printf(out, ", %s through signal handlers", some);
	}
	if (e->guessed) {
		str_count(some, e->guessed);
		buf_printf(out, ", %s with an uncertain caller", some);
	}
}

void unwind_status_put_reasons(struct buf *out, const struct stack_ends *e)
{
	uint8_t early[STACK_ENDS_CNT];
	size_t cnt = stack_ends_early(e, early);

	for (size_t i = 0; i < cnt && i < REASONS_MAX; i++)
		buf_printf(out, "%s%s %.2f%%", i ? ", " : "", unwind_status_text(early[i]),
			   unwind_status_percent(e, e->by_end[early[i]]));
}

static void json_modules(struct buf *out, const struct stack_ends *e, const struct names *n)
{
	size_t cnt;
	struct stack_ends_module *v = stack_ends_modules(e, &cnt);

	json_array(out, "modules");
	for (size_t i = 0; i < cnt; i++) {
		json_object(out, NULL);
		value_text_json_name(out, "path", n,
				     v[i].module ? names_module(n, v[i].module)->path : NAMES_NONE);
		json_str(out, "end", unwind_status_id(v[i].end));
		json_u64(out, "stacks", v[i].stacks);
		json_end(out, "}");
	}
	json_end(out, "]");
	free(v);
}

void unwind_status_json(struct buf *out, const char *key, const struct stack_ends *e,
			const struct names *n)
{
	json_object(out, key);
	json_u64(out, "stacks", e->stacks);
	json_object(out, "ends");
	for (uint8_t end = 0; end < STACK_ENDS_CNT; end++) {
		if (e->by_end[end])
			json_u64(out, unwind_status_id(end), e->by_end[end]);
	}
	json_end(out, "}");
	json_u64s(out, { "frame_pointer_steps", e->frame_pointers },
		  { "signal_frames", e->signals }, { "uncertain_callers", e->guessed });
	json_modules(out, e, n);
	json_end(out, "}");
}
