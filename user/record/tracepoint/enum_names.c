// SPDX-License-Identifier: BSD-2-Clause
/*
 * enum_names.c - names of values in the recorder's own fields
 *
 * For readers without knowledge of stack ends or wakeup contexts. All readers need the names of interrupt lines,
 * which differ between machines.
 */
#include "record/tracepoint/enum_names.h"

#include <stddef.h>

#include "base/buf.h"
#include "events/emit.h"
#include "kernel/irqs.h"
#include "prof_events.h"

int enum_names_user_end(enum_names_fn fn, void *ctx)
{
	static const struct {
		uint8_t kind, value;
		const char *name;
	} rows[] = {
		{ PROF_TP_MASK, PROF_USER_END_MASK, "" },
		{ PROF_TP_SYMBOL, PROF_END_NOT_WALKED, "not_walked" },
		{ PROF_TP_SYMBOL, PROF_END_COMPLETE, "complete" },
		{ PROF_TP_SYMBOL, PROF_END_FULL, "full" },
		{ PROF_TP_SYMBOL, PROF_END_NO_LIST, "no_list" },
		{ PROF_TP_SYMBOL, PROF_END_NO_MAPPING, "no_mapping" },
		{ PROF_TP_SYMBOL, PROF_END_NO_TABLE, "no_table" },
		{ PROF_TP_SYMBOL, PROF_END_NO_ROW, "no_row" },
		{ PROF_TP_SYMBOL, PROF_END_UNSUPPORTED, "unsupported" },
		{ PROF_TP_SYMBOL, PROF_END_READ_FAILED, "read_failed" },
		{ PROF_TP_SYMBOL, PROF_END_NO_PROGRESS, "no_progress" },
		{ PROF_TP_SYMBOL, PROF_END_NO_RETURN, "no_return" },
		{ PROF_TP_SYMBOL, PROF_END_FRAME_POINTER, "frame_pointer" },
		{ PROF_TP_SYMBOL, PROF_END_32BIT, "32bit" },
		{ PROF_TP_SYMBOL, PROF_END_UNCHECKED, "unchecked" },
		{ PROF_TP_SYMBOL, PROF_END_COPY_LIMIT, "copy_limit" },
		{ PROF_TP_SYMBOL, PROF_END_EXEC, "exec" },
		{ PROF_TP_SYMBOL, PROF_END_OVER_BUDGET, "over_budget" },
		{ PROF_TP_MASK, PROF_USER_GUESSED | PROF_USER_FRAME_POINTERS | PROF_USER_SIGNAL,
		  "" },
		{ PROF_TP_DELIM, 0, "" },
		{ PROF_TP_FLAG, PROF_USER_GUESSED, "+guessed_caller" },
		{ PROF_TP_FLAG, PROF_USER_FRAME_POINTERS, "+frame_pointers" },
		{ PROF_TP_FLAG, PROF_USER_SIGNAL, "+signal" },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !err; i++)
		err = fn(ctx, rows[i].kind, rows[i].value, rows[i].name);
	return err;
}

struct taker {
	enum_names_fn fn;
	void *ctx;
};

static int give(const struct taker *to, uint32_t context, const char *word)
{
	return to->fn(to->ctx, PROF_TP_SYMBOL, context, word);
}

static int give_irq(void *ctx, uint32_t irq, const char *name)
{
	struct buf word = { 0 }, valid = { 0 };
	struct dial9_str text;
	int err;

	buf_printf(&word, "irq %u (%s)", irq, name);
	text = emit_text(&valid, buf_cstr(&word), word.len);
	err = give(ctx, PROF_CONTEXT_HARDIRQ | (irq + 1) << PROF_CONTEXT_SHIFT, text.ptr);
	buf_free(&word);
	buf_free(&valid);
	return err;
}

int enum_names_summary_kind(enum_names_fn fn, void *ctx)
{
	static const char *const kinds[] = { [PROF_SUMMARY_WAIT] = "wait",
					     [PROF_SUMMARY_BLOCKED] = "blocked",
					     [PROF_SUMMARY_RUN] = "run" };
	int err = 0;

	for (uint32_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !err; i++)
		err = fn(ctx, PROF_TP_SYMBOL, i, kinds[i]);
	return err;
}

int enum_names_context(enum_names_fn fn, void *ctx)
{
	static const char *const plain[] = { "unknown", "task", "softirq", "irq", "ipi", "timer" };
	static const char *const softirqs[] = { "HI",	    "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
						"IRQ_POLL", "TASKLET", "SCHED",	 "HRTIMER", "RCU" };
	struct taker to = { fn, ctx };
	struct buf word = { 0 };
	uint32_t i;
	int err = 0;

	for (i = 0; i < sizeof(plain) / sizeof(plain[0]) && !err; i++)
		err = give(&to, i, plain[i]);
	for (i = 0; i < sizeof(softirqs) / sizeof(softirqs[0]) && !err; i++) {
		buf_clear(&word);
		buf_printf(&word, "softirq %s", softirqs[i]);
		err = give(&to, PROF_CONTEXT_SOFTIRQ | (i + 1) << PROF_CONTEXT_SHIFT,
			   buf_cstr(&word));
	}
	buf_free(&word);
	return err ? err : irqs_each(IRQS_DIR, give_irq, &to);
}
