// SPDX-License-Identifier: BSD-2-Clause
/* The account of what is lost: exact, to the event, under rings far too small and programs nested. */
/* ALONE: how much is lost */
#include <criterion/criterion.h>
#include <poll.h>
#include <string.h>

#include "prof_abi.h"
#include "record/ring/ring.h"
#include "tests/bpf/own_capture.h"
#include "tests/bpf/support.h"

TestSuite(loss, .fini = live_cleanup);

static bool is_tracepoint(const struct trace_event *ev)
{
	return strchr(dial9_schema_name(ev->schema->schema), ':') != NULL;
}

static uint64_t count_tracepoints(struct live_trace *lt)
{
	struct trace_event ev;
	uint64_t n = 0;

	while (live_event(lt, &ev))
		n += is_tracepoint(&ev);
	return n;
}

/* Every record produced is an event in the file or in the account of the lost. */
static void check_account(const char *path, struct live_trace *lt)
{
	live_open(lt, path, false);
	cr_assert_gt(lt->produced, 10000);
	cr_assert_eq(lt->produced, lt->written + lt->lost, "%llu produced, %llu + %llu",
		     (unsigned long long)lt->produced, (unsigned long long)lt->written,
		     (unsigned long long)lt->lost);
	cr_assert_eq(count_tracepoints(lt), lt->written);
	cr_assert_eq(lt->ring_full + lt->nested, lt->lost, "%llu + %llu lost, not %llu",
		     (unsigned long long)lt->ring_full, (unsigned long long)lt->nested,
		     (unsigned long long)lt->lost);
	live_close(lt);
}

static void record_pingpong(const char *rounds, const char *ring_bytes, const char *pattern,
			    const char *option, struct live_trace *lt)
{
	struct live_proc player;
	struct live_rec rec;

	live_stimulus(&player, "pingpong", rounds, NULL);
	live_record(&rec, "-a", "-m", ring_bytes, "-e", pattern, option, NULL);
	live_recording(&rec);
	live_go(&player);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&player);
	check_account(rec.path, lt);
}

Test(loss, produced_is_written_plus_lost_when_rings_overflow)
{
	struct live_trace lt;

	record_pingpong("20000", "4096", "sched:sched_wakeup", NULL, &lt);
	cr_assert_gt(lt.ring_full, 1000);
}

Test(loss, produced_is_written_plus_lost_when_programs_nest)
{
	struct live_trace lt;

	record_pingpong("2000", "64M", "raw_syscalls:*,irq:*,timer:*,kmem:*", NULL, &lt);
	cr_assert_eq(lt.ring_full, 0);
}

/* So few rounds that the rings could hold them all: a recorder that is late loses nothing. */
Test(loss, nothing_is_lost_while_the_rings_have_room)
{
	struct live_trace lt;

	record_pingpong("4000", "4M", "sched:sched_wakeup", NULL, &lt);
	cr_assert_eq(lt.ring_full, 0);
}

/* As CPUs share rings where there are more than rings. */
Test(loss, produced_is_written_plus_lost_when_all_cpus_share_a_ring)
{
	struct live_trace lt;

	record_pingpong("4000", "8M", "sched:sched_wakeup", "--debug=one-ring", &lt);
	cr_assert_eq(lt.ring_full, 0);
	record_pingpong("20000", "4096", "sched:sched_wakeup", "--debug=one-ring", &lt);
	cr_assert_gt(lt.ring_full, 1000);
}

/* Programs hardly ever interrupt each other within a record; so each CPU is set to be within a record. */
Test(loss, events_inside_a_record_are_counted_as_nested)
{
	const struct eventset_cfg events_cfg = { .sched = true };
	struct capture_cfg cfg = { .system_wide = true, .ring_bytes = 1 << 20 };
	struct capture_counts counts;
	struct live_proc player;
	struct ring *readers;
	uint64_t wakes;
	size_t cnt, i;

	own_capture_open(&events_cfg, &cfg);
	readers = capture_rings(capture, &cnt);
	for (i = 0; i < cnt; i++)
		if (readers[i].stage)
			__atomic_store_n(&readers[i].stage->busy, 1, __ATOMIC_SEQ_CST);
	capture_start(capture);
	live_stimulus(&player, "pingpong", "1000", NULL);
	live_go(&player);
	wakes = live_truth(&player, "ping_wakes") + live_truth(&player, "pong_wakes");
	live_end(&player);
	capture_stop(capture);
	capture_count(capture, &counts);
	cr_expect_gt(wakes, 0);
	cr_expect_geq(counts.nested_sched, wakes, "%llu of %llu",
		      (unsigned long long)counts.nested_sched, (unsigned long long)wakes);
	for (i = 0; i < cnt; i++) {
		const struct prof_rec *rec = ring_peek(&readers[i]);

		if (readers[i].stage) {
			cr_expect_null(rec);
			cr_expect_eq(readers[i].stage->produced, 0);
		}
	}
	own_capture_close();
}

/* ---- a reader that is late ------------------------------------------------------------------------- */

enum { SLOW_ROUNDS = 20000, SLOW_RING = 1 << 18 };

struct seen {
	uint64_t events, stacked, dropped, samples; /* records */
	uint64_t last_stacked, last_event, last_sample; /* in a ring, ns */
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Events of a CPU come in order. */
static void read_all(struct ring *reader, struct seen *seen)
{
	const struct prof_rec *rec;
	uint64_t before = 0;

	while ((rec = ring_peek(reader))) {
		if (rec->kind == PROF_REC_SAMPLE) {
			seen->samples++;
			seen->last_sample = rec->ts;
		} else {
			seen->stacked += !!(rec->flags & PROF_REC_STACKS);
			seen->dropped += !!(rec->flags & PROF_REC_THINNED);
			seen->events++;
		}
		if (reader->in_ring && rec->flags & PROF_REC_STACKS)
			seen->last_stacked = later(seen->last_stacked, rec->ts);
		if (reader->in_ring)
			seen->last_event = later(seen->last_event, rec->ts);
		cr_expect(!reader->stage || rec->ts >= before);
		before = rec->ts;
		ring_pass(reader);
	}
}

/* One ring for all CPUs, which is read only at the end. */
Test(loss, late_reader_loses_stacks_first_then_events_and_samples_last)
{
	const struct eventset_cfg events_cfg = { .sched = true };
	struct capture_cfg cfg = {
		.system_wide = true,
		.samples = true,
		.hz = 50,
		.switch_stacks = PROF_STACKS_KERNEL,
		.ring_bytes = SLOW_RING,
		.one_ring = true,
	};
	struct seen seen = { 0 };
	struct capture_counts counts;
	struct live_proc player;
	uint64_t written;
	struct ring *readers;
	size_t cnt, i;

	own_capture_open(&events_cfg, &cfg);
	readers = capture_rings(capture, &cnt);
	capture_start(capture);
	live_stimulus(&player, "pingpong", "20000", NULL);
	live_go(&player);
	live_end(&player);
	capture_stop(capture);
	capture_count(capture, &counts);
	for (i = 0; i < cnt; i++)
		read_all(&readers[i], &seen);
	written = counts.produced[PROF_CLASS_TRACEPOINT] - counts.lost[PROF_CLASS_TRACEPOINT];
	cr_expect_eq(seen.events, written);
	cr_expect_eq(counts.produced[PROF_CLASS_SAMPLE] - counts.lost[PROF_CLASS_SAMPLE],
		     seen.samples);
	cr_expect_gt(seen.stacked, 100);
	cr_expect_gt(seen.dropped, 100);
	cr_expect_gt(counts.lost[PROF_CLASS_TRACEPOINT], SLOW_ROUNDS);
	cr_expect_eq(counts.lost[PROF_CLASS_SAMPLE], 0);
	cr_expect_lt(seen.last_stacked, seen.last_event);
	cr_expect_lt(seen.last_event, seen.last_sample);
	cr_log_info("%d with stacks, %d thinned, %d others, %d lost; %d samples\n",
		    (int)seen.stacked, (int)seen.dropped,
		    (int)(seen.events - seen.stacked - seen.dropped),
		    (int)counts.lost[PROF_CLASS_TRACEPOINT], (int)seen.samples);
	own_capture_close();
}

/* Whether a wakeup asked to read the rings; waits for it if @ms is negative. */
static bool is_woken(int ms)
{
	struct pollfd pfd = { .fd = capture_wakeups_fd(capture), .events = POLLIN };
	bool readable = poll(&pfd, 1, ms) == 1;

	cr_expect_eq(capture_read_wakeups(capture), readable);
	return readable;
}

static void play(const char *rounds)
{
	struct live_proc player;

	live_stimulus(&player, "pingpong", rounds, NULL);
	capture_add_target(capture, player.pid, player.pid);
	live_go(&player);
	live_end(&player);
}

static void read_rings(void)
{
	size_t cnt, i;
	struct ring *readers = capture_rings(capture, &cnt);

	for (i = 0; i < cnt; i++)
		while (ring_peek(&readers[i]))
			ring_pass(&readers[i]);
	for (i = 0; i < cnt; i++)
		ring_publish(&readers[i]);
}

static void check_wakeups(const struct eventset_cfg *events_cfg)
{
	struct capture_cfg cfg = { .follow = true, .ring_bytes = 1 << 20 };

	own_capture_open(events_cfg, &cfg);
	capture_start(capture);
	play("10");
	cr_expect_not(is_woken(0), "for next to nothing");
	play("5000");
	cr_expect(is_woken(-1));
	cr_expect_not(is_woken(0), "twice");
	read_rings();
	play("10");
	cr_expect_not(is_woken(0), "for what came before");
	play("5000");
	cr_expect(is_woken(-1), "when a ring fills up again");
	own_capture_close();
}

Test(loss, reader_is_woken_once_when_batches_fill_a_ring)
{
	check_wakeups(&(struct eventset_cfg){ .sched = true });
}

Test(loss, reader_is_woken_once_when_single_records_fill_a_ring)
{
	const char *const pattern = "raw_syscalls:sys_enter";

	check_wakeups(&(struct eventset_cfg){ .patterns = &pattern, .pattern_cnt = 1 });
}
