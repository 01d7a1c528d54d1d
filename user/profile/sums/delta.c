// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares two traces. Owns rows matched by name, and the arithmetic of differences and errors.
 * Numbers only; callers supply observations and print rows.
 *
 * A row's key is its text without the parts that change between builds. A key's number in the table
 * of keys is the row's index.
 */
#include "profile/sums/delta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

struct delta *delta_new(bool by_stack)
{
	struct delta *d = xcalloc(1, sizeof(*d));

	d->by_stack = by_stack;
	return d;
}

void delta_free(struct delta *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->cnt; i++) {
		free(d->rows[i].places);
		for (int side = 0; side < DELTA_SIDES; side++) {
			if (d->rows[i].latencies[side])
				quantile_fini(d->rows[i].latencies[side]);
			free(d->rows[i].latencies[side]);
		}
	}
	free(d->rows);
	free(d->places);
	strtab_fini(&d->strs);
	strtab_fini(&d->keys);
	delta_match_fini(&d->match);
	free(d);
}

const char *delta_str(const struct delta *d, uint32_t id, size_t *len)
{
	const char *s = strtab_get(&d->strs, id, len);

	return s ? s : "";
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void add_place(struct delta *d, uint32_t *cnt, const char *name, size_t len,
		      const char *module, size_t module_len, const struct buf *match)
{
	d->places = array_reserve(d->places, &d->place_cap, *cnt + 1u, sizeof(*d->places));
	d->places[(*cnt)++] = (struct delta_place){
		strtab_add(&d->strs, name, len), strtab_add(&d->strs, module, module_len),
		strtab_add(&d->strs, match->len ? match->data : "", match->len)
	};
}

/* Runtime libraries: on the stack of a blocked thread whatever it waits for. */
static bool is_wait_code(const struct names *n, uint64_t frame)
{
	static const char *const modules[] = { "libc.",	  "libc-",  "libpthread", "ld-linux",
					       "ld-musl", "ld-2.",  "ld.so",	  "libstdc++",
					       "libgcc_", "librt.", "libm.",	  "[vdso]" };
	size_t len;
	const char *module = delta_match_base(n, names_frame_module(frame), &len);

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (len >= strlen(modules[i]) && !memcmp(module, modules[i], strlen(modules[i])))
			return true;
	return false;
}

/*
 * How well a frame explains the reason for blocking: scheduler 0, other kernel code 1, runtime
 * libraries 2, other code 3.
 */
static int frame_rank(const struct names *n, uint64_t frame)
{
	const struct names_symbol *sym = names_symbol(n, frame);

	if (frame & PROF_FRAME_KERNEL)
		return sym && sym->cnt &&
		       !strstr(names_str(n, sym->frames[0].name, NULL), "schedule");
	return is_wait_code(n, frame) ? 2 : 3;
}

/* Code without a symbol: one row per module. */
static void add_label(struct delta *d, const char *module, size_t len, struct buf *match,
		      uint32_t *cnt)
{
	struct buf label = { 0 };

	if (module[0] != '[')
		buf_addch(&label, '[');
	buf_add(&label, module, len);
	if (module[0] != '[')
		buf_addch(&label, ']');
	add_place(d, cnt, buf_cstr(&label), label.len, module, len, match);
	buf_free(&label);
}

/* The functions at an address, innermost first. */
static void add_frame(struct delta *d, enum delta_side side, const struct names *n, uint64_t frame,
		      uint32_t *cnt)
{
	const uint32_t index = names_frame_module(frame);
	const struct names_symbol *sym = names_symbol(n, frame);
	const char *module, *name;
	struct buf match = { 0 };
	size_t module_len, len;
	uint32_t before = *cnt;

	module = delta_match_base(n, index, &module_len);
	for (uint32_t depth = sym ? sym->cnt : 0; depth--;) {
		const struct names_frame *f = &sym->frames[depth];

		if (f->name == NAMES_NONE || f->label || !names_symbol_is_printed(sym, depth))
			continue;
		name = names_str(n, f->name, &len);
		buf_clear(&match);
		if (!d->by_name)
			delta_match_put(&d->match, side, n, index, f, &match);
		add_place(d, cnt, name, len, module, module_len, &match);
	}
	if (*cnt == before) {
		delta_match_put(&d->match, side, n, index, NULL, &match);
		add_label(d, module, module_len, &match, cnt);
	}
	buf_free(&match);
}

static void add_place_key(const struct delta *d, struct buf *key, const struct delta_place *p)
{
	const char *name, *match;
	size_t len, match_len = 0;

	name = delta_str(d, p->name, &len);
	match = delta_str(d, p->match, &match_len);
	/* a label has the module's name with its version */
	if (!names_is_label(name, len))
		buf_add(key, name, delta_match_name_len(name, len));
	buf_addch(key, '\0');
	buf_add(key, match, match_len);
	buf_addch(key, '\0');
}

/* The printed text comes from the new trace. */
static struct delta_row *row_of(struct delta *d, enum delta_side side,
				const struct delta_place *places, uint32_t cnt)
{
	struct buf key = { 0 };
	struct delta_row *row;
	uint32_t at;

	for (uint32_t i = 0; i < cnt; i++)
		add_place_key(d, &key, &places[i]);
	at = strtab_add(&d->keys, buf_cstr(&key), key.len);
	buf_free(&key);
	if (at == d->cnt) {
		d->rows = array_reserve(d->rows, &d->cap, d->cnt + 1, sizeof(*d->rows));
		d->rows[d->cnt++] = (struct delta_row){ .place_cnt = cnt };
	}
	row = &d->rows[at];
	if (!row->places || side == DELTA_NEW) {
		free(row->places);
		row->places = xmemdup(places, cnt * sizeof(*places));
		row->place_cnt = cnt;
	}
	return row;
}

static void sum_add(struct delta_sum *to, const struct delta_sum *sum)
{
	to->cnt += sum->cnt;
	to->sum += sum->sum;
	to->squares += sum->squares;
}

void delta_add_stack(struct delta *d, enum delta_side side, const struct names *n,
		     const uint64_t *frames, uint32_t cnt, const struct delta_sum *sum)
{
	struct delta_row *row;
	uint32_t places = 0, self = 0;
	int best = -1, says_now;

	sum_add(&d->all[side], sum);
	d->stacks++;
	for (uint32_t i = 0; i < cnt; i++) {
		says_now = d->own ? frame_rank(n, frames[i]) : 0;
		if (says_now > best) {
			best = says_now;
			self = places;
		}
		add_frame(d, side, n, frames[i], &places);
	}
	if (!places)
		add_place(d, &places, "[no stack]", strlen("[no stack]"), "", 0,
			  &(const struct buf){ 0 });
	if (d->by_stack) {
		row = row_of(d, side, d->places, places);
		sum_add(&row->self[side], sum);
		sum_add(&row->total[side], sum);
		return;
	}
	for (uint32_t i = 0; i < places; i++) {
		row = row_of(d, side, &d->places[i], 1);
		if (i == self)
			sum_add(&row->self[side], sum);
		if (row->last_stack != d->stacks)
			sum_add(&row->total[side], sum);
		row->last_stack = d->stacks;
	}
}

void delta_add_wait(struct delta *d, enum delta_side side, const char *comm, size_t len,
		    uint64_t ns)
{
	const uint32_t none = strtab_add(&d->strs, "", 0);
	struct delta_place place = { strtab_add(&d->strs, comm, len), none, none };
	struct delta_sum one = { 1, (double)ns, (double)ns * (double)ns };
	struct delta_row *row = row_of(d, side, &place, 1);

	sum_add(&d->all[side], &one);
	sum_add(&row->total[side], &one);
	if (!row->latencies[side])
		row->latencies[side] = xcalloc(1, sizeof(*row->latencies[side]));
	quantile_add(row->latencies[side], ns);
}

static void put_names(const struct delta *d, struct buf *key, const struct delta_row *row)
{
	struct delta_place p;

	for (uint32_t i = 0; i < row->place_cnt; i++) {
		p = row->places[i];
		if (!names_is_label(delta_str(d, p.name, NULL), strlen(delta_str(d, p.name, NULL))))
			p.match = UINT32_MAX;
		add_place_key(d, key, &p);
	}
}

static unsigned int sides_of(const struct delta_row *row)
{
	return (row->total[DELTA_OLD].cnt ? 1u << DELTA_OLD : 0) |
	       (row->total[DELTA_NEW].cnt ? 1u << DELTA_NEW : 0);
}

/* By row: the sides that have a row of these names. */
static unsigned int *sides_by_name(const struct delta *d)
{
	unsigned int *sides = xcalloc(d->cnt + 1, sizeof(*sides));
	uint32_t *ids = xcalloc(d->cnt + 1, sizeof(*ids));
	struct strtab keys = { 0 };
	struct buf key = { 0 };

	for (size_t i = 0; i < d->cnt; i++) {
		buf_clear(&key);
		put_names(d, &key, &d->rows[i]);
		ids[i] = strtab_add(&keys, buf_cstr(&key), key.len);
		sides[ids[i]] |= sides_of(&d->rows[i]);
	}
	/* an id is never larger than its row's index */
	for (size_t i = d->cnt; i--;)
		sides[i] = sides[ids[i]];
	buf_free(&key);
	strtab_fini(&keys);
	free(ids);
	return sides;
}

double delta_matched(const struct delta *d, enum delta_side side, bool by_name)
{
	unsigned int *sides = by_name ? sides_by_name(d) : NULL;
	double in = 0;

	for (size_t i = 0; i < d->cnt; i++)
		if ((sides ? sides[i] : sides_of(&d->rows[i])) == (1u << DELTA_SIDES) - 1)
			in += d->rows[i].self[side].sum;
	free(sides);
	return d->all[side].sum > 0 ? in / d->all[side].sum : 1;
}

/* With fewer observations the variance is not reliable. */
#define OBSERVED_MIN 8

/* ---- differences ------------------------------------------------------------------------------- */

static void find_ratio(struct delta_change *c, const double error[DELTA_SIDES])
{
	c->ratio = c->v[DELTA_OLD] > 0 ? c->v[DELTA_NEW] / c->v[DELTA_OLD] : INFINITY;
	c->ratio_error = c->v[DELTA_OLD] > 0 && c->v[DELTA_NEW] > 0 && c->error >= 0 ?
				 c->ratio * hypot(error[DELTA_OLD] / c->v[DELTA_OLD],
						  error[DELTA_NEW] / c->v[DELTA_NEW]) :
				 -1;
}

/* Sets the difference and its error from the errors of both sides; c->error < 0: unknown. */
static void set_verdict(struct delta_change *c, const double error[DELTA_SIDES])
{
	if (c->error >= 0)
		c->error = hypot(error[DELTA_OLD], error[DELTA_NEW]);
	c->verdict = c->error < 0		? DELTA_UNSURE :
		     fabs(c->delta) <= c->error ? DELTA_NOISE :
						  DELTA_CHANGED;
	find_ratio(c, error);
	c->verdict_delta = c->delta;
	c->verdict_ratio = c->ratio;
}

/* Two standard deviations of a sum; negative if nothing was observed. */
static double sum_error(const struct delta_sum *sum, const struct delta_sum *all, bool share)
{
	double one, in, p;

	if (!all->cnt || !(all->sum > 0))
		return -1;
	one = all->squares / (double)all->cnt;
	in = fmax(sum->squares, one);
	p = share ? sum->sum / all->sum : 0;
	/* (1-p)^2 times the squares in it, and p^2 times the others */
	return 2 * sqrt(fmax((1 - 2 * p) * in + p * p * all->squares, 0));
}

/*
 * Whether the mean changed by more than its error, and the sum in the same direction. If so, @error
 * becomes the one of the sums for a fixed number of observations.
 */
static bool mean_changed(const struct delta_sum *sum, const struct delta_scale *scale, double delta,
			 double error[DELTA_SIDES])
{
	double mean[DELTA_SIDES], variance, of_mean = 0;

	for (int side = 0; side < DELTA_SIDES; side++) {
		const double cnt = (double)sum[side].cnt;

		if (sum[side].cnt < OBSERVED_MIN)
			return false;
		mean[side] = sum[side].sum / cnt;
		variance = fmax(sum[side].squares - cnt * mean[side] * mean[side], 0) / (cnt - 1);
		of_mean += variance / cnt;
		error[side] = 2 * sqrt(cnt * variance) * scale->by[side];
	}
	return fabs(mean[DELTA_NEW] - mean[DELTA_OLD]) > 2 * sqrt(of_mean) &&
	       (mean[DELTA_NEW] > mean[DELTA_OLD]) == (delta > 0);
}

struct delta_change delta_change_sum(const struct delta *d, const struct delta_row *row, bool total,
				     const struct delta_scale *scale)
{
	const struct delta_sum *sum = total ? row->total : row->self;
	struct delta_change c = { .row = row };
	double error[DELTA_SIDES];

	for (int side = 0; side < DELTA_SIDES; side++) {
		c.v[side] = sum[side].sum * scale->by[side];
		error[side] = sum_error(&sum[side], &d->all[side], scale->share);
		c.error = error[side] < 0 ? -1 : c.error;
		error[side] *= scale->by[side];
	}
	c.delta = c.v[DELTA_NEW] - c.v[DELTA_OLD];
	set_verdict(&c, error);
	if (c.verdict != DELTA_CHANGED && scale->lengths && !scale->share &&
	    mean_changed(sum, scale, c.delta, error)) {
		c.error = 0;
		set_verdict(&c, error);
	}
	return c;
}

static struct delta_change change_of_quantile(const struct delta_row *row, double q)
{
	struct delta_change c = { .row = row };
	double error[DELTA_SIDES] = { 0, 0 }, low, high;

	for (int side = 0; side < DELTA_SIDES; side++) {
		const struct quantile *waits = row->latencies[side];

		if (!waits) {
			c.error = -1;
			continue;
		}
		c.v[side] = quantile_at(waits, q);
		if (quantile_range(waits, q, &low, &high))
			error[side] = fmax(c.v[side] - low, high - c.v[side]);
		else
			c.error = -1;
	}
	if (row->latencies[DELTA_OLD] && row->latencies[DELTA_NEW])
		c.delta = c.v[DELTA_NEW] - c.v[DELTA_OLD];
	set_verdict(&c, error);
	return c;
}

struct delta_change delta_change_quantile(const struct delta_row *row, double q)
{
	struct delta_change c = change_of_quantile(row, q);
	const struct delta_change median = change_of_quantile(row, 0.5);

	c.median_delta = median.delta;
	c.median_error = median.error;
	if (median.verdict == DELTA_CHANGED && c.verdict != DELTA_CHANGED) {
		c.verdict = DELTA_CHANGED;
		c.verdict_delta = median.delta;
		c.verdict_ratio = median.ratio;
	}
	return c;
}
