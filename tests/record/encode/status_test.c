// SPDX-License-Identifier: BSD-2-Clause
/*
 * The trace's data about its own recording. The kernel side, with its counters, is figures here, read through
 * its functions.
 */
/* ALONE: capture_*() */
#include "record/encode/status.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "dial9.h"
#include "events/emit.h"
#include "kernel/perf_side.h"
#include "kernel/realtime.h"
#include "prof_abi.h"
#include "prof_events.h"
#include "record/ring/ring.h"
#include "record/control/cache_limit.h"
#include "record/encode/translate.h"
#include "record/tracepoint/event.h"
#include "record/tracepoint/eventset.h"
#include "tests/record/support.h"

#define START 1000000000000ULL
#define SECOND 1000000000ULL

/* ---- the kernel side ------------------------------------------------------------------------------ */

enum { CPUS = 2 };

struct loss {
	uint64_t cnt, first_ns, last_ns;
};

struct capture {
	struct ring rings[CPUS];
	struct capture_counts counts;
	struct loss losses[CPUS][CAPTURE_LOSS_CNT];
	const char *sampler;
	uint32_t hz;
	struct capture_cfg cfg;
};

struct ring *capture_rings(struct capture *c, size_t *cnt)
{
	*cnt = CPUS;
	return c->rings;
}

const struct capture_cfg *capture_config(const struct capture *c)
{
	return &c->cfg;
}

const char *capture_sampler(const struct capture *c)
{
	return c->sampler;
}

uint32_t capture_hz(const struct capture *c)
{
	return c->hz;
}

void capture_count(struct capture *c, struct capture_counts *out)
{
	*out = c->counts;
}

size_t capture_cpu_cnt(const struct capture *c)
{
	return CPUS;
}

bool capture_lost(struct capture *c, size_t cpu, enum capture_loss kind, uint64_t *cnt,
		  uint64_t *first_ns, uint64_t *last_ns)
{
	struct loss *l = &c->losses[cpu][kind];

	*cnt = l->cnt;
	*first_ns = l->first_ns;
	*last_ns = l->last_ns;
	*l = (struct loss){ 0 };
	return *cnt != 0;
}

/* ---- the rest --------------------------------------------------------------------------------------- */

static struct rig rig;
static struct capture capture;
static struct realtime realtime;
static struct cache_limit memory;
static struct status *status;

static struct eventset none;

static uint32_t helpers[PROF_HELPERS_MAX];

static void setup(void)
{
	rig_init(&rig);
	capture = (struct capture){ .sampler = "cpu-clock",
				    .hz = 250,
				    .cfg = { .events = &none, .system_wide = true } };
	none.filter_cnt = 0;
	realtime = (struct realtime){ .total_ns = 70 };
	memory = (struct cache_limit){ .held = 80, .forgotten = 90 };
	status = status_new(&(struct status_cfg){
		.capture = &capture,
		.translate = rig.translate,
		.emit = rig.emit,
		.tasks = rig.tasks,
		.enc = rig.enc,
		.realtime = &realtime,
		.memory_bytes = &memory.held,
		.forgotten = &memory.forgotten,
		.start_ns = START,
		.helpers = helpers,
	});
}

static void teardown(void)
{
	status_free(status);
	rig_fini(&rig);
}

TestSuite(status, .init = setup, .fini = teardown, .timeout = 60);

/* The number after " name=" in the last event of a text. */
static uint64_t number(const char *text, const char *name)
{
	char key[64];
	const char *at, *last = NULL;

	snprintf(key, sizeof(key), " %s=", name);
	for (at = text; (at = strstr(at, key)); at++)
		last = at;
	cr_assert_not_null(last, "no %s in: %s", name, text);
	return strtoull(last + strlen(key), NULL, 10);
}

/* ---- head -------------------------------------------------------------------------------------------- */

enum { ENTRIES_MAX = 32 };

struct metadata {
	char keys[ENTRIES_MAX][64], values[ENTRIES_MAX][256];
	size_t cnt;
};

static void read_entries(const struct dial9_dec *dec, const struct dial9_value *map,
			 struct metadata *out)
{
	struct dial9_value key, value;
	struct dial9_str k, v;
	struct dial9_iter it;

	dial9_iter_init(&it, map);
	while (dial9_map_next(&it, &key, &value) == 1) {
		cr_assert_lt(out->cnt, ENTRIES_MAX);
		cr_assert_eq(dial9_value_str(dec, &key, &k), 0);
		cr_assert_eq(dial9_value_str(dec, &value, &v), 0);
		snprintf(out->keys[out->cnt], sizeof(out->keys[0]), "%.*s", (int)k.len, k.ptr);
		snprintf(out->values[out->cnt++], sizeof(out->values[0]), "%.*s", (int)v.len,
			 v.ptr);
	}
}

static void read_metadata(struct metadata *out)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts) };
	struct dial9_dec *dec;
	struct dial9_frame frame;

	*out = (struct metadata){ .cnt = 0 };
	opts.data = dial9_enc_data(rig.enc, &opts.data_sz);
	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	while (dial9_dec_next(dec, &frame) == 1)
		if (frame.kind == DIAL9_FRAME_EVENT &&
		    !strcmp(dial9_schema_name(frame.event.schema), PROF_EV_METADATA))
			read_entries(dec, &frame.event.values[0], out);
	dial9_dec_free(dec);
}

/* NULL if it is missing. */
static const char *entry(const struct metadata *m, const char *key)
{
	size_t i;

	for (i = 0; i < m->cnt; i++)
		if (!strcmp(m->keys[i], key))
			return m->values[i];
	return NULL;
}

static void write_head(uint32_t switch_stacks, struct metadata *out)
{
	capture.cfg.switch_stacks = switch_stacks;
	capture.cfg.ring_bytes = 65536;
	cr_assert_eq(status_write_head(status,
				       &(struct status_head){
					       .command_line = "dial9-prof -p 1 \xff",
					       .target = "process 1",
					       .events = &rig.events,
				       }),
		     0);
	read_metadata(out);
}

Test(status, header_has_the_machine_and_the_options_of_the_recording)
{
	struct metadata m;
	struct utsname uts;
	char cpus[24];

	uname(&uts);
	snprintf(cpus, sizeof(cpus), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	write_head(0, &m);
	cr_expect_str_eq(entry(&m, "host"), uts.nodename);
	cr_expect_str_eq(entry(&m, "kernel"), uts.release);
	cr_expect_str_eq(entry(&m, "arch"), uts.machine);
	cr_expect_str_eq(entry(&m, "cpus"), cpus);
	cr_expect_eq(strlen(entry(&m, "boot_id")), 36);
	cr_expect_str_eq(entry(&m, "command_line"), "dial9-prof -p 1 \\xff");
	cr_expect_str_eq(entry(&m, "target"), "process 1");
	cr_expect_str_eq(entry(&m, "clock"), "CLOCK_MONOTONIC");
	cr_expect_str_eq(entry(&m, "ring_bytes"), "65536");
	cr_expect_str_eq(entry(&m, "switch_stacks"), "none");
}

Test(status, header_has_the_sampling_options)
{
	struct metadata m;

	write_head(PROF_STACKS_USER, &m);
	cr_expect_str_eq(entry(&m, "sample_event"), "cpu-clock");
	cr_expect_str_eq(entry(&m, "sample_hz"), "250");
	cr_expect_str_eq(entry(&m, "sample_period_ns"), "4000000");
	cr_expect_str_eq(entry(&m, "switch_stacks"), "user");
	teardown();
	setup();
	capture.sampler = "cycles";
	write_head(PROF_STACKS_USER | PROF_STACKS_KERNEL, &m);
	cr_expect_str_eq(entry(&m, "sample_event"), "cycles");
	cr_expect_null(entry(&m, "sample_period_ns"), "a count of cycles has no length");
	cr_expect_str_eq(entry(&m, "switch_stacks"), "both");
	teardown();
	setup();
	capture.sampler = NULL;
	write_head(0, &m);
	cr_expect_null(entry(&m, "sample_event"));
	cr_expect_null(entry(&m, "sample_hz"));
}

/* A wall clock time that was read between two readings of both clocks, converted to the trace clock. */
struct moment {
	uint64_t mono, real;
};

static struct moment moment_now(void)
{
	return (struct moment){ clock_mono_ns(), clock_real_ns() };
}

static void expect_real_time(uint64_t real, uint64_t at, struct moment before, struct moment after)
{
	int64_t least = before.real - after.mono + at, most = after.real - before.mono + at;

	cr_expect_geq((int64_t)real, least);
	cr_expect_leq((int64_t)real, most);
}

Test(status, header_relates_the_trace_clock_to_the_wall_clock)
{
	struct moment before = moment_now();
	struct metadata m;
	const char *text;

	write_head(0, &m);
	expect_real_time(strtoull(entry(&m, "start_realtime_ns"), NULL, 10), START, before,
			 moment_now());
	text = rig_text(&rig, PROF_EV_CLOCK_SYNC);
	cr_expect_eq(strtoull(text, NULL, 10), START);
	expect_real_time(number(text, "realtime_ns"), START, before, moment_now());
}

/* The kernel's print fmt: prev_state & 0xff as "R" or flags, and "+" for the bit above. */
Test(status, header_has_the_symbols_of_each_event)
{
	struct metadata m;
	const char *text;

	rig_add(&rig, support_event("format", "sched.sched_switch"));
	write_head(0, &m);
	text = rig_text(&rig, PROF_EV_TP_SYMBOL);
	cr_expect_not_null(strstr(text, "field=\"prev_state\" kind=2 value=255 name=\"\"\n"));
	cr_expect_not_null(strstr(text, "kind=5 value=0 name=\"R\"\n"));
	cr_expect_not_null(strstr(text, "kind=1 value=128 name=\"I\"\n"));
	cr_expect_not_null(strstr(text, "kind=6 value=0 name=\"+\"\n"), "%s", text);
}

/* ---- loss ---------------------------------------------------------------------------------------------- */

Test(status, losses_of_rings_are_written_once)
{
	capture.losses[0][CAPTURE_RING_FULL] = (struct loss){ 5, START + 1, START + 2 };
	capture.losses[1][CAPTURE_SAMPLE_RING_FULL] = (struct loss){ 6, START + 3, START + 4 };
	capture.losses[1][CAPTURE_READ_FAILED] = (struct loss){ 7, START + 5, START + 6 };
	cr_expect_eq(status_tick(status, START + SECOND), 0);
	cr_expect_str_eq(rig_text(&rig, PROF_EV_LOST),
			 "1001000000000 LostEvents cpu=0 kind=\"ring_full\" count=5 "
			 "first_ns=1000000000001 last_ns=1000000000002\n"
			 "1001000000000 LostEvents cpu=1 kind=\"sample_ring_full\" count=6 "
			 "first_ns=1000000000003 last_ns=1000000000004\n"
			 "1001000000000 LostEvents cpu=1 kind=\"read_failed\" count=7 "
			 "first_ns=1000000000005 last_ns=1000000000006\n");
	cr_expect_eq(status_tick(status, START + 2 * SECOND), 0);
	cr_expect_str_eq(rig_text(&rig, PROF_EV_LOST), "");
}

static void write_dropped(uint64_t ts)
{
	const uint8_t raw[64] = { 0 };
	struct prof_rec *rec = support_rec(&(struct rec_parts){
		.kind = PROF_REC_TRACEPOINT,
		.flags = PROF_REC_THINNED,
		.ts = ts,
		.pid = NO_SUCH_TID,
		.tid = NO_SUCH_TID,
		.raw = raw,
		.raw_len = sizeof(raw),
	});

	cr_assert_eq(translate_record(rig.translate, rec), 0);
	free(rec);
}

Test(status, dropped_stacks_are_written_with_their_times)
{
	rig_add(&rig, support_event("format", "sched.sched_switch"));
	write_dropped(START + 10);
	write_dropped(START + 20);
	cr_expect_eq(status_tick(status, START + SECOND), 0);
	cr_expect_str_eq(rig_text(&rig, PROF_EV_LOST),
			 "1001000000000 LostEvents cpu=4294967295 kind=\"stacks_thinned\" count=2 "
			 "first_ns=1000000000010 last_ns=1000000000020\n");
	write_dropped(START + SECOND + 30);
	cr_expect_eq(status_tick(status, START + 2 * SECOND), 0);
	cr_expect_str_eq(rig_text(&rig, PROF_EV_LOST),
			 "1002000000000 LostEvents cpu=4294967295 kind=\"stacks_thinned\" count=1 "
			 "first_ns=1001000000030 last_ns=1001000000030\n");
}

/* A program that was prevented from running does not know whether its event was selected. */
Test(status, nested_events_are_an_upper_bound_for_selected_events)
{
	capture.counts.nested = 3;
	none.filter_cnt = 1;
	cr_assert_eq(status_tick(status, START + SECOND), 0);
	cr_expect(strstr(rig_text(&rig, PROF_EV_LOST), "kind=\"nested_at_most\" count=3 "));
	none.filter_cnt = 0;
	capture.cfg.system_wide = false;
	capture.counts.nested = 10;
	cr_assert_eq(status_tick(status, START + 2 * SECOND), 0);
	cr_expect(strstr(rig_text(&rig, PROF_EV_LOST), "kind=\"nested_at_most\" count=7 "));
}

Test(status, increasing_counters_are_written_as_increments)
{
	capture.counts.nested = 3;
	cr_expect_eq(status_tick(status, START + SECOND), 0);
	cr_expect_str_eq(rig_text(&rig, PROF_EV_LOST),
			 "1001000000000 LostEvents cpu=4294967295 kind=\"nested\" count=3 "
			 "first_ns=1000000000000 last_ns=1001000000000\n");
	capture.counts.nested = 10;
	capture.counts.nested_sched = 2;
	capture.rings[0].malformed = 1;
	capture.rings[1].malformed = 4;
	cr_expect_eq(status_tick(status, START + 2 * SECOND), 0);
	cr_expect_str_eq(rig_text(&rig, PROF_EV_LOST),
			 "1002000000000 LostEvents cpu=4294967295 kind=\"nested\" count=7 "
			 "first_ns=1001000000000 last_ns=1002000000000\n"
			 "1002000000000 LostEvents cpu=4294967295 kind=\"nested_sched\" count=2 "
			 "first_ns=1001000000000 last_ns=1002000000000\n"
			 "1002000000000 LostEvents cpu=4294967295 kind=\"malformed\" count=5 "
			 "first_ns=1001000000000 last_ns=1002000000000\n");
	cr_expect_eq(status_tick(status, START + 3 * SECOND), 0);
	cr_expect_str_eq(rig_text(&rig, PROF_EV_LOST), "");
}

static void lose(enum perf_side_type type, uint64_t since, uint64_t time, uint64_t cnt)
{
	cr_expect_eq(status_side_lost(status, &(struct perf_side){ .type = type,
								   .cpu = 3,
								   .since = since,
								   .time = time,
								   .lost = cnt,
								   .name = "" }),
		     0);
}

Test(status, side_band_losses_are_written_with_bounds_inside_the_recording)
{
	struct status_totals t;

	lose(PERF_SIDE_COMM, START + 1, START + 2, 1);
	lose(PERF_SIDE_LOST, START + 1, START + 2, 5);
	lose(PERF_SIDE_DAMAGED, START - 10, START + 3, 6);
	lose(PERF_SIDE_STALLED, START - 10, START - 5, 1);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "0 LostEvents cpu=3 kind=\"sideband\" count=5 first_ns=1000000000001 "
			 "last_ns=1000000000002\n"
			 "0 LostEvents cpu=3 kind=\"sideband_damaged\" count=6 "
			 "first_ns=1000000000000 last_ns=1000000000003\n"
			 "0 LostEvents cpu=3 kind=\"sideband_stalled\" count=1 "
			 "first_ns=1000000000000 last_ns=1000000000000\n");
	status_totals(status, START + 4, &t);
	cr_expect_eq(t.side_lost, 11);
	cr_expect_eq(t.side_stalls, 1);
}

Test(status, mappings_above_the_limit_are_lost)
{
	struct status_totals t;
	const char *text;
	int i;

	rig_task(&rig, NO_SUCH_TID, NO_SUCH_TID, "flood");
	for (i = 0; i < 30000; i++)
		rig_map(&rig, NO_SUCH_TID, 0x400000 + i * 0x2000ULL, 0x401000 + i * 0x2000ULL, 0,
			"/tmp/x");
	cr_expect_eq(status_tick(status, START + SECOND), 0);
	text = rig_text(&rig, PROF_EV_LOST);
	cr_expect_not_null(strstr(text, "cpu=4294967295 kind=\"sideband_maps\""));
	cr_expect_gt(number(text, "count"), 5000);
	status_totals(status, START + SECOND, &t);
	cr_expect_eq(t.side_lost, number(text, "count"));
}

/* ---- figures --------------------------------------------------------------------------------------------- */

/* Three tracepoint records and two samples are written. */
static void write_some(void)
{
	uint16_t event = rig_add(&rig, support_event("format", "sched.sched_switch"));
	struct rec_parts parts = { .kind = PROF_REC_TRACEPOINT,
				   .event = event,
				   .ts = START + 10,
				   .pid = NO_SUCH_TID,
				   .tid = NO_SUCH_TID };
	struct prof_rec *rec;
	int i;

	for (i = 0; i < 5; i++) {
		parts.kind = i < 3 ? PROF_REC_TRACEPOINT : PROF_REC_SAMPLE;
		rec = support_rec(&parts);
		cr_assert_eq(translate_record(rig.translate, rec), 0);
		free(rec);
	}
}

Test(status, produced_is_written_or_lost)
{
	struct status_totals t;

	write_some();
	capture.counts.produced[PROF_CLASS_TRACEPOINT] = 10;
	capture.counts.lost[PROF_CLASS_TRACEPOINT] = 5;
	capture.counts.lost[PROF_CLASS_SAMPLE] = 8;
	capture.counts.nested = 4;
	capture.rings[1].malformed = 2;
	status_totals(status, START + 77, &t);
	cr_expect_eq(t.stats.elapsed_ns, 77);
	cr_expect_eq(t.stats.produced, 14, "what the kernel refused was produced as well");
	cr_expect_eq(t.stats.written, 3);
	cr_expect_eq(t.stats.lost, 11);
	cr_expect_eq(t.stats.samples, 2);
	cr_expect_eq(t.samples_lost, 8);
	cr_expect_eq(t.stats.realtime_ns, 70);
	cr_expect_eq(t.stats.bytes_written, dial9_enc_bytes(rig.enc));
}

static void spend_bpf(void)
{
	int i;

	for (i = 0; i < PROF_PROG_CNT; i++) {
		capture.counts.prog_ns[i] = 1000ULL << 8 * i;
		capture.counts.prog_runs[i] = 1ULL << 8 * i;
	}
}

Test(status, figures_of_a_second_are_complete)
{
	const char *text;
	uint64_t bytes;

	spend_bpf();
	capture.rings[0].fill_max = 4096;
	capture.rings[1].fill_max = 512;
	bytes = dial9_enc_bytes(rig.enc);
	cr_expect_eq(status_tick(status, START + SECOND), 0);
	text = rig_text(&rig, PROF_EV_STATS);
	cr_expect_eq(strtoull(text, NULL, 10), START + SECOND);
	cr_expect_eq(number(text, "elapsed_ns"), SECOND);
	cr_expect_eq(number(text, "bpf_ns"), 1000ULL * 0x010101010101);
	cr_expect_eq(number(text, "bpf_runs"), 0x010101010101);
	cr_expect_eq(number(text, "bpf_switch_ns"), 1000);
	cr_expect_eq(number(text, "bpf_wakeup_ns"), 256000);
	cr_expect_eq(number(text, "bpf_tracepoint_ns"), 65536000 + 4294967296000);
	cr_expect_eq(number(text, "bpf_sample_ns"), 16777216000);
	cr_expect_eq(number(text, "ring_fill_max_bytes"), 4096);
	cr_expect_eq(number(text, "bytes_written"), bytes);
	cr_expect_eq(number(text, "realtime_ns"), 70);
	cr_expect_eq(number(text, "memory_bytes"), 80);
	cr_expect_eq(number(text, "forgotten"), 90);
	cr_expect_eq(number(text, "closed"), 0);
}

static size_t count_processes(const char *text)
{
	size_t cnt = 0;

	for (; (text = strstr(text, PROF_EV_RECORDER_PROCESS)); text++)
		cnt++;
	return cnt;
}

/* Every ten seconds the recorder and its helper; once more after the helper has ended. */
Test(status, each_process_of_the_recorder_is_written)
{
	const pid_t pid = fork();
	const char *text;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	helpers[0] = (uint32_t)pid;
	cr_expect_eq(status_tick(status, START + SECOND), 0);
	text = rig_text(&rig, PROF_EV_RECORDER_PROCESS);
	cr_expect_eq(count_processes(text), 2);
	cr_expect_eq(number(text, "pid"), (uint64_t)getpid());
	cr_expect_gt(number(text, "cpu_ns"), 0);
	cr_expect_gt(number(text, "pss_bytes"), 0);
	cr_expect_geq(number(text, "peak_bytes"), number(text, "pss_bytes"));
	cr_expect_eq(status_tick(status, START + 2 * SECOND), 0);
	cr_expect_eq(count_processes(rig_text(&rig, "")), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cr_expect_eq(status_tick(status, START + 11 * SECOND), 0);
	cr_expect_eq(count_processes(rig_text(&rig, "")), 2);
	cr_expect_eq(status_write_tail(status, START + 12 * SECOND), 0);
	cr_expect_eq(count_processes(rig_text(&rig, "")), 1);
	helpers[0] = 0;
}

/* Resident pages change during the test, but only by a few. */
Test(status, memory_equals_the_kernels_value)
{
	unsigned long kb = 0;
	char line[128];
	uint64_t rss;
	FILE *f;

	cr_expect_eq(status_tick(status, START + SECOND), 0);
	rss = number(rig_text(&rig, PROF_EV_STATS), "rss_bytes");
	f = fopen("/proc/self/status", "re");
	while (fgets(line, sizeof(line), f))
		sscanf(line, "VmRSS: %lu kB", &kb);
	fclose(f);
	cr_expect_gt(rss, kb * 1024 / 2);
	cr_expect_lt(rss, kb * 1024 * 2);
}

Test(status, figures_are_written_every_second_and_the_wall_clock_every_ten)
{
	const char *text;
	uint64_t s;

	cr_expect_eq(status_tick(status, START + SECOND - 1), 0);
	cr_expect_str_eq(rig_text(&rig, ""), "");
	for (s = 1; s < 10; s++) {
		cr_expect_eq(status_tick(status, START + s * SECOND), 0);
		cr_expect_eq(status_tick(status, START + s * SECOND + SECOND / 2), 0);
		text = rig_text(&rig, "");
		cr_expect_eq(number(text, "elapsed_ns"), s * SECOND);
		cr_expect_eq(strchr(text, '\n')[1], '\0', "one event: %s", text);
	}
	for (s = 10; s < 21; s++) {
		cr_expect_eq(status_tick(status, START + s * SECOND), 0);
		cr_expect_eq(strstr(rig_text(&rig, ""), PROF_EV_CLOCK_SYNC) != NULL, s % 10 == 0);
	}
}

/* Time continues from what is written, and never goes back. */
Test(status, figures_are_never_older_than_written_events)
{
	cr_expect_eq(emit_clock_sync(rig.emit, START + 3 * SECOND, 1), 0);
	rig_text(&rig, "");
	cr_expect_eq(status_tick(status, START + 2 * SECOND), 0);
	cr_expect_eq(strtoull(rig_text(&rig, ""), NULL, 10), START + 3 * SECOND);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static void burn(void)
{
	uint64_t until = cpu_ns() + 40000000;

	while (cpu_ns() < until)
		;
}

Test(status, cpu_time_excludes_preparation_and_end)
{
	const uint64_t slack = 5000000; /* two ways to ask the kernel */
	struct status_totals t, after;
	uint64_t before, started;

	burn();
	teardown();
	before = cpu_ns();
	setup();
	started = cpu_ns();
	burn();
	status_totals(status, START, &t);
	cr_expect_geq(t.stats.cpu_ns + slack, 40000000);
	cr_expect_leq(t.stats.cpu_ns, cpu_ns() - before + slack);
	cr_expect_eq(t.stats.end_cpu_ns, 0);
	status_end(status);
	before = cpu_ns();
	burn();
	status_totals(status, START, &after);
	cr_expect_geq(after.stats.cpu_ns, t.stats.cpu_ns);
	cr_expect_leq(after.stats.cpu_ns, before - started + 2 * slack);
	cr_expect_geq(after.stats.end_cpu_ns + slack, 40000000);
	cr_expect_leq(after.stats.end_cpu_ns, cpu_ns() - before + 2 * slack);
}

/* A thread with the same policy keeps this one from the only CPU that both may use. */
static void *compete(void *ctx)
{
	while (!__atomic_load_n((bool *)ctx, __ATOMIC_ACQUIRE))
		;
	return NULL;
}

Test(status, time_without_cpu_and_without_room_is_written)
{
	struct status_totals before, after;
	bool over = false;
	pthread_t thread;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	cr_assert_eq(pthread_create(&thread, NULL, compete, &over), 0);
	status_totals(status, START, &before);
	do {
		burn();
		status_totals(status, START, &after);
	} while (after.stats.waited_ns - before.stats.waited_ns < 50000000);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	cr_expect_eq(before.stats.output_full_ns, 0);
	status_output_full(status, 3);
	status_output_full(status, 4);
	status_totals(status, START, &after);
	cr_expect_eq(after.stats.output_full_ns, 7);
}

/* ---- the end ------------------------------------------------------------------------------------------------ */

/* Tracepoint programs ran for two seconds; 250 samples per second hit each of them, by the clock. */
Test(status, samples_in_bpf_programs_are_an_estimate_at_the_end)
{
	const char *text;

	capture.counts.prog_ns[PROF_PROG_TRACEPOINT] = 2 * SECOND;
	cr_expect_eq(status_write_tail(status, START + 5 * SECOND), 0);
	text = rig_text(&rig, "");
	cr_expect_not_null(strstr(text, "1005000000000 LostEvents cpu=4294967295 "
					"kind=\"sample_estimate\" count=500 "
					"first_ns=1000000000000 last_ns=1005000000000\n"),
			   "%s", text);
	cr_expect_eq(number(text, "closed"), 1);
	cr_expect_not_null(strstr(text, PROF_EV_CLOCK_SYNC));
	capture.sampler = NULL;
	cr_expect_eq(status_write_tail(status, START + 6 * SECOND), 0);
	cr_expect_null(strstr(rig_text(&rig, ""), "sample_estimate"), "there was nothing to miss");
}

/* The next segment has another encoder. */
Test(status, figures_continue_after_a_segment_boundary)
{
	struct dial9_enc *before = rig.enc, *enc;
	struct emit *emit;
	const char *text;

	cr_expect_eq(status_write_seam(status, START + SECOND / 2), 0);
	text = rig_text(&rig, "");
	cr_expect_eq(number(text, "closed"), PROF_CLOSED_SEGMENT);
	cr_expect_not_null(strstr(text, PROF_EV_CLOCK_SYNC));
	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	cr_assert_eq(emit_new(enc, false, &emit), 0);
	status_next_segment(status, enc, emit, 1000000);
	cr_expect_eq(status_tick(status, START + SECOND), 0);
	cr_expect_str_eq(rig_text(&rig, ""), "");
	rig.enc = enc;
	text = rig_text(&rig, PROF_EV_STATS);
	cr_expect_geq(number(text, "bytes_written"), 1000000);
	cr_expect_eq(number(text, "closed"), 0);
	emit_free(emit);
	dial9_enc_free(enc);
	rig.enc = before;
}

Test(status, abandoned_ring_leaves_the_accounting_incomplete)
{
	capture.rings[1].torn = true;
	cr_expect_eq(status_write_tail(status, START + SECOND), 0);
	cr_expect_eq(number(rig_text(&rig, PROF_EV_STATS), "closed"), 0);
}
