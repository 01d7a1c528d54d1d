// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof sched summary`: how busy each CPU was and how many threads waited for it. Owns the options
 * and the text; intervals come from the engine, sums from user/profile/sums/cpu_load.c.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "cmd/common/cmd.h"
#include "cmd/common/interval_reader.h"
#include "cmd/common/report_text.h"
#include "cmd/common/view.h"
#include "cmd/sched/sched.h"
#include "profile/sums/cpu_load.h"

struct summary_opts {
	struct select_opts sel;
	struct view_opts view;
	bool json;
};

struct cpus {
	const struct summary_opts *opts;
	struct interval_reader timeline;
	struct view view;
	struct cpu_load load;
	struct intervals_unknown untold;
};

#define O(m) offsetof(struct summary_opts, m)

static const struct opt summary_opts[] = {
	SELECT_READ_OPTS(struct summary_opts, sel),
	{ OPT_JSON(O(json)), .help = "Print one JSON object", .group = "Output" },
	VIEW_OPTS(struct summary_opts, view),
};

static const struct opt_spec summary_spec = {
	.name = "sched summary",
	.usage = "dial9-prof sched summary [OPTIONS] [FILE]",
	.brief = "Print utilization, run queue and migrations of each CPU.",
	OPT_ROWS(summary_opts),
	.examples = "  dial9-prof sched summary\n"
		    "  dial9-prof sched summary --time 50%,100%\n",
};

static void add_interval(void *ctx, const struct interval *i)
{
	struct cpus *c = ctx;

	if (i->flags & INTERVAL_NEIGHBOUR || !i->tid ||
	    !interval_reader_wants(&c->timeline, i, i->cpu))
		return;
	cpu_load_add(&c->load, i);
	intervals_unknown_add(&c->untold, i);
}

static void reset_sums(void *ctx)
{
	struct cpus *c = ctx;

	cpu_load_fini(&c->load);
	c->untold = (struct intervals_unknown){ 0 };
}

/* Of more recordings in a trace, or more CPUs, than so many each CPU is taken to have been in all of them. */
enum { PARTS_TOLD_APART = 64, CPUS_TOLD_APART = 1024 };

/* How long a CPU was recorded; @all: the same of any of them. */
static uint64_t recorded_ns(const struct cpus *c, const struct recorded_time_sum *all, size_t cpu)
{
	if (all->parts < 2 || all->parts > PARTS_TOLD_APART || cpu >= CPUS_TOLD_APART)
		return all->ns;
	return interval_reader_observed(&c->timeline, (uint32_t)cpu).ns;
}

/* From so many columns on there is room for which wait was the longest. */
enum { LONGEST_FROM = 100 };

static void put_row(struct buf *out, const struct cpu_load_row *r, uint64_t span_ns, size_t width)
{
	const double span = span_ns ? (double)span_ns : 1;

	name_text_duration(out, r->busy_ns, 11);
	buf_printf(out, " %6.2f%% %9" PRIu64 " %9" PRIu64 " ", 100.0 * (double)r->busy_ns / span,
		   r->switches, r->migrations);
	name_text_duration(out, r->wait_ns, 11);
	buf_printf(out, " %7.3f ", (double)r->wait_ns / span);
	name_text_duration(out, r->wait_max_ns, 10);
	if (r->wait_max_ns && (!width || width >= LONGEST_FROM)) {
		buf_printf(out, " of %u at ", r->wait_max_tid);
		report_text_time(out, r->wait_max_start, 0);
	}
	buf_addch(out, '\n');
}

static void print_text(const struct cpus *c)
{
	const struct recorded_time_sum time = interval_reader_observed(&c->timeline, TRACE_NONE);
	const struct cpu_load_row sum = cpu_load_sum(&c->load);
	struct buf out = { 0 };

	if (!sum.used) {
		if (!interval_reader_is_chosen(&c->timeline))
			printf("No thread ran in %s: %s.\n", reader_input(c->timeline.reader),
			       c->timeline.switches ? "all CPUs were idle" :
						      interval_reader_no_switches(&c->timeline));
		return;
	}
	interval_reader_put_head(&out, &c->timeline, "CPU utilization", c->view.color);
	interval_reader_put_unknown(&out, &c->timeline, &c->untold, c->view.color);
	if (time.ns < time.span_ns ||
	    (time.parts > 1 && time.ns != interval_reader_span_ns(&c->timeline)))
		buf_printf(&out, "# Busy %% and Queue refer to the %.3f s that were recorded\n",
			   (double)time.ns / 1e9);
	buf_addstr(&out, "#\n#CPU       Busy   Busy %  Switches  Migrated    Runnable   Queue    "
			 "Longest\n");
	for (size_t k = 0; k < c->load.cnt; k++) {
		if (!c->load.cpus[k].used)
			continue;
		buf_printf(&out, "%4zu", k);
		put_row(&out, &c->load.cpus[k], recorded_ns(c, &time, k), c->view.width);
	}
	if (c->load.unknown_cpu.used) {
		buf_addstr(&out, "   ?");
		put_row(&out, &c->load.unknown_cpu, time.ns, c->view.width);
	}
	buf_addstr(&out, " all");
	put_row(&out, &sum, time.ns, c->view.width);
	buf_print(&out, stdout);
}

static void json_row(struct buf *out, const struct cpu_load_row *r, uint64_t recorded)
{
	json_u64s(out, { "recorded_ns", recorded }, { "busy_ns", r->busy_ns },
		  { "switches", r->switches }, { "migrated", r->migrations },
		  { "runnable_ns", r->wait_ns }, { "runnable_max_ns", r->wait_max_ns },
		  { "runnable_max_start_ns", r->wait_max_start },
		  { "runnable_max_tid", r->wait_max_tid });
}

static void print_json(const struct cpus *c)
{
	const struct recorded_time_sum time = interval_reader_observed(&c->timeline, TRACE_NONE);
	const struct cpu_load_row sum = cpu_load_sum(&c->load);
	struct buf out = { 0 };

	interval_reader_json_head(&out, &c->timeline);
	json_row(&out, &sum, time.ns);
	interval_reader_json_unknown(&out, &c->untold);
	json_array(&out, "cpus");
	for (size_t k = 0; k < c->load.cnt; k++) {
		if (!c->load.cpus[k].used)
			continue;
		json_line_object(&out);
		json_u64(&out, "cpu", k);
		json_row(&out, &c->load.cpus[k], recorded_ns(c, &time, k));
		json_end(&out, "}");
	}
	json_end(&out, "]}\n");
	buf_print(&out, stdout);
}

static int summary_file(const void *arg, const char *path)
{
	const struct summary_opts *opts = arg;
	struct cpus c = { .opts = opts };
	const struct interval_reader_opts t = { .sel = &opts->sel,
						.fn = add_interval,
						.reset = reset_sums,
						.ctx = &c,
						.no_stacks = true,
						.each_switch = true };
	int code = interval_reader_run(&c.timeline, &t, path);

	if (code == CMD_OK) {
		view_begin(&c.view, &opts->view, opts->json);
		if (opts->json)
			print_json(&c);
		else
			print_text(&c);
		code = interval_reader_end(&c.timeline, &c.view);
		if (!cpu_load_sum(&c.load).used)
			code = interval_reader_tell_nothing(&c.timeline, "threads that ran", code);
	}
	cpu_load_fini(&c.load);
	interval_reader_fini(&c.timeline);
	return code;
}

int sched_summary(int argc, char **argv)
{
	struct summary_opts opts = { 0 };

	return select_run(&summary_spec, argc, argv, &opts, &opts.sel, summary_file);
}
