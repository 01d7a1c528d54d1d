// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof export`: a trace for other tools. Owns the options, the pass over the trace, what is
 * selected, and where the output goes; how formats look is user/export's.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/out_dir.h"
#include "base/out_file.h"
#include "cmd/common/cmd.h"
#include "cmd/common/interval_print.h"
#include "cmd/rewrite/trace_bytes.h"
#include "export/formats.h"
#include "rewrite/copy/spool.h"

struct export_cmd_opts {
	struct select_opts sel;
	const char *output;
	int kind; /* enum export_kind; EXPORT_ALL: not given */
};

#define O(m) offsetof(struct export_cmd_opts, m)

static const struct opt export_opts[] = {
	SELECT_READ_OPTS(struct export_cmd_opts, sel),
	{ .name = "kind",
	  .kind = OPT_CHOICE,
	  .off = O(kind),
	  .choices = export_kind_names,
	  .help = "Only CPU samples (cpu), blocked time (offcpu), run-queue latency (runq), or "
		  "these three (wall); default: cpu for formats that sum stacks, everything for "
		  "others; not for formats marked \"no --kind\"",
	  .group = "Output" },
	{ OPT_OUTPUT(O(output)),
	  .help = "Write to FILE (default -, standard output); for parquet a new directory" },
	OPT_ROW_HELP,
};

static const struct opt_spec export_spec = {
	.name = "export",
	.brief = "Write a trace in the format of other tools: flame graphs, viewers, tables.",
	.usage = "dial9-prof export FORMAT [OPTIONS] [FILE]",
	OPT_ROWS(export_opts),
	.examples =
		"  dial9-prof export html -o trace.html && xdg-open trace.html\n"
		"  dial9-prof export folded | flamegraph.pl > cpu.svg\n"
		"  dial9-prof export folded --kind offcpu --comm worker | flamegraph.pl > off.svg\n"
		"  dial9-prof export perfetto -o trace.pftrace\n"
		"  dial9-prof export pprof -o cpu.pb.gz && go tool pprof -top cpu.pb.gz\n",
};

struct export_cmd {
	const struct export_cmd_opts *opts;
	const struct exporter *format;
	struct interval_reader timeline;
	struct export *x;
	struct out_file *sink;
	struct out_dir *dir; /* of a format with directory */
	const char *file; /* of a format that takes the trace itself */
	int copied; /* its bytes, if the file cannot be read again; -1: none */
};

/* ---- ^C ---------------------------------------------------------------------------------------- */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

enum { SIGNAL_CNT = sizeof(signals) / sizeof(signals[0]) };

static volatile sig_atomic_t stopped; /* by that signal */

static void on_signal(int sig)
{
	stopped = sig;
}

/* The second signal ends the program at once. */
static void catch_signals(struct sigaction old[SIGNAL_CNT])
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	stopped = 0;
	for (int i = 0; i < SIGNAL_CNT; i++) {
		sigaction(signals[i], NULL, &old[i]);
		/* nohup starts programs with an ignored signal */
		if (old[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
	}
}

/* Ends by the received signal, as the parent process expects. */
static void release_signals(const struct sigaction old[SIGNAL_CNT])
{
	for (int i = 0; i < SIGNAL_CNT; i++)
		sigaction(signals[i], &old[i], NULL);
	if (stopped)
		raise(stopped);
}

/* ---- reading ----------------------------------------------------------------------------------- */

static int write_out(void *ctx, const void *data, size_t sz)
{
	struct export_cmd *c = ctx;
	int err = 0;

	if (!c->sink) {
		err = out_file_open(c->opts->output ? c->opts->output : "-", (uid_t)-1, (gid_t)-1,
				    &c->sink);
		if (!err)
			out_file_hold(c->sink);
	}
	return err ? err : out_file_write(c->sink, data, sz);
}

static enum export_kind kind_of(const struct export_cmd *c)
{
	if (c->opts->kind == EXPORT_ALL && export_is_sum(c->format))
		return EXPORT_CPU;
	return (enum export_kind)c->opts->kind;
}

/* Not before the trace is open. */
static struct export *export_of(struct export_cmd *c)
{
	if (!c->x)
		c->x = export_new(&(struct export_opts){
			.format = c->format,
			.kind = kind_of(c),
			.reader = c->timeline.reader,
			.file = reader_input(c->timeline.reader),
			.dir = c->dir,
			.write = write_out,
			.ctx = c,
		});
	return c->x;
}

/* A loss belongs to the times during which events were lost, and to all threads. */
static bool is_loss_in_window(const struct export_cmd *c, const struct trace_event *ev)
{
	const struct interval_reader *t = &c->timeline;

	return c->format->all_losses && ev->kind == TRACE_LOST &&
	       select_overlaps(&t->sel, t->reader, ev->part,
			       trace_u64_or(ev, ROLE_FIRST_NS, ev->ts),
			       trace_u64_or(ev, ROLE_LAST_NS, ev->ts));
}

static void export_each_event(void *ctx, const struct trace *t, const struct trace_event *ev)
{
	struct export_cmd *c = ctx;

	if (trace_is_naming(ev->kind) ||
	    (!select_match(&c->timeline.sel, c->timeline.reader, ev) && !is_loss_in_window(c, ev)))
		return;
	export_event(export_of(c), ev);
}

static void export_each_interval(void *ctx, const struct interval *i)
{
	struct export_cmd *c = ctx;
	const struct interval_reader *t = &c->timeline;
	const struct names_task task = select_interval_task(t->reader, t->part, i);
	const bool wanted = select_match_task(&t->sel, t->names, &task, i->cpu);

	export_interval(export_of(c), t->intervals, i, task.cgroup, wanted);
}

static void reset_output(void *ctx)
{
	struct export_cmd *c = ctx;

	if (c->x)
		export_reset(c->x);
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* What each kind is called where there is none. */
static const char *const nothings[] = {
	[EXPORT_CPU] = "CPU samples",
	[EXPORT_OFFCPU] = "blocked time",
	[EXPORT_RUNQ] = "run-queue latency",
	[EXPORT_WALL] = "times",
	[EXPORT_ALL] = "events",
};

/*
 * An empty output looks like an error, and is an error if the user asked for that data. Returns @code, or the
 * error's.
 */
static int report_missing(const struct export_cmd *c, int code)
{
	const int kind = c->x->kind;
	const bool chosen = select_is_used(&c->timeline.sel);

	/* reported for a truncated trace */
	if (c->x->any || reader_is_truncated(c->timeline.reader))
		return code;
	if ((kind == EXPORT_OFFCPU || kind == EXPORT_RUNQ) &&
	    !interval_reader_has_states(&c->timeline))
		log_warn("export: %s has no context switches, which --kind %s needs", c->x->file,
			 export_kind_names[kind]);
	else if (chosen && code == CMD_OK)
		return select_report_missing(&c->timeline.sel, c->timeline.reader, nothings[kind]);
	else
		log_warn("export: nothing to export in %s; dial9-prof info lists the events",
			 c->x->file);
	return code;
}

/* Only a complete file gets its name. */
static int commit(struct export_cmd *c)
{
	return c->sink ? out_file_commit(c->sink) : 0;
}

static int finish(struct export_cmd *c)
{
	const int code = reader_is_incomplete(c->timeline.reader) ? CMD_INPUT : CMD_OK;
	struct export *x = export_of(c);
	int err, close_err;

	/* a directory with nothing but losses would only be in the way of the next try */
	if (c->dir && !x->any && code == CMD_OK && select_is_used(&c->timeline.sel))
		return report_missing(c, code);

	x->losses = &c->timeline.losses;
	x->span_start = interval_reader_start_ns(&c->timeline);
	x->span_ns = interval_reader_span_ns(&c->timeline);
	err = export_end(x);
	if (!err)
		err = commit(c);
	close_err = out_file_close(c->sink);
	if ((err && err != -EPIPE) || close_err)
		return CMD_OUTPUT;
	return report_missing(c, code);
}

static int export_file(const struct export_cmd_opts *opts, const struct exporter *format,
		       const char *path)
{
	struct export_cmd c = { .opts = opts, .format = format };
	const struct interval_reader_opts t = { .sel = &opts->sel,
						.fn = export_each_interval,
						.event = export_each_event,
						.reset =
							export_is_sum(format) ? reset_output : NULL,
						.ctx = &c,
						.stop = &stopped,
						.no_stacks = kind_of(&c) == EXPORT_CPU };
	int code;

	if (format->directory && out_dir_open(opts->output, &c.dir))
		return CMD_OUTPUT;
	code = interval_reader_run(&c.timeline, &t, path);
	if (code == CMD_OK && c.opts->kind == EXPORT_WALL &&
	    interval_reader_stays(&c.timeline, NULL, NULL)) {
		log_error("export: cannot use --kind wall with %s: " INTERVAL_PRINT_STAYS,
			  reader_input(c.timeline.reader));
		code = CMD_USAGE;
	}
	if (code == CMD_OK && !stopped)
		code = finish(&c);
	else
		out_file_close(c.sink);
	export_free(c.x);
	out_dir_free(c.dir);
	interval_reader_fini(&c.timeline);
	return code;
}

/* ---- the trace itself --------------------------------------------------------------------------- */

static int export_copied_bytes(void *ctx, const void *data, size_t sz)
{
	struct export_cmd *c = ctx;

	/* ends the copy without a line */
	if (stopped)
		return -EPIPE;
	if (c->copied >= 0 && spool_write(&c->copied, data, sz))
		return -EIO;
	if (!c->x)
		c->x = export_new(&(struct export_opts){ .format = c->format,
							 .kind = EXPORT_ALL,
							 .file = c->file,
							 .write = write_out,
							 .ctx = c });
	return export_bytes(c->x, data, sz);
}

static int open_copied(struct export_cmd *c, struct source **out)
{
	const int fd = c->copied;

	if (fd < 0)
		return source_open_again(c->file, out);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	c->copied = -1;
	return source_open_fd(fd, strcmp(c->file, "-") ? c->file : "standard input", out);
}

/*
 * Copied bytes were not decoded: reports damage, a later format and a truncated end, as for other formats. False: there
 * is nothing good.
 */
static bool check_bytes(struct export_cmd *c, int *code)
{
	struct trace_event ev;
	struct source *src;
	struct reader *r;
	int ret;

	*code = CMD_INPUT;
	if (open_copied(c, &src) || reader_new(src, READER_ONE_PASS, &r))
		return false;
	reader_skip_stacks(r);
	reader_skip_tasks(r);
	reader_skip_kinds(r, TRACE_KINDS_TRACEPOINT);
	do
		ret = reader_next(r, &ev);
	while (ret == 1 && !stopped);
	if (ret >= 0 && !reader_is_incomplete(r))
		*code = CMD_OK;
	reader_free(r);
	return ret >= 0;
}

static int export_itself(const struct export_cmd_opts *opts, const struct exporter *format,
			 const char *path)
{
	struct export_cmd c = { .opts = opts, .format = format, .file = path, .copied = -1 };
	const struct cut_out out = { export_copied_bytes, &c };
	const bool whole = !select_opts_are_used(&opts->sel);
	bool good;
	int code;

	if (whole && !spool_can_reopen(path)) {
		c.copied = spool_temp("export");
		if (c.copied < 0)
			return CMD_OUTPUT;
	}
	code = trace_bytes_write("export", &opts->sel, path, &out);
	/* what precedes the damage is exported */
	good = code == CMD_OK || code == CMD_INPUT;
	if (code == CMD_OK && whole && !stopped)
		good = check_bytes(&c, &code);
	if (good && c.x && !stopped && (export_end(c.x) || commit(&c)))
		code = CMD_OUTPUT;
	if (out_file_close(c.sink) && good)
		code = CMD_OUTPUT;
	if (c.copied >= 0)
		close(c.copied);
	export_free(c.x);
	return code;
}

/* ---- the command line --------------------------------------------------------------------------- */

static int export_to(const struct export_cmd_opts *opts, const struct exporter *format,
		     const char *path)
{
	struct sigaction old[SIGNAL_CNT];
	int code;

	catch_signals(old);
	code = (format->bytes ? export_itself : export_file)(opts, format, path);
	release_signals(old);
	return code;
}

/* NULL after one printed line. */
static const struct exporter *parse_format(const char *word)
{
	const struct exporter *format = word ? export_find(word) : NULL;
	const char *names[EXPORT_FORMAT_CNT], *near;
	struct buf all = { 0 };
	size_t n = 0;

	if (format)
		return format;
	for (; export_formats[n]; n++) {
		names[n] = export_formats[n]->name;
		buf_addstr(&all, n ? ", " : "");
		buf_addstr(&all, names[n]);
	}
	near = word ? opts_nearest(word, names, n) : NULL;
	if (!word)
		log_error("export: no format given; use dial9-prof export FORMAT, one of %s",
			  buf_cstr(&all));
	else if (near)
		log_error("export: unknown format '%s' (did you mean %s?)", word, near);
	else
		log_error("export: unknown format '%s' (known: %s)", word, buf_cstr(&all));
	buf_free(&all);
	return NULL;
}

static bool has_all_kinds(const struct exporter *format)
{
	return format->bytes || format->directory;
}

/* A format without intervals shows them by events, or not at all. */
static bool is_fit_for_kind(const struct exporter *format, int kind)
{
	if (kind == EXPORT_ALL)
		return true;
	if (has_all_kinds(format)) {
		log_error("export: %s contains all kinds of time; remove --kind", format->name);
		return false;
	}
	if (kind == EXPORT_CPU || format->profile || format->interval)
		return true;
	log_error("export: %s has no separate times; remove --kind %s", format->name,
		  export_kind_names[kind]);
	return false;
}

static bool is_fit_for_output(const struct exporter *format, const char *output)
{
	const bool to_stdout = !output || out_file_is_stdout(output);

	if (format->directory && to_stdout) {
		log_error("export: %s is a directory of files; use -o DIR", format->name);
		return false;
	}
	if (!format->binary || !to_stdout || !isatty(STDOUT_FILENO))
		return true;
	log_error("export: cannot write %s to a terminal; use -o FILE or a pipe", format->name);
	return false;
}

/* Examples, and the formats as they say what they are for. */
static void put_formats(struct buf *out)
{
	buf_addstr(out, export_spec.examples);
	buf_addstr(out, "\nFormats:\n");
	for (size_t i = 0; export_formats[i]; i++)
		buf_printf(out, "  %-11s  %s%s\n", export_formats[i]->name,
			   export_formats[i]->brief,
			   has_all_kinds(export_formats[i]) ? " (no --kind)" : "");
}

int cmd_export(int argc, char **argv)
{
	struct opt_spec spec = export_spec;
	struct buf tail = { 0 };
	struct export_cmd_opts opts = { .kind = EXPORT_ALL };
	int first, ret, code = CMD_USAGE;
	const struct exporter *format;
	const char *path;

	for (size_t i = 0; export_formats[i] && opts_is_completion(argc, argv); i++)
		opts_print_word(export_formats[i]->name, export_formats[i]->brief);
	put_formats(&tail);
	spec.examples = buf_cstr(&tail);
	ret = opts_parse(&spec, argc, argv, &opts, &first);
	if (ret == 1) {
		code = CMD_OK;
	} else if (!ret) {
		format = parse_format(first < argc ? argv[first] : NULL);
		path = format ? select_input(&opts.sel, argc, argv, first + 1) : NULL;
		if (path && is_fit_for_kind(format, opts.kind) &&
		    is_fit_for_output(format, opts.output) &&
		    !out_file_is_input("export", opts.output, path))
			code = export_to(&opts, format, path);
	}
	opts_fini(&spec, &opts);
	buf_free(&tail);
	return code;
}
