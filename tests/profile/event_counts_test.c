// SPDX-License-Identifier: BSD-2-Clause
/* Counts and bytes by type, the span, loss by kind, the recorder's last account. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "../support/make_trace.h"
#include "profile/event_counts.h"
#include "trace/reader.h"

static struct reader *run(struct make *m, struct event_counts *c)
{
	struct trace_event ev;
	struct source *src;
	struct reader *r;

	cr_assert_eq(source_open_fd(make_file(m), "t", &src), 0);
	cr_assert_eq(reader_new(src, READER_ONE_PASS, &r), 0);
	while (reader_next(r, &ev) == 1)
		event_counts_add(c, reader_trace(r), reader_names(r), &ev);
	return r;
}

Test(event_counts, counts_bytes_and_span)
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

Test(event_counts, loss_by_kind_with_estimates_apart)
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
	cr_assert_eq(account_lost(&c.account), 14);
	cr_assert_eq(c.account.lost[ACCOUNT_ESTIMATE], 100);
	cr_assert_eq(event_counts_part(&c, 0)->losses[0].count, 12);
	cr_assert_eq(event_counts_part(&c, 0)->losses[0].first_ns, 3);
	cr_assert_eq(event_counts_part(&c, 0)->losses[0].last_ns, 19);
	cr_assert_eq(event_counts_part(&c, 0)->stats.figures.produced, 2000,
		     "the last account holds");
	cr_assert_eq(event_counts_part(&c, 0)->stats.figures.written, 1986);
	cr_assert_eq(account_verdict(&event_counts_part(&c, 0)->stats.figures), ACCOUNT_BALANCED);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}

Test(event_counts, any_number_of_kinds_stays_small)
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
	cr_assert_eq(account_lost(&c.account), 1000);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}

static enum account_verdict verdict_of(struct make *m)
{
	struct event_counts c = { 0 };
	struct reader *r = run(m, &c);
	enum account_verdict verdict = account_verdict(&event_counts_part(&c, 0)->stats.figures);

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
	cr_expect_eq(verdict_of(&m), ACCOUNT_OPEN, "the recorder had not said that it was done");
	make_init(&m, NULL);
	make_figures(&m, 10, 314, 0, 0, false);
	make_figures(&m, 20, 314, 300, 0, true);
	make_clock(&m, 21, 1000);
	cr_expect_eq(verdict_of(&m), ACCOUNT_WRONG);
	make_init(&m, NULL);
	cr_expect_eq(verdict_of(&m), ACCOUNT_UNKNOWN);
}

/* Figures as they were before they told which are the last. */
static void old_figures(struct make *m, uint64_t ts, uint64_t produced, uint64_t written)
{
	struct dial9_schema *old = MAKE_SCHEMA("RecorderStats", { "produced", DIAL9_VARINT },
					       { "written", DIAL9_VARINT });

	cr_assert_eq(dial9_enc_begin(m->enc, old, ts), 0);
	dial9_enc_put_u64(m->enc, produced);
	dial9_enc_put_u64(m->enc, written);
	make_end(m);
	dial9_schema_free(old);
}

Test(event_counts, old_recordings_end_with_the_wall_clock_behind_their_figures)
{
	struct make m;

	make_init(&m, NULL);
	old_figures(&m, 10, 314, 0);
	cr_expect_eq(verdict_of(&m), ACCOUNT_OPEN, "nothing behind them");
	make_init(&m, NULL);
	old_figures(&m, 10, 314, 0);
	make_lost(&m, 10, "sample_estimate", 3, 1, 10);
	make_clock(&m, 11, 1000);
	make_module(&m, 11, 1, "/bin/a", PROF_MODULE_ELF);
	cr_expect_eq(verdict_of(&m), ACCOUNT_WRONG, "the clock behind them ends a recording");
	make_init(&m, NULL);
	old_figures(&m, 10, 314, 0);
	make_clock(&m, 11, 1000);
	make_switch(&m, 12, 0, "a", 1, 0, "b", 2);
	cr_expect_eq(verdict_of(&m), ACCOUNT_OPEN, "but it went on");
	make_init(&m, NULL);
	old_figures(&m, 10, 314, 314);
	make_clock(&m, 11, 1000);
	cr_expect_eq(verdict_of(&m), ACCOUNT_BALANCED);
}

/* A writer that tells less than ours: what it leaves out is zero, not a guess. */
Test(event_counts, figures_that_a_writer_leaves_out_are_zero)
{
	static const struct dial9_field field = { PROF_F_WRITTEN, DIAL9_VARINT };
	const struct event_counts_stats *stats;
	struct event_counts c = { 0 };
	struct dial9_schema *s;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	s = make_schema(PROF_EV_STATS, &field, 1);
	cr_assert_eq(dial9_enc_begin(m.enc, s, 5), 0);
	dial9_enc_put_u64(m.enc, 77);
	make_end(&m);
	r = run(&m, &c);
	stats = &event_counts_part(&c, 0)->stats;
	cr_assert(stats->figures.known);
	cr_assert_eq(stats->figures.written, 77);
	cr_assert_eq(stats->figures.produced, 0);
	cr_assert_eq(stats->figures.lost, 0);
	cr_assert_not(stats->figures.closed);
	cr_assert_not(stats->says_closed);
	cr_assert_eq(stats->elapsed_ns | stats->samples | stats->bpf_ns | stats->bpf_runs, 0);
	cr_assert_eq(stats->cpu_ns | stats->rss_bytes | stats->ring_fill_max_bytes, 0);
	cr_assert_eq(stats->bytes_written, 0);
	dial9_schema_free(s);
	event_counts_fini(&c);
	reader_free(r);
	make_fini(&m);
}

/* Equal modules stand in the order in which they were announced, so that a report is the same each time. */
Test(event_counts, modules_with_as_many_frames_keep_their_order)
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
