// SPDX-License-Identifier: BSD-2-Clause
/* Counts and bytes by type, the duration, loss by kind, the recorder's last accounting. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "profile/sums/event_counts.h"
#include "tests/support/read_trace.h"

static struct reader *run(struct make *m, struct event_counts *c)
{
	struct trace_event ev;
	struct reader *r = read_trace(make_file(m));

	while (reader_next(r, &ev) == 1)
		event_counts_add(c, reader_trace(r), reader_names(r), &ev);
	return r;
}

Test(event_counts, counts_bytes_and_duration)
{
	const uint64_t frames[] = { make_frame(1, 0x10), make_frame(1, 0x20), make_frame(2, 0x10) };
	struct event_counts_module *mods;
	struct event_counts c = { 0 };
	struct reader *r;
	uint64_t sum = 0;
	struct make m;
	size_t sz, cnt;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/bin/a", PROF_MODULE_ELF);
	make_symbol(&m, 2, frames[0], 0, frames[0], "named", "", 0);
	for (int i = 0; i < 3; i++)
		make_sample(&m, 1000 + (uint64_t)i, 1, 1, PROF_SOURCE_SAMPLE, 0, frames, 3);
	make_sample(&m, 2000, 1, 1, PROF_SOURCE_SWITCH_OUT, 0, frames, 2);
	r = run(&m, &c);
	cr_assert_eq(c.events, 6);
	cr_assert_eq(c.samples, 3);
	cr_assert_eq(c.switch_stacks, 1);
	cr_assert_eq(event_counts_part(&c, 0)->first_ts, 1000, "a module is no happening");
	cr_assert_eq(event_counts_part(&c, 0)->last_ts, 2000);
	event_counts_sort(&c, reader_names(r));
	for (size_t i = 0; i < c.type_cnt; i++)
		sum += c.types[i].bytes;
	dial9_enc_data(m.enc, &sz);
	cr_assert_eq(sum + trace_overhead_bytes(reader_trace(r)), sz,
		     "every byte is accounted for");
	cr_assert_str_eq(names_str(reader_names(r), c.types[0].name, NULL), "CpuSampleEvent");
	mods = event_counts_modules(&c, reader_names(r), &cnt);
	cr_assert_eq(cnt, 2);
	cr_assert_eq(mods[0].frames, 2);
	cr_assert_eq(mods[0].unnamed, 1);
	cr_assert_eq(mods[1].module, 0, "module 2 was never announced");
	free(mods);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}

Test(event_counts, losses_are_counted_by_kind_with_estimates_separate)
{
	struct event_counts c = { 0 };
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	make_lost(&m, 10, "ring_full", 5, 3, 4);
	make_lost(&m, 20, "ring_full", 7, 12, 19);
	make_lost(&m, 30, "nested", 2, 25, 26);
	make_lost(&m, 40, "sample_estimate", 100, 0, 40);
	make_stats(&m, 50, 1000, 14);
	make_stats(&m, 60, 2000, 14);
	r = run(&m, &c);
	cr_assert_eq(loss_accounting_lost(&c.account), 14);
	cr_assert_eq(c.account.lost[LOSS_ACCOUNTING_ESTIMATE], 100);
	cr_assert_eq(event_counts_part(&c, 0)->losses[0].count, 12);
	cr_assert_eq(event_counts_part(&c, 0)->losses[0].first_ns, 3);
	cr_assert_eq(event_counts_part(&c, 0)->losses[0].last_ns, 19);
	cr_assert_eq(event_counts_part(&c, 0)->stats.figures.produced, 2000,
		     "the last account holds");
	cr_assert_eq(event_counts_part(&c, 0)->stats.figures.written, 1986);
	cr_assert_eq(loss_accounting_verdict(&event_counts_part(&c, 0)->stats.figures),
		     LOSS_ACCOUNTING_BALANCED);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}

Test(event_counts, unlimited_kinds_need_limited_memory)
{
	struct event_counts c = { 0 };
	struct reader *r;
	char kind[32];
	struct make m;

	make_init(&m, NULL);
	for (int i = 0; i < 1000; i++) {
		snprintf(kind, sizeof(kind), "kind%d", i);
		make_lost(&m, 10, kind, 1, 1, 2);
	}
	r = run(&m, &c);
	cr_assert_leq(event_counts_part(&c, 0)->loss_cnt, 64);
	cr_assert_eq(loss_accounting_lost(&c.account), 1000);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}

static enum loss_accounting_verdict verdict_of(struct make *m)
{
	struct event_counts c = { 0 };
	struct reader *r = run(m, &c);
	enum loss_accounting_verdict verdict =
		loss_accounting_verdict(&event_counts_part(&c, 0)->stats.figures);

	event_counts_fini(&c);
	reader_free(r);
	make_fini(m);
	return verdict;
}

Test(event_counts, figures_that_differ_are_wrong_only_at_the_end_of_a_recording)
{
	struct make m;

	make_init(&m, NULL);
	make_figures(&m, 10, 314, 0, 0, false);
	make_clock(&m, 11, 1000);
	cr_expect_eq(verdict_of(&m), LOSS_ACCOUNTING_OPEN,
		     "the recorder had not said that it was done");
	make_init(&m, NULL);
	make_figures(&m, 10, 314, 0, 0, false);
	make_figures(&m, 20, 314, 300, 0, true);
	make_clock(&m, 21, 1000);
	cr_expect_eq(verdict_of(&m), LOSS_ACCOUNTING_WRONG);
	make_init(&m, NULL);
	cr_expect_eq(verdict_of(&m), LOSS_ACCOUNTING_UNKNOWN);
}

/* Figures of versions that did not mark the last ones. */
static void old_figures(struct make *m, uint64_t ts, uint64_t produced, uint64_t written)
{
	MAKE_NUMBERS(m, ts, "RecorderStats", { "produced", produced }, { "written", written });
}

Test(event_counts, wall_clock_event_after_the_figures_ends_old_recordings)
{
	struct make m;

	make_init(&m, NULL);
	old_figures(&m, 10, 314, 0);
	cr_expect_eq(verdict_of(&m), LOSS_ACCOUNTING_OPEN, "nothing behind them");
	make_init(&m, NULL);
	old_figures(&m, 10, 314, 0);
	make_lost(&m, 10, "sample_estimate", 3, 1, 10);
	make_clock(&m, 11, 1000);
	make_module(&m, 11, 1, "/bin/a", PROF_MODULE_ELF);
	cr_expect_eq(verdict_of(&m), LOSS_ACCOUNTING_WRONG,
		     "the clock behind them ends a recording");
	make_init(&m, NULL);
	old_figures(&m, 10, 314, 0);
	make_clock(&m, 11, 1000);
	make_switch(&m, 12, 0, "a", 1, 0, "b", 2);
	cr_expect_eq(verdict_of(&m), LOSS_ACCOUNTING_OPEN, "but it went on");
	make_init(&m, NULL);
	old_figures(&m, 10, 314, 314);
	make_clock(&m, 11, 1000);
	cr_expect_eq(verdict_of(&m), LOSS_ACCOUNTING_BALANCED);
}

/* A writer with fewer fields than ours: missing ones are zero, not a guess. */
Test(event_counts, missing_figures_are_zero)
{
	const struct event_counts_stats *stats;
	struct event_counts c = { 0 };
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	MAKE_NUMBERS(&m, 5, PROF_EV_STATS, { "written", 77 });
	r = run(&m, &c);
	stats = &event_counts_part(&c, 0)->stats;
	cr_assert(stats->figures.known);
	cr_assert_eq(stats->figures.written, 77);
	cr_assert_eq(stats->figures.produced, 0);
	cr_assert_eq(stats->figures.lost, 0);
	cr_assert_not(stats->figures.closed);
	cr_assert_not(stats->has_closed);
	cr_assert_eq(stats->v.elapsed_ns | stats->v.samples | stats->v.bpf_ns | stats->v.bpf_runs,
		     0);
	cr_assert_eq(stats->v.cpu_ns | stats->v.rss_bytes | stats->v.ring_fill_max_bytes, 0);
	cr_assert_eq(stats->v.bytes_written, 0);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}

/* Equal modules keep the order in which they were announced, so that reports are reproducible. */
Test(event_counts, modules_with_equal_frames_keep_their_order)
{
	struct event_counts_module *mods;
	struct event_counts c = { 0 };
	struct reader *r;
	uint64_t frames[8];
	struct make m;
	char path[16];
	size_t cnt;

	make_init(&m, NULL);
	for (uint32_t i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "/bin/%u", i);
		make_module(&m, 1, i + 1, path, PROF_MODULE_ELF);
		frames[(i * 5) % 8] = make_frame(i + 1, 0x10);
	}
	make_sample(&m, 1000, 1, 1, PROF_SOURCE_SAMPLE, 0, frames, 8);
	r = run(&m, &c);
	mods = event_counts_modules(&c, reader_names(r), &cnt);
	cr_assert_eq(cnt, 8);
	for (uint32_t i = 0; i + 1 < 8; i++)
		cr_assert_lt(mods[i].module, mods[i + 1].module);
	free(mods);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}

/* Times may come in any order; a loss has the duration of all its events. */
Test(event_counts, duration_is_from_the_earliest_to_the_latest_event_in_any_order)
{
	const struct event_counts_part *part;
	struct event_counts c = { 0 };
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 500, 0, "a", 1, 0, "b", 2);
	make_switch(&m, 300, 0, "a", 1, 0, "b", 2);
	make_switch(&m, 900, 0, "a", 1, 0, "b", 2);
	make_switch(&m, 700, 0, "a", 1, 0, "b", 2);
	make_lost(&m, 800, "ring_full", 1, 40, 60);
	make_lost(&m, 800, "ring_full", 2, 30, 50);
	make_lost(&m, 800, "ring_full", 4, 45, 70);
	make_lost(&m, 800, "nested", 8, 1, 2);
	r = run(&m, &c);
	part = event_counts_part(&c, 0);
	cr_expect(part->has_ts && part->first_ts == 300 && part->last_ts == 900);
	cr_assert_eq(part->loss_cnt, 2);
	cr_expect(part->losses[0].count == 7 && part->losses[0].first_ns == 30 &&
		  part->losses[0].last_ns == 70 && part->losses[0].cls == LOSS_ACCOUNTING_EVENTS);
	cr_expect(part->losses[1].count == 8 && part->losses[1].first_ns == 1 &&
		  part->losses[1].last_ns == 2);
	cr_expect_eq(part->events, 8);
	cr_expect_not(event_counts_part(&c, 1)->has_ts);
	cr_expect_eq(event_counts_part(&c, 1)->events, 0);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}

static void sample_with_flags(struct make *m, uint64_t flags, const uint64_t *frames, size_t cnt)
{
	dial9_enc_begin(m->enc, m->sample, 10);
	dial9_enc_put_u64(m->enc, PROF_WORKER_NONE);
	dial9_enc_put_u64(m->enc, 1);
	dial9_enc_put_u64(m->enc, PROF_SOURCE_SAMPLE);
	dial9_enc_put_none(m->enc);
	dial9_enc_put_stack(m->enc, frames, cnt);
	dial9_enc_put_u64(m->enc, 0);
	dial9_enc_put_u64(m->enc, 1);
	dial9_enc_put_u64(m->enc, flags);
	make_end(m);
}

Test(event_counts, truncated_stacks_and_dead_workers_are_counted)
{
	const uint64_t frame = make_frame(1, 0x10);
	struct event_counts c = { 0 };
	struct reader *r;
	struct make m;
	int i;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/bin/a", PROF_MODULE_ELF);
	sample_with_flags(&m, 0, &frame, 1);
	sample_with_flags(&m, PROF_SAMPLE_USER_TRUNCATED | PROF_SAMPLE_KERNEL_TRUNCATED, &frame, 1);
	for (i = 0; i < 3; i++)
		sample_with_flags(&m, PROF_SAMPLE_USER_TRUNCATED, &frame, 1);
	for (i = 0; i < 2; i++)
		sample_with_flags(&m, PROF_SAMPLE_KERNEL_TRUNCATED, &frame, 1);
	for (i = 0; i < 2; i++)
		make_status(&m, 20, 1, PROF_STATUS_CRASHED, "");
	for (i = 0; i < 3; i++)
		make_status(&m, 20, 1, PROF_STATUS_HUNG, "");
	make_status(&m, 20, 1, "named", "");
	r = run(&m, &c);
	cr_expect_eq(c.samples, 7);
	cr_expect_eq(event_counts_part(&c, 0)->samples, 7);
	cr_expect_eq(c.user_truncated, 4);
	cr_expect_eq(c.kernel_truncated, 3);
	cr_expect_eq(c.crashes, 2);
	cr_expect_eq(c.hangs, 3);
	cr_expect_eq(event_counts_part(&c, 0)->statuses, 6);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}

/* By bytes, then by name; modules by frames without a symbol, then by all frames. */
Test(event_counts, types_and_modules_have_a_fixed_order)
{
	uint64_t frames[6];
	struct event_counts_module *mods;
	struct event_counts c = { 0 };
	struct reader *r;
	struct make m;
	size_t cnt = 0;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/bin/one", PROF_MODULE_ELF);
	make_module(&m, 1, 2, "/bin/two", PROF_MODULE_ELF);
	make_module(&m, 1, 3, "/bin/six", PROF_MODULE_ELF);
	/* one: a frame, named; two: two, both named; six: three, one of them named */
	for (uint32_t i = 1; i <= 3; i++)
		for (uint64_t k = 0; k < i; k++) {
			frames[cnt] = make_frame(i, 0x10 + k);
			if (i < 3 || !k)
				make_symbol(&m, 2, frames[cnt], 0, frames[cnt], "f", "", 0);
			cnt++;
		}
	make_sample(&m, 1000, 1, 1, PROF_SOURCE_SAMPLE, 0, frames, 6);
	/* events of two kinds that have as many bytes */
	for (int i = 0; i < 2; i++) {
		const struct dial9_field f = { "n", DIAL9_U8 };
		struct dial9_schema *s = make_schema(i ? "alpha" : "bravo", &f, 1);

		cr_assert_eq(dial9_enc_begin(m.enc, s, 1000), 0);
		dial9_enc_put_u64(m.enc, 1);
		make_end(&m);
		dial9_schema_free(s);
	}
	r = run(&m, &c);
	event_counts_sort(&c, reader_names(r));
	for (size_t i = 1; i < c.type_cnt; i++)
		cr_expect_geq(c.types[i - 1].bytes, c.types[i].bytes);
	cr_expect_str_eq(names_str(reader_names(r), c.types[c.type_cnt - 2].name, NULL), "alpha");
	cr_expect_str_eq(names_str(reader_names(r), c.types[c.type_cnt - 1].name, NULL), "bravo");
	mods = event_counts_modules(&c, reader_names(r), &cnt);
	cr_assert_eq(cnt, 3);
	cr_expect(mods[0].frames == 3 && mods[0].unnamed == 2);
	cr_expect(mods[1].frames == 2 && mods[1].unnamed == 0);
	cr_expect(mods[2].frames == 1 && mods[2].unnamed == 0);
	free(mods);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}
