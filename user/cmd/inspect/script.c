// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof script`: one event a line, laid out as perf script does it, so that what people have
 * built on its output goes on working. Owns the choice and order of what is printed; how lines look is
 * script_stream.c's and script_line.c's, names have been resolved by the reader.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/progress.h"
#include "cmd/common/report_text.h"
#include "cmd/common/select.h"
#include "cmd/common/view.h"
#include "export/script_stream.h"
#include "trace/source/source.h"

static const char *const field_names[F_CNT] = {
	[F_COMM] = "comm", [F_PID] = "pid",	  [F_TID] = "tid",     [F_CPU] = "cpu",
	[F_TIME] = "time", [F_EVENT] = "event",	  [F_TRACE] = "trace", [F_IP] = "ip",
	[F_SYM] = "sym",   [F_SYMOFF] = "symoff", [F_DSO] = "dso",     [F_SRCLINE] = "srcline",
	[F_END] = "end",
};

/* Lines are written in blocks of this size. */
#define OUT_BLOCK (128u << 10)

struct script_opts {
	struct select_opts sel;
	struct view_opts view;
	struct opt_list events;
	const char *fields;
	bool ns, json, follow, all;
	uint64_t limit;
};

#define O(m) offsetof(struct script_opts, m)

static const struct opt script_opts[] = {
	SELECT_OPT_INPUT(struct script_opts, sel),
	{ .name = "follow",
	  .kind = OPT_FLAG,
	  .off = O(follow),
	  .help = "Wait for more events at the end of the file" },
	SELECT_OPTS(struct script_opts, sel),
	SELECT_OPT_EVENT(O(events)),
	{ .name = "all",
	  .kind = OPT_FLAG,
	  .off = O(all),
	  .help = "Also print events that only carry names and statistics" },
	{ OPT_LIMIT(O(limit)), .help = "Stop after N events, 0 for never (default 0)" },
	{ .name = "fields",
	  .key = 'F',
	  .kind = OPT_STR,
	  .off = O(fields),
	  .arg = "LIST",
	  .help = "Fields to print: comm,pid,tid,cpu,time,event,trace,ip,sym,symoff,dso,srcline,"
		  "end; +name and -name change the default (all but srcline and end)",
	  .group = "Output" },
	{ .name = "ns", .kind = OPT_FLAG, .off = O(ns), .help = "Print times with nanoseconds" },
	{ OPT_JSON(O(json)), .help = "Print one JSON object per line" },
	VIEW_OPTS(struct script_opts, view),
};

static const struct opt_spec script_spec = {
	.name = "script",
	.usage = "dial9-prof script [OPTIONS] [FILE]",
	.brief = "Print events, one per line, like perf script.",
	OPT_ROWS(script_opts),
	.examples = "  dial9-prof script -e 'sched:*' -t 4242\n"
		    "  dial9-prof script --time 5123.25,5123.75 /var/lib/rec/host\n"
		    "  dial9-prof script --time +1,+2 trace.bin | stackcollapse-perf.pl\n",
};

struct script {
	const struct script_opts *opts;
	struct reader *reader;
	const struct names *names;
	struct select sel;
	struct script_line_opts line_opts;
	struct script_stream stream;
	const char *sample_name; /* what samples are called: the clock that takes them */
	struct buf out; /* lines that are not written yet */
	int write_err; /* why they cannot be */
	size_t block; /* how many bytes of them are kept at most */
	uint64_t printed;
};

/* ---- options ----------------------------------------------------------------------------------- */

/* "comm,tid" replaces the default, "+srcline,-cpu" changes it. */
static int parse_fields(const char *s, unsigned int *mask)
{
	const char *word = s;
	size_t n;
	char sign;
	int f;

	*mask = *s == '+' || *s == '-' ? FIELDS_DEFAULT : 0;
	for (;; word += n + 1) {
		sign = *word == '+' || *word == '-' ? *word++ : '+';
		n = strcspn(word, ",");
		f = opts_word(word, n, field_names, F_CNT);
		if (f < 0) {
			log_error("script: unknown field '%.*s' in -F (known: comm, pid, tid, cpu, "
				  "time, event, trace, ip, sym, symoff, dso, srcline, end)",
				  (int)n, word);
			return -EINVAL;
		}
		if (sign == '-')
			*mask &= ~(1u << f);
		else
			*mask |= 1u << f;
		if (!word[n])
			return 0;
	}
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* Names and accounts are not what happened; but loss is, and it is shown unasked. */
static bool is_background(enum trace_kind kind)
{
	return trace_is_naming(kind) || trace_is_recorder_info(kind);
}

static bool event_wanted(const struct script *s, const struct trace_event *ev)
{
	const struct opt_list *globs = &s->opts->events;
	const char *name = names_str(s->names, ev->schema->name, NULL);

	if (!globs->cnt)
		return s->opts->all || !is_background(ev->kind);
	for (size_t i = 0; i < globs->cnt; i++) {
		if (str_glob(globs->v[i], name))
			return true;
		if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SAMPLE &&
		    str_glob(globs->v[i], s->sample_name))
			return true;
		/* a switch is wanted with its stack */
		if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SWITCH_OUT &&
		    (str_glob(globs->v[i], PROF_EV_SCHED_SWITCH) ||
		     str_glob(globs->v[i], SCRIPT_SWITCH_OUT)))
			return true;
		if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_WAKING &&
		    (str_glob(globs->v[i], PROF_EV_SCHED_WAKING) ||
		     str_glob(globs->v[i], SCRIPT_WAKER)))
			return true;
		if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_EVENT &&
		    (script_stream_is_stack_of_last(&s->stream, ev) ||
		     str_glob(globs->v[i], SCRIPT_EVENT_STACK)))
			return true;
	}
	return false;
}

/* False when nothing can be written any more; the stream then no longer says so, nor why. */
static bool write_out(struct script *s)
{
	size_t n = s->out.len;

	if (s->write_err)
		return false;
	errno = 0;
	if (fwrite(buf_cstr(&s->out), 1, n, stdout) == n && (s->block || !fflush(stdout))) {
		buf_clear(&s->out);
		return true;
	}
	s->write_err = errno ? errno : EIO;
	clearerr(stdout);
	return false;
}

/* As report_text_finish() has it. */
static int write_code(const struct script *s, int code)
{
	if (!s->write_err || s->write_err == EPIPE)
		return code;
	log_error("cannot write to standard output: %s", strerror(s->write_err));
	return CMD_OUTPUT;
}

static int run(struct script *s)
{
	uint64_t limit = s->opts->limit ? s->opts->limit : UINT64_MAX;
	struct trace_event ev;
	bool below;
	int ret;

	while ((ret = reader_next(s->reader, &ev)) == 1) {
		select_observe(&s->sel, s->reader, &ev);
		if (ev.kind == TRACE_SAMPLE)
			s->sample_name = script_stream_sample_name(s->names, ev.part);
		if (!event_wanted(s, &ev) || !select_match(&s->sel, s->reader, &ev))
			continue;
		below = script_stream_is_stack_of_last(&s->stream, &ev);
		if (s->printed == limit && !below)
			return 0;
		script_stream_put(&s->stream, &s->out, &ev);
		if (s->out.len > s->block && !write_out(s))
			return 0;
		s->printed += !below;
	}
	return ret;
}

/* An empty output looks like an empty trace: say that it was the options. */
static int report_nothing_printed(const struct script *s)
{
	if (!s->opts->events.cnt)
		return select_is_used(&s->sel) ?
			       select_report_missing(&s->sel, s->reader, "events") :
			       CMD_OK;
	log_error("script: no event matches -e, " SELECT_NAMES "; "
		  "dial9-prof info lists the events");
	return CMD_USAGE;
}

/* @restricted: whether files of a set may be left alone, and then whether some are. */
static int open_reader(struct script *s, const char *path, bool *restricted,
		       struct progress **progress)
{
	uint64_t from, to;
	struct source *src;
	int err = source_open(path, &src);

	if (err)
		return err;
	*restricted = *restricted && !s->opts->follow && select_is_absolute(&s->sel, &from, &to) &&
		      source_restrict(src, from, to);
	/* shares of the whole need a pass of their own, in which the names are learnt as well */
	return progress_read(src,
			     select_wants_scan(&s->sel) ? READER_ONE_PASS :
			     s->opts->follow		? READER_FOLLOW :
							  READER_NAMES_AHEAD,
			     &s->reader, progress);
}

/* @restricted: as open_reader() has it, but false at the end unless nothing was printed. */
static int script_once(const struct script_opts *opts, const char *path, bool *restricted)
{
	struct script s = {
		.opts = opts,
	};
	struct view_opts shown = opts->view;
	bool some = *restricted; /* files alone are read */
	struct progress *progress = NULL;
	struct view view;
	int err, out;

	*restricted = false;
	s.line_opts = (struct script_line_opts){ .fields = FIELDS_DEFAULT, .ns = opts->ns };
	if (opts->fields && parse_fields(opts->fields, &s.line_opts.fields))
		return CMD_USAGE;
	s.line_opts.comment_asides = !opts->events.cnt && s.line_opts.fields & FIELDS_STACK;
	if (select_init(&s.sel, &opts->sel))
		return CMD_USAGE;
	err = open_reader(&s, path, &some, &progress);
	if (err) {
		select_fini(&s.sel);
		return CMD_INPUT;
	}
	s.names = reader_names(s.reader);
	if (select_wants_scan(&s.sel))
		err = select_scan(&s.sel, s.reader);
	script_stream_init(&s.stream, &s.line_opts, opts->json, s.reader);
	progress_end(progress);
	/* what is still to come would wait for the screen to fill */
	shown.no_pager |= opts->follow;
	view_begin(&view, &shown, opts->json);
	/* a user at the terminal sees each line at once */
	s.block = opts->follow || isatty(STDOUT_FILENO) ? 0 : OUT_BLOCK;
	if (!err)
		err = run(&s);
	script_stream_end(&s.stream, &s.out);
	write_out(&s);
	out = write_code(&s, view_end(&view));
	*restricted = some && !err && !s.printed && out == CMD_OK;
	if (!err && !s.printed && !opts->follow && !*restricted && out == CMD_OK &&
	    !select_is_reversed(&s.sel))
		out = report_nothing_printed(&s);
	if (err || (out == CMD_OK && reader_is_incomplete(s.reader)))
		out = CMD_INPUT;
	if (select_is_reversed(&s.sel))
		out = CMD_USAGE;
	select_fini(&s.sel);
	script_stream_fini(&s.stream);
	reader_free(s.reader);
	buf_free(&s.out);
	return out;
}

/* What an empty output is for is known of all files alone. */
static int script_file(const void *arg, const char *path)
{
	bool restricted = true;
	int code = script_once(arg, path, &restricted);

	if (!restricted)
		return code;
	restricted = false;
	return script_once(arg, path, &restricted);
}

int cmd_script(int argc, char **argv)
{
	struct script_opts opts = { 0 };

	return select_run(&script_spec, argc, argv, &opts, &opts.sel, script_file);
}
