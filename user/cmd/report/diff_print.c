// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints the result of `diff`. Owns columns and text; receives finished numbers.
 *
 * A difference within noise is grey on a terminal and marked with ~ everywhere; a difference of unknown
 * significance is marked with ?.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/common/report_text.h"
#include "cmd/common/symbol_fit.h"
#include "cmd/report/diff.h"
#include "profile/sched/offcpu_interval.h"

const char *const diff_kinds[] = { "cpu", "offcpu", "latency", NULL };
const char *const diff_normals[] = { "samples", "time", "none", NULL };

/* Minimum width of names on a narrow terminal. */
#define NAME_MIN 12

static size_t shown(const struct diff *d)
{
	return report_text_rows(d->opts->limit, 0, d->change_cnt);
}

/* "%", "ms/s" and so on: unit of the values, and the divisor for printing. */
static const char *unit(const struct diff *d, double *by)
{
	*by = 1;
	if (d->opts->kind == DIFF_LATENCY) {
		*by = 1e-3;
		return "us";
	}
	if (d->normal == DIFF_BY_SAMPLES)
		return "%";
	if (!d->timed)
		return d->normal == DIFF_BY_TIME ? "samples/s" : "samples";
	if (d->normal == DIFF_BY_TIME) {
		*by = 1e3;
		return "ms/s";
	}
	return "s";
}

/* ---- what the reader must know before the numbers ---------------------------------------------- */

static void note(const struct diff *d, enum color_as as, struct buf *text)
{
	struct buf line = { 0 };

	buf_addstr(&line, "# ");
	color_put(&line, d->view.color, as, buf_cstr(text), text->len);
	puts(buf_cstr(&line));
	buf_free(&line);
	buf_clear(text);
}

static const char *name_of(enum delta_side side)
{
	return side == DELTA_OLD ? "old" : "new";
}

static void add_time(struct buf *text, const struct recorded_time_sum *time)
{
	buf_printf(text, ", over %.3f s", (double)time->span_ns / 1e9);
	if (time->ns < time->span_ns)
		buf_printf(text, ", %.3f s recorded", (double)time->ns / 1e9);
}

/* Dropped intervals are in no rate; but intervals that extend into them are in no sum either. */
static void print_dropped_time(const struct diff *d, enum delta_side side)
{
	const struct recorded_time_sum *time = &d->sides[side].time;
	const char *name = name_of(side);
	struct buf text = { 0 };

	if (time->ns < time->span_ns && d->opts->kind != DIFF_CPU) {
		buf_printf(
			&text,
			"%s not recorded: %.3f s; intervals that reach into this time are missing",
			name, (double)(time->span_ns - time->ns) / 1e9);
		note(d, COLOR_WARN, &text);
	}
	if (time->parts_ns > time->ns && d->normal == DIFF_BY_TIME) {
		buf_printf(
			&text,
			"%s: recordings overlap, %.3f s in total: values are scaled by their own recording",
			name, (double)time->parts_ns / 1e9);
		note(d, COLOR_WARN, &text);
	}
	buf_free(&text);
}

/* Which parts have what is compared. */
static void print_recorded(const struct diff *d, enum delta_side side)
{
	const struct report_text_recorded_opts opts = { diff_has_part_data, &d->sides[side], true };
	struct buf text = { 0 };

	buf_printf(&text, "%s switches: ", name_of(side));
	if (d->opts->kind != DIFF_CPU && report_text_recorded(&text, d->sides[side].names, &opts))
		note(d, COLOR_WARN, &text);
	buf_free(&text);
}

/*
 * Limits of the first part with off-CPU intervals in place of switches, see offcpu_interval_is_recorded(); false:
 * none.
 */
static bool has_stays(const struct diff_side *s, uint64_t *min_ns, uint64_t *max_ns)
{
	*min_ns = *max_ns = 0;
	for (uint32_t i = 0; i < s->names->parts.cnt; i++)
		if (offcpu_interval_is_recorded(s->names, i, min_ns, max_ns))
			return true;
	return false;
}

/* Stays that only one of them could have would seem to be new, or gone. */
static void print_differences(const struct diff *d)
{
	uint64_t min[DELTA_SIDES], max[DELTA_SIDES];
	const bool in_old = has_stays(&d->sides[DELTA_OLD], &min[DELTA_OLD], &max[DELTA_OLD]);
	const bool in_new = has_stays(&d->sides[DELTA_NEW], &min[DELTA_NEW], &max[DELTA_NEW]);
	struct buf text = { 0 };

	if (d->opts->kind == DIFF_CPU || (in_old == in_new && min[DELTA_OLD] == min[DELTA_NEW] &&
					  max[DELTA_OLD] == max[DELTA_NEW]))
		return;
	buf_addstr(
		&text,
		"--min-block or --max-block differ: intervals that only one trace records look like changes");
	note(d, COLOR_WARN, &text);
	buf_free(&text);
}

/* Rows of one trace only look like changes. */
static void report_unmatched(const struct diff *d)
{
	double in[DELTA_SIDES], by_name[DELTA_SIDES];
	struct buf text = { 0 };

	for (int side = 0; side < DELTA_SIDES; side++) {
		in[side] = delta_matched(d->delta, (enum delta_side)side, false) * 100;
		by_name[side] = delta_matched(d->delta, (enum delta_side)side, true) * 100;
	}
	if (d->opts->kind == DIFF_LATENCY || (in[DELTA_OLD] >= 50 && in[DELTA_NEW] >= 50))
		return;
	buf_printf(&text, "only %.1f%% of old and %.1f%% of new is in %s of both traces",
		   in[DELTA_OLD], in[DELTA_NEW], d->opts->stacks ? "stacks" : "functions");
	if (by_name[DELTA_OLD] > in[DELTA_OLD] || by_name[DELTA_NEW] > in[DELTA_NEW])
		buf_printf(&text, "; with -s sym %.1f%% and %.1f%%", by_name[DELTA_OLD],
			   by_name[DELTA_NEW]);
	note(d, COLOR_WARN, &text);
	buf_free(&text);
}

/* Stacks that the recorder dropped are missing from the rows by stack; rows of threads have all. */
static void print_dropped_stacks(const struct diff *d, enum delta_side side)
{
	const uint64_t *lost = d->sides[side].counts.account.lost;
	const uint64_t cnt = lost[LOSS_ACCOUNTING_STACKS] +
			     (d->opts->kind == DIFF_OFFCPU ? lost[LOSS_ACCOUNTING_STACKS_OFF] : 0);
	struct buf text = { 0 };

	if (!cnt || d->opts->kind == DIFF_LATENCY)
		return;
	buf_printf(&text, "%s: ", name_of(side));
	str_counted(&text, cnt, "stack");
	buf_addstr(&text, " dropped under load: differences may come from this only");
	note(d, COLOR_WARN, &text);
	buf_free(&text);
}

static void print_side(const struct diff *d, enum delta_side side)
{
	static const char *const nouns[] = { "CPU sample", "off-CPU interval",
					     "run-queue interval" };
	const struct diff_side *s = &d->sides[side];
	struct buf text = { 0 }, lost = { 0 };

	buf_printf(&text, "%s: ", name_of(side));
	value_text_clean(&text, reader_input(s->reader), strlen(reader_input(s->reader)));
	buf_addstr(&text, ": ");
	str_counted(&text, s->observed, nouns[d->opts->kind]);
	if (d->timed && s->observed)
		buf_printf(&text, ", %.3g s", s->sum / 1e9);
	add_time(&text, &s->time);
	note(d, COLOR_PLAIN, &text);
	if (loss_accounting_is_incomplete(&s->counts.account)) {
		report_text_lost(&lost, &s->counts.account);
		buf_printf(&text, "%s lost: %s", name_of(side), buf_cstr(&lost));
		note(d, COLOR_WARN, &text);
	}
	buf_printf(&text, "%s ", name_of(side));
	if (report_text_incomplete(&text, s->reader))
		note(d, COLOR_WARN, &text);
	print_dropped_stacks(d, side);
	print_dropped_time(d, side);
	print_recorded(d, side);
	buf_free(&lost);
	buf_free(&text);
}

static void print_header(const struct diff *d)
{
	struct buf text = { 0 };
	double by;

	print_side(d, DELTA_OLD);
	print_side(d, DELTA_NEW);
	print_differences(d);
	report_unmatched(d);
	if (d->opts->kind == DIFF_LATENCY)
		buf_addstr(&text, "run-queue latency in us");
	else
		buf_printf(&text, "%s in %s%s", d->opts->kind == DIFF_CPU ? "CPU" : "blocked time",
			   unit(d, &by),
			   d->normal == DIFF_BY_SAMPLES ? " of the total" :
			   d->normal == DIFF_BY_TIME	? " of recorded time" :
							  "");
	buf_addstr(&text, "; +-: two standard deviations; ~: within noise; ?: noise unknown");
	note(d, COLOR_PLAIN, &text);
	if (d->opts->kind == DIFF_OFFCPU && d->opts->normal == DIFF_BY_DEFAULT) {
		buf_addstr(
			&text,
			d->normal == DIFF_BY_NONE ?
				"both traces are whole commands: times are totals (see --normalize time)" :
				"times are per second of recorded time (see --normalize none)");
		note(d, COLOR_PLAIN, &text);
	}
	puts("#");
	buf_free(&text);
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void add_title(struct buf *line, const struct diff *d)
{
	const char *change = d->opts->compute == DIFF_RATIO ? "Ratio" : "Delta";
	char old[32], new[32];

	snprintf(old, sizeof(old), "Old p%g", d->percentile * 100);
	snprintf(new, sizeof(new), "New p%g", d->percentile * 100);
	if (d->opts->kind == DIFF_LATENCY)
		buf_printf(line, "# %7s %7s %10s %10s %10s %10s %10s %10s  Thread\n", "Old", "New",
			   "Old p50", "New p50", old, new, change, "+-");
	else
		buf_printf(line, "# %10s %10s %10s %10s  %s\n", "Old", "New", change, "+-",
			   d->opts->stacks   ? "Stack, leaf first" :
			   d->delta->by_name ? "Symbol" :
					       "Symbol (module)");
}

static void add_ratio(struct buf *line, const struct delta_change *c)
{
	if (!(c->v[DELTA_OLD] > 0))
		buf_addstr(line, "        new          -");
	else if (!(c->v[DELTA_NEW] > 0))
		buf_addstr(line, "       gone          -");
	else if (c->ratio_error < 0)
		buf_printf(line, " %9.2fx          -", c->ratio);
	else
		buf_printf(line, " %9.2fx %9.2fx", c->ratio, c->ratio_error);
}

static void add_waits(struct buf *line, const struct delta_change *c, double by)
{
	const struct quantile *const *waits = (const struct quantile *const *)c->row->latencies;

	for (int side = 0; side < DELTA_SIDES; side++)
		buf_printf(line, " %7" PRIu64, waits[side] ? waits[side]->cnt : 0);
	for (int side = 0; side < DELTA_SIDES; side++)
		if (waits[side])
			buf_printf(line, " %10.1f", quantile_at(waits[side], 0.5) * by);
		else
			buf_addstr(line, "          -");
}

/* A percentile of nothing is none. */
static bool one_sided(const struct diff *d, const struct delta_change *c)
{
	return d->opts->kind == DIFF_LATENCY &&
	       !(c->row->latencies[DELTA_OLD] && c->row->latencies[DELTA_NEW]);
}

static void add_numbers(struct buf *line, const struct diff *d, const struct delta_change *c)
{
	bool percent = d->opts->kind != DIFF_LATENCY && d->normal == DIFF_BY_SAMPLES;
	int digits = d->opts->kind == DIFF_LATENCY ? 1 : percent ? 2 : 3;
	const char *tail = percent ? "%" : "";
	int width = percent ? 9 : 10;
	double by;

	unit(d, &by);
	buf_addch(line, " ~?"[c->verdict]);
	if (d->opts->kind == DIFF_LATENCY)
		add_waits(line, c, by);
	for (int side = 0; side < DELTA_SIDES; side++)
		if (d->opts->kind == DIFF_LATENCY && !c->row->latencies[side])
			buf_printf(line, " %10s", "-");
		else
			buf_printf(line, " %*.*f%s", width, digits, c->v[side] * by, tail);
	if (d->opts->compute == DIFF_RATIO) {
		add_ratio(line, c);
		return;
	}
	if (one_sided(d, c)) {
		buf_printf(line, " %10s %10s", "-", "-");
		return;
	}
	buf_printf(line, " %+*.*f%s", width, digits, c->delta * by, tail);
	if (c->error < 0)
		buf_printf(line, " %10s", "-");
	else
		buf_printf(line, " %*.*f%s", width, digits, c->error * by, tail);
}

/* A function and its module, of which the function gives way. */
static void add_place(struct buf *line, const struct diff *d, const struct delta_place *p,
		      size_t used)
{
	struct buf name = { 0 }, module = { 0 }, whole = { 0 };
	size_t room = SIZE_MAX, tail;
	const char *s;
	size_t len;

	if (d->view.width)
		room = d->view.width > used + NAME_MIN ? d->view.width - used : NAME_MIN;
	s = delta_str(d->delta, p->name, &len);
	value_text_clean(&name, s, len);
	s = delta_str(d->delta, p->module, &len);
	/* a label names the module itself */
	if (len && !d->delta->by_name && !names_is_label(buf_cstr(&name), name.len)) {
		buf_addstr(&module, " (");
		value_text_clean(&module, s, len);
		buf_addch(&module, ')');
	}
	tail = value_text_width(buf_cstr(&module), module.len);
	symbol_fit_name(&whole, buf_cstr(&name), name.len,
			!d->view.width ? 0 :
			room > tail    ? room - tail :
					 1);
	buf_add(&whole, buf_cstr(&module), module.len);
	if (d->view.width && value_text_width(buf_cstr(&whole), whole.len) > room)
		report_text_column(line, buf_cstr(&whole), whole.len, room, true);
	else
		buf_add(line, buf_cstr(&whole), whole.len);
	buf_free(&name);
	buf_free(&module);
	buf_free(&whole);
}

static void put_row(const struct diff *d, const struct delta_change *c)
{
	struct buf line = { 0 }, painted = { 0 };
	size_t used;

	add_numbers(&line, d, c);
	used = line.len + 2;
	for (uint32_t i = 0; i < c->row->place_cnt; i++) {
		if (i)
			buf_printf(&line, "\n%*s", (int)used, "");
		else
			buf_addstr(&line, "  ");
		add_place(&line, d, &c->row->places[i], used);
	}
	color_put(&painted, d->view.color,
		  c->verdict != DELTA_CHANGED ? COLOR_DIM :
		  c->verdict_delta > 0	      ? COLOR_HOT :
						COLOR_WARM,
		  buf_cstr(&line), line.len);
	puts(buf_cstr(&painted));
	buf_free(&line);
	buf_free(&painted);
}

const char *diff_kind_of_thing(const struct diff *d)
{
	static const char *const kinds[] = {
		"CPU samples", "off-CPU intervals (they need sched:sched_switch)",
		"run-queue intervals (they need sched:sched_switch and sched:sched_waking)"
	};

	return kinds[d->opts->kind];
}

void diff_print_text(const struct diff *d)
{
	struct buf title = { 0 };
	size_t n = shown(d);

	if (!d->change_cnt) {
		if (!select_is_used(&d->sides[DELTA_OLD].sel))
			printf("Nothing to compare: neither trace has %s.\n",
			       diff_kind_of_thing(d));
		return;
	}
	print_header(d);
	add_title(&title, d);
	fputs(buf_cstr(&title), stdout);
	for (size_t i = 0; i < n; i++)
		put_row(d, &d->changes[i]);
	buf_free(&title);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

/* What is endless or unknown has no number. */
static void json_number(struct buf *out, const char *key, double v, bool known)
{
	if (known && isfinite(v))
		json_double(out, key, v);
	else
		json_null(out, key);
}

static void json_side(struct buf *out, const struct diff *d, enum delta_side side)
{
	const struct diff_side *s = &d->sides[side];
	const char *input = reader_input(s->reader);

	json_object(out, name_of(side));
	json_str(out, "file", input);
	json_u64s(out, { "observed", s->observed }, { "span_ns", s->time.span_ns },
		  { "recorded_ns", s->time.ns });
	json_number(out, "sum_ns", s->sum, d->timed);
	if (d->opts->kind != DIFF_LATENCY)
		json_double(out, "matched_percent", delta_matched(d->delta, side, false) * 100);
	report_text_json_account(out, &s->counts.account);
	json_end(out, "}");
}

static void json_place(struct buf *out, const struct diff *d, const struct delta_place *p)
{
	bool thread = d->opts->kind == DIFF_LATENCY;
	const char *s;
	size_t len;

	s = delta_str(d->delta, p->name, &len);
	buf_addstr(out, thread ? "\"comm\":" : "\"sym\":");
	str_json(out, s, len);
	if (thread)
		return;
	s = delta_str(d->delta, p->module, &len);
	if (d->delta->by_name)
		json_null(out, "dso");
	else
		json_text(out, "dso", s, len);
}

static void json_places(struct buf *out, const struct diff *d, const struct delta_row *row)
{
	if (!d->opts->stacks) {
		json_place(out, d, &row->places[0]);
		return;
	}
	json_array(out, "stack");
	for (uint32_t i = 0; i < row->place_cnt; i++) {
		json_object(out, NULL);
		json_place(out, d, &row->places[i]);
		json_end(out, "}");
	}
	json_end(out, "]");
}

static void json_row(struct buf *out, const struct diff *d, const struct delta_change *c)
{
	static const char *const sides[] = { "old", "new" };
	static const char *const inside[] = {
		[DELTA_CHANGED] = "false", [DELTA_NOISE] = "true", [DELTA_UNSURE] = "null"
	};
	char key[32];

	json_object(out, NULL);
	json_places(out, d, c->row);
	for (int side = 0; side < DELTA_SIDES; side++) {
		const struct quantile *waits = c->row->latencies[side];
		const struct delta_sum *sum = d->total ? &c->row->total[side] : &c->row->self[side];

		if (d->opts->kind == DIFF_LATENCY) {
			buf_printf(out, ",\"%s_count\":%" PRIu64, sides[side],
				   waits ? waits->cnt : 0);
			snprintf(key, sizeof(key), "%s_p50", sides[side]);
			json_number(out, key, waits ? quantile_at(waits, 0.5) : 0, waits);
			snprintf(key, sizeof(key), "%s_max", sides[side]);
			json_number(out, key, waits ? (double)waits->max : 0, waits);
		} else {
			buf_printf(out, ",\"%s_count\":%" PRIu64, sides[side], sum->cnt);
		}
		json_number(out, sides[side], c->v[side], d->opts->kind != DIFF_LATENCY || waits);
	}
	json_number(out, "delta", c->delta, !one_sided(d, c));
	json_number(out, "error", c->error, c->error >= 0);
	json_number(out, "ratio", c->ratio, true);
	json_number(out, "ratio_error", c->ratio_error, c->ratio_error >= 0);
	if (d->opts->kind == DIFF_LATENCY) {
		json_number(out, "p50_delta", c->median_delta, !one_sided(d, c));
		json_number(out, "p50_error", c->median_error, c->median_error >= 0);
	}
	buf_printf(out, ",\"within_noise\":%s}", inside[c->verdict]);
}

/* Without the factors that text has: seconds are seconds, and waits nanoseconds. */
static const char *json_unit(const struct diff *d)
{
	if (d->opts->kind == DIFF_LATENCY)
		return "ns";
	if (d->normal == DIFF_BY_SAMPLES)
		return "percent";
	if (d->normal == DIFF_BY_TIME)
		return d->timed ? "s/s" : "samples/s";
	return d->timed ? "s" : "samples";
}

void diff_print_json(const struct diff *d)
{
	struct buf out = { 0 };
	size_t n = shown(d);

	value_text_json_begin(&out);
	json_str(&out, "kind", diff_kinds[d->opts->kind]);
	json_str(&out, "unit", json_unit(d));
	if (d->opts->kind == DIFF_LATENCY)
		json_double(&out, "percentile", d->percentile * 100);
	else
		json_str(&out, "normalize", diff_normals[d->normal]);
	json_side(&out, d, DELTA_OLD);
	json_side(&out, d, DELTA_NEW);
	report_text_json_rows(&out, d->change_cnt - n);
	for (size_t i = 0; i < n; i++) {
		json_row(&out, d, &d->changes[i]);
	}
	json_end(&out, "]}\n");
	buf_print(&out, stdout);
}
