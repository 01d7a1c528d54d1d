// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof polls`: the activity of a service's threads in its slow polls. Owns the options. explain_slowest.c
 * finds and describes pairs as for `explain --span`; polls_print.c makes the text. Several traces, or an unordered
 * one, are merged first.
 */
#include "cmd/explain/polls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/cmd.h"
#include "rewrite/copy/spool.h"
#include "rewrite/merge/merge.h"

#define O(m) offsetof(struct polls_opts, m)

enum { POLLS_MAX = 65536 }; /* slowest polls that are described and summed */

static const struct opt polls_opts[] = {
	SELECT_READ_OPTS(struct polls_opts, explain.sel),
	{ .name = "min",
	  .key = 'm',
	  .kind = OPT_DURATION,
	  .off = O(min_ns),
	  .arg = "DUR",
	  .help = "Only polls of at least DUR (default 1ms)" },
	{ .name = "span",
	  .kind = OPT_LIST,
	  .off = O(explain.spans),
	  .arg = "WHAT",
	  .help = "Instead of polls: spans of this name, or a value as for explain; may be repeated" },
	{ OPT_LIMIT(O(explain.limit)),
	  .help = "Print the N slowest, and N rows of each table, 0 for all (default 10)",
	  .group = "Output" },
	{ EXPLAIN_OPT_DEPTH(O(explain.depth)) },
	OPT_ROW_JSON(O(explain.json)),
	VIEW_OPTS(struct polls_opts, explain.view),
};

static const struct opt_spec polls_spec = {
	.name = "polls",
	.usage = "dial9-prof polls [OPTIONS] [FILE...]",
	.brief = "Explain why polls of a Tokio service were slow, from a recording and the trace "
		 "of the service.",
	OPT_ROWS(polls_opts),
	.examples = "  dial9-prof polls dial9.bin service.bin\n"
		    "  dial9-prof polls --min 100us --limit 3 dial9.bin service-traces/\n"
		    "  dial9-prof polls --span query_metric merged.bin\n",
};

static void print_no_polls(const struct explain_slowest *s)
{
	const struct explained *x = s->x;
	const char *file = reader_input(x->timeline.reader);

	if (x->opts->spans.cnt)
		explain_slowest_report_missing(s);
	else if (select_is_used(&x->timeline.sel))
		log_error("polls: no poll in %s matches the selection", file);
	else
		log_error("polls: no poll in %s; also give the trace that the service wrote", file);
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
	code = interval_report_end(&x->timeline, &x->view);
	if (code != CMD_OK || s->spans.pairs)
		return code;
	print_no_polls(s);
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

/* An exit code; @unsorted, if not NULL, receives whether nothing was printed because events are not in order. */
static int report_slowest(const struct polls_opts *opts, const char *path, struct source *src,
			  bool *unsorted)
{
	struct explained x = { .opts = &opts->explain };
	struct explain_slowest s = { .x = &x,
				     .word = "polls",
				     .wants_polled = true,
				     .wants_order = unsorted != NULL,
				     .title = polls_print_title,
				     .members = polls_print_members };
	int code = CMD_USAGE;

	s.spans.opts.max = POLLS_MAX;
	s.spans.opts.min_ns = opts->min_ns;
	if (!add_spans(&s, &opts->explain.spans))
		code = explain_slowest_find(&s, path, src);
	else
		source_close(src);
	if (unsorted)
		*unsorted = s.unsorted;
	if (code == CMD_OK && !s.unsorted)
		code = print(&s);
	explain_slowest_fini(&s);
	free(x.steps);
	explain_fini(&x.numbers);
	interval_reader_fini(&x.timeline);
	return code;
}

/* ---- several or unordered traces ---------------------------------------------------------------- */

/* "standard input", or the paths with a plus between them. */
static void put_name(struct buf *out, const char *const *paths, size_t cnt)
{
	for (size_t k = 0; k < cnt; k++) {
		buf_addstr(out, k ? " + " : "");
		buf_addstr(out, strcmp(paths[k], "-") ? paths[k] : "standard input");
	}
}

/* All of them in order of time, in a file without a name: an exit code. @src is NULL where there is nothing. */
static int merge(const char *const *paths, size_t cnt, struct source **src)
{
	const struct merge_opts opts = { .word = "polls" };
	const int fd = spool_temp("polls");
	struct buf name = { 0 };
	struct merge_sum sum;
	int code, err;

	*src = NULL;
	if (fd < 0)
		return CMD_INPUT;
	code = merge_to_file(&opts, paths, cnt, fd, &sum);
	if (!sum.bytes || (code != CMD_OK && code != CMD_INPUT)) {
		close(fd);
		return code;
	}
	put_name(&name, paths, cnt);
	lseek(fd, 0, SEEK_SET);
	err = source_open_fd(fd, buf_cstr(&name), src);
	buf_free(&name);
	return err ? CMD_INPUT : code;
}

static int explain_merged(const struct polls_opts *opts, const char *const *paths, size_t cnt)
{
	struct source *src;
	const int merged = merge(paths, cnt, &src);
	const int code = src ? report_slowest(opts, NULL, src, NULL) : merged;

	return code == CMD_OK ? merged : code;
}

/* A single file is read directly if possible. If not, its messages have been printed. */
static int explain_one(const struct polls_opts *opts, const char *path)
{
	const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
	const enum log_level level = log_get_level();
	bool unsorted;
	int code = report_slowest(opts, path, NULL, &unsorted);

	if (!unsorted)
		return code;
	if (!strcmp(path, "-"))
		lseek(STDIN_FILENO, at, SEEK_SET);
	log_set_level(LOG_LEVEL_QUIET);
	code = explain_merged(opts, &path, 1);
	log_set_level(level);
	/* a torn end is an end */
	return code == CMD_INPUT ? CMD_OK : code;
}

static int explain_all(const struct polls_opts *opts, const char *const *paths, size_t cnt)
{
	const char *input = opts->explain.sel.input;

	if (opts->explain.sel.cpus.cnt && !opts->explain.spans.cnt) {
		log_error("polls: -C: polls do not say on which CPU they began");
		return CMD_USAGE;
	}
	if (input && cnt) {
		log_error("polls: --input and %s: name all traces without --input", paths[0]);
		return CMD_USAGE;
	}
	input = input ? input : cnt ? paths[0] : CMD_DEFAULT_FILE;
	if (cnt > 1 || !spool_is_regular(input))
		return explain_merged(opts, cnt ? paths : &input, cnt ? cnt : 1);
	return explain_one(opts, input);
}

int cmd_polls(int argc, char **argv)
{
	struct polls_opts opts = { .explain = { .limit = 10, .depth = 2 }, .min_ns = 1000000 };
	int first, code = CMD_USAGE, ret = opts_parse(&polls_spec, argc, argv, &opts, &first);

	if (ret == 1)
		code = CMD_OK;
	else if (!ret)
		code = explain_all(&opts, (const char *const *)argv + first,
				   (size_t)(argc - first));
	opts_fini(&polls_spec, &opts);
	return code;
}
