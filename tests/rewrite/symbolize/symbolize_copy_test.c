// SPDX-License-Identifier: BSD-2-Clause
/*
 * The output of `symbolize`: everything in the trace, in order and with its values, and symbols in the segments
 * that need them. Frames with symbols get no more.
 */
#include "tests/cmd/event_lines.h"
#include "tests/cmd/symbolize_run.h"

#include "rewrite/symbolize/symbolize_copy.h"
#include "tests/support/chance.h"
#include "tests/support/random_events.h"

TestSuite(symbolize_copy, .timeout = 100);

/* ---- segments ---------------------------------------------------------------------------------- */

/* A segment of a recording of this host in which module 1 is that program. */
static void put_segment(struct make *m, const struct program *p, const char *host)
{
	const char *const kv[] = { "host", host, "start_realtime_ns", host, NULL };

	make_metadata(m, RUN_SEC, kv);
	put_program(m, 1, p, p->id_sz);
	put_places(m, 1, p);
}

Test(symbolize_copy, module_id_may_be_another_module_in_each_segment)
{
	static struct program a, b;
	struct bytes in, out, again;
	char *got, *want_a, *want_b;
	struct buf want = { 0 };
	struct make m;
	struct run r;

	program_init(&b, "c-clang4");
	shell("mv %s %s/bin/other", b.path, scratch());
	snprintf(b.path, sizeof(b.path), "%s/bin/other", scratch());
	program_init(&a, "c-gcc");
	make_init(&m, NULL);
	put_segment(&m, &a, "first");
	cr_assert_eq(dial9_enc_reset(m.enc), 0);
	put_segment(&m, &a, "first");
	cr_assert_eq(dial9_enc_reset(m.enc), 0);
	put_segment(&m, &b, "second");
	in = bytes_of(&m);
	out = symbolize(&in, NULL, NULL, NULL);
	expect_good(&out);
	got = frames_of(&out, false);
	want_a = addr2line(&a, stimulus("c-gcc"), false);
	want_b = addr2line(&b, stimulus("c-clang4"), false);
	buf_printf(&want, "%s%s%s", want_a, want_a, want_b);
	cr_expect_str_eq(got, buf_cstr(&want));
	/* two recordings are still two */
	r = run_cmd(cmd_info, make_fd(out.data, out.sz), "info", "-", NULL);
	run_expect_in(r.out, "6 segments");
	run_expect_in(r.out, " 2 in one file");
	run_free(&r);
	again = symbolize(&out, NULL, NULL, NULL);
	cr_expect(same(&out, &again));
	buf_free(&want);
	free(got);
	free(want_a);
	free(want_b);
	free(in.data);
	free(out.data);
	free(again.data);
	make_fini(&m);
}

/* ---- all else ---------------------------------------------------------------------------------- */

static bool only_names(const char *line)
{
	static const char *const names[] = { "SymbolTableEntry ", "ModuleEvent ", "ModuleStatus ",
					     "SegmentMetadataEvent " };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_starts(line, names[i]))
			return true;
	return false;
}

/* Each event of @in is in @out, in that order, and the additional events are symbols. */
static void expect_all_of(const struct bytes *in, const struct bytes *out, uint64_t seed)
{
	char *was = event_lines(in->data, in->sz, NULL),
	     *is = event_lines(out->data, out->sz, NULL);
	char *a = was, *b = is;

	for (size_t len; *b; b += len) {
		len = strcspn(b, "\n") + 1;
		if (!strncmp(a, b, len))
			a += len;
		else
			cr_assert(only_names(b), "seed %llu: %.200s", (unsigned long long)seed, b);
	}
	cr_assert_eq(*a, 0, "seed %llu: lost %.200s", (unsigned long long)seed, a);
	free(was);
	free(is);
}

/* Random output of an encoder, and in between a program's addresses and symbols. */
static void put_chances(struct make *m, struct chance *c, const struct program *p)
{
	const char *const kv[] = { "host", "here", "start_realtime_ns", "1", NULL };

	for (size_t i = 0; i < 60; i++) {
		uint32_t id = 1 + chance_below(c, 3);
		uint64_t frame = make_frame(id, p->offs[chance_below(c, (uint32_t)p->cnt)]);
		uint64_t ts = chance_below(c, 1000) * RUN_SEC;
		const uint64_t stack[] = { frame, frame + chance_below(c, 20), chance_number(c) };

		switch (chance_below(c, 10)) {
		case 0:
			put_program(m, id, p, chance_below(c, 4) ? p->id_sz : 0);
			break;
		case 1:
			make_symbol(m, ts, frame, chance_below(c, 2), frame, "known", "k.c", 3);
			break;
		case 2:
			make_label(m, ts, frame, "[app]");
			break;
		case 3:
			make_metadata(m, ts, kv + 2 * chance_below(c, 2));
			break;
		case 4:
			put_mapping(m, id, 0x1000, 0x1000);
			break;
		case 5:
			if (!chance_below(c, 4))
				cr_assert_eq(dial9_enc_reset(m->enc), 0);
			break;
		default:
			make_sample(m, ts, 10, 10, PROF_SOURCE_SAMPLE, 0, stack,
				    chance_below(c, 4));
		}
	}
}

Test(symbolize_copy, every_event_is_kept_once_in_order_and_a_second_run_changes_nothing)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	static struct program p;
	size_t more = 0;

	program_init(&p, "c-gcc");
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct chance c = { seed };
		struct bytes in, out, again;
		struct random_events r;
		struct make m;

		make_init(&m, &opts);
		put_chances(&m, &c, &p);
		if (seed % 2) {
			random_run(&r, seed, 40, m.enc);
			put_chances(&m, &c, &p);
			random_fini(&r);
		}
		in = bytes_of(&m);
		out = symbolize(&in, seed % 3 ? "-q" : "--lines", NULL, NULL);
		expect_good(&out);
		expect_all_of(&in, &out, seed);
		again = symbolize(&out, seed % 3 ? "-q" : "--lines", NULL, NULL);
		cr_assert(same(&out, &again), "seed %llu", (unsigned long long)seed);
		more += out.sz > in.sz;
		free(in.data);
		free(out.data);
		free(again.data);
		make_fini(&m);
	}
	cr_assert_gt(more, 6);
}

/* Invalid names must not lose the trace. */
Test(symbolize_copy, metadata_with_invalid_utf8_is_not_repeated)
{
	const char *const kv[] = { "host", "here", "start_realtime_ns", "1234567", NULL };
	static struct program p;
	struct bytes in, out;
	char *frames;
	struct make m;

	program_init(&p, "c-gcc");
	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, kv);
	put_program(&m, 1, &p, p.id_sz);
	put_places(&m, 1, &p);
	in = bytes_of(&m);
	*(char *)memmem(in.data, in.sz, "1234567", 7) = '\xff';
	out = symbolize(&in, NULL, NULL, NULL);
	cr_expect_eq(memcmp(in.data, out.data, in.sz), 0);
	frames = frames_of(&out, false);
	cr_expect_null(strstr(frames, "??"), "%s", frames);
	free(frames);
	free(in.data);
	free(out.data);
	make_fini(&m);
}

/* ---- a trace that changes ------------------------------------------------------------------------ */

static int add_bytes(void *ctx, const void *data, size_t sz)
{
	buf_add(ctx, data, sz);
	return 0;
}

/* Of @first, which is @then when it is copied. */
static int copy_changing(const struct bytes *first, const struct bytes *then, struct buf *out)
{
	static const volatile sig_atomic_t stop;
	const struct cut_out to = { add_bytes, out };
	const int fd = make_fd(first->data, first->sz);
	struct symbolize_find_cfg cfg = { .stop = &stop };
	struct symbolize_copy c = { 0 };
	struct symbolize_find *find;
	struct source *src;
	uint64_t added;
	char path[32];
	bool written;
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	c.reader = read_trace(fd);
	cfg.names = reader_names(c.reader);
	find = symbolize_find_new(&cfg);
	cr_assert_eq(symbolize_copy_scan(&c, find, &stop), 0);
	cr_assert_eq(symbolize_find_run(find), 0);
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(pwrite(fd, then->data, then->sz, 0), (ssize_t)then->sz);
	cr_assert_eq(reader_rewind(c.reader), 0);
	cr_assert_eq(source_open(path, &src), 0);
	err = symbolize_copy_write(&c, find, src, &to, &stop, &added, &written);
	source_close(src);
	symbolize_find_free(find);
	symbolize_copy_fini(&c);
	reader_free(c.reader);
	return err;
}

Test(symbolize_copy, trace_may_grow_or_be_overwritten_while_it_is_read)
{
	static struct program p;
	struct bytes first, grown, other, want;
	struct make m, many;
	struct buf out = { 0 };

	program_init(&p, "c-gcc");
	make_init(&m, NULL);
	put_segment(&m, &p, "first");
	first = bytes_of(&m);
	want = symbolize(&first, NULL, NULL, NULL);
	/* like an application: a segment for each of its buffers */
	for (int i = 0; i < 300; i++) {
		cr_assert_eq(dial9_enc_reset(m.enc), 0);
		put_segment(&m, &p, "first");
	}
	grown = bytes_of(&m);
	cr_expect_eq(copy_changing(&first, &grown, &out), 0);
	cr_expect(out.len == want.sz && !memcmp(out.data, want.data, want.sz), "%zu bytes of %zu",
		  out.len, want.sz);
	/* the same number of events in another place */
	make_init(&many, NULL);
	for (int i = 0; i < 300; i++) {
		cr_assert_eq(dial9_enc_reset(many.enc), 0);
		put_program(&many, 1, &p, p.id_sz);
	}
	other = bytes_of(&many);
	cr_expect_eq(copy_changing(&first, &other, &out), -ESTALE);
	cr_expect_eq(copy_changing(&grown, &first, &out), -ESTALE);
	free(first.data);
	free(grown.data);
	free(other.data);
	free(want.data);
	buf_free(&out);
	make_fini(&m);
	make_fini(&many);
}
