// SPDX-License-Identifier: BSD-2-Clause
/*
 * Everything written is read back: random schemas and values of every type and modifier, written in every
 * style, interleaved with all else that an encoder does, and read in every style.
 */
#include "tests/libdial9/support.h"

#include "tests/support/random_events.h"

#define SEEDS 120
#define STEPS 150

struct check {
	const struct random_events *want;
	size_t seen;
	uint64_t seed;
	size_t cancelled_at; /* the visitor's own end */
};

static void check_event(struct check *c, const struct dial9_dec *dec, const struct dial9_event *ev,
			bool owned)
{
	const struct random_event *want = &c->want->events[c->seen];
	size_t i;

	cr_assert_lt(c->seen, c->want->cnt, "seed %d: an event too many", (int)c->seed);
	cr_assert(dial9_schema_equal(ev->schema, want->schema), "seed %d: event %zu: schema",
		  (int)c->seed, c->seen);
	cr_assert_eq(ev->ts, want->ts, "seed %d: event %zu: time", (int)c->seed, c->seen);
	cr_assert_eq(ev->has_ts, dial9_schema_has_timestamp(want->schema));
	cr_assert_eq(ev->value_cnt, want->cnt);
	for (i = 0; i < want->cnt; i++)
		cr_assert(tree_equals(&want->values[i], dec, &ev->values[i], owned),
			  "seed %d: event %zu: value %zu of type %d", (int)c->seed, c->seen, i,
			  want->values[i].type);
	c->seen++;
}

static int on_event(void *ctx, const struct dial9_dec *dec, const struct dial9_event *ev)
{
	struct check *c = ctx;

	check_event(c, dec, ev, false);
	return c->seen == c->cancelled_at ? 7 : 0;
}

static void check_visitor(struct check c, struct dial9_dec *dec)
{
	struct dial9_visitor v = { .sz = sizeof(v), .event = on_event, .ctx = &c };

	c.seen = 0;
	c.cancelled_at = c.want->cnt / 2;
	if (c.cancelled_at)
		cr_assert_eq(dial9_dec_visit(dec, &v), 7);
	cr_assert_eq(c.seen, c.cancelled_at);
	c.cancelled_at = SIZE_MAX;
	cr_assert_eq(dial9_dec_visit(dec, &v), 0);
	cr_assert_eq(c.seen, c.want->cnt);
	dial9_dec_free(dec);
}

static void check_next(struct check c, struct dial9_dec *dec, bool owned)
{
	const struct dial9_event *in_batch;
	struct dial9_copies *copies;
	struct dial9_event *copy;
	struct dial9_frame f;
	int err;

	c.seen = 0;
	cr_assert_eq(dial9_copies_new(&copies), 0);
	while ((err = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		if (!owned) {
			check_event(&c, dec, &f.event, false);
			continue;
		}
		cr_assert_eq(dial9_copies_add(copies, dec, &f.event, &in_batch), 0);
		cr_assert_eq(dial9_event_copy(dec, in_batch, &copy), 0, "a copy can be copied");
		check_event(&c, dec, copy, true);
		dial9_event_free(copy);
	}
	dial9_copies_free(copies);
	cr_assert_eq(err, 0, "seed %d: %d", (int)c.seed, err);
	cr_assert_eq(c.seen, c.want->cnt, "seed %d: %zu events", (int)c.seed, c.seen);
	dial9_dec_free(dec);
}

static bool is_skipped(const struct dial9_schema *s, uint64_t seed)
{
	return dial9_schema_field_cnt(s) % 2 == seed % 2;
}

/* The last result of dial9_dec_next(), with the events of some types skipped. */
static int skip_some(struct dial9_dec *dec, uint64_t seed, struct check *c,
		     struct dial9_skipped *sum)
{
	struct dial9_skipped some;
	struct dial9_frame f;
	int err;

	while ((err = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind == DIAL9_FRAME_SCHEMA && is_skipped(f.schema.schema, seed))
			cr_assert_eq(dial9_dec_skip(dec, f.schema.type_id), 0);
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		cr_assert(!is_skipped(f.event.schema, seed));
		for (; c && is_skipped(c->want->events[c->seen].schema, seed); c->seen++)
			;
		if (c)
			check_event(c, dec, &f.event, false);
		if (!dial9_dec_skipped(dec, &some))
			continue;
		sum->cnt += some.cnt;
		sum->first_ts = some.first_ts < sum->first_ts ? some.first_ts : sum->first_ts;
		sum->last_ts = some.last_ts > sum->last_ts ? some.last_ts : sum->last_ts;
	}
	return err;
}

static void check_skipping(struct check c, struct dial9_dec *dec)
{
	struct dial9_skipped got = { .first_ts = UINT64_MAX }, want = got, rest;

	c.seen = 0;
	for (size_t i = 0; i < c.want->cnt; i++) {
		const struct random_event *ev = &c.want->events[i];

		if (!is_skipped(ev->schema, c.seed))
			continue;
		want.cnt++;
		if (!dial9_schema_has_timestamp(ev->schema))
			continue;
		want.first_ts = ev->ts < want.first_ts ? ev->ts : want.first_ts;
		want.last_ts = ev->ts > want.last_ts ? ev->ts : want.last_ts;
	}
	cr_assert_eq(skip_some(dec, c.seed, &c, &got), 0, "seed %d", (int)c.seed);
	if (dial9_dec_skipped(dec, &rest)) {
		got.cnt += rest.cnt;
		got.first_ts = rest.first_ts < got.first_ts ? rest.first_ts : got.first_ts;
		got.last_ts = rest.last_ts > got.last_ts ? rest.last_ts : got.last_ts;
	}
	cr_assert_eq(dial9_dec_skipped(dec, &rest), 0, "told once");
	cr_assert_eq(got.cnt, want.cnt, "seed %d", (int)c.seed);
	cr_assert_eq(got.first_ts, want.first_ts, "seed %d", (int)c.seed);
	cr_assert_eq(got.last_ts, want.last_ts, "seed %d", (int)c.seed);
	dial9_dec_free(dec);
}

static void check_all_styles(struct check c, const uint8_t *p, size_t n)
{
	struct feed feeds[3] = { { p, n, 0, c.seed % 61 + 1, 0 },
				 { p, n, 0, c.seed % 7 + 1, 0 },
				 { p, n, 0, c.seed % 101 + 1, 0 } };

	check_visitor(c, dec_memory(p, n));
	check_visitor(c, dec_feed(&feeds[0]));
	check_next(c, dec_memory(p, n), false);
	check_next(c, dec_feed(&feeds[1]), false);
	check_next(c, dec_memory(p, n), true);
	check_skipping(c, dec_memory(p, n));
	check_skipping(c, dec_feed(&feeds[2]));
}

Test(property, every_decoding_style_returns_the_encoded_events)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	size_t events = 0, refused = 0, n;
	struct random_events r;
	struct dial9_enc *enc;
	const uint8_t *p;
	uint64_t seed;

	for (seed = 1; seed <= SEEDS; seed++) {
		o.first_type_id = seed % 3 ? 256 : 65480;
		o.pool_bytes_max = seed % 5 ? 0 : 2000;
		cr_assert_eq(dial9_enc_new(&o, &enc), 0);
		random_run(&r, seed, STEPS, enc);
		p = enc_bytes(enc, &n);
		check_all_styles((struct check){ .want = &r, .seed = seed }, p, n);
		events += r.cnt;
		refused += r.refused;
		random_fini(&r);
		dial9_enc_free(enc);
	}
	cr_assert_gt(events, SEEDS * STEPS / 2, "%zu events", events);
	cr_assert_gt(refused, 0);
}

/* The result for @n bytes and the offset reached, with events skipped or not. */
static void compare_verdicts(const uint8_t *p, size_t n, uint64_t seed)
{
	struct dial9_skipped sum = { .first_ts = UINT64_MAX };
	struct dial9_dec *dec = dec_memory(p, n);
	struct dial9_error want, got;
	struct dial9_frame f;
	int err;

	while ((err = dial9_dec_next(dec, &f)) == 1)
		;
	dial9_dec_error(dec, &want);
	dial9_dec_free(dec);
	dec = dec_memory(p, n);
	cr_assert_eq(skip_some(dec, seed, NULL, &sum), err, "seed %d", (int)seed);
	dial9_dec_error(dec, &got);
	cr_assert_eq(got.offset, want.offset, "seed %d", (int)seed);
	cr_assert_str_eq(got.reason, want.reason, "seed %d", (int)seed);
	dial9_dec_free(dec);
}

Test(property, damage_in_skipped_events_is_found_too)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	struct random_events r;
	struct dial9_enc *enc;
	const uint8_t *p;
	uint8_t *bad;
	size_t n;

	for (uint64_t seed = 1; seed <= SEEDS / 30; seed++) {
		cr_assert_eq(dial9_enc_new(&o, &enc), 0);
		random_run(&r, seed, STEPS / 5, enc);
		p = enc_bytes(enc, &n);
		bad = malloc(n);
		for (size_t at = seed; at < n; at += 7) {
			memcpy(bad, p, n);
			bad[at] ^= (uint8_t)(0x80 | (at + seed));
			compare_verdicts(bad, n, seed);
		}
		compare_verdicts(p, n - seed % n, seed);
		free(bad);
		random_fini(&r);
		dial9_enc_free(enc);
	}
}

struct sink {
	uint8_t *p;
	size_t n;
	size_t calls;
};

/* Each call must begin and end between frames: the data so far always decodes to a clean end. */
static int sink_write(void *ctx, const void *data, size_t sz)
{
	struct sink *s = ctx;
	struct dial9_frame f;
	struct dial9_dec *dec;
	int err;

	s->p = realloc(s->p, s->n + sz);
	memcpy(s->p + s->n, data, sz);
	s->n += sz;
	if (s->calls++ % 16)
		return 0;
	dec = dec_memory(s->p, s->n);
	while ((err = dial9_dec_next(dec, &f)) == 1)
		;
	dial9_dec_free(dec);
	return err;
}

Test(property, callback_gets_the_same_bytes_in_whole_frames)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	struct random_events r;
	struct dial9_enc *enc;
	uint64_t seed, total;
	struct sink s;

	for (seed = 1000; seed < 1000 + SEEDS / 4; seed++) {
		s = (struct sink){ 0 };
		o.write = sink_write;
		o.ctx = &s;
		o.flush_at = (seed % 10) * 300 + 1;
		cr_assert_eq(dial9_enc_new(&o, &enc), 0);
		random_run(&r, seed, STEPS, enc);
		total = dial9_enc_bytes(enc);
		cr_assert_eq(total, s.n);
		check_all_styles((struct check){ .want = &r, .seed = seed }, s.p, s.n);
		random_fini(&r);
		dial9_enc_free(enc);
		free(s.p);
	}
}
