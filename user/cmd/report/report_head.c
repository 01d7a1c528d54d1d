// SPDX-License-Identifier: BSD-2-Clause
/*
 * What stands above the table of `dial9-prof report`: how long was recorded, what samples and seconds are,
 * and what is missing: loss, modules without names, stacks that end early. Reads the run, and changes nothing.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cmd/common/report_text.h"
#include "cmd/common/unnamed_reason.h"
#include "cmd/report/report.h"
#include "export/unwind_status.h"

/* On a terminal in lines of its width. */
static void print_as(const struct report *r, enum color_as as, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void print_as(const struct report *r, enum color_as as, const char *fmt, va_list ap)
{
	struct buf text = { 0 }, line = { 0 };
	size_t cols = r->view.width > 20 ? r->view.width - 4 : SIZE_MAX, at, n;

	buf_vprintf(&text, fmt, ap);
	for (at = 0; !at || at < text.len; at += n) {
		n = report_text_line(buf_cstr(&text) + at, text.len - at, cols);
		buf_addstr(&line, at ? "#   " : "# ");
		color_put(&line, r->view.color, as, buf_cstr(&text) + at, n);
		report_end_line(&line);
		if (!n)
			break;
	}
	fwrite(buf_cstr(&line), 1, line.len, stdout);
	buf_free(&text);
	buf_free(&line);
}

static void note(const struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void note(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_as(r, COLOR_PLAIN, fmt, ap);
	va_end(ap);
}

static void warn(const struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* What makes the numbers doubtful. */
static void warn(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_as(r, COLOR_WARN, fmt, ap);
	va_end(ap);
}

/* What a part's samples are. */
static void add_clock(struct buf *line, const struct report *r, uint32_t part)
{
	const char *event = names_meta(r->names, part, PROF_META_SAMPLE_EVENT);
	const char *hz = names_meta(r->names, part, PROF_META_SAMPLE_HZ);
	const char *period = names_meta(r->names, part, PROF_META_SAMPLE_PERIOD_NS);
	uint64_t samples = r->parts[part].samples, ns;

	str_counted(line, samples, "sample");
	if (event && *event) {
		buf_addstr(line, " of ");
		value_text_clean(line, event, strlen(event));
	}
	if (hz && !str_parse_u64(hz, UINT64_MAX, &ns))
		buf_printf(line, " at %" PRIu64 " Hz", ns);
	if (period && !str_parse_u64(period, UINT64_MAX, &ns) && ns)
		buf_printf(line, ", one per %.3f ms of CPU time, %.3g s in total", (double)ns / 1e6,
			   (double)ns * (double)samples / 1e9);
	if (event && !strcmp(event, "cpu-clock"))
		buf_addstr(line, " (timer instead of cycles: no PMU)");
}

static void print_clock(const struct report *r, uint32_t part)
{
	struct buf line = { 0 };

	add_clock(&line, r, part);
	note(r, "%s", buf_cstr(&line));
	buf_free(&line);
}

static void print_parts(const struct report *r)
{
	struct buf line = { 0 };

	for (uint32_t i = 0; i < r->part_cnt; i++) {
		const struct report_part *p = &r->parts[i];
		uint32_t host = names_part(r->names, i)->host;

		if (!p->samples)
			continue;
		buf_clear(&line);
		buf_printf(&line, "recording %u", i + 1);
		if (host != NAMES_NONE) {
			buf_addstr(&line, " (");
			value_text_name(&line, r->names, host);
			buf_addch(&line, ')');
		}
		buf_printf(&line, " over %.3f s: ", (double)r->parts[i].span_ns / 1e9);
		add_clock(&line, r, i);
		note(r, "%s", buf_cstr(&line));
	}
	buf_free(&line);
}

/* What shares are of, where parts differ, and who has none. */
static void print_shares(const struct report *r)
{
	if (r->exact)
		note(r, "shares refer to these seconds");
	else if (r->wall)
		note(r, "shares refer to the time of all threads");
	else if (r->weighed)
		note(r, "shares refer to CPU time: sampling periods differ between recordings");
	else if (r->no_rate)
		note(r, "shares refer to samples: a recording has no sampling period");
	for (uint32_t i = 0; i < r->part_cnt; i++) {
		const bool switches = report_exact_has_switches(r, i);

		if (!r->parts[i].samples)
			continue;
		if (r->exact && !switches)
			note(r,
			     "recording %u has no context switches: its samples have no seconds and no share",
			     i + 1);
		else if (r->wall && r->parts[i].untimed)
			note(r,
			     "recording %u has no sampling period: its samples have no seconds and no share",
			     i + 1);
	}
}

static bool has_switches(const void *ctx, uint32_t part)
{
	return report_exact_has_switches(ctx, part);
}

static void print_loss(const struct report *r)
{
	const struct loss_accounting *a = &r->counts.account;
	const struct report_text_recorded_opts recorded = { has_switches, r, false };
	struct buf line = { 0 };
	uint64_t span = 0;

	for (uint32_t i = 0; i < r->part_cnt; i++)
		span += r->parts[i].span_ns;
	report_text_lost(&line, a);
	if (loss_accounting_is_incomplete(a))
		warn(r, "lost: %s (see dial9-prof info)", buf_cstr(&line));
	else
		note(r, "lost: %s", buf_cstr(&line));
	buf_clear(&line);
	if (report_text_incomplete(&line, r->reader))
		warn(r, "%s", buf_cstr(&line));
	buf_clear(&line);
	if (report_text_skipped_slices(&line, a, r->names, span))
		warn(r, "skipped: %s", buf_cstr(&line));
	buf_clear(&line);
	if (r->wall && report_text_recorded(&line, r->names, &recorded))
		warn(r, "switches: %s", buf_cstr(&line));
	for (int of = 0; (r->wall || r->exact) && of < REPORT_TEXT_FILTER_CNT; of++) {
		buf_clear(&line);
		if (report_text_filtered(&line, r->names, of))
			warn(r, "%s", buf_cstr(&line));
	}
	buf_clear(&line);
	if (report_text_sideband(&line, a))
		warn(r, "process metadata incomplete: %s", buf_cstr(&line));
	buf_free(&line);
}

/* Unknown time may be of any state, so only the recorded share is exact. */
static void put_exactness(struct buf *out, const struct report *r)
{
	const uint64_t *ns = r->state_ns;
	const double known = (double)ns[INTERVAL_RUNNING] + (double)ns[INTERVAL_RUNNABLE] +
			     (double)ns[INTERVAL_BLOCKED];

	buf_addstr(out, r->running_is_exact ? "running, runnable and blocked are exact" :
					      "running is estimated from samples; "
					      "runnable and blocked are exact");
	/* rounded down: 100.0% has nothing unknown */
	if (r->unknown.ns)
		buf_printf(out, " in the recorded %.1f%%",
			   floor(1000 * known / (known + (double)r->unknown.ns)) / 10);
}

static void print_wall(const struct report *r)
{
	const uint64_t *ns = r->state_ns;
	struct buf line = { 0 };

	if (!r->wall)
		return;
	note(r, "all threads: running %.3f s, runnable %.3f s, blocked %.3f s",
	     (double)ns[INTERVAL_RUNNING] / 1e9, (double)ns[INTERVAL_RUNNABLE] / 1e9,
	     (double)ns[INTERVAL_BLOCKED] / 1e9);
	put_exactness(&line, r);
	note(r, "%s", buf_cstr(&line));
	buf_clear(&line);
	if (report_text_unknown(&line, &r->counts.account, r->names, &r->unknown))
		warn(r, "%s", buf_cstr(&line));
	buf_clear(&line);
	if (report_text_unsure(&line, &r->unknown))
		note(r, "%s", buf_cstr(&line));
	buf_free(&line);
}

/* When there is a good part of the samples that files with a build-id may name. */
static void print_remedy(const struct report *r, const struct profile_rows *unnamed)
{
	struct buf line = { 0 };
	uint64_t weight = 0;

	for (size_t i = 0; i < unnamed->cnt; i++)
		if (unnamed_reason_may_be_mended(r->names, unnamed->v[i].module))
			weight += unnamed->v[i].self_weight;
	if (report_share(r, weight) >= 1) {
		unnamed_reason_put_remedy(&line, reader_input(r->reader));
		note(r, "unresolved: %.1f%% of samples: %s", report_share(r, weight),
		     buf_cstr(&line));
	}
	buf_free(&line);
}

/* Modules in which a good part of the samples has no name; others are not worth a line. */
static void print_unnamed(const struct report *r)
{
	double share;
	struct profile_rows rows = { 0 };
	struct buf line = { 0 };

	profile_unnamed(r->profile, &rows);
	for (size_t i = 0; i < rows.cnt && i < 3; i++) {
		share = report_share(r, rows.v[i].self_weight);
		if (share < 1)
			break;
		buf_clear(&line);
		value_text_module(&line, r->names, rows.v[i].module);
		buf_addstr(&line, ": ");
		unnamed_reason_of_unnamed(&line, r->names, &r->counts, rows.v[i].module);
		warn(r, "unresolved: %.1f%% of samples in %s", share, buf_cstr(&line));
	}
	print_remedy(r, &rows);
	buf_free(&line);
	free(rows.v);
}

/* Of the modules in which stacks end early, those that cost a good part of them their root. */
static void print_unwind_ends(const struct report *r)
{
	struct stack_ends_module *v;
	struct buf line = { 0 };
	size_t cnt;

	if (!r->ends.stacks)
		return;
	unwind_status_put_sum(&line, &r->ends);
	if (r->ends.by_end[PROF_END_COMPLETE] < r->ends.stacks) {
		buf_addstr(&line, "; the others: ");
		unwind_status_put_reasons(&line, &r->ends);
	}
	note(r, "user stacks: %s", buf_cstr(&line));
	v = stack_ends_modules(&r->ends, &cnt);
	for (size_t i = 0; i < cnt && i < 3 && unwind_status_percent(&r->ends, v[i].stacks) >= 1;
	     i++) {
		buf_clear(&line);
		value_text_module_base(&line, r->names, v[i].module);
		note(r, "%s: %.1f%% of user stacks end in this module: %s", buf_cstr(&line),
		     unwind_status_percent(&r->ends, v[i].stacks), unwind_status_text(v[i].end));
	}
	free(v);
	buf_free(&line);
}

/* Seconds of tasks come from switches, not from samples. */
static void print_exact(const struct report *r)
{
	struct buf doubt = { 0 };
	bool doubtful;

	if (!r->exact && !r->inexact)
		return;
	doubtful = report_exact_doubt(r, &doubt);
	if (r->inexact)
		warn(r, "shares refer to samples: context switches cover only %.3f s",
		     (double)r->cpu_time.run_ns / 1e9);
	else
		note(r, "seconds are %sfrom context switches: %.3f s in total",
		     doubtful ? "" : "exact, ", (double)r->cpu_time.run_ns / 1e9);
	if (doubtful)
		warn(r, "%s", buf_cstr(&doubt));
	buf_free(&doubt);
}

static void print_source(const struct report *r)
{
	const struct parts *parts = &r->names->parts;
	const char *what = profile_samples(r->profile) ? "CPU samples" : "CPU time";
	const uint64_t span = r->part_cnt ? r->parts[0].span_ns : 0;
	struct buf input = { 0 };

	value_text_clean(&input, reader_input(r->reader), strlen(reader_input(r->reader)));
	if (parts->cnt > 1) {
		buf_printf(&input, ": CPU samples of %zu recordings on ", parts->cnt);
		str_counted(&input, parts_clocks(parts), "clock");
		note(r, "%s", buf_cstr(&input));
	} else if (span) {
		note(r, "%s: %s over %.3f s", buf_cstr(&input), what, (double)span / 1e9);
	} else {
		note(r, "%s: %s", buf_cstr(&input), what);
	}
	buf_free(&input);
}

void report_print_head(const struct report *r)
{
	print_source(r);
	if (r->names->parts.cnt > 1)
		print_parts(r);
	else if (profile_samples(r->profile))
		print_clock(r, 0);
	print_exact(r);
	print_wall(r);
	if (r->names->parts.cnt > 1)
		print_shares(r);
	print_loss(r);
	if (!r->wall)
		print_unnamed(r);
	print_unwind_ends(r);
	puts("#");
}
