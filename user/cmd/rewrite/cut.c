// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof cut`: copies a part of a trace. Owns the options, the passes over the input and the decision on each
 * event; cut_needs.c finds what kept events need, and cut_copy.c copies.
 *
 * Names may follow the events that use them, and the needed names are known only at the end. So the input is read
 * three times: for its names and times, for the kept events and their needs, and to write. For files of many
 * segments, a fourth pass finds empty segments. A pipe is copied to a temporary file first. Events keep their
 * order, values and segment.
 *
 * Only names lie outside the window: the wall clock and the recorder's last figures, which hold for the whole
 * recording, are moved to its edges.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/out_file.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/input.h"
#include "cmd/common/progress.h"
#include "cmd/common/report_text.h"
#include "cmd/common/select.h"
#include "cmd/rewrite/cut.h"
#include "export/script_line.h"
#include "rewrite/copy/cut_copy.h"
#include "rewrite/copy/spool.h"
#include "rewrite/cut/cut_needs.h"

#define NOWHERE UINT64_MAX

struct cut_opts {
	struct select_opts sel;
	struct opt_list events;
	const char *output;
	bool anonymize, quiet;
};

#define O(m) offsetof(struct cut_opts, m)

static const struct opt cut_opts[] = {
	SELECT_OPT_INPUT(struct cut_opts, sel),
	{ OPT_OUTPUT(O(output)), .help = "Write to FILE; - is standard output", .group = "Output" },
	{ .name = "anonymize",
	  .kind = OPT_FLAG,
	  .off = O(anonymize),
	  .help = "Replace names of processes, files, hosts and functions; equal names stay equal" },
	OPT_ROW_QUIET(O(quiet)),
	SELECT_OPTS(struct cut_opts, sel),
	SELECT_OPT_EVENT(O(events)),
	OPT_ROW_HELP,
};

static const struct opt_spec cut_spec = {
	.name = "cut",
	.usage = "dial9-prof cut [OPTIONS] [FILE] -o OUT",
	.brief = "Write a smaller trace: selected events, with their names and symbols.",
	OPT_ROWS(cut_opts),
	.examples = "  dial9-prof cut --time +1.5,+2 trace.bin -o stall.bin\n"
		    "  dial9-prof cut -p 4242 -e 'sched:*' -o switches.bin\n"
		    "  dial9-prof cut --anonymize trace.bin -o for-others.bin\n",
};

/* State of a part of the stream after the first pass. */
struct cut_part {
	bool live; /* something of it is kept */
	bool has_ts;
	uint64_t first_ts, last_ts; /* of kept events */
	uint64_t kept, left_out;
	uint64_t meta, stats; /* offsets of its first metadata, its last figures */
	uint64_t sync; /* of the ClockSyncEvent to keep in addition to those in the window */
	bool sync_before; /* which is before it */
};

struct cut {
	const struct cut_opts *opts;
	struct reader *reader;
	struct names *names;
	struct select sel;
	struct cut_needs needs;
	struct cut_part *parts;
	size_t part_cap;
	uint8_t *segments; /* something of it is kept */
	size_t segment_cap;
	bool any; /* a part is live */
	/* the last kept wakeup: the stack of its waker follows directly */
	bool above;
	uint64_t above_ts;
	uint32_t above_tid;
	struct anonymize anonymize;
	struct cut_copy copy;
	struct out_file *sink;
	const struct cut_out *out; /* in place of the sink; NULL: the sink */
	int level; /* of the output's format */
	uint64_t segment; /* that is being written */
	uint64_t refused; /* events that cannot be written */
	bool write_failed; /* the sink has said why */
	int write_err;
	struct buf how; /* what was asked for, in words */
};

/* ---- which events ------------------------------------------------------------------------------ */

static enum cut_place place_of(const struct cut *c, const struct trace_event *ev)
{
	if (!c->opts->sel.time || !ev->has_ts ||
	    select_overlaps(&c->sel, c->reader, ev->part, ev->ts, ev->ts))
		return CUT_INSIDE;
	return select_overlaps(&c->sel, c->reader, ev->part, ev->ts, UINT64_MAX) ? CUT_BEFORE :
										   CUT_AFTER;
}

static bool glob_matches(const struct cut *c, const struct trace_event *ev, const char *glob)
{
	const char *sampler;

	if (str_glob(glob, names_str(c->names, ev->schema->name, NULL)))
		return true;
	if (ev->kind != TRACE_SAMPLE)
		return false;
	/* a switch is wanted with its stack */
	if (ev->source == PROF_SOURCE_SWITCH_OUT)
		return str_glob(glob, SCRIPT_SWITCH_OUT) || str_glob(glob, PROF_EV_SCHED_SWITCH);
	if (ev->source == PROF_SOURCE_WAKING)
		return str_glob(glob, SCRIPT_WAKER);
	if (ev->source == PROF_SOURCE_EVENT)
		return str_glob(glob, SCRIPT_EVENT_STACK);
	sampler = names_meta(c->names, ev->part, PROF_META_SAMPLE_EVENT);
	return sampler && str_glob(glob, sampler);
}

/* An event of the recording, not of the recorder itself. */
static bool happens(enum trace_kind kind)
{
	return !trace_is_naming(kind) && !trace_is_recorder_info(kind) && kind != TRACE_LOST;
}

/*
 * A wakeup or another event is kept with its stack, even if its waker is not selected. Call it once per pass for
 * each event, in order.
 */
static bool event_wanted(struct cut *c, const struct trace_event *ev)
{
	const struct opt_list *globs = &c->opts->events;
	bool named = !globs->cnt, wanted;

	for (size_t i = 0; i < globs->cnt && !named; i++)
		named = glob_matches(c, ev, globs->v[i]);
	wanted = named && select_match(&c->sel, c->reader, ev);
	if (ev->kind == TRACE_SAMPLE &&
	    (ev->source == PROF_SOURCE_WAKING || ev->source == PROF_SOURCE_EVENT))
		wanted |= c->above && c->above_ts == ev->ts && c->above_tid == ev->tid;
	c->above = wanted && (ev->kind == TRACE_SCHED_WAKING || ev->kind == TRACE_TRACEPOINT ||
			      ev->kind == TRACE_OFF_CPU);
	c->above_ts = ev->ts;
	c->above_tid = ev->tid;
	return wanted;
}

/* Selected threads may have lost something, but not on another CPU. */
static bool loss_wanted(const struct cut *c, const struct trace_event *ev)
{
	const struct opt_u32s *cpus = &c->opts->sel.cpus;
	bool listed = !cpus->cnt || ev->cpu == PROF_LOST_ANY_CPU;

	for (size_t i = 0; i < cpus->cnt && !listed; i++)
		listed = cpus->v[i] == ev->cpu;
	return listed && select_overlaps(&c->sel, c->reader, ev->part,
					 trace_u64_or(ev, ROLE_FIRST_NS, ev->ts),
					 trace_u64_or(ev, ROLE_LAST_NS, ev->ts));
}

/* ---- the pass that looks ----------------------------------------------------------------------- */

static struct cut_part *part_of(struct cut *c, uint32_t part)
{
	size_t was = c->part_cap;

	c->parts = array_reserve(c->parts, &c->part_cap, (size_t)part + 1, sizeof(*c->parts));
	for (; was < c->part_cap; was++)
		c->parts[was] =
			(struct cut_part){ .meta = NOWHERE, .stats = NOWHERE, .sync = NOWHERE };
	return &c->parts[part];
}

static void mark_segment(struct cut *c, uint64_t segment)
{
	c->segments = array_reserve(c->segments, &c->segment_cap, segment + 1, 1);
	c->segments[segment] = 1;
}

static bool segment_kept(const struct cut *c, uint64_t segment)
{
	return segment < c->segment_cap && c->segments[segment];
}

static void keep(struct cut *c, struct cut_part *part, const struct trace_event *ev)
{
	part->live = c->any = true;
	mark_segment(c, ev->segment);
	cut_needs_event(&c->needs, c->reader, ev);
	if (!happens(ev->kind))
		return;
	part->kept++;
	if (!ev->has_ts)
		return;
	if (!part->has_ts || ev->ts < part->first_ts)
		part->first_ts = ev->ts;
	if (!part->has_ts || ev->ts > part->last_ts)
		part->last_ts = ev->ts;
	part->has_ts = true;
}

static void check_clock(struct cut_part *part, const struct trace_event *ev, enum cut_place place)
{
	if (place == CUT_BEFORE || (place == CUT_AFTER && part->sync == NOWHERE)) {
		part->sync = ev->offset;
		part->sync_before = place == CUT_BEFORE;
	} else if (place == CUT_INSIDE && !part->sync_before) {
		part->sync = ev->offset; /* kept as it is, so nothing else need be */
		part->sync_before = true;
	}
}

static void scan_event(struct cut *c, const struct trace_event *ev)
{
	struct cut_part *part = part_of(c, ev->part);
	enum cut_place place = place_of(c, ev);

	if (ev->kind == TRACE_TASK)
		cut_needs_add_task(&c->needs, c->reader, ev, place);
	else if (ev->kind == TRACE_CLOCK_SYNC)
		check_clock(part, ev, place);
	else if (ev->kind == TRACE_STATS)
		part->stats = ev->offset;
	else if (ev->kind == TRACE_METADATA && part->meta == NOWHERE)
		part->meta = ev->offset;
	else if (happens(ev->kind) ? event_wanted(c, ev) :
				     ev->kind == TRACE_LOST && loss_wanted(c, ev))
		keep(c, part, ev);
	else if (happens(ev->kind))
		part->left_out++;
}

/* ---- what is written --------------------------------------------------------------------------- */

/* What is kept from outside of the window moves to its edge: the cut begins and ends there. */
static uint64_t time_in(const struct cut_part *part, const struct trace_event *ev,
			enum cut_place place)
{
	if (place == CUT_INSIDE || !part->has_ts)
		return ev->ts;
	return place == CUT_BEFORE ? part->first_ts : part->last_ts;
}

/* Whether the event is, in the first place; and when. Its segment has a say, too. */
static bool kept(struct cut *c, const struct trace_event *ev, uint64_t *ts)
{
	const struct cut_part *part = &c->parts[ev->part];
	enum cut_place place = place_of(c, ev);
	bool yes;

	*ts = time_in(part, ev, place);
	/* what is left of a merged stream needs the part that it begins with, be that empty */
	if (ev->kind == TRACE_MERGED_PART)
		return c->any && (part->live || names_part(c->names, ev->part)->base == ev->part);
	/* a trace of which nothing is left still says where it came from */
	if (!part->live)
		return !c->any && ev->kind == TRACE_METADATA && ev->offset == part->meta &&
		       !ev->part;
	if (trace_is_naming(ev->kind))
		return ev->kind == TRACE_METADATA ||
		       cut_needs_naming(&c->needs, c->reader, ev, place);
	if (happens(ev->kind))
		return event_wanted(c, ev);
	if (ev->kind == TRACE_LOST)
		yes = loss_wanted(c, ev);
	else if (ev->kind == TRACE_SEGMENT_END)
		yes = false; /* of another file */
	else if (place == CUT_INSIDE)
		yes = true;
	else
		yes = ev->offset == (ev->kind == TRACE_STATS ? part->stats : part->sync);
	return yes;
}

/* A segment is kept if it has kept events, or describes its part. */
static void mark(struct cut *c, const struct trace_event *ev)
{
	const struct cut_part *part = &c->parts[ev->part];
	uint64_t ts;

	if (!kept(c, ev, &ts))
		return;
	if (ev->kind == TRACE_TASK || ev->kind == TRACE_SYMBOL || ev->offset == part->meta ||
	    ev->offset == part->sync || ev->offset == part->stats)
		mark_segment(c, ev->segment);
}

static void put_ids(struct buf *out, const struct opt_u32s *ids)
{
	for (size_t i = 0; i < ids->cnt; i++)
		buf_printf(out, "%s%u", i ? "," : "", ids->v[i]);
}

/* The threads of which the trace knows that they are wanted. */
static void put_threads(struct buf *out, const struct cut *c)
{
	const size_t from = out->len;
	size_t pos = 0;
	uint64_t key;
	void *task;

	while (hmap_next(&c->names->tasks, &pos, &key, &task)) {
		if (!select_match_task(&c->sel, c->names, task, TRACE_NONE))
			continue;
		buf_printf(out, "%s%u", out->len > from ? "," : "", (uint32_t)key);
	}
}

/*
 * The followed threads in the cut: other threads appear only in the switches of these. False: unchanged.
 */
static bool put_target(struct buf *out, const struct cut *c, uint32_t part)
{
	static const char command[] = "command ";
	const struct select_opts *o = &c->opts->sel;
	const char *was = names_meta(c->names, part, PROF_META_TARGET);

	if (o->comms.cnt || o->cgroups.cnt || (o->tids.cnt && o->pids.cnt)) {
		buf_addstr(out, "tid ");
		put_threads(out, c);
	} else if (o->tids.cnt) {
		buf_addstr(out, "tid ");
		put_ids(out, &o->tids);
	} else if (o->pids.cnt) {
		buf_addstr(out, "pid ");
		put_ids(out, &o->pids);
	} else if (c->opts->anonymize && was) {
		buf_addstr(out,
			   strncmp(was, command, strlen(command)) ? was : "command (anonymized)");
	} else {
		return false;
	}
	return true;
}

/* Whether -e keeps context switches. */
static bool keeps_switches(const struct cut *c)
{
	const struct opt_list *globs = &c->opts->events;
	bool keeps = !globs->cnt;

	for (size_t i = 0; i < globs->cnt && !keeps; i++)
		keeps = str_glob(globs->v[i], PROF_EV_SCHED_SWITCH);
	return keeps;
}

static int write_metadata(struct cut *c, const struct trace_event *ev, uint64_t ts, const char *how,
			  const char *left_out)
{
	const struct select_opts *o = &c->opts->sel;
	const bool some = o->pids.cnt || o->tids.cnt || o->comms.cnt || o->cgroups.cnt;
	struct cut_entry entries[7] = { { PROF_META_CUT, how },
					{ PROF_META_CUT_LEFT_OUT, left_out } };
	struct buf target = { 0 };
	size_t cnt = 2;
	int err;

	if (put_target(&target, c, ev->part))
		entries[cnt++] = (struct cut_entry){ PROF_META_TARGET, buf_cstr(&target) };
	if (some)
		entries[cnt++] = (struct cut_entry){ PROF_META_INHERIT, "no" };
	if (some && names_meta(c->names, ev->part, PROF_META_FOLLOWED))
		entries[cnt++] = (struct cut_entry){ PROF_META_FOLLOWED, "within" };
	if ((some || c->opts->events.cnt) && names_meta(c->names, ev->part, PROF_META_NEIGHBOURS))
		entries[cnt++] = (struct cut_entry){ PROF_META_NEIGHBOURS, "no" };
	if (!keeps_switches(c))
		entries[cnt++] = (struct cut_entry){ PROF_META_SWITCHES, "no" };
	err = cut_copy_event(&c->copy, ev, ts, 0, entries, cnt);
	buf_free(&target);
	return err;
}

static const char *anonymized_cut(const char *how)
{
	return strstr(how, PROF_CUT_CPUS) ? "cut before" PROF_CUT_CPUS "..." : "cut before";
}

static int write_event(struct cut *c, const struct trace_event *ev, uint64_t ts)
{
	const struct cut_part *part = &c->parts[ev->part];
	const char *before = names_meta(c->names, ev->part, PROF_META_CUT_LEFT_OUT);
	const char *was = names_meta(c->names, ev->part, PROF_META_CUT);
	struct buf how = { 0 };
	char number[32];
	uint64_t left_out = 0;
	int err;

	if (ev->kind == TRACE_CLOCK_SYNC && ts != ev->ts)
		return cut_copy_clock(&c->copy, ev, ts);
	if (ev->kind != TRACE_METADATA || !names_part(c->names, ev->part)->by_recorder)
		return cut_copy_event(&c->copy, ev, ts, cut_needs_module(c->reader, ev), NULL, 0);
	if (before)
		str_parse_u64(before, UINT64_MAX, &left_out);
	snprintf(number, sizeof(number), "%" PRIu64, left_out + part->left_out);
	if (was)
		buf_printf(&how, "%s, then ", c->opts->anonymize ? anonymized_cut(was) : was);
	buf_addstr(&how, buf_cstr(&c->how));
	err = write_metadata(c, ev, ts, buf_cstr(&how), number);
	buf_free(&how);
	return err;
}

/* Events that the format cannot represent are skipped; other errors end the run. */
static int write_kept(struct cut *c, const struct trace_event *ev)
{
	uint64_t ts;
	int err = 0;

	if (!segment_kept(c, ev->segment) || !kept(c, ev, &ts))
		return 0;
	if (ev->segment != c->segment && c->segment != NOWHERE) {
		notes_copy_reset(&c->copy.notes);
		err = dial9_enc_reset(c->copy.enc);
	}
	c->segment = ev->segment;
	if (!err)
		err = write_event(c, ev, ts);
	if (err != -EILSEQ && err != -ERANGE && err != -EPROTOTYPE)
		return c->write_err = err;
	c->refused++;
	return 0;
}

static int write_out(void *ctx, const void *data, size_t sz)
{
	struct cut *c = ctx;
	int err = c->out ? c->out->write(c->out->ctx, data, sz) : out_file_write(c->sink, data, sz);

	c->write_failed |= err != 0;
	return err;
}

/* ---- the passes -------------------------------------------------------------------------------- */

enum pass { PASS_LOOK, PASS_MARK, PASS_WRITE };

static int run_pass(struct cut *c, enum pass pass)
{
	struct trace_event ev;
	int ret, err = 0;

	while (!err && (ret = reader_next(c->reader, &ev)) == 1) {
		if (pass == PASS_LOOK)
			scan_event(c, &ev);
		else if (pass == PASS_MARK)
			mark(c, &ev);
		else
			err = write_kept(c, &ev);
	}
	return err ? err : ret;
}

/* Whether what may be written takes a type or frame that 0.3 does not have. */
static bool needs_level4(const struct cut *c)
{
	struct trace_schema *const *v;
	size_t cnt;

	v = trace_schemas(reader_trace(c->reader), &cnt);
	for (size_t i = 0; i < cnt; i++) {
		if (happens(v[i]->kind) && !cut_needs_has_event(&c->needs, v[i]->name))
			continue;
		if (trace_schema_needs_level4(v[i]))
			return true;
	}
	return false;
}

static int scan_input(struct cut *c)
{
	int err = select_scan(&c->sel, c->reader);

	if (!err)
		err = run_pass(c, PASS_LOOK);
	part_of(c, (uint32_t)c->names->parts.cnt);
	if (c->names->segment == 1)
		mark_segment(c, 0);
	if (!err)
		c->level = needs_level4(c) ? DIAL9_LEVEL_4 : DIAL9_LEVEL_3;
	if (!err)
		err = reader_rewind(c->reader);
	if (err || c->names->segment <= 1)
		return err;
	err = run_pass(c, PASS_MARK);
	return err ? err : reader_rewind(c->reader);
}

static int write_all(struct cut *c)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts),
				       .write = write_out,
				       .ctx = c,
				       .level = c->level,
				       .first_type_id = 256 };
	int err = c->out ? 0 : out_file_open(c->opts->output, (uid_t)-1, (gid_t)-1, &c->sink);

	if (err)
		return CMD_OUTPUT;
	err = c->write_err = dial9_enc_new(&opts, &c->copy.enc);
	c->segment = NOWHERE;
	c->copy.reader = c->reader;
	c->copy.anonymize = c->opts->anonymize ? &c->anonymize : NULL;
	if (!err)
		err = run_pass(c, PASS_WRITE);
	if (err && !c->write_err)
		return CMD_INPUT;
	if (!err)
		err = dial9_enc_flush(c->copy.enc);
	if (err && !c->write_failed)
		log_error("cut: cannot write %s: %s", c->opts->output,
			  c->copy.enc ? dial9_enc_error(c->copy.enc) : strerror(-err));
	return !err || (err == -EPIPE && c->write_failed) ? CMD_OK : CMD_OUTPUT;
}

/* ---- words ------------------------------------------------------------------------------------- */

static void put_list(struct buf *out, const char *option, const struct opt_list *list, bool secret)
{
	for (size_t i = 0; i < list->cnt; i++)
		buf_printf(out, " %s %s", option, secret ? "..." : list->v[i]);
}

static void put_numbers(struct buf *out, const char *option, const struct opt_u32s *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		buf_printf(out, "%s%u", i ? "," : option, list->v[i]);
}

/* The selection, for those who find the file. */
static void put_options(struct buf *out, const struct cut_opts *o)
{
	buf_addstr(out, "cut");
	if (o->sel.time)
		buf_printf(out, " --time %s", o->sel.time);
	put_numbers(out, " -p ", &o->sel.pids);
	put_numbers(out, " -t ", &o->sel.tids);
	put_numbers(out, PROF_CUT_CPUS, &o->sel.cpus);
	put_list(out, "--comm", &o->sel.comms, o->anonymize);
	put_list(out, "--cgroup", &o->sel.cgroups, o->anonymize);
	put_list(out, "-e", &o->events, false);
	if (o->anonymize)
		buf_addstr(out, " --anonymize");
}

/* Nothing was kept: one line, and the exit code where it was chosen. */
static int report_nothing_kept(const struct cut *c)
{
	if (select_is_used(&c->sel))
		return select_report_missing(&c->sel, c->reader, "events");
	if (c->opts->events.cnt) {
		log_error("no events in %s: none match -e", reader_input(c->reader));
		return CMD_USAGE;
	}
	if (!c->opts->quiet)
		log_warn("cut: %s has no event", reader_input(c->reader));
	return CMD_OK;
}

static int print_summary(const struct cut *c)
{
	char kept_text[32], all[32], bytes[32], all_bytes[32];
	uint64_t sum = 0, left_out = 0;

	for (size_t i = 0; i < c->part_cap; i++) {
		sum += c->parts[i].kept;
		left_out += c->parts[i].left_out;
	}
	if (c->refused)
		log_warn("cut: %" PRIu64 " events skipped: this format cannot represent them",
			 c->refused);
	if (!sum)
		return report_nothing_kept(c);
	if (c->opts->quiet)
		return CMD_OK;
	str_count(kept_text, sum);
	str_count(all, sum + left_out);
	str_bytes(bytes, dial9_enc_bytes(c->copy.enc));
	str_bytes(all_bytes, trace_consumed(reader_trace(c->reader)));
	fprintf(stderr, "dial9-prof: cut: kept %s of %s events, %s of %s%s\n", kept_text, all,
		bytes, all_bytes,
		reader_is_incomplete(c->reader) ? "; part of the trace is missing" : "");
	return CMD_OK;
}

/* ---- input ------------------------------------------------------------------------------------- */

static int open_pipe(const char *path, struct reader **out)
{
	struct source *src;
	int err = spool_open("cut", path, &src);

	return err ? err : reader_new(src, READER_ONE_PASS, out);
}

/* ---- the run ----------------------------------------------------------------------------------- */

static int run(struct cut *c)
{
	int code, err = scan_input(c), close_err;

	if (select_is_reversed(&c->sel))
		return CMD_USAGE;
	if (err)
		return CMD_INPUT;
	code = write_all(c);
	if (code == CMD_OK)
		code = print_summary(c);
	close_err = out_file_close(c->sink);
	if (code == CMD_OK && close_err)
		code = CMD_OUTPUT;
	if (code == CMD_OK && (reader_is_incomplete(c->reader) || c->refused))
		code = CMD_INPUT;
	return code;
}

static int cut_file(const struct cut_opts *opts, const char *path, const struct cut_out *out)
{
	struct cut c = { .opts = opts, .out = out };
	struct progress *progress = NULL;
	int err, code = CMD_INPUT;

	if (select_init(&c.sel, &opts->sel))
		return CMD_USAGE;
	err = spool_is_regular(path) ? progress_open(path, READER_ONE_PASS, &c.reader, &progress) :
				       open_pipe(path, &c.reader);
	if (!err) {
		c.names = reader_names(c.reader);
		put_options(&c.how, opts);
		code = run(&c);
		progress_end(progress);
	}
	dial9_enc_free(c.copy.enc);
	cut_copy_fini(&c.copy);
	cut_needs_fini(&c.needs);
	anonymize_fini(&c.anonymize);
	select_fini(&c.sel);
	reader_free(c.reader);
	buf_free(&c.how);
	free(c.segments);
	free(c.parts);
	return code;
}

int cut_to(const struct select_opts *sel, const char *path, const struct cut_out *out)
{
	const struct cut_opts opts = { .sel = *sel, .output = "the output", .quiet = true };

	return cut_file(&opts, path, out);
}

static const char *conflict(const struct cut_opts *opts)
{
	if (!opts->output)
		return "no output given; use -o FILE, or -o - for standard output";
	if (out_file_is_stdout(opts->output) && isatty(STDOUT_FILENO))
		return "-o - needs a pipe or a file; standard output is a terminal";
	return NULL;
}

int cmd_cut(int argc, char **argv)
{
	struct cut_opts opts = { 0 };
	int first, ret, code = CMD_USAGE;
	const char *path, *why;

	ret = opts_parse(&cut_spec, argc, argv, &opts, &first);
	if (ret == 1) {
		code = CMD_OK;
	} else if (!ret) {
		why = conflict(&opts);
		if (why)
			log_error("cut: %s; see dial9-prof cut --help", why);
		path = why ? NULL : select_input(&opts.sel, argc, argv, first);
		if (path && !out_file_is_input("cut", opts.output, path))
			code = cut_file(&opts, path, NULL);
	}
	opts_fini(&cut_spec, &opts);
	return code;
}
