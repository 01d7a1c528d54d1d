// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof sched summary`: how busy each CPU was and how many threads waited for it. Owns the options
 * and the text; intervals come from the engine, sums from user/profile/sums/cpu_load.c.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "cmd/common/cmd.h"
#include "cmd/common/interval_report.h"
#include "cmd/sched/sched.h"
#include "profile/sums/cpu_load.h"

struct cpus {
	struct interval_report report;
	struct cpu_load load;
};

static const struct opt summary_opts[] = {
	SELECT_READ_OPTS(struct interval_report_opts, sel),
	{ OPT_JSON(offsetof(struct interval_report_opts, json)), .help = "Print one JSON object",
	  .group = "Output" },
	VIEW_OPTS(struct interval_report_opts, view),
};

static const struct opt_spec summary_spec = {
	.name = "sched summary",
	.usage = "dial9-prof sched summary [OPTIONS] [FILE]",
	.brief = "Print utilization, run queue and migrations of each CPU.",
	OPT_ROWS(summary_opts),
	.examples = "  dial9-prof sched summary\n"
		    "  dial9-prof sched summary --time 50%,100%\n",
};

static void add_interval(void *report, const struct interval *i)
{
	struct cpus *c = report;

	if (i->flags & INTERVAL_NEIGHBOUR || !i->tid ||
	    !interval_reader_wants(&c->report.timeline, i, i->cpu))
		return;
	cpu_load_add(&c->load, i);
	intervals_unknown_add(&c->report.unknown, i);
}

static void reset_sums(void *report)
{
	struct cpus *c = report;

	cpu_load_fini(&c->load);
	c->report.unknown = (struct intervals_unknown){ 0 };
}

/* With more recordings or CPUs than this, each CPU is assumed to be in all recordings. */
enum { SEPARATE_PARTS_MAX = 64, SEPARATE_CPUS_MAX = 1024 };

/* How long a CPU was recorded; @all: the same of any of them. */
static uint64_t recorded_ns(const struct cpus *c, const struct recorded_time_sum *all, size_t cpu)
{
	if (all->parts < 2 || all->parts > SEPARATE_PARTS_MAX || cpu >= SEPARATE_CPUS_MAX)
		return all->ns;
	return interval_reader_observed(&c->report.timeline, (uint32_t)cpu).ns;
}

/* Minimum terminal width for the longest wait's columns. */
enum { LONGEST_FROM = 100 };

static void put_row(struct buf *out, const struct cpu_load_row *r, uint64_t span_ns, size_t width)
{
	const double span = span_ns ? (double)span_ns : 1;

	value_text_duration(out, r->busy_ns, 11);
	buf_printf(out, " %6.2f%% %9" PRIu64 " %9" PRIu64 " ", 100.0 * (double)r->busy_ns / span,
		   r->switches, r->migrations);
	value_text_duration(out, r->wait_ns, 11);
	buf_printf(out, " %7.3f ", (double)r->wait_ns / span);
	value_text_duration(out, r->wait_max_ns, 10);
	if (r->wait_max_ns && (!width || width >= LONGEST_FROM)) {
		buf_printf(out, " of %u at ", r->wait_max_tid);
		report_text_time(out, r->wait_max_start, 0);
	}
	buf_addch(out, '\n');
}

static bool put_text(struct buf *out, const void *report)
{
	const struct cpus *c = report;
	const struct recorded_time_sum time =
		interval_reader_observed(&c->report.timeline, TRACE_NONE);
	const struct cpu_load_row sum = cpu_load_sum(&c->load);

	if (!sum.used)
		return false;
	interval_print_unknown(out, &c->report.timeline, &c->report.unknown, c->report.view.color);
	if (time.ns < time.span_ns ||
	    (time.parts > 1 && time.ns != interval_reader_span_ns(&c->report.timeline)))
		buf_printf(out, "# Busy %% and Queue refer to the %.3f s that were recorded\n",
			   (double)time.ns / 1e9);
	buf_addstr(out, "#\n#CPU       Busy   Busy %  Switches  Migrated    Runnable   Queue    "
			"Longest\n");
	for (size_t k = 0; k < c->load.cnt; k++) {
		if (!c->load.cpus[k].used)
			continue;
		buf_printf(out, "%4zu", k);
		put_row(out, &c->load.cpus[k], recorded_ns(c, &time, k), c->report.view.width);
	}
	if (c->load.unknown_cpu.used) {
		buf_addstr(out, "   ?");
		put_row(out, &c->load.unknown_cpu, time.ns, c->report.view.width);
	}
	buf_addstr(out, " all");
	put_row(out, &sum, time.ns, c->report.view.width);
	return true;
}

static void json_row(struct buf *out, const struct cpu_load_row *r, uint64_t recorded)
{
	json_u64s(out, { "recorded_ns", recorded }, { "busy_ns", r->busy_ns },
		  { "switches", r->switches }, { "migrated", r->migrations },
		  { "runnable_ns", r->wait_ns }, { "runnable_max_ns", r->wait_max_ns },
		  { "runnable_max_start_ns", r->wait_max_start },
		  { "runnable_max_tid", r->wait_max_tid });
}

static void put_json(struct buf *out, const void *report)
{
	const struct cpus *c = report;
	const struct recorded_time_sum time =
		interval_reader_observed(&c->report.timeline, TRACE_NONE);
	const struct cpu_load_row sum = cpu_load_sum(&c->load);

	json_row(out, &sum, time.ns);
	interval_print_json_unknown(out, &c->report.unknown);
	json_array(out, "cpus");
	for (size_t k = 0; k < c->load.cnt; k++) {
		if (!c->load.cpus[k].used)
			continue;
		json_line_object(out);
		json_u64(out, "cpu", k);
		json_row(out, &c->load.cpus[k], recorded_ns(c, &time, k));
		json_end(out, "}");
	}
	json_end(out, "]");
}

static int finish(void *report)
{
	struct cpus *c = report;

	c->report.found = c->report.rows = cpu_load_sum(&c->load).used;
	return CMD_OK;
}

static const struct interval_report_ops summary_ops = {
	.title = "CPU utilization",
	.what = "threads that ran",
	.none = "No thread ran",
	.why_none = "all CPUs were idle",
	.add_interval = add_interval,
	.reset = reset_sums,
	.finish = finish,
	.put_text = put_text,
	.put_json = put_json,
};

static int summary_file(const void *opts, const char *path)
{
	struct cpus c = { .report = { .ops = &summary_ops,
				      .opts = opts,
				      .read.no_stacks = true,
				      .read.each_switch = true } };

	return interval_report_run(&c.report, path);
}

int sched_summary(int argc, char **argv)
{
	struct interval_report_opts opts = { 0 };

	return select_run(&summary_spec, argc, argv, &opts, &opts.sel, summary_file);
}
