// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof info`: the content of a trace and its reliability. Owns the text; profile/sums/event_counts.c counts.
 * It prints all of the recorder's data about itself, and one line of event accounting, which either balances or is
 * flagged.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/input.h"
#include "cmd/common/progress.h"
#include "cmd/common/report_text.h"
#include "cmd/common/unnamed_reason.h"
#include "cmd/inspect/info.h"
#include "cmd/inspect/show_foreign.h"
#include "export/unwind_status.h"
#include "profile/sched/offcpu_interval.h"

#define O(m) offsetof(struct info_opts, m)

static const struct opt info_opts[] = {
	SELECT_OPT_INPUT(struct info_opts, sel),
	{ INPUT_OPT_FROM(O(from)), .help = "Format of the input (default auto)" },
	{ .name = "schemas",
	  .kind = OPT_FLAG,
	  .off = O(schemas),
	  .help = "Also print the fields of each event type",
	  .group = "Output" },
	{ .name = "modules",
	  .kind = OPT_FLAG,
	  .off = O(modules),
	  .help = "Also print all modules with full paths and build IDs" },
	OPT_ROW_JSON(O(json)),
	{ .name = "verify",
	  .kind = OPT_FLAG,
	  .off = O(verify),
	  .help = "Only check whether the whole trace is valid, and print the first error" },
	VIEW_OPTS(struct info_opts, view),
};

static const struct opt_spec info_spec = {
	.name = "info",
	.usage = "dial9-prof info [OPTIONS] [FILE]",
	.brief = "Print what a trace contains, what was lost, and the cost of recording.",
	OPT_ROWS(info_opts),
	.examples = "  dial9-prof info trace.bin\n"
		    "  dial9-prof info --verify trace.bin\n"
		    "  sudo dial9-prof -p 4242 -o - | dial9-prof info -\n",
};

/* Metadata with a line of its own, in the order of printing. */
static const struct {
	const char *label, *key;
} meta_lines[] = {
	{ "host", PROF_META_HOST },
	{ "boot", PROF_META_BOOT_ID },
	{ "kernel", PROF_META_KERNEL },
	{ "machine", PROF_META_ARCH },
	{ "cpus", PROF_META_CPUS },
	{ "command", PROF_META_COMMAND_LINE },
	{ "target", PROF_META_TARGET },
	{ "selected", PROF_META_SELECTION },
	{ "recorded CPUs", PROF_META_RECORDED_CPUS },
	{ "recorder", PROF_META_VERSION },
	{ "clock", PROF_META_CLOCK },
	{ "sums of ns", PROF_META_SUMMARY_NS },
	{ "sampled by", PROF_META_SAMPLE_EVENT },
	{ "switch stacks", PROF_META_SWITCH_STACKS },
	{ "call graph", PROF_META_CALL_GRAPH },
	{ "cut by", PROF_META_CUT },
};

/* Metadata that other lines make use of. */
static const char *const meta_hidden[] = {
	PROF_META_SAMPLE_PERIOD_NS, PROF_META_SAMPLE_HZ,    PROF_META_START_REALTIME_NS,
	PROF_META_RING_BYTES,	    PROF_META_CUT_LEFT_OUT, PROF_META_FOLLOWED,
	PROF_META_OFF_MIN_NS,	    PROF_META_OFF_MAX_NS,   PROF_META_SWITCHES,
	PROF_META_MAX_OVERHEAD_PPM,
};

static bool meta_has_line(const char *key)
{
	for (size_t i = 0; i < sizeof(meta_lines) / sizeof(meta_lines[0]); i++)
		if (!strcmp(key, meta_lines[i].key))
			return true;
	for (size_t i = 0; i < sizeof(meta_hidden) / sizeof(meta_hidden[0]); i++)
		if (!strcmp(key, meta_hidden[i]))
			return true;
	return false;
}

static void put_label(struct info *in, const char *label)
{
	buf_printf(&in->out, "%-15s ", label);
}

/* What else there is to say of a line's value. */
static void put_meta_more(struct info *in, uint32_t part, const char *key)
{
	const char *hz = names_meta(in->names, part, PROF_META_SAMPLE_HZ);
	const char *left_out = names_meta(in->names, part, PROF_META_CUT_LEFT_OUT);
	uint64_t cnt;

	if (!strcmp(key, PROF_META_SAMPLE_EVENT) && hz) {
		buf_addstr(&in->out, " at ");
		value_text_clean(&in->out, hz, strlen(hz));
		buf_addstr(&in->out, " Hz");
	}
	if (!strcmp(key, PROF_META_CUT) && left_out && !str_parse_u64(left_out, UINT64_MAX, &cnt)) {
		buf_addstr(&in->out, ": ");
		str_counted(&in->out, cnt, "event");
		buf_addstr(&in->out, " of the recording skipped");
	}
}

static void put_meta(struct info *in, uint32_t part)
{
	const struct part *p = names_part(in->names, part);
	uint64_t min_ns, max_ns;

	for (size_t i = 0; i < sizeof(meta_lines) / sizeof(meta_lines[0]); i++) {
		const char *value = names_meta(in->names, part, meta_lines[i].key);

		if (!value || !*value)
			continue;
		put_label(in, meta_lines[i].label);
		value_text_clean(&in->out, value, strlen(value));
		put_meta_more(in, part, meta_lines[i].key);
		buf_addch(&in->out, '\n');
	}
	if (offcpu_interval_is_recorded(in->names, part, &min_ns, &max_ns)) {
		put_label(in, "switches");
		report_text_stays(&in->out, min_ns, max_ns, "\n");
	}
	for (size_t i = 0; i < p->meta_cnt; i++) {
		const struct parts_meta *m = &p->meta[i];
		struct buf label = { 0 };

		if (meta_has_line(names_str(in->names, m->key, NULL)))
			continue;
		value_text_name(&label, in->names, m->key);
		put_label(in, buf_cstr(&label));
		value_text_name(&in->out, in->names, m->value);
		buf_addch(&in->out, '\n');
		buf_free(&label);
	}
}

/* ---- time -------------------------------------------------------------------------------------- */

static void put_time(struct info *in, uint32_t part)
{
	const struct event_counts_part *c = event_counts_part(&in->counts, part);
	const struct part *p = names_part(in->names, part);
	char text[64], zone[16];
	struct tm tm;
	uint64_t real;
	time_t sec;

	if (!c->has_ts)
		return;
	if (p->synced) {
		real = p->real + (c->first_ts - p->mono);
		sec = (time_t)(real / 1000000000);
		if (localtime_r(&sec, &tm) && strftime(text, sizeof(text), "%F %T", &tm) &&
		    strftime(zone, sizeof(zone), "%z", &tm)) {
			put_label(in, "start");
			buf_printf(&in->out, "%s.%03" PRIu64 " %s\n", text,
				   real % 1000000000 / 1000000, zone);
		}
	}
	put_label(in, "span");
	buf_printf(&in->out, "%.6f s (%" PRIu64 ".%06" PRIu64 " to %" PRIu64 ".%06" PRIu64 ")\n",
		   (double)(c->last_ts - c->first_ts) / 1e9, c->first_ts / 1000000000,
		   c->first_ts % 1000000000 / 1000, c->last_ts / 1000000000,
		   c->last_ts % 1000000000 / 1000);
}

/* ---- what is in it ----------------------------------------------------------------------------- */

static void put_ends(struct info *in)
{
	const struct stack_ends *e = &in->counts.ends;
	uint8_t early[STACK_ENDS_CNT];
	char stacks[32];
	size_t cnt;

	if (!e->stacks)
		return;
	put_label(in, "user stacks");
	unwind_status_put_sum(&in->out, e);
	buf_addch(&in->out, '\n');
	cnt = stack_ends_early(e, early);
	for (size_t i = 0; i < cnt; i++) {
		str_count(stacks, e->by_end[early[i]]);
		put_label(in, "");
		buf_printf(&in->out, "%s (%.2f%%): %s\n", stacks,
			   unwind_status_percent(e, e->by_end[early[i]]),
			   unwind_status_text(early[i]));
	}
}

/* What the last line of `record` counts: the rest comes from it, or names things. */
static void put_recorded(struct info *in)
{
	const uint64_t recorded = event_counts_tracepoints(&in->counts);

	if (!recorded)
		return;
	put_label(in, "");
	str_counted(&in->out, recorded, "recorded event");
	buf_addstr(&in->out, " and ");
	str_counted(&in->out, in->counts.samples, "sample");
	buf_addstr(&in->out,
		   ", as record counts them; the others are stacks, symbols and metadata\n");
}

static void put_size(struct info *in)
{
	char events[32], bytes[32], stacks[32];
	const struct event_counts *c = &in->counts;

	str_count(events, c->events);
	str_bytes(bytes, in->bytes);
	put_label(in, "events");
	buf_printf(&in->out, "%s in %s", events, bytes);
	if (c->events)
		buf_printf(&in->out, " (%.1f B/event)", (double)in->bytes / (double)c->events);
	buf_addstr(&in->out, ", ");
	str_counted(&in->out, in->names->segment, "segment");
	buf_addch(&in->out, '\n');
	put_recorded(in);
	str_count(stacks, c->switch_stacks);
	put_label(in, "stacks");
	str_counted(&in->out, c->samples, "sample");
	buf_printf(&in->out, ", %s off-CPU stacks", stacks);
	str_count(stacks, c->wakeup_stacks);
	if (c->wakeup_stacks)
		buf_printf(&in->out, ", %s waker stacks", stacks);
	str_count(stacks, c->event_stacks);
	if (c->event_stacks)
		buf_printf(&in->out, ", %s stacks of other events", stacks);
	if (c->user_truncated || c->kernel_truncated)
		buf_printf(&in->out,
			   "; cut at the frame limit: %" PRIu64 " user, %" PRIu64 " kernel",
			   c->user_truncated, c->kernel_truncated);
	buf_addch(&in->out, '\n');
	put_ends(in);
	if (in->torn) {
		put_label(in, "note");
		buf_printf(&in->out, "the %s; everything before it is counted\n",
			   reader_is_newer(in->reader)	 ? "rest has a newer format" :
			   reader_is_damaged(in->reader) ? "rest is damaged and missing here" :
							   "end is truncated");
	}
}

/* What the kinds of loss count, in words. */
static const struct {
	const char *kind, *noun, *text;
} loss_texts[] = {
	{ PROF_LOST_RING_FULL, "event", "dropped: ring buffer full" },
	{ PROF_LOST_NESTED, "event", "during the program of another event" },
	{ PROF_LOST_NESTED_SCHED, "event", "during another scheduler event" },
	{ PROF_LOST_NESTED_AT_MOST, "event",
	  "during the program of another event, if they were to be recorded" },
	{ PROF_LOST_MALFORMED, "event", "with a size that does not match the format" },
	{ PROF_LOST_READ_FAILED, "event", "that could not be read" },
	{ PROF_LOST_HOLE, "time range",
	  "whose file is missing or damaged: unknown number of events" },
	{ PROF_LOST_SAMPLE_RING_FULL, "sample", "dropped: ring buffer full" },
	{ PROF_LOST_SAMPLE_ESTIMATE, "sample", "dropped by the kernel (estimate)" },
	{ PROF_LOST_STACKS_THINNED, "stack",
	  "dropped while a ring buffer or the recorder's queue was nearly full; their events are recorded" },
	{ PROF_LOST_SIDEBAND, "record", "dropped by the kernel" },
	{ PROF_LOST_SIDEBAND_DAMAGED, "record", "damaged" },
	{ PROF_LOST_SIDEBAND_MAPS, "record", "of a process with too many mappings" },
	{ PROF_LOST_SIDEBAND_STALLED, "stall", "of reading a CPU's records" },
	{ PROF_LOST_SIDEBAND_DOUBT, "stack", "with mappings that may have changed" },
};

static void put_kind(struct info *in, const struct event_counts_loss *l)
{
	size_t i, cnt = sizeof(loss_texts) / sizeof(loss_texts[0]);
	struct buf name = { 0 };
	char count[32];

	value_text_name(&name, in->names, l->kind);
	for (i = 0; i < cnt && strcmp(buf_cstr(&name), loss_texts[i].kind); i++)
		;
	if (i < cnt) {
		if (!strcmp(loss_texts[i].kind, PROF_LOST_NESTED_AT_MOST))
			buf_addstr(&in->out, "up to ");
		str_counted(&in->out, l->count, loss_texts[i].noun);
		buf_printf(&in->out, " %s (%s)", loss_texts[i].text, buf_cstr(&name));
	} else {
		str_count(count, l->count);
		buf_printf(&in->out, "%s %s", count, buf_cstr(&name));
	}
	buf_free(&name);
}

static void put_between(struct info *in, const struct event_counts_loss *l)
{
	buf_printf(&in->out, ", between %" PRIu64 ".%06" PRIu64 " and %" PRIu64 ".%06" PRIu64 "\n",
		   l->first_ns / 1000000000, l->first_ns % 1000000000 / 1000,
		   l->last_ns / 1000000000, l->last_ns % 1000000000 / 1000);
}

static void put_kinds(struct info *in, const struct event_counts_part *c, const char *label,
		      bool sideband)
{
	for (size_t i = 0; i < c->loss_cnt; i++) {
		const struct event_counts_loss *l = &c->losses[i];

		if (loss_accounting_is_sideband(l->cls) != sideband ||
		    l->cls == LOSS_ACCOUNTING_PAUSES || l->cls == LOSS_ACCOUNTING_STACKS ||
		    l->cls == LOSS_ACCOUNTING_SLICES)
			continue;
		put_label(in, label);
		label = "";
		put_kind(in, l);
		put_between(in, l);
	}
}

static void put_skipped_slices(struct info *in, const struct event_counts_part *c)
{
	for (size_t i = 0; i < c->loss_cnt; i++) {
		if (c->losses[i].cls != LOSS_ACCOUNTING_STACKS)
			continue;
		put_label(in, "dropped");
		put_kind(in, &c->losses[i]);
		put_between(in, &c->losses[i]);
	}
}

static void put_pauses(struct info *in, const struct event_counts_part *c)
{
	for (size_t i = 0; i < c->loss_cnt; i++) {
		const struct event_counts_loss *l = &c->losses[i];
		const char *kind = names_str(in->names, l->kind, NULL);
		const bool kept = strcmp(kind, PROF_LOST_NOT_KEPT);

		if (l->cls != LOSS_ACCOUNTING_PAUSES && l->cls != LOSS_ACCOUNTING_SLICES)
			continue;
		if (l->cls == LOSS_ACCOUNTING_SLICES)
			put_label(in, "skipped");
		else
			put_label(in, kept ? "paused" : "not kept");
		str_counted(&in->out, l->count, "time range");
		buf_printf(&in->out, " %s, %.6f s in total",
			   kept ? "on purpose" : "between snapshots", (double)l->ns / 1e9);
		put_between(in, l);
	}
}

/* Marks the lines from there on as what makes all others doubtful. */
static void paint_from(struct info *in, size_t from)
{
	struct buf lines = { 0 };
	const char *s, *end;

	buf_add(&lines, in->out.data + from, in->out.len - from);
	in->out.len = from;
	for (s = buf_cstr(&lines); (end = strchr(s, '\n')); s = end + 1) {
		color_put(&in->out, in->view.color, COLOR_WARN, s, (size_t)(end - s));
		buf_addch(&in->out, '\n');
	}
	buf_free(&lines);
}

static void put_loss(struct info *in, uint32_t part)
{
	const struct event_counts_part *c = event_counts_part(&in->counts, part);
	const struct loss_accounting *a = &c->account;
	struct buf sideband = { 0 };
	size_t from;

	info_account(in, &c->stats.figures, names_meta(in->names, part, PROF_META_CUT), a->at_most);
	if (!loss_accounting_is_incomplete(a)) {
		put_label(in, "lost");
		buf_addstr(&in->out, c->stats.figures.known ?
					     "nothing\n" :
					     "nothing (no statistics in the trace)\n");
	}
	from = in->out.len;
	if (loss_accounting_is_incomplete(a)) {
		put_kinds(in, c, "lost", false);
	}
	if (report_text_sideband(&sideband, a)) {
		put_label(in, "metadata");
		buf_printf(&in->out, "%s\n", buf_cstr(&sideband));
		put_kinds(in, c, "", true);
	}
	if (in->out.len > from)
		paint_from(in, from);
	put_skipped_slices(in, c);
	put_pauses(in, c);
	if (!names_meta(in->names, part, PROF_META_CUT))
		info_written_here(in, &c->stats.figures, c->tracepoints);
	buf_free(&sideband);
}

static void put_types(struct info *in)
{
	const struct event_counts *c = &in->counts;
	char bytes[32], events[32];

	buf_addstr(&in->out, "\n     Bytes  B/event         Count  Event\n");
	for (size_t i = 0; i < c->type_cnt; i++) {
		const struct event_counts_type *t = &c->types[i];

		str_bytes(bytes, t->bytes);
		str_count(events, t->events);
		buf_printf(&in->out, "%10s %8.1f %13s  ", bytes,
			   (double)t->bytes / (double)t->events, events);
		value_text_name(&in->out, in->names, t->name);
		buf_addch(&in->out, '\n');
	}
	str_bytes(bytes, in->overhead_bytes);
	buf_printf(&in->out, "%10s %8s %13s  (headers, schemas, pools, resets)\n", bytes, "-", "-");
}

/* ---- modules and schemas ----------------------------------------------------------------------- */

/* Some modules show the remedy for missing symbols; others are listed on request. */
enum { UNNAMED_MAX = 10, PATH_COLS = 48 };

static void put_unnamed_module(struct info *in, const struct event_counts_module *m)
{
	char unnamed[32], frames[32];
	struct buf path = { 0 };

	str_count(unnamed, m->unnamed);
	str_count(frames, m->frames);
	buf_printf(&in->out, "  %s of %s  ", unnamed, frames);
	value_text_module(&path, in->names, m->module);
	report_text_path(&in->out, buf_cstr(&path), path.len,
			 in->opts->modules ? SIZE_MAX : PATH_COLS);
	buf_free(&path);
	buf_addstr(&in->out, ": ");
	unnamed_reason_of_unnamed(&in->out, in->names, &in->counts, m->module);
	buf_addch(&in->out, '\n');
}

static void put_unnamed(struct info *in)
{
	size_t cnt, unnamed = 0, shown;
	struct event_counts_module *v = event_counts_modules(&in->counts, in->names, &cnt);

	while (unnamed < cnt && v[unnamed].unnamed)
		unnamed++;
	shown = in->opts->modules || unnamed <= UNNAMED_MAX ? unnamed : UNNAMED_MAX;
	if (shown)
		buf_addstr(&in->out, "\nUnresolved addresses by module:\n");
	for (size_t i = 0; i < shown; i++)
		put_unnamed_module(in, &v[i]);
	if (shown < unnamed)
		buf_printf(&in->out, "  and %zu more (--modules)\n", unnamed - shown);
	free(v);
}

static void put_ends_by_module(struct info *in)
{
	const struct stack_ends *e = &in->counts.ends;
	char stacks[32];
	size_t cnt;
	struct stack_ends_module *v = stack_ends_modules(e, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		if (!i)
			buf_addstr(&in->out, "\nUser stacks that end early, by module:\n");
		str_count(stacks, v[i].stacks);
		buf_printf(&in->out, "  %s (%.2f%%)  ", stacks,
			   unwind_status_percent(e, v[i].stacks));
		value_text_module(&in->out, in->names, v[i].module);
		buf_printf(&in->out, ": %s\n", unwind_status_text(v[i].end));
	}
	free(v);
}

/* A worker that died is started again, and asked for all but the file that did it. */
static void put_workers(struct info *in)
{
	const struct event_counts *c = &in->counts;

	if (!c->crashes && !c->hangs)
		return;
	put_label(in, "symbol worker");
	if (c->crashes) {
		buf_addstr(&in->out, "crashed on ");
		str_counted(&in->out, c->crashes, "file");
	}
	if (c->hangs) {
		buf_addstr(&in->out, c->crashes ? ", hung on " : "hung on ");
		str_counted(&in->out, c->hangs, "file");
	}
	buf_addstr(&in->out, "; a new one read the other files\n");
}

static void put_modules(struct info *in)
{
	const struct names *n = in->names;

	buf_addstr(&in->out, "\nModules:\n");
	for (size_t i = 1; i < n->module_cnt; i++) {
		const struct names_module *m = &n->modules[i];

		if (!m->announced || m->group != i)
			continue;
		buf_printf(&in->out, "  %6u  ", m->id);
		value_text_module(&in->out, n, (uint32_t)i);
		if (m->build_id_sz)
			buf_addstr(&in->out, "  ");
		str_hex(&in->out, m->build_id, m->build_id_sz);
		buf_addch(&in->out, '\n');
	}
}

/* A field's annotations: " (counter, ns)". */
static void put_meaning(struct info *in, const struct field_units *m)
{
	const char *kind = m->kind_declared ? field_units_kind_name(m->kind) : NULL;
	const char *sep = " (";

	if (kind) {
		buf_printf(&in->out, "%s%s", sep, kind);
		sep = ", ";
	}
	if (m->unit_declared && m->unit != NAMES_NONE) {
		buf_addstr(&in->out, sep);
		value_text_name(&in->out, in->names, m->unit);
		sep = ", ";
	}
	if (m->names != NAMES_NONE) {
		buf_printf(&in->out, "%snames", sep);
		sep = ", ";
	}
	if (sep[0] == ',')
		buf_addch(&in->out, ')');
}

static void put_schemas(struct info *in)
{
	struct trace_schema *const *v;
	size_t cnt;

	v = trace_schemas(reader_trace(in->reader), &cnt);
	buf_addstr(&in->out, "\nSchemas:\n");
	for (size_t i = 0; i < cnt; i++) {
		if (!trace_schema_is_real(v[i]))
			continue;
		buf_addstr(&in->out, "  ");
		value_text_name(&in->out, in->names, v[i]->name);
		for (size_t f = 0; f < v[i]->field_cnt; f++) {
			buf_addstr(&in->out, f ? ", " : "  {");
			value_text_name(&in->out, in->names, v[i]->field_names[f]);
			buf_printf(&in->out, " %s",
				   dial9_type_name(dial9_schema_field_type(v[i]->schema, f)));
			put_meaning(in, trace_field_units(v[i], f));
		}
		buf_addstr(&in->out, v[i]->field_cnt ? "}" : "  {}");
		if (!dial9_schema_has_timestamp(v[i]->schema))
			buf_addstr(&in->out, " without time");
		buf_addch(&in->out, '\n');
	}
}

/* ---- parts ------------------------------------------------------------------------------------- */

static void put_part(struct info *in, uint32_t part)
{
	put_meta(in, part);
	put_time(in, part);
}

/* The file's data outside its parts, if there are several. */
static void put_sums(struct info *in)
{
	const struct parts *p = &in->names->parts;
	size_t clocks = parts_clocks(p);

	put_label(in, "recordings");
	buf_printf(&in->out, "%s%zu in one file, on ", p->overflow ? "more than " : "", p->cnt);
	if (clocks == 1)
		buf_addstr(&in->out, "one clock\n");
	else if (parts_are_aligned(p))
		buf_printf(
			&in->out,
			"%zu clocks, aligned by wall clock: times compare as exactly as the wall clocks\n",
			clocks);
	else
		buf_printf(&in->out, "%zu clocks: times of different clocks are not comparable\n",
			   clocks);
	put_label(in, "lost");
	report_text_lost(&in->out, &in->counts.account);
	buf_addch(&in->out, '\n');
}

static void put_shift(struct info *in, int64_t ns)
{
	const uint64_t abs = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	buf_printf(&in->out, ", times shifted by %s%" PRIu64 ".%09" PRIu64 " s", ns < 0 ? "-" : "+",
		   abs / 1000000000, abs % 1000000000);
}

static void put_parts(struct info *in)
{
	const struct parts *p = &in->names->parts;
	const struct event_counts_part *c;
	char events[32];

	for (uint32_t i = 0; i < p->cnt; i++) {
		c = event_counts_part(&in->counts, i);
		buf_printf(&in->out, "\nRecording %u, ", i + 1);
		if (p->v[i].base != i)
			buf_printf(&in->out, "merged into recording %u", p->v[i].base + 1);
		else
			buf_printf(&in->out, "from byte %" PRIu64, p->v[i].begin);
		if (p->v[i].shift_ns)
			put_shift(in, p->v[i].shift_ns);
		if (p->v[i].clock != i)
			buf_printf(&in->out, ", on the clock of recording %u", p->v[i].clock + 1);
		buf_addstr(&in->out, ":\n");
		put_part(in, i);
		put_label(in, "events");
		str_count(events, c->events);
		buf_printf(&in->out, "%s, including ", events);
		str_counted(&in->out, c->samples, "sample");
		buf_addch(&in->out, '\n');
		put_loss(in, i);
		info_cost(in, i);
	}
}

/* The lowest level of dial9 that has all of what is in the trace, and what of it 0.3 does not have. */
static void put_level(struct info *in)
{
	const unsigned int uses = trace_uses(reader_trace(in->reader));
	const char *sep = ": ";

	put_label(in, "format");
	buf_printf(&in->out, "dial9 %s", uses ? "0.4" : "0.3");
	for (size_t i = 0; i < INFO_USE_CNT; i++) {
		if (!(uses & info_uses[i].bit))
			continue;
		buf_printf(&in->out, "%s%s", sep, info_uses[i].text);
		sep = ", ";
	}
	buf_addch(&in->out, '\n');
}

static void put_text(struct info *in)
{
	bool single = in->names->parts.cnt == 1;

	put_label(in, "trace");
	value_text_clean(&in->out, reader_input(in->reader), strlen(reader_input(in->reader)));
	buf_addch(&in->out, '\n');
	info_files_before(in);
	put_level(in);
	if (single)
		put_part(in, 0);
	info_triggers_put(in);
	put_size(in);
	if (single) {
		put_loss(in, 0);
		info_cost(in, 0);
	} else {
		put_sums(in);
	}
	put_workers(in);
	if (!single)
		put_parts(in);
	put_types(in);
	put_unnamed(in);
	put_ends_by_module(in);
	if (in->opts->modules)
		put_modules(in);
	if (in->opts->schemas)
		put_schemas(in);
}

/* ---- the run ----------------------------------------------------------------------------------- */

static int info_dial9(const struct info_opts *opts, const char *path)
{
	struct info in = { .opts = opts };
	struct progress *progress;
	struct trace_event ev;
	int ret, code = CMD_INPUT;

	if (progress_open(path, READER_ONE_PASS, &in.reader, &progress))
		return CMD_INPUT;
	in.names = reader_names(in.reader);
	while ((ret = reader_next(in.reader, &ev)) == 1) {
		event_counts_add(&in.counts, reader_trace(in.reader), in.names, &ev);
		info_triggers_add(&in, &ev);
		info_processes_add(&in, &ev);
	}
	progress_end(progress);
	if (!ret) {
		event_counts_sort(&in.counts, in.names);
		in.bytes = trace_consumed(reader_trace(in.reader));
		in.overhead_bytes = trace_overhead_bytes(reader_trace(in.reader));
		in.torn = reader_is_truncated(in.reader);
		view_begin(&in.view, &opts->view, opts->json);
		if (opts->json)
			info_json(&in);
		else
			put_text(&in);
		fwrite(buf_cstr(&in.out), 1, in.out.len, stdout);
		code = view_end(&in.view);
		if (code == CMD_OK && reader_is_incomplete(in.reader))
			code = CMD_INPUT;
	}
	buf_free(&in.out);
	event_counts_fini(&in.counts);
	reader_free(in.reader);
	return code;
}

static int info_file(const void *arg, const char *path)
{
	const struct info_opts *opts = arg;
	int code;

	if (opts->verify)
		return info_verify(path, opts->json);
	if (show_foreign(path, opts->from, opts->json ? SHOW_INFO_JSON : SHOW_INFO, &opts->view,
			 &code))
		return code;
	return info_dial9(opts, path);
}

int cmd_info(int argc, char **argv)
{
	struct info_opts opts = { 0 };

	return select_run(&info_spec, argc, argv, &opts, &opts.sel, info_file);
}
