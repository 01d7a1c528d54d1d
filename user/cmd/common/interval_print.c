// SPDX-License-Identifier: BSD-2-Clause
/*
 * What reports about intervals have in common: the lines above a table, wakers, stacks, and the same in JSON. Owns no
 * state; interval_reader.c reads.
 */
#include "cmd/common/interval_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/common/color.h"
#include "cmd/common/report_text.h"
#include "profile/sched/loss_accounting.h"

static bool part_has_switches(const void *ctx, uint32_t part)
{
	return interval_reader_has_switches(ctx, part);
}

bool interval_print_recorded(struct buf *out, const struct interval_reader *t, bool color)
{
	const struct report_text_recorded_opts opts = { part_has_switches, t,
							!t->opts.each_switch };
	struct buf line = { 0 };
	bool any;

	buf_addstr(&line, "# switches: ");
	any = report_text_recorded(&line, t->names, &opts);
	if (any) {
		buf_addch(&line, '\n');
		color_put(out, color, COLOR_WARN, buf_cstr(&line), line.len);
	}
	buf_free(&line);
	return any;
}

void interval_print_filtered(struct buf *out, const struct interval_reader *t, bool color)
{
	struct buf line = { 0 };

	for (int of = 0; of < REPORT_TEXT_FILTER_CNT; of++) {
		buf_clear(&line);
		if (!report_text_filtered(&line, t->names, of))
			continue;
		buf_addstr(out, "# ");
		buf_addch(&line, '\n');
		color_put(out, color, COLOR_WARN, buf_cstr(&line), line.len);
	}
	buf_free(&line);
}

static void put_incomplete(struct buf *out, const struct interval_reader *t, bool color)
{
	struct buf line = { 0 };

	if (report_text_incomplete(&line, t->reader)) {
		buf_addch(&line, '\n');
		buf_addstr(out, "# ");
		color_put(out, color, COLOR_WARN, buf_cstr(&line), line.len);
	}
	buf_free(&line);
}

void interval_print_head(struct buf *out, const struct interval_reader *t, const char *what,
			 bool color)
{
	const struct loss_accounting *a = &t->losses.account;
	const char *file = reader_input(t->reader);
	struct buf line = { 0 };

	buf_addstr(out, "# ");
	value_text_clean(out, file, strlen(file));
	buf_printf(out, ": %s over %.3f s\n", what, (double)interval_reader_span_ns(t) / 1e9);
	interval_print_recorded(out, t, color);
	interval_print_filtered(out, t, color);
	buf_addstr(&line, "# lost: ");
	report_text_lost(&line, a);
	buf_addstr(&line, loss_accounting_is_incomplete(a) ? " (see dial9-prof info)\n" : "\n");
	color_put(out, color, loss_accounting_is_incomplete(a) ? COLOR_WARN : COLOR_PLAIN,
		  buf_cstr(&line), line.len);
	put_incomplete(out, t, color);
	buf_clear(&line);
	if (report_text_skipped_slices(&line, a, t->names, interval_reader_span_ns(t))) {
		buf_addch(&line, '\n');
		buf_addstr(out, "# skipped: ");
		color_put(out, color, COLOR_WARN, buf_cstr(&line), line.len);
	}
	if (t->hidden.cnt) {
		buf_addstr(out, "# hidden: ");
		str_counted(out, t->hidden.cnt, "thread");
		buf_addstr(out, " of dial9-prof; --include-self shows them\n");
	}
	buf_free(&line);
}

void interval_print_unknown(struct buf *out, const struct interval_reader *t,
			    const struct intervals_unknown *u, bool color)
{
	struct buf line = { 0 };

	if (report_text_unknown(&line, &t->losses.account, t->names, u)) {
		buf_addstr(out, "# ");
		buf_addch(&line, '\n');
		color_put(out, color, COLOR_WARN, buf_cstr(&line), line.len);
	}
	buf_clear(&line);
	if (report_text_unsure(&line, u))
		buf_printf(out, "# %s\n", buf_cstr(&line));
	buf_free(&line);
}

void interval_print_json_unknown(struct buf *out, const struct intervals_unknown *u)
{
	json_u64s(out, { "unknown_ns", u->ns }, { "unsure_ns", u->unsure_ns });
}

void interval_print_sums(struct buf *out, const struct blocked_row *r, uint64_t all_ns, bool color)
{
	const double share = all_ns ? 100.0 * (double)r->ns / (double)all_ns : 0;
	struct buf cell = { 0 };

	value_text_duration(out, r->ns, 11);
	buf_addch(out, r->cut ? '*' : ' ');
	buf_printf(&cell, " %6.2f%%", share);
	color_put(out, color, color_percent(share), buf_cstr(&cell), cell.len);
	buf_printf(out, " %8" PRIu64 " ", r->cnt);
	value_text_duration(out, r->ns / r->cnt, 10);
	buf_addch(out, ' ');
	value_text_duration(out, r->max_ns, 10);
	buf_free(&cell);
}

/* Also for cuts by versions that did not write PROF_META_SWITCHES. */
const char *interval_print_lacks_switches(const struct names *n)
{
	const char *cut = names_meta(n, 0, PROF_META_CUT);

	if (cut && strstr(cut, PROF_CUT_EVENTS))
		return "its context switches were removed by cut -e";
	if (names_meta(n, 0, PROF_META_SWITCH_FILTER))
		return "none of its context switches passed --filter";
	if (!cut && names_meta(n, 0, PROF_META_VERSION))
		return "it was recorded without context switches (--no-sched or -e)";
	return "it has no context switches";
}

static bool has_some_cpus(const struct names *n)
{
	const char *cut = names_meta(n, 0, PROF_META_CUT);

	return names_meta(n, 0, PROF_META_RECORDED_CPUS) || (cut && strstr(cut, PROF_CUT_CPUS));
}

const char *interval_print_no_switches(const struct interval_reader *t)
{
	if (names_meta(t->names, 0, PROF_META_SUMMARY_NS))
		return INTERVAL_PRINT_SUMS;
	if (interval_reader_stays(t, NULL, NULL))
		return t->opts.each_switch ?
			       INTERVAL_PRINT_STAYS :
			       "no off-CPU interval matched --min-block and --max-block";
	if (interval_reader_has_states(t))
		return has_some_cpus(t->names) ? "its threads did not switch on the recorded CPUs" :
						 "its threads did not switch during the recording";
	return interval_print_lacks_switches(t->names);
}

const char *interval_print_unknown_task(const struct interval_reader *t, uint32_t part)
{
	const char *target = names_meta(t->names, part, PROF_META_TARGET);

	if (names_meta(t->names, part, PROF_META_NEIGHBOURS) ||
	    (target && !strcmp(target, "system") &&
	     !names_meta(t->names, part, PROF_META_SELECTION)))
		return "ran instead: unknown task";
	return "ran instead: unknown task (record with -a or --neighbours)";
}

void interval_print_json_head(struct buf *out, const struct interval_reader *t)
{
	const char *file = reader_input(t->reader);

	value_text_json_begin(out);
	json_str(out, "file", file);
	json_u64(out, "span_ns", interval_reader_span_ns(t));
	report_text_json_account(out, &t->losses.account);
	if (t->hidden.cnt)
		json_u64(out, "recorder_threads_hidden", t->hidden.cnt);
}

void interval_print_waker(struct buf *out, const struct interval_reader *t,
			  const struct interval_waker *by)
{
	if (!by) {
		buf_addstr(out, "-");
	} else if (!interval_by_thread(by->context)) {
		value_text_waker(out, t->names, by);
	} else {
		value_text_name(out, t->names, by->comm);
		buf_addstr(out, by->context == INTERVAL_BY_UNKNOWN ? "?" : "");
	}
}

void interval_print_json_waker(struct buf *out, const char *key, const struct interval_reader *t,
			       const struct interval_waker *by)
{
	static const char *const contexts[] = {
		[INTERVAL_BY_UNKNOWN] = "unknown", [INTERVAL_BY_TASK] = "task",
		[INTERVAL_BY_TIMER] = "timer",	   [INTERVAL_BY_SOFTIRQ] = "softirq",
		[INTERVAL_BY_HARDIRQ] = "irq",	   [INTERVAL_BY_IPI] = "ipi",
	};
	struct buf name = { 0 };

	if (!by) {
		json_null(out, key);
		return;
	}
	interval_print_waker(&name, t, by);
	json_object(out, key);
	json_str(out, "context", contexts[by->context]);
	json_text(out, "name", buf_cstr(&name), name.len);
	json_end(out, "}");
	buf_free(&name);
}

void interval_print_json_stack(struct buf *out, const struct interval_reader *t, const char *key,
			       uint32_t stack, enum callchain_part part)
{
	uint32_t cnt;
	const uint64_t *frames = intervals_stack(t->intervals, stack, &cnt);

	callchain_json(out, key, t->names, frames, cnt, part);
}
