// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof diff`: what changed from one trace to another. Owns the options, the order of rows and what
 * one side is measured by against the other; reading is diff_read.c's, text diff_print.c's, and the
 * matching and the arithmetic are profile/sums/delta.c's.
 */
#include "cmd/report/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/common/cmd.h"

#define O(m) offsetof(struct diff_opts, m)

static const char *const computes[] = { "delta-abs", "delta", "ratio", NULL };

static const char *const sorts[] = { "sym,dso", "sym", NULL };

static const struct opt diff_opts[] = {
	{ .name = "kind",
	  .kind = OPT_CHOICE,
	  .off = O(kind),
	  .choices = diff_kinds,
	  .help = "Value to compare: CPU samples, blocked time or run-queue latency (default cpu)",
	  .group = "Comparison" },
	{ .name = "compute",
	  .key = 'c',
	  .kind = OPT_CHOICE,
	  .off = O(compute),
	  .choices = computes,
	  .help = "Sort by the size of the difference, the difference, or the ratio (default delta-abs)" },
	{ .name = "normalize",
	  .kind = OPT_CHOICE,
	  .off = O(normal),
	  .choices = diff_normals,
	  .help = "Scale values to shares of the total, to recorded time, or not (default samples; "
		  "for offcpu time, or none if both traces are whole commands)" },
	{ .name = "percentile",
	  .kind = OPT_STR,
	  .off = O(percentile),
	  .arg = "P",
	  .help = "With --kind latency: compare percentile P and the median (default 99)" },
	{ .name = "sort",
	  .key = 's',
	  .kind = OPT_CHOICE,
	  .off = O(sort),
	  .choices = sorts,
	  .help = "Match functions by name and module, or by name only (default sym,dso)" },
	{ .name = "call-graph",
	  .key = 'g',
	  .kind = OPT_FLAG,
	  .off = O(stacks),
	  .help = "Compare whole stacks" },
	{ .name = "children",
	  .kind = OPT_FLAG,
	  .off = O(children),
	  .help = "Count a function also where it is a caller" },
	SELECT_OPTS(struct diff_opts, sel),
	{ OPT_LIMIT(O(limit)), .key = 'n', .help = "Print at most N rows, 0 for all (default 0)",
	  .group = "Output" },
	OPT_ROW_JSON(O(json)),
	VIEW_OPTS(struct diff_opts, view),
};

static const struct opt_spec diff_spec = {
	.name = "diff",
	.usage = "dial9-prof diff [OPTIONS] OLD NEW",
	.brief = "Compare two traces: CPU, off-CPU and run-queue time, with significance.",
	OPT_ROWS(diff_opts),
	.examples = "  dial9-prof diff before.bin after.bin\n"
		    "  dial9-prof diff -c ratio --children --limit 20 before.bin after.bin\n"
		    "  dial9-prof diff --kind latency before.bin after.bin\n",
};

/* ---- order ------------------------------------------------------------------------------------- */

static double weight(const struct diff *d, const struct delta_change *c)
{
	if (d->opts->compute == DIFF_DELTA)
		return c->verdict_delta;
	if (d->opts->compute == DIFF_DELTA_ABS)
		return fabs(c->verdict_delta);
	return c->verdict_ratio >= 1 ? c->verdict_ratio : 1 / c->verdict_ratio;
}

static int by_places(const struct diff *d, const struct delta_row *x, const struct delta_row *y)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < x->place_cnt && i < y->place_cnt; i++) {
		ret = strcmp(delta_str(d->delta, x->places[i].name, NULL),
			     delta_str(d->delta, y->places[i].name, NULL));
		if (!ret)
			ret = strcmp(delta_str(d->delta, x->places[i].module, NULL),
				     delta_str(d->delta, y->places[i].module, NULL));
	}
	return ret ? ret : (x->place_cnt > y->place_cnt) - (x->place_cnt < y->place_cnt);
}

/*
 * Largest change first, then changes within noise, then unknown ones. Rows in one trace only have an infinite
 * ratio, so the larger value goes first.
 */
static int by_change(const void *a, const void *b, void *ctx)
{
	const struct delta_change *x = a, *y = b;
	const struct diff *d = ctx;
	double wx = weight(d, x), wy = weight(d, y);

	if (x->verdict != y->verdict && d->opts->compute != DIFF_DELTA)
		return x->verdict < y->verdict ? -1 : 1;
	if (wx == wy) {
		wx = fabs(x->verdict_delta);
		wy = fabs(y->verdict_delta);
	}
	if (wx == wy) {
		wx = x->v[DELTA_NEW];
		wy = y->v[DELTA_NEW];
	}
	if (wx != wy)
		return wx < wy ? 1 : -1;
	return by_places(d, x->row, y->row);
}

static void make_changes(struct diff *d)
{
	struct delta_change c;

	d->changes = xcalloc(d->delta->cnt + 1, sizeof(*d->changes));
	for (size_t i = 0; i < d->delta->cnt; i++) {
		const struct delta_row *row = &d->delta->rows[i];

		c = d->opts->kind == DIFF_LATENCY ?
			    delta_change_quantile(row, d->percentile) :
			    delta_change_sum(d->delta, row, d->total, &d->scale);
		/* callers alone are no rows where leaves are compared */
		if (d->opts->kind == DIFF_LATENCY || c.v[DELTA_OLD] > 0 || c.v[DELTA_NEW] > 0)
			d->changes[d->change_cnt++] = c;
	}
	if (d->change_cnt)
		qsort_r(d->changes, d->change_cnt, sizeof(*d->changes), by_change, d);
}

/* ---- measure ----------------------------------------------------------------------------------- */

static double scale_of(const struct diff *d, enum delta_side side, enum diff_normal normal)
{
	double span = (double)d->sides[side].time.ns / 1e9, all = d->delta->all[side].sum;
	double unit = d->timed ? 1e-9 : 1;

	if (normal == DIFF_BY_SAMPLES)
		return all > 0 ? 100 / all : 0;
	if (normal == DIFF_BY_TIME)
		return span > 0 ? unit / span : 0;
	return unit;
}

/*
 * Shares of all blocked time say little: threads that sleep on purpose have most of it. Commands that ran to
 * their end did something of a fixed size; of what goes on for ever a second is as good as another.
 */
static enum diff_normal normal_of(const struct diff *d)
{
	if (d->opts->normal != DIFF_BY_DEFAULT)
		return (enum diff_normal)d->opts->normal;
	if (d->opts->kind != DIFF_OFFCPU)
		return DIFF_BY_SAMPLES;
	return d->sides[DELTA_OLD].whole && d->sides[DELTA_NEW].whole ? DIFF_BY_NONE : DIFF_BY_TIME;
}

static bool is_weighed(const struct diff *d, const struct diff_side *s)
{
	return d->normal == DIFF_BY_TIME && s->time.parts_ns > s->time.ns;
}

static void measure(struct diff *d)
{
	d->normal = normal_of(d);
	d->timed = d->opts->kind != DIFF_CPU ||
		   (d->sides[DELTA_OLD].timed && d->sides[DELTA_NEW].timed);
	d->total = d->opts->children;
	delta_match_init(&d->delta->match, d->sides[DELTA_OLD].names, d->sides[DELTA_NEW].names);
	for (int side = 0; side < DELTA_SIDES; side++) {
		diff_fold(d, (enum delta_side)side, d->timed);
		d->scale.by[side] = scale_of(d, (enum delta_side)side, d->normal);
	}
	/* what is weighted by part has lost its lengths */
	d->scale.lengths = d->opts->kind == DIFF_OFFCPU && !is_weighed(d, &d->sides[DELTA_OLD]) &&
			   !is_weighed(d, &d->sides[DELTA_NEW]);
	d->scale.share = d->normal == DIFF_BY_SAMPLES;
	make_changes(d);
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* Neither trace has anything of it, or one of them is at other times altogether. */
static int print_nothing_shared(const struct diff *d)
{
	struct buf outside = { 0 };

	for (int side = 0; side < DELTA_SIDES && !outside.len; side++)
		if (select_put_outside(&d->sides[side].sel, &outside))
			log_error("nothing to compare in %s: %s", d->sides[side].path,
				  buf_cstr(&outside));
	if (!outside.len)
		log_error("nothing to compare: neither trace has %s that match " SELECT_NAMES,
			  diff_kind_of_thing(d));
	buf_free(&outside);
	return CMD_USAGE;
}

static int print_all(struct diff *d)
{
	int code;

	view_begin(&d->view, &d->opts->view, d->opts->json);
	if (d->opts->json)
		diff_print_json(d);
	else
		diff_print_text(d);
	code = view_end(&d->view);
	if (code != CMD_OK || d->change_cnt || !select_is_used(&d->sides[DELTA_OLD].sel))
		return code;
	return print_nothing_shared(d);
}

static int parse_percentile(struct diff *d)
{
	const char *s = d->opts->percentile;
	double percent = 99;
	char *end;

	if (s) {
		percent = strtod(s, &end);
		if (end == s || *end || !(percent > 0 && percent < 100)) {
			log_error(
				"diff: bad value '%s' for --percentile: expected a number between 0 "
				"and 100, such as 99.9",
				s);
			return -EINVAL;
		}
	}
	d->percentile = percent / 100;
	return 0;
}

static int diff_files(const struct diff_opts *opts, char **paths)
{
	struct diff d = { .opts = opts };
	int code = CMD_USAGE;

	d.delta = delta_new(opts->stacks);
	d.delta->own = opts->kind == DIFF_OFFCPU;
	d.delta->by_name = opts->sort == DIFF_SORT_SYM;
	if (!parse_percentile(&d))
		code = CMD_OK;
	for (int side = 0; side < DELTA_SIDES && code == CMD_OK; side++) {
		d.sides[side].path = paths[side];
		code = diff_read(&d, (enum delta_side)side);
	}
	if (code == CMD_OK) {
		measure(&d);
		code = print_all(&d);
	}
	for (int side = 0; side < DELTA_SIDES; side++) {
		if (code == CMD_OK && reader_is_incomplete(d.sides[side].reader))
			code = CMD_INPUT;
		diff_side_fini(&d.sides[side]);
	}
	delta_free(d.delta);
	free(d.changes);
	return code;
}

static const char *conflict(const struct diff_opts *opts, char **words, int cnt)
{
	if (cnt != DELTA_SIDES)
		return "expected two traces: dial9-prof diff OLD NEW";
	if (!strcmp(words[0], "-") && !strcmp(words[1], "-"))
		return "only one of the traces can be standard input";
	if (opts->kind == DIFF_LATENCY &&
	    (opts->stacks || opts->sort || opts->normal != DIFF_BY_DEFAULT))
		return "--kind latency cannot be combined with -g, -s or --normalize";
	if (opts->kind != DIFF_LATENCY && opts->percentile)
		return "--percentile needs --kind latency";
	return NULL;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_opts opts = { .normal = DIFF_BY_DEFAULT };
	int first, ret, code = CMD_USAGE;
	const char *why;

	ret = opts_parse(&diff_spec, argc, argv, &opts, &first);
	if (ret == 1) {
		code = CMD_OK;
	} else if (!ret) {
		why = conflict(&opts, argv + first, argc - first);
		if (why)
			log_error("diff: %s; see dial9-prof diff --help", why);
		if (!why)
			code = diff_files(&opts, argv + first);
	}
	opts_fini(&diff_spec, &opts);
	return code;
}
