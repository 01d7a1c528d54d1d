// SPDX-License-Identifier: BSD-2-Clause
/* Callers that were compiled against an older or a newer header. */
#include "tests/libdial9/support.h"

/* What a future header may declare: ours, and more after it. */
struct newer_enc_opts {
	struct dial9_enc_opts ours;
	uint64_t more[4];
};

struct newer_dec_opts {
	struct dial9_dec_opts ours;
	uint64_t more[4];
};

static int enc_with(const void *opts)
{
	struct dial9_enc *enc = NULL;
	int err = dial9_enc_new(opts, &enc);

	cr_assert_eq(!err, enc != NULL);
	dial9_enc_free(enc);
	return err;
}

static int dec_with(const void *opts)
{
	struct dial9_dec *dec = NULL;
	int err = dial9_dec_new(opts, &dec);

	cr_assert_eq(!err, dec != NULL);
	dial9_dec_free(dec);
	return err;
}

Test(versioned, options_of_a_newer_header_are_accepted_while_they_are_zero)
{
	struct newer_enc_opts e = { .ours.sz = sizeof(e) };
	struct newer_dec_opts d = { .ours.sz = sizeof(d), .ours.data = "", .ours.data_sz = 0 };
	size_t i;

	cr_assert_eq(enc_with(&e), 0);
	cr_assert_eq(dec_with(&d), 0);
	for (i = 0; i < 4; i++) {
		e.more[i] = d.more[i] = 1ull << (i * 21);
		cr_assert_eq(enc_with(&e), -EINVAL);
		cr_assert_eq(dec_with(&d), -EINVAL);
		e.more[i] = d.more[i] = 0;
	}
	cr_assert_eq(enc_with(&e), 0);
	cr_assert_eq(dec_with(&d), 0);
}

Test(versioned, options_of_an_older_header_have_defaults_for_the_rest)
{
	struct dial9_enc_opts e = { .sz = offsetof(struct dial9_enc_opts, level), .level = 77 };
	struct dial9_dec_opts d = { .sz = offsetof(struct dial9_dec_opts, limits) };

	cr_assert_eq(enc_with(&e), 0, "what lies behind is not looked at");
	d.limits.reserved[0] = 1;
	cr_assert_eq(dec_with(&d), 0);
	e.sz = sizeof(size_t) - 1;
	cr_assert_eq(enc_with(&e), -EINVAL);
	d.sz--;
	cr_assert_eq(dec_with(&d), -EINVAL);
	e.sz = (size_t)-1;
	cr_assert_eq(enc_with(&e), -EINVAL);
	d.sz = 1 << 20;
	cr_assert_eq(dec_with(&d), -EINVAL);
}

Test(versioned, reserved_words_of_limits_are_refused)
{
	struct dial9_dec_opts d = { .sz = sizeof(d) };

	d.limits.reserved[3] = 1;
	cr_assert_eq(dec_with(&d), -EINVAL);
}

static int on_event(void *ctx, const struct dial9_dec *dec, const struct dial9_event *ev)
{
	(void)dec;
	(void)ev;
	++*(unsigned int *)ctx;
	return 0;
}

Test(versioned, visitors_have_a_size_too)
{
	struct bytes bin = load("core/", "small.bin");
	struct {
		struct dial9_visitor ours;
		void *more;
	} v = { .ours.event = on_event };
	struct dial9_dec *dec = dec_memory(bin.p, bin.n);
	unsigned int seen = 0;

	v.ours.ctx = &seen;
	cr_assert_eq(dial9_dec_visit(dec, &v.ours), -EINVAL, "no size at all");
	v.ours.sz = sizeof(v);
	v.more = &v;
	cr_assert_eq(dial9_dec_visit(dec, &v.ours), -EINVAL);
	cr_assert_eq(seen, 0);
	v.more = NULL;
	cr_assert_eq(dial9_dec_visit(dec, &v.ours), 0);
	cr_assert_eq(seen, 6);
	dial9_dec_free(dec);
	free(bin.p);
}

Test(versioned, library_reports_its_version)
{
	char text[32];

	cr_assert_eq(dial9_version(), DIAL9_VERSION);
	snprintf(text, sizeof(text), "%u.%u.%u", dial9_version() >> 16, dial9_version() >> 8 & 0xff,
		 dial9_version() & 0xff);
	cr_assert_str_eq(text, PROF_VERSION);
}

/* Programs have these sizes compiled in. A change of a number here breaks them. */
Test(versioned, structs_that_the_library_fills_keep_their_sizes)
{
	if (sizeof(void *) != 8)
		cr_skip_test("sizes are those of 64 bits");
	cr_assert_eq(sizeof(struct dial9_value), 24);
	cr_assert_eq(sizeof(struct dial9_event), 56);
	cr_assert_eq(sizeof(struct dial9_frame), 144);
	cr_assert_eq(sizeof(struct dial9_iter), 32);
	cr_assert_eq(sizeof(struct dial9_error), 32);
	cr_assert_eq(sizeof(struct dial9_fd), 32);
	cr_assert_eq(sizeof(struct dial9_event_type), 32);
	cr_assert_eq(offsetof(struct dial9_enc_head, epoch), 0, "read before the ABI is compared");
}

/* Their reserved words are set to zero. */
Test(versioned, reserved_words_are_filled_with_zeros)
{
	struct bytes bin = load("ext/", "dynamic.bin");
	struct dial9_dec *dec = dec_memory(bin.p, bin.n);
	struct dial9_value key, value;
	struct dial9_frame f;
	struct dial9_error e;
	struct dial9_iter it;
	unsigned int elems = 0;

	memset(&f, 0xff, sizeof(f));
	memset(&e, 0xff, sizeof(e));
	while (dial9_dec_next(dec, &f) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		cr_assert_eq(f.event.reserved[0] | f.event.reserved[1], 0);
		memset(&it, 0xff, sizeof(it));
		memset(&key, 0xff, sizeof(key));
		memset(&value, 0xff, sizeof(value));
		dial9_iter_init(&it, &f.event.values[1]);
		cr_assert_eq(it.reserved, 0);
		while (dial9_map_next(&it, &key, &value) == 1) {
			cr_assert_arr_eq(key.reserved, "\0\0\0\0\0", 6);
			cr_assert_arr_eq(value.reserved, "\0\0\0\0\0", 6);
			elems++;
		}
	}
	cr_assert_gt(elems, 0);
	dial9_dec_error(dec, &e);
	cr_assert_eq(e.reserved[0] | e.reserved[1], 0);
	dial9_dec_free(dec);
	free(bin.p);
}
