// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whatever is written is what is read: random schemas and values of every type and modifier, written in every
 * style, interleaved with all else that an encoder does, and read in every style.
 */
#include "support.h"

#include "../support/random_events.h"

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
	struct dial9_event *copy;
	struct dial9_frame f;
	int err;

	c.seen = 0;
	while ((err = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		if (!owned) {
			check_event(&c, dec, &f.event, false);
			continue;
		}
		cr_assert_eq(dial9_event_copy(dec, &f.event, &copy), 0);
		check_event(&c, dec, copy, true);
		dial9_event_free(copy);
	}
	cr_assert_eq(err, 0, "seed %d: %d", (int)c.seed, err);
	cr_assert_eq(c.seen, c.want->cnt, "seed %d: %zu events", (int)c.seed, c.seen);
	dial9_dec_free(dec);
}

static void check_all_styles(struct check c, const uint8_t *p, size_t n)
{
	struct feed feeds[2] = { { p, n, 0, c.seed % 61 + 1, 0 }, { p, n, 0, c.seed % 7 + 1, 0 } };

	check_visitor(c, dec_memory(p, n));
	check_visitor(c, dec_feed(&feeds[0]));
	check_next(c, dec_memory(p, n), false);
	check_next(c, dec_feed(&feeds[1]), false);
	check_next(c, dec_memory(p, n), true);
}

Test(property, what_is_encoded_is_what_every_style_decodes)
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

struct sink {
	uint8_t *p;
	size_t n;
	size_t calls;
};

/* Each call must begin and end between frames: what came so far always decodes to a clean end. */
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

Test(property, a_callback_gets_the_same_bytes_in_whole_frames)
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
