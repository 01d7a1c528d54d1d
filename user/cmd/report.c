// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof report`: where the CPU time went. Owns the options, the pass over the trace and the
 * lines about the recording; the table and the tree are printed by report_print.c, the numbers come
 * from user/profile.
 *
 * One pass: stacks are summed as addresses, and named when the trace has ended, because names come
 * last. What is missing is said above the table: loss, modules without names, stacks that end early.
 */
#include "cmd/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/cause.h"
#include "cmd/cmd.h"
#include "cmd/live_view.h"
#include "cmd/progress.h"
#include "cmd/text.h"
#include "cmd/timeline.h"
#include "export/ends.h"

#define O(m) offsetof(struct report_opts, m)

static const char *const graph_words[] = { "caller", "callee", "flat", "folded", "none", NULL };

static const struct opt report_opts[] = {
	SELECT_OPT_INPUT(struct report_opts, sel),
	SELECT_OPTS(struct report_opts, sel),
	{ .name = "sort",
	  .key = 's',
	  .kind = OPT_STR,
	  .off = O(sort),
	  .arg = "KEYS",
	  .help = "what rows are told apart by, any of sym,dso,srcline,comm,pid,tid,cpu,cgroup,part,state "
		  "(default sym,dso)",
	  .group = "Output" },
	{ .name = "call-graph",
	  .key = 'g',
	  .kind = OPT_STR,
	  .off = O(graph),
	  .arg = "MODE[,PCT]",
	  .implied = "caller",
	  .help = "stacks: a tree by caller (from main down, default) or callee (from the leaf up), as "
		  "in -gcallee; flat: each by itself; folded: one a line, for flame graphs; PCT as "
		  "--percent-limit" },
	{ .name = "inverted",
	  .key = 'G',
	  .kind = OPT_FLAG,
	  .off = O(inverted),
	  .help = "the call tree the other way up: alone as -gcallee" },
	{ .name = "children",
	  .kind = OPT_FLAG,
	  .off = O(children),
	  .help = "sort by what functions and all they call take, with samples and seconds of that" },
	{ .name = "no-children",
	  .kind = OPT_FLAG,
	  .off = O(no_children),
	  .help = "only what functions take themselves" },
	{ .name = "no-inline",
	  .kind = OPT_FLAG,
	  .off = O(no_inline),
	  .help = "count inlined functions as the function that they are in" },
	{ .name = "wall",
	  .kind = OPT_FLAG,
	  .off = O(wall),
	  .help = "all of the time, not only that on a CPU: running, runnable and blocked in one tree" },
	{ .name = "show-nr-samples",
	  .key = 'n',
	  .kind = OPT_FLAG,
	  .off = O(habit),
	  .help = "accepted; samples are always shown" },
	{ .name = "percent-limit",
	  .kind = OPT_STR,
	  .off = O(percent),
	  .arg = "PCT",
	  .help = "leave out what has less than PCT percent in total (default 0, in a tree of text 0.5)" },
	{ .name = "limit",
	  .kind = OPT_U64,
	  .off = O(limit),
	  .arg = "N",
	  .help = "at most N rows (default 0: all)" },
	{ .name = "live",
	  .kind = OPT_DURATION,
	  .off = O(live_ns),
	  .arg = "SEC",
	  .min = 100000000,
	  .max = 3600000000000,
	  .help = "of a pipe: show each SEC seconds what happened since, as top does" },
	/* what perf's users type out of habit: it is how it is anyway */
	{ .name = "stdio", .kind = OPT_FLAG, .off = O(habit) },
	{ .name = "json", .kind = OPT_FLAG, .off = O(json), .help = "one JSON object" },
	VIEW_OPTS(struct report_opts, view),
	{ .name = "help", .key = 'h', .kind = OPT_HELP, .help = "this text" },
};

static const struct opt_spec report_spec = {
	.name = "report",
	.usage = "dial9-prof report [OPTIONS] [FILE]",
	.brief = "Show where the CPU time went: self and total by function, module or thread.",
	.opts = report_opts,
	.cnt = sizeof(report_opts) / sizeof(report_opts[0]),
	.examples = "  dial9-prof report\n"
		    "  dial9-prof report -s comm,pid\n"
		    "  dial9-prof report -g --percent-limit 5\n"
		    "  dial9-prof report -s comm,tid --json trace.bin\n",
};

static void add_key(struct report *r, enum profile_key key)
{
	if (!(r->keys & 1u << key))
		r->key_order[r->key_cnt++] = key;
	r->keys |= 1u << key;
}

static int parse_sort(const char *s, struct report *r)
{
	size_t n;
	int k;

	for (;; s += n + 1) {
		n = strcspn(s, ",");
		k = opts_word(s, n, report_key_names, PROFILE_KEY_CNT);
		if (n == strlen("symbol") && !memcmp(s, "symbol", n))
			k = PROFILE_SYM;
		if (k < 0) {
			log_error(
				"report: unknown sort key '%.*s' (known: sym, dso, srcline, comm, "
				"pid, tid, cpu, cgroup, part, state)",
				(int)n, s);
			return -EINVAL;
		}
		add_key(r, (enum profile_key)k);
		if (!s[n])
			return 0;
	}
}

static int parse_percent(const char *s, const char *option, double *out)
{
	char *end;

	*out = strtod(s, &end);
	if (end != s && (!*end || !strcmp(end, "%")) && *out >= 0 && *out <= 100)
		return 0;
	log_error("report: bad value '%s' for %s: want 0 to 100", s, option);
	return -EINVAL;
}

static int parse_graph(const char *s, struct report *r)
{
	size_t n = strcspn(s, ",");
	int word = opts_word(s, n, graph_words, REPORT_FLAT + 1);

	if (word < 0) {
		log_error(
			"report: -g %s: want one of caller, callee, flat, folded, none, or nothing "
			"(-g alone is caller)",
			s);
		return -EINVAL;
	}
	r->graph = (enum report_graph)word;
	/* a tree of everything is no use to anyone who reads it */
	if (!r->opts->json && (r->graph == REPORT_CALLER || r->graph == REPORT_CALLEE))
		r->percent = 0.5;
	return s[n] ? parse_percent(s + n + 1, "-g", &r->percent) : 0;
}

static int parse_opts(const struct report_opts *o, struct report *r)
{
	r->graph = REPORT_FLAT;
	if (o->wall)
		add_key(r, PROFILE_STATE);
	if (parse_sort(o->sort ? o->sort : "sym,dso", r) ||
	    (o->graph && parse_graph(o->graph, r)) ||
	    ((o->inverted || (o->wall && !o->sort)) && !o->graph && parse_graph("caller", r)) ||
	    (o->percent && parse_percent(o->percent, "--percent-limit", &r->percent)))
		return -EINVAL;
	r->wall = r->keys & 1u << PROFILE_STATE;
	if (o->inverted && r->graph <= REPORT_CALLEE)
		r->graph = r->graph == REPORT_CALLER ? REPORT_CALLEE : REPORT_CALLER;
	return 0;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static struct report_part *part_of(struct report *r, uint32_t part)
{
	r->parts = array_reserve(r->parts, &r->part_cap, (size_t)part + 1, sizeof(*r->parts));
	while (r->part_cnt <= part)
		r->parts[r->part_cnt++] = (struct report_part){ .first_ts = UINT64_MAX };
	return &r->parts[part];
}

/* From the first to the last event, of which the recorder writes one at either end. */
static void see_part(struct report *r, const struct trace_event *ev)
{
	struct report_part *part = part_of(r, ev->part);

	if (!ev->has_ts || trace_is_naming(ev->kind) || ev->kind == TRACE_LOST)
		return;
	if (ev->ts < part->first_ts)
		part->first_ts = ev->ts;
	if (ev->ts > part->last_ts)
		part->last_ts = ev->ts;
	if (ev->cpu != TRACE_NONE && ev->cpu >= part->cpus)
		part->cpus = ev->cpu + 1;
}

static void see_skipped(struct report *r)
{
	for (uint32_t i = 0; i < r->names->parts.cnt; i++) {
		const struct dial9_skipped s = trace_skipped(reader_trace(r->reader), i);
		struct report_part *part;

		if (!s.cnt)
			continue;
		part = part_of(r, i);
		part->first_ts = s.first_ts < part->first_ts ? s.first_ts : part->first_ts;
		part->last_ts = s.last_ts > part->last_ts ? s.last_ts : part->last_ts;
	}
}

/* How long the recording went on in a part, as far as --time lets it through. */
static uint64_t span_ns(const struct report *r, uint32_t part)
{
	uint64_t first = r->parts[part].first_ts, last = r->parts[part].last_ts, from, to;

	if (select_window(&r->sel, names_part(r->names, part)->clock, &from, &to)) {
		first = from > first ? from : first;
		last = to < last ? to : last;
	}
	return last > first ? last - first : 0;
}

/* Samples stand for CPU time; of parts that were sampled at other rates, for other times. */
static void weigh(struct report *r)
{
	uint64_t *period = xcalloc(r->part_cnt + 1, sizeof(*period)), least = UINT64_MAX, most = 0;
	size_t sampled = 0;

	for (uint32_t i = 0; i < r->part_cnt; i++) {
		if (!r->parts[i].samples)
			continue;
		period[i] = names_period_ns(r->names, i);
		least = period[i] < least ? period[i] : least;
		most = period[i] > most ? period[i] : most;
		r->parts[i].untimed = !period[i];
		r->untimed |= !period[i];
		sampled++;
	}
	/* beside times, samples that stand for no known one count nothing */
	r->timed = r->wall || (sampled && least);
	r->no_rate = sampled > 1 && !least;
	r->weighed = r->timed && least != most;
	if (r->timed)
		profile_weigh(r->profile, period, r->part_cnt);
	free(period);
	r->whole = profile_weight(r->profile);
}

/* Process and thread ids mean something else on another host. */
static void tell_parts_apart(struct report *r)
{
	unsigned int ids = 1u << PROFILE_PID | 1u << PROFILE_TID;

	if (!(r->keys & ids) || r->keys & 1u << PROFILE_PART || parts_clocks(&r->names->parts) < 2)
		return;
	add_key(r, PROFILE_PART);
}

/* What all CPUs together can have done meanwhile; UINT64_MAX: not known. */
static uint64_t capacity(const struct report *r)
{
	const bool some = r->sel.opts->cpus.cnt;
	const uint64_t chosen = r->sel.opts->cpus.cnt - r->sel.cpus_unseen;
	uint64_t sum = 0, cpus;

	for (uint32_t i = 0; i < r->part_cnt; i++) {
		if (i >= r->switch_cap || !r->switches[i])
			continue;
		cpus = names_meta_u64(r->names, i, PROF_META_CPUS);
		if (cpus < r->parts[i].cpus)
			cpus = r->parts[i].cpus;
		if (some && chosen < cpus)
			cpus = chosen;
		if (__builtin_mul_overflow(cpus, span_ns(r, i), &cpus) ||
		    __builtin_add_overflow(sum, cpus, &sum))
			return UINT64_MAX;
	}
	return sum;
}

static int read_all(struct report *r)
{
	const struct trace *t;
	struct trace_event ev;
	int ret;

	while ((ret = reader_next(r->reader, &ev)) == 1) {
		t = reader_trace(r->reader);
		select_see(&r->sel, r->reader, &ev);
		if (ev.kind != TRACE_LOST ||
		    select_overlaps(&r->sel, r->reader, ev.part,
				    trace_u64_or(&ev, ROLE_FIRST_NS, ev.ts),
				    trace_u64_or(&ev, ROLE_LAST_NS, ev.ts)))
			event_counts_add_loss(&r->counts, t, r->names, &ev);
		see_part(r, &ev);
		report_exact_add(r, &ev);
		if (ev.kind != TRACE_SAMPLE || ev.source != PROF_SOURCE_SAMPLE)
			continue;
		r->all_samples++;
		if (!select_match(&r->sel, r->reader, &ev))
			continue;
		r->parts[ev.part].samples++;
		profile_add(r->profile, &ev);
		stack_ends_add(&r->ends, r->names, &ev);
	}
	see_skipped(r);
	return ret ? ret : report_exact_end(r, capacity(r));
}

/* ---- what the reader must know before the numbers ------------------------------------------- */

/* On a terminal in lines of its width. */
static void say_as(const struct report *r, enum paint_as as, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void say_as(const struct report *r, enum paint_as as, const char *fmt, va_list ap)
{
	struct buf text = { 0 }, line = { 0 };
	size_t cols = r->view.width > 20 ? r->view.width - 4 : SIZE_MAX, at, n;

	buf_vprintf(&text, fmt, ap);
	for (at = 0; !at || at < text.len; at += n) {
		n = text_line(buf_cstr(&text) + at, text.len - at, cols);
		buf_addstr(&line, at ? "#   " : "# ");
		paint_put(&line, r->view.color, as, buf_cstr(&text) + at, n);
		report_end_line(&line);
		if (!n)
			break;
	}
	fwrite(buf_cstr(&line), 1, line.len, stdout);
	buf_free(&text);
	buf_free(&line);
}

static void say(const struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_as(r, PAINT_PLAIN, fmt, ap);
	va_end(ap);
}

static void warn(const struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* What makes the numbers doubtful. */
static void warn(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_as(r, PAINT_WARN, fmt, ap);
	va_end(ap);
}

/* What a part's samples are. */
static void add_clock(struct buf *line, const struct report *r, uint32_t part)
{
	const char *event = names_meta(r->names, part, PROF_META_SAMPLE_EVENT);
	const char *hz = names_meta(r->names, part, PROF_META_SAMPLE_HZ);
	const char *period = names_meta(r->names, part, PROF_META_SAMPLE_PERIOD_NS);
	uint64_t samples = r->parts[part].samples, ns;

	str_counted(line, samples, "sample");
	if (event && *event) {
		buf_addstr(line, " of ");
		text_clean(line, event, strlen(event));
	}
	if (hz && !str_parse_u64(hz, UINT64_MAX, &ns))
		buf_printf(line, " at %" PRIu64 " Hz", ns);
	if (period && !str_parse_u64(period, UINT64_MAX, &ns) && ns)
		buf_printf(line, ", one each %.3f ms of CPU time: %.3g s in all", (double)ns / 1e6,
			   (double)ns * (double)samples / 1e9);
	if (event && !strcmp(event, "cpu-clock"))
		buf_addstr(line, " (no PMU here: a timer, not cycles)");
}

static void say_clock(const struct report *r, uint32_t part)
{
	struct buf line = { 0 };

	add_clock(&line, r, part);
	say(r, "%s", buf_cstr(&line));
	buf_free(&line);
}

static void say_parts(const struct report *r)
{
	struct buf line = { 0 };

	for (uint32_t i = 0; i < r->part_cnt; i++) {
		const struct report_part *p = &r->parts[i];
		uint32_t host = names_part(r->names, i)->host;

		if (!p->samples)
			continue;
		buf_clear(&line);
		buf_printf(&line, "part %u", i + 1);
		if (host != NAMES_NONE) {
			buf_addstr(&line, " (");
			text_name(&line, r->names, host);
			buf_addch(&line, ')');
		}
		buf_printf(&line, " over %.3f s: ", (double)span_ns(r, i) / 1e9);
		add_clock(&line, r, i);
		say(r, "%s", buf_cstr(&line));
	}
	buf_free(&line);
}

/* What shares are of, where parts differ, and who has none. */
static void say_shares(const struct report *r)
{
	if (r->exact)
		say(r, "shares are of these seconds");
	else if (r->wall)
		say(r, "shares are of the time of all threads together");
	else if (r->weighed)
		say(r, "shares are of CPU time: a sample counts as much as its part says");
	else if (r->no_rate)
		say(r,
		    "shares are of samples: a part does not say for how much CPU time one stands");
	for (uint32_t i = 0; i < r->part_cnt; i++) {
		const bool switches = i < r->switch_cap && r->switches[i];

		if (!r->parts[i].samples)
			continue;
		if (r->exact && !switches)
			say(r,
			    "part %u has no switches: its samples have neither seconds nor a share",
			    i + 1);
		else if (r->wall && r->parts[i].untimed)
			say(r,
			    "part %u does not say for how much time a sample stands: its samples have "
			    "neither seconds nor a share",
			    i + 1);
	}
}

static void say_loss(const struct report *r)
{
	const struct account *a = &r->counts.account;
	struct buf line = { 0 };
	uint64_t span = 0;

	for (uint32_t i = 0; i < r->part_cnt; i++)
		span += span_ns(r, i);
	text_lost(&line, a);
	if (account_lacks(a))
		warn(r, "lost: %s (see dial9-prof info)", buf_cstr(&line));
	else
		say(r, "lost: %s", buf_cstr(&line));
	buf_clear(&line);
	if (text_thinned(&line, a, r->names, span))
		warn(r, "thinned: %s", buf_cstr(&line));
	buf_clear(&line);
	if (text_sideband(&line, a))
		warn(r, "side-band: %s", buf_cstr(&line));
	buf_free(&line);
}

static void say_wall(const struct report *r)
{
	const uint64_t *ns = r->state_ns;
	struct buf line = { 0 };

	if (!r->wall)
		return;
	say(r,
	    "threads together: running %.3f s, waiting for a CPU %.3f s, blocked or asleep %.3f s",
	    (double)ns[INTERVAL_RUNNING] / 1e9, (double)ns[INTERVAL_RUNNABLE] / 1e9,
	    (double)ns[INTERVAL_BLOCKED] / 1e9);
	say(r,
	    "below, running is what samples stand for, the rest exact, by the stack of the switch");
	if (text_unknown(&line, &r->counts.account, &r->untold))
		warn(r, "%s", buf_cstr(&line));
	buf_clear(&line);
	if (text_unsure(&line, &r->untold))
		say(r, "%s", buf_cstr(&line));
	buf_free(&line);
}

/* When there is a good part of the samples that files with a build-id may name. */
static void say_remedy(const struct report *r, const struct profile_rows *unnamed)
{
	struct buf line = { 0 };
	uint64_t weight = 0;

	for (size_t i = 0; i < unnamed->cnt; i++)
		if (cause_may_be_mended(r->names, unnamed->v[i].module))
			weight += unnamed->v[i].self_weight;
	if (report_share(r, weight) >= 1) {
		cause_put_remedy(&line, reader_input(r->reader));
		say(r, "%.1f%% of samples have no name: %s", report_share(r, weight),
		    buf_cstr(&line));
	}
	buf_free(&line);
}

/* Modules in which a good part of the samples has no name; others are not worth a line. */
static void say_unnamed(const struct report *r)
{
	double share;
	struct profile_rows rows = { 0 };
	struct buf line = { 0 };

	profile_unnamed(r->profile, &rows);
	for (size_t i = 0; i < rows.cnt && i < 3; i++) {
		share = report_share(r, rows.v[i].self_weight);
		if (share < 1)
			break;
		buf_clear(&line);
		text_module(&line, r->names, rows.v[i].module);
		buf_addstr(&line, ": ");
		cause_of_unnamed(&line, r->names, &r->counts, rows.v[i].module);
		warn(r, "no names for %.1f%% of samples, in %s", share, buf_cstr(&line));
	}
	say_remedy(r, &rows);
	buf_free(&line);
	free(rows.v);
}

/* Of the modules in which stacks end early, those that cost a good part of them their root. */
static void say_ends(const struct report *r)
{
	struct stack_ends_module *v;
	struct buf line = { 0 };
	size_t cnt;

	if (!r->ends.stacks)
		return;
	ends_put_sum(&line, &r->ends);
	if (r->ends.by_end[PROF_END_COMPLETE] < r->ends.stacks) {
		buf_addstr(&line, "; the others: ");
		ends_put_reasons(&line, &r->ends);
	}
	say(r, "user stacks: %s", buf_cstr(&line));
	v = stack_ends_modules(&r->ends, &cnt);
	for (size_t i = 0; i < cnt && i < 3 && ends_percent(&r->ends, v[i].stacks) >= 1; i++) {
		buf_clear(&line);
		text_module_base(&line, r->names, v[i].module);
		say(r, "%s: %.1f%% of user stacks end here: %s", buf_cstr(&line),
		    ends_percent(&r->ends, v[i].stacks), ends_text(v[i].end));
	}
	free(v);
	buf_free(&line);
}

/* Seconds of tasks are those of the switches, and not those that samples stand for. */
static void say_exact(const struct report *r)
{
	struct buf doubt = { 0 };
	bool doubtful;

	if (!r->exact)
		return;
	doubtful = report_exact_doubt(r, &doubt);
	say(r, "seconds are %sfrom the switches: %.3f s in all", doubtful ? "" : "exact, ",
	    (double)r->cpu_time.run_ns / 1e9);
	if (doubtful)
		warn(r, "%s", buf_cstr(&doubt));
	buf_free(&doubt);
}

static void say_what(const struct report *r)
{
	const struct parts *parts = &r->names->parts;
	const char *what = profile_samples(r->profile) ? "CPU samples" : "CPU time";
	const uint64_t span = r->part_cnt ? span_ns(r, 0) : 0;
	struct buf input = { 0 };

	text_clean(&input, reader_input(r->reader), strlen(reader_input(r->reader)));
	if (parts->cnt > 1) {
		buf_printf(&input, ": CPU samples of %zu recordings, on ", parts->cnt);
		str_counted(&input, parts_clocks(parts), "clock");
		say(r, "%s", buf_cstr(&input));
	} else if (span) {
		say(r, "%s: %s over %.3f s", buf_cstr(&input), what, (double)span / 1e9);
	} else {
		say(r, "%s: %s", buf_cstr(&input), what);
	}
	buf_free(&input);
}

static void say_header(const struct report *r)
{
	say_what(r);
	if (r->names->parts.cnt > 1)
		say_parts(r);
	else if (profile_samples(r->profile))
		say_clock(r, 0);
	say_exact(r);
	say_wall(r);
	if (r->names->parts.cnt > 1)
		say_shares(r);
	say_loss(r);
	if (!r->wall)
		say_unnamed(r);
	say_ends(r);
	puts("#");
}

static void say_nothing_there(const struct report *r)
{
	bool ours = names_meta(r->names, 0, PROF_META_VERSION);
	bool sampled = names_meta(r->names, 0, PROF_META_SAMPLE_HZ);
	const char *why = "the target used no CPU, or too little for a sample at this rate: see "
			  "dial9-prof report -s comm,tid and script for what it did, or record for "
			  "longer";

	if (names_meta(r->names, 0, PROF_META_SUMMARY_NS))
		why = TIMELINE_SUMS;
	else if (r->wall && names_meta(r->names, 0, PROF_META_OFF_MIN_NS))
		why = TIMELINE_STAYS;
	else if (r->wall && !r->switched)
		why = "it has no switches, from which --wall takes its times: record without "
		      "--no-sched";
	else if (ours && !sampled)
		why = "it was recorded with --no-samples: record again without";
	else if (!sampled)
		why = reader_is_torn(r->reader) ?
			      "it is cut off before the first" :
			      "it was not recorded by dial9-prof: see dial9-prof info for what is in it";
	printf("No %s in %s: %s.\n", r->wall ? "times" : "CPU samples", reader_input(r->reader),
	       why);
}

/* ---- the run ----------------------------------------------------------------------------------- */

static void print_body(const struct report *r)
{
	switch (r->graph) {
	case REPORT_CALLER:
	case REPORT_CALLEE:
		report_print_tree(r);
		break;
	case REPORT_CHAINS:
		report_print_chains(r);
		break;
	case REPORT_FOLDED:
		report_print_folded(r);
		break;
	case REPORT_FLAT:
		report_print_flat(r);
		break;
	}
}

static int print_all(struct report *r)
{
	const bool nothing = r->wall ? !r->switched || !r->whole : !r->whole && !r->exact;
	const bool chosen =
		select_is_used(&r->sel) && (r->wall ? r->switched : r->all_samples || r->switched);
	int code;

	view_begin(&r->view, &r->opts->view, r->opts->json || r->graph == REPORT_FOLDED);
	if (r->opts->json) {
		report_print_json(r);
	} else if (nothing) {
		if (!chosen)
			say_nothing_there(r);
	} else {
		/* what reads folded stacks knows no comments */
		if (r->graph != REPORT_FOLDED)
			say_header(r);
		print_body(r);
	}
	code = view_end(&r->view);
	if (code == CMD_OK && nothing && chosen)
		code = select_tell_nothing(&r->sel, r->reader, r->wall ? "times" : "CPU samples");
	return code;
}

static int report_file(const struct report_opts *opts, const char *path)
{
	struct report r = { .opts = opts };
	struct progress *progress;
	int err, code;

	if (parse_opts(opts, &r) || select_init(&r.sel, &opts->sel))
		return CMD_USAGE;
	if (progress_open(path, READER_ONE_PASS, &r.reader, &progress)) {
		select_fini(&r.sel);
		return CMD_INPUT;
	}
	r.names = reader_names(r.reader);
	err = select_wants_scan(&r.sel) ? select_scan(&r.sel, r.reader) : 0;
	if (!err)
		err = select_learn(&r.sel, r.reader);
	if (!err)
		err = profile_new(r.names, &r.profile);
	if (!err) {
		profile_keep(r.profile, r.keys);
		if (opts->no_inline)
			profile_fold_inlined(r.profile);
		report_exact_begin(&r);
		err = read_all(&r);
	}
	if (!err) {
		weigh(&r);
		tell_parts_apart(&r);
	}
	progress_end(progress);
	code = err ? CMD_INPUT : select_is_reversed(&r.sel) ? CMD_USAGE : print_all(&r);
	if (code == CMD_OK && reader_is_incomplete(r.reader))
		code = CMD_INPUT;
	report_exact_fini(&r);
	profile_free(r.profile);
	event_counts_fini(&r.counts);
	stack_ends_fini(&r.ends);
	select_fini(&r.sel);
	free(r.parts);
	reader_free(r.reader);
	return code;
}

/*
 * perf takes `-g callee`; here the order stands right behind, and `callee` would be a file. It may be
 * one, but not beside another.
 */
static bool order_astray(const char *input, char **words, int cnt)
{
	bool one = cnt == 1 && !input;

	for (int i = 0; i < cnt; i++)
		for (const char *const *order = graph_words; *order; order++)
			if (!strcmp(words[i], *order) && (!one || access(words[i], F_OK))) {
				log_error("report: the order of -g goes with it: -g%s or "
					  "--call-graph=%s",
					  *order, *order);
				return true;
			}
	return false;
}

/* What is live is shown as it comes. */
static bool live_astray(const struct report_opts *o)
{
	const struct select_opts *sel = &o->sel;

	if (!o->live_ns || !(o->json || o->wall || o->graph || o->inverted || o->sort ||
			     sel->time || sel->pids.cnt || sel->tids.cnt || sel->cpus.cnt ||
			     sel->comms.cnt || sel->cgroups.cnt))
		return false;
	log_error(
		"report: --live shows all that is recorded, without --wall, -s, -g, -G, --json and "
		"selections");
	return true;
}

int cmd_report(int argc, char **argv)
{
	struct report_opts opts = { 0 };
	int first, ret, code = CMD_USAGE;
	const char *path;

	ret = opts_parse(&report_spec, argc, argv, &opts, &first);
	if (ret == 1) {
		code = CMD_OK;
	} else if (!ret && !live_astray(&opts) &&
		   (!opts.graph || !order_astray(opts.sel.input, argv + first, argc - first))) {
		path = select_input(&opts.sel, argc, argv, first);
		if (path && opts.live_ns)
			code = live_view_show(path, opts.live_ns, opts.limit, opts.view.color);
		else if (path)
			code = report_file(&opts, path);
	}
	opts_fini(&report_spec, &opts);
	return code;
}
