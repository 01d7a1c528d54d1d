// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any bytes as a dial9 stream. The decoder must survive them, must answer the same from memory and from a
 * stream in small pieces, to a visitor, as views and as copies; and its events must be printable and, except
 * for invalid UTF-8, writable: the copy decodes to the same events.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/inspect/dump_frame.h"
#include "dial9.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

/* Printing is slow: frames beyond this many are compared by their extent only. */
#define PRINTED_CNT 24

struct feed {
	const uint8_t *p;
	size_t n, step;
};

static ssize_t feed_read(void *ctx, void *buf, size_t sz)
{
	struct feed *f = ctx;
	size_t n = f->n < f->step ? f->n : f->step;

	n = n < sz ? n : sz;
	memcpy(buf, f->p, n);
	f->p += n;
	f->n -= n;
	f->step = f->step * 5 % 251 + 1;
	return (ssize_t)n;
}

static uint64_t fnv(uint64_t h, const void *p, size_t sz)
{
	const uint8_t *b = p;

	for (h = (h ^ sz) * 0x100000001b3ull; sz; sz--)
		h = (h ^ *b++) * 0x100000001b3ull;
	return h;
}

/* All values of an event, pool ids resolved. */
static uint64_t hash_event(const struct dial9_dec *dec, const struct dial9_event *ev)
{
	uint64_t h =
		fnv(ev->ts, dial9_schema_name(ev->schema), dial9_schema_name_n(ev->schema).len);
	const struct dial9_value *v;
	struct dial9_str s;
	const uint8_t *le;
	uint32_t cnt;

	for (v = ev->values; v < ev->values + ev->value_cnt; v++) {
		if (!dial9_value_str(dec, v, &s))
			h = fnv(h, s.ptr, s.len);
		else if (!dial9_value_stack(dec, v, &le, &cnt))
			h = fnv(h, le, (size_t)cnt * 8);
		else if (v->type == DIAL9_BYTES)
			h = fnv(h, v->str.ptr, v->str.len);
		else if (v->type == DIAL9_STRING_MAP || v->type == DIAL9_LIST ||
			 v->type == DIAL9_MAP)
			h = fnv(h + v->map.cnt, v->map.raw, v->map.sz);
		else if (v->type == DIAL9_BOOL)
			h = fnv(h, &v->b, sizeof(v->b));
		else if (v->type)
			h = fnv(h, &v->u64,
				v->type == DIAL9_POOLED_STRING || v->type == DIAL9_POOLED_STACK ?
					sizeof(v->id) :
					sizeof(v->u64));
	}
	return h;
}

static int visit(void *ctx, const struct dial9_dec *dec, const struct dial9_event *ev)
{
	*(uint64_t *)ctx += hash_event(dec, ev);
	return 0;
}

/* The third way to the same events. */
static void check_visitor(const struct dial9_dec_opts *opts, int end, uint64_t hashes)
{
	uint64_t seen = 0;
	struct dial9_visitor visitor = { .sz = sizeof(visitor), .event = visit, .ctx = &seen };
	struct dial9_dec *dec;
	int err;

	assert(!dial9_dec_new(opts, &dec));
	err = dial9_dec_visit(dec, &visitor);
	assert(err == end && seen == hashes);
	dial9_dec_free(dec);
}

static uint64_t hash_copy(const struct dial9_dec *dec, const struct dial9_event *ev)
{
	struct dial9_event *copy;
	uint64_t h;

	assert(!dial9_event_copy(dec, ev, &copy));
	h = hash_event(dec, copy);
	dial9_event_free(copy);
	return h;
}

/* Both decoders print their frame equally, with and without earlier output, and on one line. */
static void assert_same(struct dump_cache *kept, const struct dial9_dec *a,
			const struct dial9_frame *fa, const struct dial9_dec *b,
			const struct dial9_frame *fb)
{
	struct buf x = { 0 }, y = { 0 };
	struct dump_cache fresh;

	dump_cache_init(&fresh);
	dump_json_frame(&x, kept, a, fa);
	dump_json_frame(&y, &fresh, b, fb);
	assert(x.len == y.len && !memcmp(x.data, y.data, x.len));
	buf_clear(&x);
	dump_cache_fini(&fresh);
	dump_cache_init(&fresh);
	dump_text_frame(&x, &fresh, a, fa);
	assert(!memchr(x.data, '\n', x.len));
	dump_cache_fini(&fresh);
	buf_free(&x);
	buf_free(&y);
}

/* Pool ids are kept by writing definitions in order; the rest is up to the encoder. */
static int copy_frame(struct dial9_enc *enc, const struct dial9_frame *f)
{
	struct dial9_iter it = f->pool.iter;
	struct dial9_str s;
	uint32_t id;
	int err = 0;

	switch (f->kind) {
	case DIAL9_FRAME_MIDHEADER:
		return dial9_enc_reset(enc);
	case DIAL9_FRAME_SCHEMA:
		return dial9_enc_register(enc, f->schema.schema, f->schema.type_id);
	case DIAL9_FRAME_STRINGS:
		while (!err && dial9_strings_next(&it, &id, &s) > 0) {
			err = dial9_enc_define_string(enc, id, s.ptr, s.len);
			if (err == -EILSEQ)
				err = 0;
		}
		return err;
	case DIAL9_FRAME_EVENT:
		return dial9_enc_write(enc, f->event.schema, f->event.ts, f->event.values,
				       f->event.value_cnt);
	case DIAL9_FRAME_HEADER:
	case DIAL9_FRAME_STACKS:
	case DIAL9_FRAME_RESET:
	case DIAL9_FRAME_ANNOTATIONS:
		break;
	}
	return 0;
}

static void check_copy(const struct dial9_enc *enc, uint64_t events, uint64_t ts_sum)
{
	struct dial9_dec_opts o = { .sz = sizeof(o) };
	struct dial9_frame f;
	struct dial9_dec *dec;
	int err;

	o.data = dial9_enc_data(enc, &o.data_sz);
	assert(!dial9_dec_new(&o, &dec));
	while ((err = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		events--;
		ts_sum -= f.event.ts;
	}
	assert(!err && !events && !ts_sum);
	dial9_dec_free(dec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct feed feed = { data, sz, 7 };
	struct dial9_dec_opts mem = { .sz = sizeof(mem), .data = data, .data_sz = sz };
	struct dial9_dec_opts str = { .sz = sizeof(str), .read = feed_read, .ctx = &feed };
	struct dial9_enc_opts eo = { .sz = sizeof(eo), .level = DIAL9_LEVEL_4 };
	struct dial9_frame fa, fb;
	struct dial9_dec *a, *b;
	struct dial9_enc *enc;
	uint64_t frames = 0, events = 0, ts_sum = 0, hashes = 0, h;
	struct dial9_error ea, eb;
	struct dump_cache kept;
	int err, other;

	dump_cache_init(&kept);
	assert(!dial9_dec_new(&mem, &a) && !dial9_dec_new(&str, &b) && !dial9_enc_new(&eo, &enc));
	while ((err = dial9_dec_next(a, &fa)) == 1) {
		other = dial9_dec_next(b, &fb);
		assert(other == 1 && dial9_dec_consumed(a) == dial9_dec_consumed(b));
		if (frames++ < PRINTED_CNT)
			assert_same(&kept, a, &fa, b, &fb);
		if (fa.kind == DIAL9_FRAME_EVENT) {
			h = hash_event(a, &fa.event);
			assert(h == hash_copy(a, &fa.event) && h == hash_event(b, &fb.event));
			hashes += h;
		}
		other = copy_frame(enc, &fa);
		assert(!other || (other == -EILSEQ && fa.kind == DIAL9_FRAME_EVENT));
		if (!other && fa.kind == DIAL9_FRAME_EVENT) {
			events++;
			ts_sum += fa.event.ts;
		}
	}
	other = dial9_dec_next(b, &fb);
	assert(err == other);
	dial9_dec_error(a, &ea);
	dial9_dec_error(b, &eb);
	assert(ea.offset == eb.offset && !strcmp(ea.reason, eb.reason));
	check_visitor(&mem, err, hashes);
	check_copy(enc, events, ts_sum);
	dump_cache_fini(&kept);
	dial9_dec_free(a);
	dial9_dec_free(b);
	dial9_enc_free(enc);
	return 0;
}
