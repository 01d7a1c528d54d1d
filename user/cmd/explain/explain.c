// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof explain`: what one thread did in one window, and who made it wait. Owns the options and
 * the choice of thread and window; numbers come from user/profile/explain/explain.c, text is made in
 * explain_print.c and explain_json.c. The slowest of pairs of events are explain_slowest.c's.
 */
#include "cmd/explain/explain.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "rewrite/copy/spool.h"

#define SLOWEST_DEFAULT 10

#define O(m) offsetof(struct explain_opts, m)

static const struct opt explain_opts[] = {
	SELECT_READ_OPTS(struct explain_opts, sel),
	{ .name = "span",
	  .kind = OPT_LIST,
	  .off = O(spans),
	  .arg = "WHAT",
	  .help = "Explain the slowest of these: a system call (fsync), poll, a span, or two events "
		  "ENTER,EXIT; may be repeated" },
	{ .name = "slowest",
	  .kind = OPT_U64,
	  .off = O(slowest),
	  .arg = "N",
	  .min = 1,
	  .max = SPANS_MAX,
	  .help = "Explain the N slowest of --span (default 10, at most 1000)" },
	{ .name = "worst",
	  .kind = OPT_FLAG,
	  .off = O(worst),
	  .help = "Explain the longest time off the CPU within --time (the default "
		  "without --time)" },
	{ EXPLAIN_OPT_DEPTH(O(depth)), .group = "Output" },
	{ OPT_LIMIT(O(limit)),
	  .help = "Print at most N rows of the table, 0 for all (default 20)" },
	OPT_ROW_JSON(O(json)),
	VIEW_OPTS(struct explain_opts, view),
};

static const struct opt_spec explain_spec = {
	.name = "explain",
	.usage = "dial9-prof explain [OPTIONS] TID|PID [FILE]\n"
		 "       dial9-prof explain [OPTIONS] --span WHAT [TID|PID] [FILE]",
	.brief = "Explain what a thread did in a time range: running, runnable (who ran instead), "
		 "blocked (who woke it).",
	OPT_ROWS(explain_opts),
	.examples = "  dial9-prof explain 4711\n"
		    "  dial9-prof explain 4711 --time 123.456,123.480\n"
		    "  dial9-prof explain -t 4712 --time 10s,20s --worst\n"
		    "  dial9-prof explain --slowest 5 --span fsync\n",
};

/* ---- reading ----------------------------------------------------------------------------------- */

static void add_interval(void *ctx, const struct interval *i)
{
	struct explained *x = ctx;

	explain_add(&x->numbers, x->timeline.intervals, i);
}

static void add_event(void *ctx, const struct trace *t, const struct trace_event *ev)
{
	struct explained *x = ctx;

	(void)t;
	if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SAMPLE && ev->has_ts &&
	    interval_reader_has_time(&x->timeline, ev))
		explain_add_sample(&x->numbers, ev);
}

static void reset_sums(void *ctx)
{
	struct explained *x = ctx;

	explain_fini(&x->numbers);
}

/* ---- which thread, which time ------------------------------------------------------------------ */

/* For a process without its main thread: the thread with the most CPU time. */
static const struct explain_thread *some_thread(const struct explained *x)
{
	const uint32_t tid = x->chosen ? x->chosen : x->id;
	const struct explain_thread *th = explain_thread(&x->numbers, tid), **all;
	size_t cnt = 0;

	for (uint32_t part = 0; !th && !x->opts->tid && part < x->timeline.names->parts.cnt;
	     part++) {
		all = explain_process(&x->numbers, part, x->id, &cnt);
		th = cnt ? all[0] : NULL;
		free(all);
	}
	return th;
}

/* Reads once more in the longest time that the thread went without a CPU; else in all of its life. */
static int narrow(struct explained *x)
{
	const struct explain_thread *th;
	uint64_t from, to;
	uint32_t clock;

	explain_finish(&x->numbers, x->timeline.names);
	th = some_thread(x);
	if (!th)
		return CMD_OK;
	clock = names_part(x->timeline.names, th->part)->clock;
	from = th->worst_to ? th->worst_from : th->first;
	to = th->worst_to ? th->worst_to : th->last;
	x->chosen = th->tid;
	x->numbers.sums_only = false;
	return interval_reader_again(&x->timeline, clock, from, to, ", or --time");
}

static void choose_threads(struct explained *x)
{
	const struct explain_thread *th = x->thread;

	if (!x->opts->tid && th->pid == x->id) {
		x->threads = explain_process(&x->numbers, th->part, th->pid, &x->thread_cnt);
		return;
	}
	x->threads = xcalloc(1, sizeof(struct explain_thread *));
	x->threads[0] = th;
	x->thread_cnt = 1;
}

static void print_result(struct explained *x)
{
	explain_finish(&x->numbers, x->timeline.names);
	x->thread = some_thread(x);
	if (!x->thread)
		return;
	choose_threads(x);
	explain_bounds(&x->numbers, x->thread->part, &x->from, &x->to);
	explain_steps(&x->numbers, x->thread->part, x->thread->tid, x->from, x->to,
		      (x->to - x->from) / EXPLAIN_SMALL_PART, &x->steps, &x->step_cnt,
		      &x->step_cap);
}

/* ---- the run ----------------------------------------------------------------------------------- */

static int explain_file(struct explained *x, const char *path)
{
	struct interval_reader_opts t = { .sel = &x->opts->sel,
					  .fn = add_interval,
					  .event = add_event,
					  .reset = reset_sums,
					  .ctx = x,
					  .each_switch = true };
	const bool worst = x->opts->worst || !x->opts->sel.time;
	struct buf outside = { 0 };
	int code;

	if (worst && !spool_is_regular(path) && spool_open("explain", path, &t.src))
		return CMD_INPUT;
	x->numbers.sums_only = worst;
	code = interval_reader_run(&x->timeline, &t, path);
	/* its threads would seem to do one thing all the while */
	if (code == CMD_OK && !interval_reader_has_states(&x->timeline))
		explain_fini(&x->numbers);
	if (code == CMD_OK && worst)
		code = narrow(x);
	if (code != CMD_OK)
		return code;
	print_result(x);
	view_begin(&x->view, &x->opts->view, x->opts->json);
	if (x->opts->json)
		explain_json(x);
	else
		explain_print(x);
	code = interval_report_end(&x->timeline, &x->view);
	if (code != CMD_OK || x->thread || !interval_reader_has_states(&x->timeline))
		return code;
	if (select_put_outside(&x->timeline.sel, &outside))
		log_error("nothing to explain in %s: %s", reader_input(x->timeline.reader),
			  buf_cstr(&outside));
	else
		log_error(
			"explain: no %s %u in %s%s%s; dial9-prof report -s comm,pid,tid lists them",
			x->opts->tid ? "thread" : "thread or process", x->id,
			reader_input(x->timeline.reader),
			x->opts->sel.time ? ", or not in this time range" : "",
			select_why_no_task(x->timeline.names));
	buf_free(&outside);
	return CMD_USAGE;
}

/* The one number of -t or -p, which selects the story and not what is read. */
static int move_single_id(struct opt_u32s *list, uint32_t *one)
{
	if (list->cnt > 1)
		return -EINVAL;
	*one = list->cnt ? list->v[0] : 0;
	list->cnt = 0;
	return 0;
}

static int check_opts(struct explain_opts *o)
{
	struct select_opts *sel = &o->sel;

	if (o->spans.cnt && o->worst) {
		log_error("explain: --worst and --span exclude each other");
		return -EINVAL;
	}
	if (o->spans.cnt) {
		o->slowest = o->slowest ? o->slowest : SLOWEST_DEFAULT;
		return 0;
	}
	if (o->slowest) {
		log_error(
			"explain: --slowest needs --span, such as --span fsync or --span ENTER,EXIT");
		return -EINVAL;
	}
	if (sel->comms.cnt || sel->cgroups.cnt || sel->cpus.cnt) {
		log_error("explain: --comm, --cgroup and -C need --span");
		return -EINVAL;
	}
	if (move_single_id(&sel->tids, &o->tid) || move_single_id(&sel->pids, &o->pid) ||
	    (o->tid && o->pid)) {
		log_error("explain: give only one thread or process with -t or -p");
		return -EINVAL;
	}
	return 0;
}

/* The number is the first word unless -t or -p gives it; with --span there need not be one. */
static int which(const struct explain_opts *o, int argc, char **argv, int *first, uint32_t *id)
{
	uint64_t number = 0;

	*id = o->tid ? o->tid : o->pid;
	if (*id)
		return 0;
	if (*first == argc && !o->spans.cnt) {
		log_error("explain: no thread or process given; use dial9-prof explain TID|PID "
			  "(dial9-prof report -s comm,pid,tid lists them)");
		return -EINVAL;
	}
	if (*first == argc || str_parse_u64(argv[*first], TRACE_NONE - 1, &number) || !number) {
		if (o->spans.cnt)
			return 0;
		log_error("explain: unexpected argument '%s': expected a TID or PID", argv[*first]);
		return -EINVAL;
	}
	*id = (uint32_t)number;
	(*first)++;
	return 0;
}

int cmd_explain(int argc, char **argv)
{
	struct explain_opts opts = { .limit = 20, .depth = 2 };
	struct explained x = { .opts = &opts };
	int first, ret, code = CMD_USAGE;
	const char *path = NULL;

	ret = opts_parse(&explain_spec, argc, argv, &opts, &first);
	if (ret == 1) {
		code = CMD_OK;
	} else if (!ret) {
		if (!check_opts(&opts) && !which(&opts, argc, argv, &first, &x.id))
			path = select_input(&opts.sel, argc, argv, first);
		if (path)
			code = opts.spans.cnt ? explain_slowest(&x, path) : explain_file(&x, path);
	}
	free(x.steps);
	free(x.threads);
	explain_fini(&x.numbers);
	interval_reader_fini(&x.timeline);
	opts_fini(&explain_spec, &opts);
	return code;
}
