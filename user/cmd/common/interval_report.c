// SPDX-License-Identifier: BSD-2-Clause
/*
 * The driver of reports about intervals: reads, lets the command sum and sort, and prints text or JSON. Owns the order
 * of these steps, the output and the exit code; commands own the sums and what is printed of them.
 */
#include "cmd/common/interval_report.h"

#include <stdio.h>

#include "base/json.h"
#include "base/log.h"
#include "cmd/common/cmd.h"

int interval_report_end(const struct interval_reader *t, struct view *view)
{
	int code = view_end(view);

	return code == CMD_OK && reader_is_incomplete(t->reader) ? CMD_INPUT : code;
}

int interval_report_nothing(const struct interval_reader *t, const char *what, int code)
{
	return code == CMD_OK && interval_reader_is_chosen(t) ?
		       select_report_missing(&t->sel, t->reader, what) :
		       code;
}

static void print_none(const struct interval_report *r)
{
	const struct interval_report_ops *ops = r->ops;
	const char *why = ops->why_none;
	struct buf out = { 0 }, recorded = { 0 };

	if (r->found)
		return;
	if (!r->timeline.switches)
		why = interval_print_no_switches(&r->timeline);
	else if (ops->why_unknown && (r->unknown.ns || r->unknown.unsure_ns))
		why = ops->why_unknown;
	else if (interval_reader_is_chosen(&r->timeline))
		return;
	else if (interval_print_recorded(&recorded, &r->timeline, r->view.color))
		why = "not all off-CPU intervals were recorded";
	printf("%s in %s%s%s.\n", ops->none, reader_input(r->timeline.reader), why ? ": " : "",
	       why ? why : "");
	buf_print(&recorded, stdout);
	if (ops->why_unknown)
		interval_print_unknown(&out, &r->timeline, &r->unknown, r->view.color);
	buf_print(&out, stdout);
}

static void print_text(const struct interval_report *r)
{
	struct buf out = { 0 };

	if (!r->plain)
		interval_print_head(&out, &r->timeline, r->ops->title, r->view.color);
	if (r->ops->put_text(&out, r))
		buf_print(&out, stdout);
	else
		print_none(r);
	buf_free(&out);
}

static void print_json(const struct interval_report *r)
{
	struct buf out = { 0 };

	interval_print_json_head(&out, &r->timeline);
	r->ops->put_json(&out, r);
	json_end(&out, "}\n");
	buf_print(&out, stdout);
}

static int print(struct interval_report *r)
{
	int code;

	view_begin(&r->view, &r->opts->view, r->opts->json || r->plain);
	if (r->opts->json)
		print_json(r);
	else
		print_text(r);
	code = interval_report_end(&r->timeline, &r->view);
	if (!r->found)
		return interval_report_nothing(&r->timeline, r->ops->what, code);
	if (r->rows || code != CMD_OK)
		return code;
	log_error("no %s in %s: %s", r->ops->what, reader_input(r->timeline.reader),
		  r->ops->no_match);
	return CMD_USAGE;
}

int interval_report_run(struct interval_report *r, const char *path)
{
	const struct interval_report_ops *ops = r->ops;
	int code;

	r->read.sel = &r->opts->sel;
	r->read.fn = ops->add_interval;
	r->read.event = ops->add_event;
	r->read.reset = ops->reset;
	r->read.ctx = r;
	code = interval_reader_run(&r->timeline, &r->read, path);
	if (code == CMD_OK)
		code = ops->finish(r);
	if (code == CMD_OK)
		code = print(r);
	ops->reset(r);
	interval_reader_fini(&r->timeline);
	return code;
}
