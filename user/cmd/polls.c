// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof polls`: what the threads of a service did in its slow polls. Owns the options; pairs are found and
 * told as those of `explain --span` are, by explain_slowest.c, and text is made in polls_print.c.
 */
#include "cmd/polls.h"

#include <stdlib.h>

#include "base/log.h"
#include "cmd/cmd.h"

#define O(m) offsetof(struct polls_opts, m)

enum { POLLS_MAX = 65536 }; /* that are told and summed; the slowest */

static const struct opt polls_opts[] = {
	SELECT_OPT_INPUT(struct polls_opts, explain.sel),
	SELECT_OPTS(struct polls_opts, explain.sel),
	{ .name = "min",
	  .key = 'm',
	  .kind = OPT_DURATION,
	  .off = O(min_ns),
	  .arg = "DUR",
	  .help = "polls that took at least that long (default 1ms)" },
	{ .name = "span",
	  .kind = OPT_LIST,
	  .off = O(explain.spans),
	  .arg = "WHAT",
	  .help = "not polls, but spans of that name, or what explain has there; may be repeated" },
	{ .name = "limit",
	  .kind = OPT_U64,
	  .off = O(explain.limit),
	  .arg = "N",
	  .help = "tell the N slowest, and N rows of each table (default 10; 0: all)",
	  .group = "Output" },
	{ .name = "depth",
	  .kind = OPT_U64,
	  .off = O(explain.depth),
	  .arg = "N",
	  .max = 8,
	  .help = "follow wakers over N hops (default 2, at most 8)" },
	{ .name = "json", .kind = OPT_FLAG, .off = O(explain.json), .help = "one JSON object" },
	VIEW_OPTS(struct polls_opts, explain.view),
	{ .name = "help", .key = 'h', .kind = OPT_HELP, .help = "this text" },
};

static const struct opt_spec polls_spec = {
	.name = "polls",
	.usage = "dial9-prof polls [OPTIONS] [FILE]",
	.brief = "Tell why polls of a Tokio service were slow: a recording and the service's own "
		 "trace in one file.",
	.opts = polls_opts,
	.cnt = sizeof(polls_opts) / sizeof(polls_opts[0]),
	.examples = "  dial9-prof polls both.bin\n"
		    "  dial9-prof polls --min 100us --limit 3 both.bin\n"
		    "  dial9-prof polls --span query_metric both.bin\n",
};

static void tell_nothing(const struct explain_slowest *s)
{
	const struct explained *x = s->x;
	const char *file = reader_input(x->timeline.reader);

	if (x->opts->spans.cnt)
		explain_slowest_tell_nothing(s);
	else if (select_is_used(&x->timeline.sel))
		log_error("polls: no poll in %s in what was selected", file);
	else
		log_error("polls: no poll in %s: the service writes them, into a trace of its own",
			  file);
}

static int print(struct explain_slowest *s)
{
	struct explained *x = s->x;
	int code;

	view_begin(&x->view, &x->opts->view, x->opts->json);
	if (x->opts->json)
		polls_print_json(s);
	else if (s->spans.pairs)
		polls_print(s);
	code = timeline_end(&x->timeline, &x->view);
	if (code != CMD_OK || s->spans.pairs)
		return code;
	tell_nothing(s);
	return CMD_USAGE;
}

static int add_spans(struct explain_slowest *s, const struct opt_list *spans)
{
	if (!spans->cnt)
		return explain_slowest_add(s, "PollStartEvent,PollEndEvent");
	for (size_t k = 0; k < spans->cnt; k++)
		if (explain_slowest_add(s, spans->v[k]))
			return -1;
	return 0;
}

static int polls_file(const void *ctx, const char *path)
{
	const struct polls_opts *opts = ctx;
	struct explained x = { .opts = &opts->explain };
	struct explain_slowest s = { .x = &x,
				     .word = "polls",
				     .wants_polled = true,
				     .title = polls_print_title,
				     .members = polls_print_members };
	int code = CMD_USAGE;

	s.spans.opts.max = POLLS_MAX;
	s.spans.opts.min_ns = opts->min_ns;
	if (!add_spans(&s, &opts->explain.spans))
		code = explain_slowest_find(&s, path);
	if (code == CMD_OK)
		code = print(&s);
	explain_slowest_fini(&s);
	free(x.steps);
	explain_fini(&x.numbers);
	timeline_fini(&x.timeline);
	return code;
}

int cmd_polls(int argc, char **argv)
{
	struct polls_opts opts = { .explain = { .limit = 10, .depth = 2 }, .min_ns = 1000000 };

	return select_run(&polls_spec, argc, argv, &opts, &opts.explain.sel, polls_file);
}
