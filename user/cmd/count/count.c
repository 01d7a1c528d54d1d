// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof count`: numbers of events by their fields, and times between pairs of events. Owns the options, the order
 * of the steps and the exit code. count_read.c reads, count_print.c and count_pairs.c print; the numbers come from
 * user/profile/counts.
 */
#include "cmd/count/count.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/common/cmd.h"
#include "export/script_line.h"

#define O(m) offsetof(struct count_opts, m)

/* A year in ns. */
#define INTERVAL_MAX (365 * 24 * 3600000000000ULL)

/* As enum pair_sums_order. */
static const char *const sort_words[] = { "time", "max", "avg", "p99", "count", NULL };

static const struct opt count_opts[] = {
	SELECT_READ_OPTS(struct count_opts, sel),
	SELECT_OPT_EVENT(O(events)),
	{ .name = "by",
	  .kind = OPT_STR,
	  .off = O(by),
	  .arg = "FIELDS",
	  .help = "Count by any of event, comm, pid, tid, cpu, cgroup and the fields of events, "
		  "separated by commas (default event); write args.NAME for a field of an event that "
		  "has one of these names, such as args.pid",
	  .group = "Output" },
	{ .name = "sum",
	  .kind = OPT_STR,
	  .off = O(sum),
	  .arg = "FIELD",
	  .help = "Also print sum, average, minimum and maximum of this field" },
	{ .name = "hist",
	  .kind = OPT_STR,
	  .off = O(hist),
	  .arg = "FIELD",
	  .help = "Also print a histogram of this field, by powers of two, for each row" },
	{ .name = "pair",
	  .kind = OPT_STR,
	  .off = O(pair),
	  .arg = "START,END[,KEY]",
	  .help = "Print the times from events START to END with the same field KEY (default: in the same "
		  "thread)" },
	{ .name = "syscalls",
	  .kind = OPT_FLAG,
	  .off = O(syscalls),
	  .help = "Print number, errors and times of each system call, like strace -c" },
	{ .name = "sort",
	  .key = 's',
	  .kind = OPT_CHOICE,
	  .off = O(sort),
	  .choices = sort_words,
	  .help = "With --pair or --syscalls: sort rows by KEY (default time)" },
	{ .name = "interval",
	  .kind = OPT_DURATION,
	  .off = O(interval_ns),
	  .arg = "SEC",
	  .min = 1,
	  .max = INTERVAL_MAX,
	  .help = "Count for each interval of SEC seconds" },
	{ .name = "top",
	  .kind = OPT_U64,
	  .off = O(top),
	  .arg = "N",
	  .help = "Print at most N rows, of each interval, 0 for all (default 20; with --json all)" },
	{ OPT_LIMIT(O(top)) },
	{ .name = "live",
	  .kind = OPT_DURATION,
	  .off = O(live_ns),
	  .arg = "SEC",
	  .min = 100000000,
	  .max = 3600000000000,
	  .help = "For a trace from a pipe: print the rows of each SEC seconds" },
	OPT_ROW_JSON(O(json)),
	VIEW_OPTS(struct count_opts, view),
};

static const struct opt_spec count_spec = {
	.name = "count",
	.usage = "dial9-prof count [OPTIONS] [FILE]",
	.brief = "Count events by their fields, or print the times between pairs of events.",
	OPT_ROWS(count_opts),
	.examples =
		"  dial9-prof count -e sched:sched_switch --by prev_comm,prev_state\n"
		"  dial9-prof count -e 'block:*' --hist bytes\n"
		"  dial9-prof count --pair block:block_rq_issue,block:block_rq_complete,sector\n"
		"  dial9-prof count --syscalls --by comm,tid\n",
};

/* ---- no rows ----------------------------------------------------------------------------------- */

static bool has_rows(const struct count *c)
{
	return c->paired ? c->pairs.row_cnt : c->counts.row_cnt;
}

/* The trace has none of it: a line in place of the table, and success. */
static void print_none(const struct count *c)
{
	const char *file = reader_input(c->reader);

	if (!c->paired && !c->opts->events.cnt && !c->event_matched)
		printf("No events in %s.\n", file);
}

/* Nothing was paired: one line, and the exit code. */
static int report_no_pairs(const struct count *c)
{
	const struct spans *s = &c->pairs.spans;

	if (c->opts->syscalls && !s->enters)
		log_error("count: no system calls in %s; record with -e 'raw_syscalls:*'",
			  reader_input(c->reader));
	else if (c->opts->syscalls && !select_is_used(&c->sel))
		log_error("count: no complete system call in %s; record with -e 'raw_syscalls:*', "
			  "which has starts and ends",
			  reader_input(c->reader));
	else if (!c->opts->syscalls && !(s->enters && s->exits))
		log_error("count: no event matches %s of --pair; dial9-prof info lists the events",
			  s->enters ? c->pair_opts.pattern.exit : c->pair_opts.pattern.enter);
	else if (s->untied == s->enters + s->exits)
		log_error("count: no event of --pair has %s",
			  c->pair_opts.field ? c->pair_opts.field : "a span_id or a thread");
	else if (select_is_used(&c->sel))
		return select_report_missing(&c->sel, c->reader,
					     c->opts->syscalls ? "system calls" : "pairs");
	else
		log_error("count: no pairs in %s: no end event follows a start event with the same "
			  "key",
			  reader_input(c->reader));
	return CMD_USAGE;
}

static void add_field(struct buf *out, const char *name)
{
	if (name)
		buf_printf(out, "%s%s", out->len ? ", " : "", name);
}

/* No event has all fields of --by, --sum and --hist. */
static void report_no_fields(const struct count *c)
{
	struct buf fields = { 0 };

	for (size_t i = 0; i < c->by_cnt; i++)
		add_field(&fields, c->by[i].word == COUNT_FIELD ? c->titles[i] : NULL);
	add_field(&fields, c->opts->sum);
	add_field(&fields, c->opts->hist);
	log_error("count: no event has %s%s; dial9-prof list -v shows the fields of events",
		  strchr(buf_cstr(&fields), ',') ? "all of " : "", buf_cstr(&fields));
	buf_free(&fields);
}

static int report_no_events(const struct count *c)
{
	if (c->opts->events.cnt && !c->event_matched)
		log_error("count: no event matches -e; dial9-prof info lists the events");
	else if (c->event_matched && !counts_has_fields(&c->counts))
		report_no_fields(c);
	else if (c->event_matched && c->counts.lacking)
		log_error("count: no event has a number in %s",
			  c->opts->sum ? c->opts->sum : c->opts->hist);
	else if (c->event_matched && select_is_used(&c->sel))
		return select_report_missing(&c->sel, c->reader, "events");
	else
		return CMD_OK;
	return CMD_USAGE;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static int report_none(const struct count *c)
{
	return c->paired ? report_no_pairs(c) : report_no_events(c);
}

/* A mistake is one line, and no document. */
static int print(struct count *c)
{
	const bool incomplete = reader_is_incomplete(c->reader);
	struct buf out = { 0 };
	int code = has_rows(c) || incomplete ? CMD_OK : report_none(c);

	if (code != CMD_OK)
		return code;
	view_begin(&c->view, &c->opts->view, c->opts->json);
	if (c->paired && c->opts->json)
		count_json_pairs(&out, c);
	else if (c->opts->json)
		count_json_rows(&out, c);
	else if (c->paired && has_rows(c))
		count_put_pairs(&out, c);
	else if (has_rows(c))
		count_put_rows(&out, c);
	else
		print_none(c);
	buf_print(&out, stdout);
	code = view_end(&c->view);
	if (code != CMD_OK)
		return code;
	return incomplete ? CMD_INPUT : CMD_OK;
}

static int run(struct count *c, const char *path)
{
	struct progress *progress;
	int err;

	if (count_parse(c))
		return CMD_USAGE;
	if (c->opts->live_ns)
		return count_live_show(c, path);
	if (select_init(&c->sel, &c->opts->sel))
		return CMD_USAGE;
	if (progress_open(path, READER_ONE_PASS, &c->reader, &progress)) {
		select_fini(&c->sel);
		return CMD_INPUT;
	}
	c->names = reader_names(c->reader);
	err = count_read(c);
	progress_end(progress);
	if (err)
		return CMD_INPUT;
	return select_is_reversed(&c->sel) ? CMD_USAGE : print(c);
}

static int count_file(const void *opts, const char *path)
{
	struct count c = { .opts = opts };
	const int code = run(&c, path);

	counts_fini(&c.counts);
	pair_sums_fini(&c.pairs);
	event_counts_fini(&c.losses);
	recorded_time_fini(&c.time);
	recorder_tasks_fini(&c.recorder);
	if (c.reader)
		select_fini(&c.sel);
	reader_free(c.reader);
	count_parse_fini(&c);
	return code;
}

int cmd_count(int argc, char **argv)
{
	struct count_opts opts = { .top = REPORT_TEXT_LIMIT_UNSAID };

	return select_run(&count_spec, argc, argv, &opts, &opts.sel, count_file);
}
