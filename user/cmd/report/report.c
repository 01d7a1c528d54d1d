// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof report`: where CPU time was spent. Owns the options and the pass over the trace. report_head.c prints
 * the lines about the recording, report_print.c the table, report_tree.c the tree. The numbers come from
 * user/profile.
 *
 * One pass: stacks are summed as addresses, and named at the end of the trace, because names come last. Missing
 * data is reported above the table: losses, modules without symbols, truncated stacks.
 */
#include "cmd/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/interval_print.h"
#include "cmd/common/live_view.h"
#include "cmd/common/progress.h"
#include "cmd/common/report_text.h"

#define O(m) offsetof(struct report_opts, m)

static const char *const graph_words[] = { "caller", "callee", "flat", "folded", "none", NULL };

static const struct opt report_opts[] = {
	SELECT_READ_OPTS(struct report_opts, sel),
	{ .name = "sort",
	  .key = 's',
	  .kind = OPT_STR,
	  .off = O(sort),
	  .arg = "KEYS",
	  .help = "Group rows by any of sym,dso,srcline,comm,pid,tid,cpu,cgroup,part,state "
		  "(default sym,dso)",
	  .group = "Output" },
	{ .name = "call-graph",
	  .key = 'g',
	  .kind = OPT_STR,
	  .off = O(graph),
	  .arg = "MODE[,PCT]",
	  .implied = "caller",
	  .help = "Print stacks. MODE: caller (tree from main down, default), callee (tree from the leaf "
		  "up), flat (each distinct stack), folded (one per line, for flame graphs) or none, "
		  "written as in -gcallee; PCT as in --percent-limit" },
	{ .name = "inverted",
	  .key = 'G',
	  .kind = OPT_FLAG,
	  .off = O(inverted),
	  .help = "Invert the call tree; without -g the same as -gcallee" },
	{ .name = "children",
	  .kind = OPT_FLAG,
	  .off = O(children),
	  .help = "In a flat table, sort by total; samples and seconds are totals" },
	{ .name = "no-children",
	  .kind = OPT_FLAG,
	  .off = O(no_children),
	  .help = "In a flat table, print self values only" },
	{ .name = "no-inline",
	  .kind = OPT_FLAG,
	  .off = O(no_inline),
	  .help = "Count an inlined function as the function that contains it" },
	{ .name = "wall",
	  .kind = OPT_FLAG,
	  .off = O(wall),
	  .help = "Show all thread time, not only CPU time: running, runnable and blocked in one tree" },
	{ .name = "show-nr-samples",
	  .key = 'n',
	  .kind = OPT_FLAG,
	  .off = O(habit),
	  .help = "Accepted for compatibility; samples are always shown" },
	{ .name = "percent-limit",
	  .kind = OPT_STR,
	  .off = O(percent),
	  .arg = "PCT",
	  .help = "Skip rows below PCT percent of the total (default 0; 0.5 in a text tree)" },
	{ OPT_LIMIT(O(limit)), .help = "Print at most N rows, 0 for all (default 0)" },
	{ .name = "live",
	  .kind = OPT_DURATION,
	  .off = O(live_ns),
	  .arg = "SEC",
	  .min = 100000000,
	  .max = 3600000000000,
	  .help = "For a trace from a pipe: refresh every SEC seconds, like dial9-prof top" },
	/* what perf's users type out of habit: it is how it is anyway */
	{ .name = "stdio", .kind = OPT_FLAG, .off = O(habit) },
	OPT_ROW_JSON(O(json)),
	VIEW_OPTS(struct report_opts, view),
};

static const struct opt_spec report_spec = {
	.name = "report",
	.usage = "dial9-prof report [OPTIONS] [FILE]",
	.brief = "Print the CPU profile: self and total time by function, module or thread.",
	OPT_ROWS(report_opts),
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
	log_error("report: bad value '%s' for %s: expected 0 to 100", s, option);
	return -EINVAL;
}

static int parse_graph(const char *s, struct report *r)
{
	size_t n = strcspn(s, ",");
	int word = opts_word(s, n, graph_words, REPORT_FLAT + 1);

	if (word < 0) {
		log_error(
			"report: bad value '%s' for -g: expected caller, callee, flat, folded or none "
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
static void extend_part(struct report *r, const struct trace_event *ev)
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

static void count_skipped(struct report *r)
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
	/* next to times, samples of unknown duration count nothing */
	r->timed = r->wall || (sampled && least);
	r->no_rate = sampled > 1 && !least;
	r->weighed = r->timed && least != most;
	if (r->timed)
		profile_weigh(r->profile, period, r->part_cnt);
	free(period);
	r->whole = profile_weight(r->profile);
	report_exact_weigh(r);
}

/* Process and thread ids mean something else on another host. */
static void separate_parts(struct report *r)
{
	unsigned int ids = 1u << PROFILE_PID | 1u << PROFILE_TID;

	if (!(r->keys & ids) || r->keys & 1u << PROFILE_PART || parts_share_ids(&r->names->parts))
		return;
	add_key(r, PROFILE_PART);
}

/* CPU time of all CPUs in the window; UINT64_MAX: unknown. */
static uint64_t capacity(const struct report *r)
{
	const bool some = r->sel.opts->cpus.cnt;
	const uint64_t chosen = r->sel.opts->cpus.cnt - r->sel.cpus_unseen;
	uint64_t sum = 0, cpus;

	for (uint32_t i = 0; i < r->part_cnt; i++) {
		if (!report_exact_has_switches(r, i))
			continue;
		cpus = names_meta_u64(r->names, i, PROF_META_CPUS);
		if (cpus < r->parts[i].cpus)
			cpus = r->parts[i].cpus;
		if (some && chosen < cpus)
			cpus = chosen;
		if (__builtin_mul_overflow(cpus, r->parts[i].span_ns, &cpus) ||
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
		select_observe(&r->sel, r->reader, &ev);
		if (ev.kind != TRACE_LOST ||
		    select_overlaps(&r->sel, r->reader, ev.part,
				    trace_u64_or(&ev, ROLE_FIRST_NS, ev.ts),
				    trace_u64_or(&ev, ROLE_LAST_NS, ev.ts)))
			event_counts_add_loss(&r->counts, t, r->names, &ev);
		extend_part(r, &ev);
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
	count_skipped(r);
	for (uint32_t i = 0; i < r->part_cnt; i++)
		r->parts[i].span_ns = span_ns(r, i);
	return ret ? ret : report_exact_end(r, capacity(r));
}

static void report_no_rows(const struct report *r)
{
	bool ours = names_meta(r->names, 0, PROF_META_VERSION);
	bool sampled = names_meta(r->names, 0, PROF_META_SAMPLE_HZ);
	const char *why =
		"the target used too little CPU time for a sample; see dial9-prof report -s "
		"comm,tid, or record for longer";

	if (names_meta(r->names, 0, PROF_META_SUMMARY_NS))
		why = INTERVAL_PRINT_SUMS;
	else if (r->wall && names_meta(r->names, 0, PROF_META_OFF_MIN_NS))
		why = INTERVAL_PRINT_STAYS;
	else if (r->wall && !report_exact_has_states(r))
		why = interval_print_lacks_switches(r->names);
	else if (ours && !sampled)
		why = "it was recorded with --no-samples; record without it";
	else if (!sampled)
		why = reader_is_truncated(r->reader) ?
			      "the file ends before the first sample" :
			      "it was not recorded by dial9-prof; see dial9-prof info";
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
	const bool states = r->intervals && report_exact_has_states(r);
	const bool nothing = r->wall ? !states || !r->whole : !r->whole && !r->exact;
	const bool chosen =
		select_is_used(&r->sel) && (r->wall ? states : r->all_samples || states);
	int code;

	view_begin(&r->view, &r->opts->view, r->opts->json || r->graph == REPORT_FOLDED);
	if (r->opts->json) {
		report_print_json(r);
	} else if (nothing) {
		if (!chosen)
			report_no_rows(r);
	} else {
		/* what reads folded stacks knows no comments */
		if (r->graph != REPORT_FOLDED)
			report_print_head(r);
		print_body(r);
	}
	code = view_end(&r->view);
	if (code == CMD_OK && nothing && chosen)
		code = select_report_missing(&r->sel, r->reader, r->wall ? "times" : "CPU samples");
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
		separate_parts(&r);
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
 * perf allows `-g callee`. Here the order follows -g directly, and a separate `callee` is an input file. It may be
 * a file, but not in addition to another one.
 */
static bool order_astray(const char *input, char **words, int cnt)
{
	bool one = cnt == 1 && !input;

	for (int i = 0; i < cnt; i++)
		for (const char *const *order = graph_words; *order; order++)
			if (!strcmp(words[i], *order) && (!one || access(words[i], F_OK))) {
				log_error("report: no space between -g and its mode; use -g%s or "
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
		"report: --live cannot be combined with --wall, -s, -g, -G, --json or a selection");
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
