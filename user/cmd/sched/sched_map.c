// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof sched map`: a strip of letters for each CPU. Owns the options and the text; who ran when
 * comes from user/profile/sums/cpu_strip.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/common/interval_report.h"
#include "cmd/sched/sched.h"
#include "profile/sums/cpu_strip.h"

struct map_opts {
	struct interval_report_opts common;
	uint64_t cols;
};

struct map {
	struct interval_report report;
	struct cpu_strip strip;
};

#define O(m) offsetof(struct map_opts, m)

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

enum { LETTER_CNT = sizeof(letters) - 1, COLS = 100, COLS_MIN = 10, MARGIN = 10 };

static const struct opt map_opts[] = {
	SELECT_READ_OPTS(struct map_opts, common.sel),
	{ .name = "cols",
	  .kind = OPT_U64,
	  .off = O(cols),
	  .arg = "N",
	  .help = "Print at most N columns (default: the terminal width, or 100)",
	  .group = "Output" },
	OPT_ROW_JSON(O(common.json)),
	VIEW_OPTS(struct map_opts, common.view),
};

static const struct opt_spec map_spec = {
	.name = "sched map",
	.usage = "dial9-prof sched map [OPTIONS] [FILE]",
	.brief = "Print a timeline of each CPU, as a strip of letters.",
	OPT_ROWS(map_opts),
	.examples = "  dial9-prof sched map\n"
		    "  dial9-prof sched map --time 1s,1100ms --cols 200\n"
		    "  dial9-prof sched map --json --cols 1000\n",
};

static void add_interval(void *report, const struct interval *i)
{
	struct map *m = report;

	if (i->state != INTERVAL_RUNNING || i->flags & INTERVAL_NEIGHBOUR || !i->tid ||
	    !interval_reader_wants(&m->report.timeline, i, i->cpu))
		return;
	if (!m->strip.width_ns)
		m->strip.start = interval_reader_start_ns(&m->report.timeline);
	cpu_strip_add(&m->strip, i);
}

static void reset_sums(void *report)
{
	struct map *m = report;

	cpu_strip_fini(&m->strip);
}

static char letter_of(const struct map *m, uint32_t tid)
{
	for (size_t k = 0; k < m->strip.thread_cnt && k < LETTER_CNT; k++)
		if (m->strip.threads[k].tid == tid)
			return letters[k];
	return '+';
}

/* Up to the end of the window. */
static uint32_t used_columns(const struct map *m)
{
	const uint64_t span = interval_reader_span_ns(&m->report.timeline);
	const uint64_t used = span ? (span - 1) / m->strip.width_ns + 1 : 1;

	return used < m->strip.cols ? (uint32_t)used : m->strip.cols;
}

static void put_strip(struct buf *out, const struct map *m, uint32_t cpu)
{
	uint64_t busy;
	uint32_t tid;

	buf_printf(out, "CPU %-2u ", cpu);
	for (uint32_t col = 0; col < used_columns(m); col++) {
		tid = cpu_strip_top(&m->strip, cpu, col, &busy);
		buf_addch(out, tid == TRACE_NONE || busy < m->strip.width_ns / 20 ?
				       '.' :
				       letter_of(m, tid));
	}
	buf_addch(out, '\n');
}

static void put_legend(struct buf *out, const struct map *m)
{
	for (size_t k = 0; k < m->strip.thread_cnt && k < LETTER_CNT; k++) {
		const struct cpu_strip_thread *t = &m->strip.threads[k];

		buf_printf(out, "# %c ", letters[k]);
		value_text_duration(out, t->ns, 10);
		buf_addstr(out, "  ");
		value_text_name(out, m->report.timeline.names, t->comm);
		buf_printf(out, " %u\n", t->tid);
	}
	if (m->strip.thread_cnt > LETTER_CNT)
		buf_printf(out, "# + %zu others\n", m->strip.thread_cnt - LETTER_CNT);
}

static bool put_text(struct buf *out, const void *report)
{
	const struct map *m = report;

	if (!m->strip.cnt)
		return false;
	buf_addstr(out, "# one column is ");
	value_text_duration(out, m->strip.width_ns, 0);
	buf_addstr(out, "; its letter is the thread that ran longest; . is idle or unknown\n#\n");
	for (uint32_t cpu = 0; cpu < m->strip.cpus; cpu++)
		put_strip(out, m, cpu);
	buf_addstr(out, "#\n");
	put_legend(out, m);
	return true;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

/* Of each column the thread that ran longest in it, and how long all did. */
static void json_cpu(struct buf *out, const struct map *m, uint32_t cpu)
{
	uint64_t busy;
	uint32_t tid;

	json_object(out, NULL);
	json_u64(out, "cpu", cpu);
	json_array(out, "tids");
	for (uint32_t col = 0; col < used_columns(m); col++) {
		tid = cpu_strip_top(&m->strip, cpu, col, &busy);
		value_text_json_id(out, NULL, tid);
	}
	json_end(out, "]");
	json_array(out, "busy_ns");
	for (uint32_t col = 0; col < used_columns(m); col++) {
		cpu_strip_top(&m->strip, cpu, col, &busy);
		json_u64(out, NULL, busy);
	}
	json_end(out, "]}");
}

static void put_json(struct buf *out, const void *report)
{
	const struct map *m = report;

	json_u64s(out, { "start_ns", m->strip.start }, { "column_ns", m->strip.width_ns });
	json_array(out, "cpus");
	for (uint32_t cpu = 0; m->strip.cnt && cpu < m->strip.cpus; cpu++) {
		json_line(out);
		json_cpu(out, m, cpu);
	}
	json_end(out, "]");
	json_array(out, "threads");
	for (size_t k = 0; k < m->strip.thread_cnt; k++) {
		const struct cpu_strip_thread *t = &m->strip.threads[k];

		json_line_object(out);
		json_u64(out, "tid", t->tid);
		value_text_json_name(out, "comm", m->report.timeline.names, t->comm);
		json_u64(out, "ns", t->ns);
		json_end(out, "}");
	}
	json_end(out, "]");
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* An even number; 0: the option makes no sense. */
static uint32_t columns(const struct map_opts *opts)
{
	size_t width = opts->common.json ? 0 : report_text_terminal_width();

	if (opts->cols)
		return opts->cols % 2 || opts->cols < COLS_MIN || opts->cols > CPU_STRIP_COLS_MAX ?
			       0 :
			       (uint32_t)opts->cols;
	if (!width)
		return COLS;
	width = width < COLS_MIN + MARGIN ? COLS_MIN : width - MARGIN;
	return (uint32_t)(width > CPU_STRIP_COLS_MAX ? CPU_STRIP_COLS_MAX : width & ~1UL);
}

static int finish(void *report)
{
	struct map *m = report;

	cpu_strip_finish(&m->strip);
	m->report.found = m->report.rows = m->strip.cnt;
	return CMD_OK;
}

static const struct interval_report_ops map_ops = {
	.title = "who ran on which CPU",
	.what = "threads that ran",
	.none = "No thread ran",
	.why_none = "all CPUs were idle",
	.add_interval = add_interval,
	.reset = reset_sums,
	.finish = finish,
	.put_text = put_text,
	.put_json = put_json,
};

static int map_file(const void *arg, const char *path)
{
	const struct map_opts *opts = arg;
	struct map m = { .report = { .ops = &map_ops,
				     .opts = &opts->common,
				     .read.no_stacks = true,
				     .read.each_switch = true },
			 .strip.cols = columns(opts) };

	if (m.strip.cols)
		return interval_report_run(&m.report, path);
	log_error("sched map: bad value %llu for --cols: expected an even number from %d to %d",
		  (unsigned long long)opts->cols, COLS_MIN, CPU_STRIP_COLS_MAX);
	return CMD_USAGE;
}

int sched_map(int argc, char **argv)
{
	struct map_opts opts = { 0 };

	return select_run(&map_spec, argc, argv, &opts, &opts.common.sel, map_file);
}
