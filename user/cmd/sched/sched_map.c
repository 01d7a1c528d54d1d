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
#include "cmd/common/interval_reader.h"
#include "cmd/common/report_text.h"
#include "cmd/common/view.h"
#include "cmd/sched/sched.h"
#include "profile/sums/cpu_strip.h"

struct map_opts {
	struct select_opts sel;
	struct view_opts view;
	uint64_t cols;
	bool json;
};

struct map {
	const struct map_opts *opts;
	struct interval_reader timeline;
	struct view view;
	struct cpu_strip strip;
};

#define O(m) offsetof(struct map_opts, m)

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

enum { LETTER_CNT = sizeof(letters) - 1, COLS = 100, COLS_MIN = 10, MARGIN = 10 };

static const struct opt map_opts[] = {
	SELECT_READ_OPTS(struct map_opts, sel),
	{ .name = "cols",
	  .kind = OPT_U64,
	  .off = O(cols),
	  .arg = "N",
	  .help = "Print at most N columns (default: the terminal width, or 100)",
	  .group = "Output" },
	OPT_ROW_JSON(O(json)),
	VIEW_OPTS(struct map_opts, view),
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

static void add_interval(void *ctx, const struct interval *i)
{
	struct map *m = ctx;

	if (i->state != INTERVAL_RUNNING || i->flags & INTERVAL_NEIGHBOUR || !i->tid ||
	    !interval_reader_wants(&m->timeline, i, i->cpu))
		return;
	if (!m->strip.width_ns)
		m->strip.start = interval_reader_start_ns(&m->timeline);
	cpu_strip_add(&m->strip, i);
}

static void reset_sums(void *ctx)
{
	struct map *m = ctx;

	cpu_strip_fini(&m->strip);
}

static char letter_of(const struct map *m, uint32_t tid)
{
	for (size_t k = 0; k < m->strip.thread_cnt && k < LETTER_CNT; k++)
		if (m->strip.threads[k].tid == tid)
			return letters[k];
	return '+';
}

/* Up to the end of what is looked at. */
static uint32_t used_columns(const struct map *m)
{
	const uint64_t span = interval_reader_span_ns(&m->timeline);
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
		name_text_duration(out, t->ns, 10);
		buf_addstr(out, "  ");
		name_text_name(out, m->timeline.names, t->comm);
		buf_printf(out, " %u\n", t->tid);
	}
	if (m->strip.thread_cnt > LETTER_CNT)
		buf_printf(out, "# + %zu others\n", m->strip.thread_cnt - LETTER_CNT);
}

static void print_map(const struct map *m)
{
	struct buf out = { 0 };

	if (!m->strip.cnt) {
		if (!interval_reader_is_chosen(&m->timeline))
			printf("No thread ran in %s: %s.\n", reader_input(m->timeline.reader),
			       m->timeline.switches ? "all CPUs were idle" :
						      interval_reader_no_switches(&m->timeline));
		return;
	}
	interval_reader_put_head(&out, &m->timeline, "who ran on which CPU", m->view.color);
	buf_addstr(&out, "# one column is ");
	name_text_duration(&out, m->strip.width_ns, 0);
	buf_addstr(&out, "; its letter is the thread that ran longest; . is idle or unknown\n#\n");
	for (uint32_t cpu = 0; cpu < m->strip.cpus; cpu++)
		put_strip(&out, m, cpu);
	buf_addstr(&out, "#\n");
	put_legend(&out, m);
	buf_print(&out, stdout);
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
		name_text_json_id(out, NULL, tid);
	}
	json_end(out, "]");
	json_array(out, "busy_ns");
	for (uint32_t col = 0; col < used_columns(m); col++) {
		cpu_strip_top(&m->strip, cpu, col, &busy);
		json_u64(out, NULL, busy);
	}
	json_end(out, "]}");
}

static void print_json(const struct map *m)
{
	struct buf out = { 0 };

	interval_reader_json_head(&out, &m->timeline);
	json_u64s(&out, { "start_ns", m->strip.start }, { "column_ns", m->strip.width_ns });
	json_array(&out, "cpus");
	for (uint32_t cpu = 0; m->strip.cnt && cpu < m->strip.cpus; cpu++) {
		json_line(&out);
		json_cpu(&out, m, cpu);
	}
	json_end(&out, "]");
	json_array(&out, "threads");
	for (size_t k = 0; k < m->strip.thread_cnt; k++) {
		const struct cpu_strip_thread *t = &m->strip.threads[k];

		json_line_object(&out);
		json_u64(&out, "tid", t->tid);
		name_text_json_name(&out, "comm", m->timeline.names, t->comm);
		json_u64(&out, "ns", t->ns);
		json_end(&out, "}");
	}
	json_end(&out, "]}\n");
	buf_print(&out, stdout);
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* An even number; 0: the option makes no sense. */
static uint32_t columns(const struct map_opts *opts)
{
	size_t width = opts->json ? 0 : report_text_terminal_width();

	if (opts->cols)
		return opts->cols % 2 || opts->cols < COLS_MIN || opts->cols > CPU_STRIP_COLS_MAX ?
			       0 :
			       (uint32_t)opts->cols;
	if (!width)
		return COLS;
	width = width < COLS_MIN + MARGIN ? COLS_MIN : width - MARGIN;
	return (uint32_t)(width > CPU_STRIP_COLS_MAX ? CPU_STRIP_COLS_MAX : width & ~1UL);
}

static int map_file(const void *arg, const char *path)
{
	const struct map_opts *opts = arg;
	struct map m = { .opts = opts, .strip.cols = columns(opts) };
	const struct interval_reader_opts t = { .sel = &opts->sel,
						.fn = add_interval,
						.reset = reset_sums,
						.ctx = &m,
						.no_stacks = true,
						.each_switch = true };
	int code;

	if (!m.strip.cols) {
		log_error(
			"sched map: bad value %llu for --cols: expected an even number from %d to %d",
			(unsigned long long)opts->cols, COLS_MIN, CPU_STRIP_COLS_MAX);
		return CMD_USAGE;
	}
	code = interval_reader_run(&m.timeline, &t, path);
	if (code == CMD_OK) {
		cpu_strip_finish(&m.strip);
		view_begin(&m.view, &opts->view, opts->json);
		if (opts->json)
			print_json(&m);
		else
			print_map(&m);
		code = interval_reader_end(&m.timeline, &m.view);
		if (!m.strip.cnt)
			code = interval_reader_tell_nothing(&m.timeline, "threads that ran", code);
	}
	cpu_strip_fini(&m.strip);
	interval_reader_fini(&m.timeline);
	return code;
}

int sched_map(int argc, char **argv)
{
	struct map_opts opts = { 0 };

	return select_run(&map_spec, argc, argv, &opts, &opts.sel, map_file);
}
