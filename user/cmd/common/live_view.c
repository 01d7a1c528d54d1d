// SPDX-License-Identifier: BSD-2-Clause
/*
 * The screen of `top` and `report --live`. Owns the columns and what keys change of them; sums come from
 * profile/sums/live.c, live_loop.c reads and draws.
 */
#include "cmd/common/live_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cmd/common/report_text.h"
#include "cmd/common/symbol_fit.h"
#include "profile/sums/live.h"

#define NAME_MIN 12

struct live_view {
	const struct live_view_opts *opts;
	struct names *names;
	struct live *live;
	bool threads, off;
	/* the period that is shown: rows by function, and by thread */
	struct live_rows rows[2];
	uint64_t period_ns;
	struct live_sum all;
	bool color;
	struct buf *out; /* of the picture being made */
};

/* ---- the picture ------------------------------------------------------------------------------- */

/* Per second of the period, in percent and in milliseconds. */
static double per_second(const struct live_view *v, double ns)
{
	return v->period_ns ? ns / (double)v->period_ns : 0;
}

static double cpu_percent(const struct live_view *v, const struct live_sum *sum)
{
	uint64_t each = names_period_ns(v->names, (uint32_t)(v->names->parts.cnt - 1));

	return 100 * per_second(v, (double)sum->samples * (double)each);
}

static void end_line(struct live_view *v, struct buf *line, enum color_as as, size_t cols)
{
	struct buf cut = { 0 };

	if (cols)
		report_text_column(&cut, buf_cstr(line), line->len, cols, true);
	else
		buf_add(&cut, buf_cstr(line), line->len);
	while (cut.len && cut.data[cut.len - 1] == ' ')
		cut.len--;
	color_put(v->out, v->color, as, buf_cstr(&cut), cut.len);
	buf_addch(v->out, '\n');
	buf_free(&cut);
	buf_clear(line);
}

static void put_head(struct live_view *v, const struct live_loop *l, size_t cols)
{
	const struct loss_accounting *lost = live_lost(v->live);
	struct buf line = { 0 };

	value_text_clean(&line, v->opts->title, strlen(v->opts->title));
	buf_printf(&line, "  %.1f s  ", (double)v->period_ns / 1e9);
	str_counted(&line, v->all.samples, "sample");
	buf_printf(&line, "  CPU %.1f%%", cpu_percent(v, &v->all));
	if (live_loop_is_paused(l))
		buf_addstr(&line, "  (paused)");
	end_line(v, &line, COLOR_PLAIN, cols);
	buf_addstr(&line, "lost: ");
	report_text_lost(&line, lost);
	if (live_loop_is_terminal(l))
		buf_addstr(&line, "    q quit  t threads  o off-CPU  c CPU  space pause");
	end_line(v, &line, loss_accounting_lost(lost) ? COLOR_WARN : COLOR_DIM, cols);
	if (v->threads)
		buf_printf(&line, "    CPU  Runq ms/s   Off ms/s      Tid  Thread            %s",
			   v->off ? "Blocked in" : "Function");
	else
		buf_addstr(&line, "    CPU   Off ms/s  Function");
	end_line(v, &line, COLOR_TITLE, cols);
	buf_free(&line);
}

/* A function and its module; of code without names the module. */
static void add_function(const struct live_view *v, struct buf *line, const struct live_function *f,
			 size_t room)
{
	struct buf name = { 0 }, module = { 0 };
	size_t w;

	value_text_module_base(&module, v->names, f->module);
	w = value_text_width(buf_cstr(&module), module.len) + strlen(" ()");
	if (f->sym != NAMES_NONE) {
		value_text_name(&name, v->names, f->sym);
	} else {
		buf_addstr(&name, module.len && module.data[0] == '[' ? "" : "[");
		buf_add(&name, buf_cstr(&module), module.len);
		buf_addstr(&name, module.len && module.data[0] == '[' ? "" : "]");
	}
	if (names_is_label(buf_cstr(&name), name.len)) {
		buf_add(line, buf_cstr(&name), name.len);
	} else {
		symbol_fit_name(line, buf_cstr(&name), name.len,
				!room	 ? 0 :
				room > w ? room - w :
					   1);
		buf_printf(line, " (%s)", buf_cstr(&module));
	}
	buf_free(&name);
	buf_free(&module);
}

static void put_row(struct live_view *v, const struct live_row *row, size_t cols)
{
	double cpu = cpu_percent(v, &row->sum), off = 1e3 * per_second(v, (double)row->sum.off_ns);
	struct buf line = { 0 }, comm = { 0 };
	size_t used;

	buf_printf(&line, "%6.1f%%", cpu);
	if (v->threads) {
		buf_printf(&line, " %10.1f %10.1f %8u  ",
			   1e3 * per_second(v, (double)row->sum.wait_ns), off, row->tid);
		value_text_name(&comm, v->names, row->comm);
		report_text_column(&line, buf_cstr(&comm), comm.len, 16, true);
		buf_addstr(&line, "  ");
	} else {
		buf_printf(&line, " %10.1f  ", off);
	}
	used = value_text_width(buf_cstr(&line), line.len);
	if (!v->threads || (v->off ? row->blocked : row->sum.samples))
		add_function(v, &line, v->threads && v->off ? &row->off_at : &row->at,
			     !cols	 ? 0 :
			     cols > used ? cols - used :
					   NAME_MIN);
	end_line(v, &line, color_percent(cpu), cols);
	buf_free(&line);
	buf_free(&comm);
}

static bool worth_a_row(const struct live_view *v, const struct live_row *row)
{
	return row->sum.samples || row->sum.off_ns || (v->threads && row->sum.wait_ns);
}

/* Rows of a terminal that the head takes. */
enum { HEAD_ROWS = 3 };

static void put_picture(void *ctx, struct buf *out, const struct live_loop *l, size_t max_rows,
			size_t cols)
{
	struct live_view *v = ctx;
	struct live_rows *rows = &v->rows[v->threads];
	size_t room = max_rows > HEAD_ROWS ? max_rows - HEAD_ROWS : 0;

	if (v->opts->limit && v->opts->limit < room)
		room = v->opts->limit;
	v->out = out;
	put_head(v, l, cols);
	live_sort(rows, v->off);
	for (size_t i = 0; i < rows->cnt && room; i++) {
		if (!worth_a_row(v, &rows->v[i]))
			continue;
		put_row(v, &rows->v[i], cols);
		room--;
	}
}

/* ---- the loop's calls -------------------------------------------------------------------------- */

static void start(void *ctx, struct names *names, struct trace *t)
{
	struct live_view *v = ctx;

	(void)t;
	v->names = names;
	v->live = live_new(names);
}

static void add_event(void *ctx, const struct trace *t, const struct trace_event *ev)
{
	struct live_view *v = ctx;

	live_add(v->live, t, ev);
}

/* A period has ended: it is shown during the next one. */
static void end_period(void *ctx, const struct trace *t)
{
	struct live_view *v = ctx;

	(void)t;
	free(v->rows[0].v);
	free(v->rows[1].v);
	memset(v->rows, 0, sizeof(v->rows));
	live_functions(v->live, &v->rows[0]);
	live_threads(v->live, &v->rows[1]);
	v->period_ns = live_period(v->live);
	v->all = *live_all(v->live);
	live_next(v->live);
}

static uint64_t period_ns(const void *ctx)
{
	const struct live_view *v = ctx;

	return live_period(v->live);
}

static void press(void *ctx, char key)
{
	struct live_view *v = ctx;

	if (key == 't')
		v->threads = !v->threads;
	else if (key == 'o')
		v->off = true;
	else if (key == 'c')
		v->off = false;
}

static const struct live_loop_ops view_ops = {
	.start = start,
	.add = add_event,
	.end_period = end_period,
	.period_ns = period_ns,
	.put = put_picture,
	.press = press,
};

enum live_view_end live_view_run(const struct live_view_opts *opts)
{
	struct live_view v = { .opts = opts,
			       .threads = opts->threads,
			       .off = opts->off,
			       .color = color_wanted((enum color_when)opts->color) };
	const struct live_loop_opts loop = { .ops = &view_ops,
					     .ctx = &v,
					     .fd = opts->fd,
					     .name = opts->name,
					     .delay_ns = opts->delay_ns,
					     .sink = opts->sink,
					     .messages_fd = opts->messages_fd,
					     .messages = opts->messages };
	enum live_view_end end = live_loop_run(&loop);

	free(v.rows[0].v);
	free(v.rows[1].v);
	live_free(v.live);
	return end;
}

static enum live_view_end run_opened(void *ctx, int fd, const char *name)
{
	struct live_view_opts *opts = ctx;

	opts->fd = fd;
	opts->name = opts->title = name;
	return live_view_run(opts);
}

int live_view_show(const char *path, uint64_t delay_ns, uint64_t limit, int color)
{
	struct live_view_opts opts = {
		.delay_ns = delay_ns, .limit = limit, .color = color, .messages_fd = -1
	};

	return live_loop_show(path, "report", run_opened, &opts);
}
