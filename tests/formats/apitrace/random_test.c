// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random calls through dial9 and back.
 *
 * A stream of calls is put together byte by byte here, with every value type, arguments recorded twice, at the
 * wrong end or not at all, calls that overlap and calls that never return; the writer under test has no part in
 * it. What comes back must be the same bytes, because the stream is made in the form that a tracer writes.
 */
#include "tests/formats/apitrace/support.h"

TestSuite(apitrace_random, .init = quiet, .timeout = 300);

#define FUNCTIONS 16
#define ARGS 4
#define ROUNDS 300

struct maker {
	struct buf out;
	uint64_t seed;
	bool fn[FUNCTIONS], structs[2], enums[2], masks[2], frames[3];
	uint64_t next_no;
	uint64_t open[16];
	size_t open_cnt;
};

static uint64_t next_random(struct maker *m)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return m->seed;
}

static uint64_t below(struct maker *m, uint64_t n)
{
	return next_random(m) % n;
}

static void put(struct maker *m, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_addch(&m->out, (char)(v | 0x80));
	buf_addch(&m->out, (char)v);
}

/* Short and long ones are equally likely. */
static void put_random(struct maker *m)
{
	put(m, next_random(m) >> below(m, 64));
}

static void put_name(struct maker *m, const char *prefix, uint64_t n)
{
	char name[32];
	int len = snprintf(name, sizeof(name), "%s%d", prefix, (int)n);

	put(m, (uint64_t)len);
	buf_add(&m->out, name, (size_t)len);
}

static bool first(bool *seen)
{
	bool is = !*seen;

	*seen = true;
	return is;
}

static void put_raw(struct maker *m, size_t n)
{
	for (; n; n--)
		buf_addch(&m->out, (char)next_random(m));
}

/* Mostly text, sometimes no UTF-8. */
static void put_string(struct maker *m)
{
	static const char *const pieces[] = {
		"a", "\xc3\xbc", "\n", "\"", "\\", "\xf0\x9f\x98\x80"
	};
	size_t n = below(m, 6);
	struct buf s = { 0 };

	for (; n; n--)
		buf_addstr(&s, pieces[below(m, 6)]);
	if (!below(m, 10))
		buf_add(&s, "\xff\0", 2);
	put(m, s.len);
	buf_add(&m->out, buf_cstr(&s), s.len);
	buf_free(&s);
}

static void put_enum(struct maker *m)
{
	uint64_t sig = below(m, 2);

	put(m, sig * 1000003);
	if (first(&m->enums[sig])) {
		put(m, 3);
		for (uint64_t i = 0; i < 3; i++) {
			put_name(m, "VALUE", i / 2);
			put(m, i == 2 ? 3 : 4);
			put(m, i + 1);
		}
	}
	put(m, 3 + below(m, 2));
	put(m, below(m, 6) + 1);
}

static void put_mask(struct maker *m)
{
	uint64_t sig = below(m, 2);

	put(m, sig + 7);
	if (first(&m->masks[sig])) {
		put(m, 3);
		for (uint64_t i = 0; i < 3; i++) {
			put_name(m, "FLAG", i);
			put(m, (uint64_t)1 << i);
		}
	}
	put_random(m);
}

static void put_value(struct maker *m, unsigned int depth);

static void put_struct(struct maker *m, unsigned int depth)
{
	uint64_t sig = below(m, 2);

	put(m, ((uint64_t)1 << 40) + sig);
	if (first(&m->structs[sig])) {
		put_name(m, "Struct", sig);
		put(m, sig + 1);
		for (uint64_t i = 0; i <= sig; i++)
			put_name(m, "member", i);
	}
	for (uint64_t i = 0; i <= sig; i++)
		put_value(m, depth + 1);
}

static void put_tagged(struct maker *m, uint8_t tag, unsigned int depth)
{
	size_t n;

	put(m, tag);
	switch (tag) {
	case 3:
		put(m, 1 + (next_random(m) >> (1 + below(m, 63))));
		break;
	case 4:
	case 13:
		put_random(m);
		break;
	case 5:
		put_raw(m, 4);
		break;
	case 6:
		put_raw(m, 8);
		break;
	case 7:
		put_string(m);
		break;
	case 8:
		n = below(m, 20);
		put(m, n);
		put_raw(m, n);
		break;
	case 9:
		put_enum(m);
		break;
	case 10:
		put_mask(m);
		break;
	case 11:
		n = below(m, 4);
		put(m, n);
		while (n--)
			put_value(m, depth + 1);
		break;
	case 12:
		put_struct(m, depth);
		break;
	case 14:
		put_value(m, depth + 1);
		put_value(m, depth + 1);
		break;
	case 15:
		n = below(m, 5);
		put(m, n);
		while (n--)
			put(m, next_random(m) >> (32 + below(m, 32)));
		break;
	default:
		break;
	}
}

static void put_value(struct maker *m, unsigned int depth)
{
	put_tagged(m, (uint8_t)below(m, depth > 4 ? 11 : 16), depth);
}

/* The argument of a function has a favourite type, so that typed fields come about. */
static void put_arg(struct maker *m, uint64_t fn, uint64_t arg)
{
	put(m, 1);
	put(m, arg);
	if (below(m, 200))
		put_tagged(m, (uint8_t)((fn * 5 + arg * 3) % 16), 0);
	else
		put_value(m, 0);
}

static void put_stack(struct maker *m)
{
	uint64_t n = below(m, 4), frame;

	put(m, 4);
	put(m, n);
	while (n--) {
		frame = below(m, 3);
		put(m, frame * 5);
		if (!first(&m->frames[frame]))
			continue;
		for (uint64_t part = 1; part <= 5; part++) {
			if (frame == 2 && part % 2)
				continue;
			put(m, part);
			if (part < 4)
				put_name(m, "text", part);
			else
				put_random(m);
		}
		put(m, 0);
	}
}

static void put_enter(struct maker *m)
{
	uint64_t fn = below(m, FUNCTIONS);

	put(m, 0);
	put(m, below(m, 4));
	put(m, fn * fn * 10007);
	if (first(&m->fn[fn])) {
		put_name(m, "function", fn);
		put(m, fn % ARGS);
		for (uint64_t i = 0; i < fn % ARGS; i++)
			put_name(m, "arg", i);
	}
	if (!below(m, 20)) {
		put(m, 5);
		put(m, below(m, 3));
	}
	if (!below(m, 10))
		put_stack(m);
	for (uint64_t i = 0; i < fn % ARGS; i++)
		if (below(m, 20))
			put_arg(m, fn, below(m, 50) ? i : below(m, 8));
	if (!below(m, 50)) {
		put(m, 2);
		put_value(m, 0);
	}
	put(m, 0);
	if (m->open_cnt < 16)
		m->open[m->open_cnt++] = m->next_no;
	m->next_no++;
}

static void put_leave(struct maker *m)
{
	size_t i = m->open_cnt ? below(m, m->open_cnt) : 0;
	uint64_t no = m->open_cnt && below(m, 100) ? m->open[i] : below(m, m->next_no + 3);

	put(m, 1);
	put(m, no);
	if (below(m, 4))
		put_arg(m, no % FUNCTIONS, below(m, 3));
	if (below(m, 3)) {
		put(m, 2);
		put_tagged(m, (uint8_t)(below(m, 100) ? 4 : below(m, 16)), 0);
	}
	put(m, 0);
	for (i = 0; i < m->open_cnt; i++)
		if (m->open[i] == no)
			m->open[i] = m->open[--m->open_cnt];
}

static struct buf make(uint64_t seed)
{
	struct maker m = { .seed = seed * 0x9e3779b97f4a7c15 + 1 };
	size_t n = below(&m, 250);
	struct buf file;

	put(&m, 6);
	put(&m, below(&m, 7));
	put_name(&m, "property", seed);
	put_string(&m);
	put(&m, 0);
	while (n--)
		if (m.open_cnt && below(&m, 2))
			put_leave(&m);
		else
			put_enter(&m);
	file = pack(m.out.data, m.out.len);
	buf_free(&m.out);
	return file;
}

/* A property that is not UTF-8 is escaped; everything else must be the same. */
static void check(uint64_t seed, const struct foreign_opts *opts)
{
	struct buf file = make(seed), between = { 0 }, back = { 0 };
	struct foreign_notes notes = { 0 };

	cr_assert_eq(import(&file, opts, &between, &notes), 0, "seed %d", (int)seed);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL), 0, "seed %d",
		     (int)seed);
	cr_assert_eq(export(&between, &back, &notes), 0, "seed %d", (int)seed);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 0, "seed %d",
		     (int)seed);
	if (!foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, "names that are not UTF-8, escaped"))
		cr_assert(back.len == file.len && !memcmp(back.data, file.data, file.len),
			  "seed %d, level %d, follow %d: other bytes", (int)seed, opts->level,
			  opts->follow);
	foreign_notes_fini(&notes);
	buf_free(&file);
	buf_free(&between);
	buf_free(&back);
}

Test(apitrace_random, two_passes_restore_every_byte)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		check(seed, &(struct foreign_opts){ .level = DIAL9_LEVEL_3 });
		check(seed, &(struct foreign_opts){ .level = DIAL9_LEVEL_4 });
	}
}

Test(apitrace_random, one_pass_restores_every_byte)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		check(seed, &(struct foreign_opts){ .level = DIAL9_LEVEL_3, .follow = true });
		check(seed, &(struct foreign_opts){ .level = DIAL9_LEVEL_4, .follow = true });
	}
}

Test(apitrace_random, most_random_traces_need_no_escapes)
{
	size_t plain = 0;

	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct buf file = make(seed), between = { 0 };
		struct foreign_notes notes = { 0 };

		cr_assert_eq(import(&file, &(struct foreign_opts){ .level = DIAL9_LEVEL_3 },
				    &between, &notes),
			     0);
		plain += !foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED,
					      "names that are not UTF-8, escaped");
		foreign_notes_fini(&notes);
		buf_free(&file);
		buf_free(&between);
	}
	cr_expect_gt(plain, ROUNDS * 3 / 4, "%zu", plain);
}

/* ---- limits ------------------------------------------------------------------------------------ */

static void assert_same(const struct buf *stream, bool follow, const char *what)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3, .follow = follow };
	struct buf file = pack(stream->data, stream->len), between = { 0 }, back = { 0 };
	struct foreign_notes notes = { 0 };

	cr_assert_eq(import(&file, &opts, &between, &notes), 0, "%s", what);
	cr_assert_eq(export(&between, &back, &notes), 0, "%s", what);
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 0, "%s", what);
	cr_expect_gt(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, what), 0, "%s", what);
	cr_expect(back.len == file.len && !memcmp(back.data, file.data, file.len),
		  "%s: other bytes", what);
	foreign_notes_fini(&notes);
	buf_free(&file);
	buf_free(&between);
	buf_free(&back);
}

static void put_head(struct maker *m)
{
	put(m, 6);
	put(m, 6);
	put(m, 0);
}

/* Far more calls than are held back are open at once, and all return in the end. */
Test(apitrace_random, calls_that_stay_open_for_long_are_restored)
{
	struct maker m = { .seed = 1 };

	put_head(&m);
	for (uint64_t i = 0; i < 150000; i++) {
		put(&m, 0);
		put(&m, i % 3);
		put(&m, 0);
		if (first(&m.fn[0])) {
			put_name(&m, "wait", 0);
			put(&m, 0);
		}
		put(&m, 0);
	}
	for (uint64_t i = 0; i < 150000; i++) {
		put(&m, 1);
		put(&m, i * 7 % 150000);
		put(&m, 2);
		put(&m, 4);
		put(&m, i);
		put(&m, 0);
	}
	assert_same(&m.out, false, "calls open for very long, their leave apart");
	buf_free(&m.out);
}

/* A function of more arguments than get fields. */
Test(apitrace_random, calls_of_functions_with_many_arguments_are_restored)
{
	struct maker m = { .seed = 1 };

	put_head(&m);
	for (uint64_t i = 0; i < 3; i++) {
		put(&m, 0);
		put(&m, 0);
		put(&m, 0);
		if (first(&m.fn[0])) {
			put_name(&m, "huge", 0);
			put(&m, 5000);
			for (uint64_t k = 0; k < 5000; k++)
				put_name(&m, "arg", k);
		}
		for (uint64_t k = 0; k < 5000; k++) {
			put(&m, 1);
			put(&m, k);
			put_tagged(&m, 4, 0);
		}
		put(&m, 0);
		put(&m, 1);
		put(&m, i);
		put(&m, 0);
	}
	assert_same(&m.out, true,
		    "functions too large or too many for schemas of their own, as text");
	buf_free(&m.out);
}

/* More functions than dial9 has numbers for types. */
Test(apitrace_random, more_functions_than_type_ids_are_restored)
{
	struct maker m = { .seed = 1 };

	put_head(&m);
	for (uint64_t i = 0; i < 70000; i++) {
		put(&m, 0);
		put(&m, 0);
		put(&m, i * 3);
		put_name(&m, "f", i);
		put(&m, 1);
		put_name(&m, "arg", i);
		put(&m, 1);
		put(&m, 0);
		put(&m, 7);
		put_string(&m);
		put(&m, 0);
		put(&m, 1);
		put(&m, i);
		put(&m, 0);
	}
	assert_same(&m.out, false,
		    "functions too large or too many for schemas of their own, as text");
	buf_free(&m.out);
}
