// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof script`: one event a line, laid out as perf script does it, so that what people have
 * built on its output goes on working. Owns the layout of lines and of stacks; names have been
 * resolved by the reader, and which events are wanted is select.c's to say.
 *
 * The stack of a switch-out is an event of its own behind the switch, at the same time and thread;
 * it is printed below the line of its switch when it follows at once, as perf has it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/ends.h"
#include "cmd/progress.h"
#include "cmd/select.h"
#include "cmd/text.h"
#include "cmd/view.h"

enum script_field {
	F_COMM,
	F_PID,
	F_TID,
	F_CPU,
	F_TIME,
	F_EVENT,
	F_TRACE,
	F_IP,
	F_SYM,
	F_SYMOFF,
	F_DSO,
	F_SRCLINE,
	F_END,
	F_CNT,
};

static const char *const field_names[F_CNT] = {
	[F_COMM] = "comm", [F_PID] = "pid",	  [F_TID] = "tid",     [F_CPU] = "cpu",
	[F_TIME] = "time", [F_EVENT] = "event",	  [F_TRACE] = "trace", [F_IP] = "ip",
	[F_SYM] = "sym",   [F_SYMOFF] = "symoff", [F_DSO] = "dso",     [F_SRCLINE] = "srcline",
	[F_END] = "end",
};

#define FIELDS_ALL ((1u << F_CNT) - 1)
#define FIELDS_DEFAULT (FIELDS_ALL & ~(1u << F_SRCLINE | 1u << F_END))
#define FIELDS_STACK (1u << F_IP | 1u << F_SYM | 1u << F_DSO | 1u << F_SRCLINE)

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
	  .help = "at the end of the file wait for more" },
	SELECT_OPTS(struct script_opts, sel),
	{ .name = "event",
	  .key = 'e',
	  .kind = OPT_LIST,
	  .off = O(events),
	  .arg = "GLOB",
	  .help = "only such events, as in 'sched:*'; may be repeated" },
	{ .name = "all",
	  .kind = OPT_FLAG,
	  .off = O(all),
	  .help = "also the events that only carry names and accounts" },
	{ .name = "limit",
	  .kind = OPT_U64,
	  .off = O(limit),
	  .arg = "N",
	  .help = "stop after N events (default 0: never)" },
	{ .name = "fields",
	  .key = 'F',
	  .kind = OPT_STR,
	  .off = O(fields),
	  .arg = "LIST",
	  .help = "what to print: comm,pid,tid,cpu,time,event,trace,ip,sym,symoff,dso,srcline,"
		  "end; +name and -name change the default (all but srcline and end)",
	  .group = "Output" },
	{ .name = "ns", .kind = OPT_FLAG, .off = O(ns), .help = "times to the nanosecond" },
	{ .name = "json", .kind = OPT_FLAG, .off = O(json), .help = "one JSON object a line" },
	VIEW_OPTS(struct script_opts, view),
	{ .name = "help", .key = 'h', .kind = OPT_HELP, .help = "this text" },
};

static const struct opt_spec script_spec = {
	.name = "script",
	.usage = "dial9-prof script [OPTIONS] [FILE]",
	.brief = "Print a trace, one event a line, as perf script does.",
	.opts = script_opts,
	.cnt = sizeof(script_opts) / sizeof(script_opts[0]),
	.examples = "  dial9-prof script -e 'sched:*' -t 4242\n"
		    "  dial9-prof script --time +1,+2 trace.bin | stackcollapse-perf.pl\n",
};

struct script {
	const struct script_opts *opts;
	struct reader *reader;
	const struct names *names;
	struct select sel;
	unsigned int fields;
	const char *sample_name; /* what samples are called: the clock that takes them */
	struct buf line;
	uint64_t printed;
	uint32_t part; /* of the event printed last */
	uint64_t last_ts; /* of the switch printed last, */
	uint32_t last_tid; /* and its thread; TRACE_NONE: it cannot get a stack any more */
};

/* ---- options ----------------------------------------------------------------------------------- */

static int field_find(const char *s, size_t n)
{
	for (int i = 0; i < F_CNT; i++)
		if (strlen(field_names[i]) == n && !memcmp(field_names[i], s, n))
			return i;
	return -ENOENT;
}

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
		f = field_find(word, n);
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

static bool has(const struct script *s, enum script_field f)
{
	return s->fields & 1u << f;
}

/* ---- lines ------------------------------------------------------------------------------------- */

/*
 * perf pads the name unless a stack may stand below the line, and stackcollapse-perf.pl goes by the
 * first character: a line that starts with a blank is a frame to it.
 */
static size_t comm_width(const struct script *s, const struct trace_event *ev)
{
	if (!(s->fields & FIELDS_STACK))
		return 16;
	return ev->frames || ev->kind == TRACE_SCHED_SWITCH ? 0 : 16;
}

static void put_task(struct script *s, const struct trace_event *ev)
{
	struct buf name = { 0 };

	if (has(s, F_COMM)) {
		if (ev->comm != NAMES_NONE)
			text_name(&name, s->names, ev->comm);
		else if (ev->tid != TRACE_NONE)
			buf_printf(&name, ":%u", ev->tid);
		for (size_t w = text_width(buf_cstr(&name), name.len); w < comm_width(s, ev); w++)
			buf_addch(&s->line, ' ');
		buf_add(&s->line, buf_cstr(&name), name.len);
		buf_addch(&s->line, ' ');
		buf_free(&name);
	}
	/* -1 is what perf prints for a process that it does not know */
	if (has(s, F_PID) && has(s, F_TID))
		buf_printf(&s->line, "%7d/%-7d ", (int)ev->pid, (int)ev->tid);
	else if (has(s, F_PID) || has(s, F_TID))
		buf_printf(&s->line, "%7d ", (int)(has(s, F_PID) ? ev->pid : ev->tid));
}

static void put_event_name(struct script *s, const struct trace_event *ev)
{
	if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SWITCH_OUT)
		buf_addstr(&s->line, "switch-out");
	else if (ev->kind == TRACE_SAMPLE)
		text_clean(&s->line, s->sample_name, strlen(s->sample_name));
	else
		text_name(&s->line, s->names, ev->schema->name);
	buf_addch(&s->line, ':');
}

static void put_prefix(struct script *s, const struct trace_event *ev)
{
	put_task(s, ev);
	if (has(s, F_CPU)) {
		if (ev->cpu != TRACE_NONE)
			buf_printf(&s->line, "[%03u] ", ev->cpu);
		else
			buf_addstr(&s->line, "[---] ");
	}
	if (has(s, F_TIME)) {
		if (!ev->has_ts)
			buf_printf(&s->line, "%12s: ", "-");
		else if (s->opts->ns)
			buf_printf(&s->line, "%5" PRIu64 ".%09" PRIu64 ": ", ev->ts / 1000000000,
				   ev->ts % 1000000000);
		else
			buf_printf(&s->line, "%5" PRIu64 ".%06" PRIu64 ": ", ev->ts / 1000000000,
				   ev->ts % 1000000000 / 1000);
	}
	if (has(s, F_EVENT))
		put_event_name(s, ev);
}

/* Fields that the prefix or the stack has shown already. */
static bool field_shown(const struct trace_event *ev, size_t i)
{
	const int32_t *role = ev->schema->role;
	int32_t at = (int32_t)i;

	if (at == role[ROLE_COMMON_CPU] || at == role[ROLE_COMMON_PID])
		return true;
	return ev->frames && at == role[ROLE_CALLCHAIN];
}

static void put_fields(struct script *s, const struct trace_event *ev)
{
	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		if (field_shown(ev, i))
			continue;
		buf_addch(&s->line, ' ');
		text_name(&s->line, s->names, ev->schema->field_names[i]);
		buf_addch(&s->line, '=');
		text_field(&s->line, reader_trace(s->reader), ev, i);
	}
}

/* ---- stacks ------------------------------------------------------------------------------------ */

static void put_frame(struct script *s, uint64_t frame, const struct names_frame *f, bool inlined)
{
	uint32_t module = names_frame_module(frame);
	uint64_t addr = names_frame_addr(s->names, frame);

	if (names_module(s->names, module)->announced)
		addr &= PROF_FRAME_OFFSET_MASK;
	buf_addch(&s->line, '\t');
	if (has(s, F_IP))
		buf_printf(&s->line, "%16" PRIx64, addr);
	if (has(s, F_SYM)) {
		buf_addch(&s->line, ' ');
		if (f)
			text_name(&s->line, s->names, f->name);
		else
			buf_addstr(&s->line, "[unknown]");
		if (f && has(s, F_SYMOFF) && !inlined && f->base <= frame &&
		    names_frame_module(f->base) == module)
			buf_printf(&s->line, "+0x%" PRIx64, frame - f->base);
	}
	if (has(s, F_DSO)) {
		buf_addstr(&s->line, " (");
		if (inlined)
			buf_addstr(&s->line, "inlined");
		else
			text_module(&s->line, s->names, module);
		buf_addch(&s->line, ')');
	}
	buf_addch(&s->line, '\n');
	if (has(s, F_SRCLINE) && f && f->file != NAMES_NONE) {
		buf_addstr(&s->line, "  ");
		text_name(&s->line, s->names, f->file);
		buf_printf(&s->line, ":%u\n", f->line);
	}
}

/* Below the outermost frame, when the stack does not reach its root. */
static void put_end(struct script *s, const struct trace_event *ev)
{
	uint8_t end = stack_ends_of(ev);

	if (has(s, F_END) && end != PROF_END_COMPLETE && end != PROF_END_NOT_WALKED)
		buf_printf(&s->line, "  [ends here: %s]\n", ends_text(end));
}

static void put_stack(struct script *s, const struct trace_event *ev)
{
	for (uint32_t i = 0; i < ev->frame_cnt; i++) {
		const struct names_symbol *sym = names_symbol(s->names, ev->frames[i]);
		uint32_t depth = sym ? sym->cnt : 0;

		while (depth-- > 1)
			if (sym->frames[depth].name != NAMES_NONE)
				put_frame(s, ev->frames[i], &sym->frames[depth], true);
		put_frame(s, ev->frames[i],
			  sym && sym->frames[0].name != NAMES_NONE ? &sym->frames[0] : NULL, false);
	}
	put_end(s, ev);
	buf_addch(&s->line, '\n');
}

/* The stack of the switch that was printed last. */
static bool is_below(const struct script *s, const struct trace_event *ev)
{
	return !s->opts->json && ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SWITCH_OUT &&
	       s->last_tid == ev->tid && s->last_ts == ev->ts;
}

static void put_text(struct script *s, const struct trace_event *ev)
{
	bool stack = ev->frames && s->fields & FIELDS_STACK;
	bool below = is_below(s, ev);

	if (below && !stack)
		return;
	if (!below) {
		put_prefix(s, ev);
		if (has(s, F_TRACE) && ev->kind != TRACE_SAMPLE)
			put_fields(s, ev);
		buf_addch(&s->line, '\n');
	}
	if (stack)
		put_stack(s, ev);
	s->last_tid = ev->kind == TRACE_SCHED_SWITCH ? ev->tid : TRACE_NONE;
	s->last_ts = ev->ts;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_frame(struct script *s, uint64_t frame, const struct names_frame *f, bool inlined)
{
	uint32_t module = names_frame_module(frame);
	struct buf path = { 0 };

	buf_printf(&s->line,
		   "{\"addr\":\"0x%" PRIx64 "\",\"sym\":", names_frame_addr(s->names, frame));
	text_json_name(&s->line, s->names, f ? f->name : NAMES_NONE);
	if (f && f->base <= frame && names_frame_module(f->base) == module)
		buf_printf(&s->line, ",\"off\":%" PRIu64, frame - f->base);
	buf_addstr(&s->line, ",\"dso\":");
	if (names_module(s->names, module)->announced) {
		text_module(&path, s->names, module);
		str_json(&s->line, buf_cstr(&path), path.len);
	} else {
		buf_addstr(&s->line, "null");
	}
	buf_free(&path);
	if (f && f->file != NAMES_NONE) {
		buf_addstr(&s->line, ",\"file\":");
		text_json_name(&s->line, s->names, f->file);
		buf_printf(&s->line, ",\"line\":%u", f->line);
	}
	buf_addstr(&s->line, inlined ? ",\"inlined\":true}" : "}");
}

static void json_stack(struct script *s, const struct trace_event *ev)
{
	bool first = true;

	buf_addstr(&s->line, ",\"stack\":[");
	for (uint32_t i = 0; i < ev->frame_cnt; i++) {
		const struct names_symbol *sym = names_symbol(s->names, ev->frames[i]);
		uint32_t depth = sym ? sym->cnt : 1;

		while (depth--) {
			const struct names_frame *f = sym ? &sym->frames[depth] : NULL;

			if (f && f->name == NAMES_NONE)
				f = NULL;
			if (!f && depth)
				continue;
			if (!first)
				buf_addch(&s->line, ',');
			first = false;
			json_frame(s, ev->frames[i], f, depth > 0);
		}
	}
	buf_addch(&s->line, ']');
}

static void json_fields(struct script *s, const struct trace_event *ev)
{
	const struct trace *t = reader_trace(s->reader);
	bool first = true;

	buf_addstr(&s->line, ",\"fields\":{");
	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		if (field_shown(ev, i))
			continue;
		if (!first)
			buf_addch(&s->line, ',');
		first = false;
		text_json_name(&s->line, s->names, ev->schema->field_names[i]);
		buf_addch(&s->line, ':');
		text_json_field(&s->line, t, ev, i);
	}
	buf_addch(&s->line, '}');
}

/* Beside the exact numbers, what the kernel prints for those that have a name, and how a stack ends. */
static void json_texts(struct script *s, const struct trace_event *ev)
{
	uint8_t end = stack_ends_of(ev);
	const struct trace *t = reader_trace(s->reader);
	struct buf text = { 0 };
	bool any = false;

	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		buf_clear(&text);
		if (!trace_field_text(t, ev, i, &text))
			continue;
		buf_addstr(&s->line, any ? "," : ",\"text\":{");
		any = true;
		text_json_name(&s->line, s->names, ev->schema->field_names[i]);
		buf_addch(&s->line, ':');
		str_json(&s->line, buf_cstr(&text), text.len);
	}
	if (end != PROF_END_NOT_WALKED) {
		buf_printf(&s->line, "%s\"user_end\":\"%s\"", any ? "," : ",\"text\":{",
			   ends_word(end));
		any = true;
	}
	if (any)
		buf_addch(&s->line, '}');
	buf_free(&text);
}

static void put_json(struct script *s, const struct trace_event *ev)
{
	if (ev->has_ts)
		buf_printf(&s->line, "{\"ts\":%" PRIu64, ev->ts);
	else
		buf_addstr(&s->line, "{\"ts\":null");
	if (s->names->parts.cnt > 1)
		buf_printf(&s->line, ",\"part\":%u", ev->part + 1);
	buf_addstr(&s->line, ",\"event\":");
	text_json_name(&s->line, s->names, ev->schema->name);
	if (ev->comm != NAMES_NONE) {
		buf_addstr(&s->line, ",\"comm\":");
		text_json_name(&s->line, s->names, ev->comm);
	}
	if (ev->pid != TRACE_NONE)
		buf_printf(&s->line, ",\"pid\":%u", ev->pid);
	if (ev->tid != TRACE_NONE)
		buf_printf(&s->line, ",\"tid\":%u", ev->tid);
	if (ev->cpu != TRACE_NONE)
		buf_printf(&s->line, ",\"cpu\":%u", ev->cpu);
	json_fields(s, ev);
	json_texts(s, ev);
	if (ev->frames)
		json_stack(s, ev);
	buf_addstr(&s->line, "}\n");
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* Names and accounts are not what happened; but loss is, and it is shown unasked. */
static bool is_background(enum trace_kind kind)
{
	return trace_is_naming(kind) || kind == TRACE_CLOCK_SYNC || kind == TRACE_STATS;
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
		    str_glob(globs->v[i], PROF_EV_SCHED_SWITCH))
			return true;
	}
	return false;
}

/*
 * A line that perf's scripts skip, where another recording begins: what is above and below may come
 * from two hosts.
 */
static void put_part(struct script *s, const struct trace_event *ev)
{
	const struct part *part = names_part(s->names, ev->part);

	if (ev->part == s->part)
		return;
	s->part = ev->part;
	s->last_tid = TRACE_NONE;
	if (s->opts->json)
		return;
	buf_printf(&s->line, "# part %u", ev->part + 1);
	if (part->host != NAMES_NONE) {
		buf_addstr(&s->line, " (");
		text_name(&s->line, s->names, part->host);
		buf_addch(&s->line, ')');
	}
	if (part->clock == ev->part)
		buf_addstr(&s->line, ": its times do not compare with those above\n");
	else
		buf_printf(&s->line, ": on the clock of part %u\n", part->clock + 1);
}

static int run(struct script *s)
{
	uint64_t limit = s->opts->limit ? s->opts->limit : UINT64_MAX;
	struct trace_event ev;
	const char *clock;
	bool below;
	int ret;

	while ((ret = reader_next(s->reader, &ev)) == 1) {
		select_see(&s->sel, s->reader, &ev);
		if (ev.kind == TRACE_SAMPLE) {
			clock = names_meta(s->names, ev.part, PROF_META_SAMPLE_EVENT);
			s->sample_name = clock && *clock ? clock : PROF_EV_CPU_SAMPLE;
		}
		if (!event_wanted(s, &ev) || !select_match(&s->sel, s->reader, &ev))
			continue;
		below = ev.part == s->part && is_below(s, &ev);
		if (s->printed == limit && !below)
			return 0;
		buf_clear(&s->line);
		put_part(s, &ev);
		if (s->opts->json)
			put_json(s, &ev);
		else
			put_text(s, &ev);
		fwrite(buf_cstr(&s->line), 1, s->line.len, stdout);
		if (s->opts->follow)
			fflush(stdout);
		if (ferror(stdout))
			return 0;
		s->printed += !below;
	}
	return ret;
}

/* An empty output looks like an empty trace: say that it was the options. */
static void say_nothing_printed(const struct script *s)
{
	const struct select_opts *sel = &s->opts->sel;
	bool chosen = s->opts->events.cnt || sel->pids.cnt || sel->tids.cnt || sel->comms.cnt ||
		      sel->cgroups.cnt || sel->cpus.cnt || s->sel.has_time;

	if (chosen)
		log_warn("script: no event that -e, " SELECT_NAMES " let through; "
			 "dial9-prof info lists what there is");
}

static int script_file(const struct script_opts *opts, const char *path)
{
	struct script s = { .opts = opts, .fields = FIELDS_DEFAULT, .last_tid = TRACE_NONE };
	struct view_opts shown = opts->view;
	struct progress *progress;
	struct view view;
	int err, out;

	if (opts->fields && parse_fields(opts->fields, &s.fields))
		return CMD_USAGE;
	if (select_init(&s.sel, &opts->sel))
		return CMD_USAGE;
	/* shares of the whole need a pass of their own, in which the names are learnt as well */
	err = progress_open(path,
			    select_wants_scan(&s.sel) ? READER_ONE_PASS :
			    opts->follow	      ? READER_FOLLOW :
							READER_NAMES_AHEAD,
			    &s.reader, &progress);
	if (err) {
		select_fini(&s.sel);
		return CMD_INPUT;
	}
	s.names = reader_names(s.reader);
	if (select_wants_scan(&s.sel))
		err = select_scan(&s.sel, s.reader);
	progress_end(progress);
	/* what is still to come would wait for the screen to fill */
	shown.no_pager |= opts->follow;
	view_begin(&view, &shown, opts->json);
	if (!err)
		err = run(&s);
	out = view_end(&view);
	if (!err && !s.printed && !opts->follow && out == CMD_OK && !select_is_reversed(&s.sel))
		say_nothing_printed(&s);
	if (err || (out == CMD_OK && reader_is_newer(s.reader)))
		out = CMD_INPUT;
	if (select_is_reversed(&s.sel))
		out = CMD_USAGE;
	select_fini(&s.sel);
	reader_free(s.reader);
	buf_free(&s.line);
	return out;
}

int cmd_script(int argc, char **argv)
{
	struct script_opts opts = { 0 };
	int first, ret, code = CMD_USAGE;
	const char *path;

	ret = opts_parse(&script_spec, argc, argv, &opts, &first);
	if (ret == 1) {
		code = CMD_OK;
	} else if (!ret) {
		path = select_input(&opts.sel, argc, argv, first);
		if (path)
			code = script_file(&opts, path);
	}
	opts_fini(&script_spec, &opts);
	return code;
}
