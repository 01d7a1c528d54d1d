// SPDX-License-Identifier: BSD-2-Clause
/*
 * end_summary.c - messages on the terminal while recording, and the summary at the end
 *
 * Figures of the recording itself come from the recorder; what the target did is read back from the
 * file, as any reader would.
 */
#include "cmd/record/end_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hmap.h"
#include "base/log.h"
#include "base/out_file.h"
#include "base/str.h"
#include "cmd/common/report_text.h"
#include "prof_events.h"
#include "profile/sched/descendants.h"
#include "profile/sums/profile.h"
#include "profile/sums/thread_times.h"
#include "record/recorder.h"
#include "record/target/selection.h"
#include "trace/read/names.h"
#include "trace/read/trace.h"
#include "trace/source/source.h"

enum { HOTTEST = 5, PRINT_NS = 10000000, WAITED_PART = 20 /* of the time */ };

#define LOSS_LINE_NS 10000000000ULL /* minimum time between two lines about losses */
#define STALL_NS 50000000ULL /* a shorter one is not the cause of losses */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* The recorder's totals in the terms of the file: each counter is the sum of these kinds there. */
static struct loss_accounting account_of(const struct status_totals *t)
{
	return (struct loss_accounting){ .at_most = t->at_most,
					 .lost = {
						 [LOSS_ACCOUNTING_EVENTS] = t->stats.lost,
						 [LOSS_ACCOUNTING_SAMPLES] = t->samples_lost,
						 [LOSS_ACCOUNTING_ESTIMATE] = t->samples_missed,
						 [LOSS_ACCOUNTING_SIDEBAND] = t->side_lost,
						 [LOSS_ACCOUNTING_STALLS] = t->side_stalls,
						 [LOSS_ACCOUNTING_DOUBTS] = t->doubts,
						 [LOSS_ACCOUNTING_STACKS] = t->stacks_thinned,
					 } };
}

void end_summary_flight(const struct flight_cfg *flight)
{
	char kept[32], waiting[32];

	str_bytes(kept, flight->bytes);
	str_bytes(waiting, FLIGHT_WAITING_BYTES);
	fprintf(stderr,
		"dial9-prof: keeping the last %.1f s in at most %s of memory (and up to %s for writing); "
		"kill -USR2 %d writes them\n",
		flight->ns / 1e9, kept, waiting, getpid());
}

void end_summary_progress(void *ctx, const struct status_totals *t)
{
	struct loss_accounting account = account_of(t);
	char bytes[32], lost[32];
	struct buf line = { 0 };

	str_counted(&line, t->stats.written + t->stats.samples, "event");
	str_bytes(bytes, t->stats.bytes_written);
	str_count(lost, loss_accounting_lost(&account));
	fprintf(stderr, "\r\033[K[ %.1f s  %s  %s  %s%s lost  cost %.1f%% CPU ]  Ctrl-C stops",
		t->stats.elapsed_ns / 1e9, buf_cstr(&line), bytes, t->at_most ? "up to " : "", lost,
		percent(t->stats.cpu_ns + t->stats.bpf_ns, t->stats.elapsed_ns));
	buf_free(&line);
}

void end_summary_waiting(void *ctx)
{
	fputs("\r\033[K[ recorded; looking up symbols ]  Ctrl-C skips the rest", stderr);
}

void end_summary_clear_progress(void)
{
	fputs("\r\033[K", stderr);
}

/* Four times the buffer that was too small, as -m takes it. */
static void larger_ring(const struct recorder_cfg *cfg, char *out, size_t sz)
{
	uint64_t kib = cfg->capture.ring_bytes / 1024 * 4;

	if (kib < 1024)
		snprintf(out, sz, "%" PRIu64 "K", kib);
	else
		snprintf(out, sz, "%" PRIu64 "M", kib / 1024 < 1024 ? kib / 1024 : 1024);
}

static void print_cause(struct buf *out, const struct recorder_cfg *cfg, uint64_t output_full_ns)
{
	char larger[32];

	if (output_full_ns >= STALL_NS) {
		buf_printf(out,
			   "the output was too slow for %.1f s; use faster storage, "
			   "--compress=zstd or fewer events",
			   output_full_ns / 1e9);
		return;
	}
	larger_ring(cfg, larger, sizeof(larger));
	buf_printf(out, "ring buffer full; use %sa larger one (-m %s) or fewer events",
		   cfg->realtime.priority ? "" : "-r 1, ", larger);
}

void end_summary_loss(void *ctx, const struct status_totals *t)
{
	struct end_summary *s = ctx;
	struct buf line = { 0 };

	if (t->ring_lost == s->lost || (s->lost && t->stats.elapsed_ns - s->lost_ns < LOSS_LINE_NS))
		return;
	str_counted(&line, t->ring_lost, "event");
	buf_addstr(&line, " lost so far: ");
	print_cause(&line, s->cfg, t->stats.output_full_ns - s->full_ns);
	if (s->on_terminal)
		end_summary_clear_progress();
	log_warn("record: %s", buf_cstr(&line));
	buf_free(&line);
	s->lost = t->ring_lost;
	s->full_ns = t->stats.output_full_ns;
	s->lost_ns = t->stats.elapsed_ns;
}

/* What names cost after the end is no part of what recording cost. */
static void print_cost(const struct status_totals *t)
{
	fprintf(stderr, "cost: BPF %.1f%% + recorder %.1f%% of one CPU",
		percent(t->stats.bpf_ns, t->stats.elapsed_ns),
		percent(t->stats.cpu_ns, t->stats.elapsed_ns));
	if (t->stats.end_cpu_ns >= PRINT_NS)
		fprintf(stderr, ", then %.2f s of CPU time after the end",
			t->stats.end_cpu_ns / 1e9);
	fputs(" ]\n", stderr);
}

static void print_loss(const struct recorder_cfg *cfg, const struct status_totals *t,
		       const struct loss_accounting *account)
{
	struct buf line = { 0 };

	if (t->ring_lost) {
		print_cause(&line, cfg, t->stats.output_full_ns);
		fprintf(stderr, "  events lost: %s\n", buf_cstr(&line));
		buf_clear(&line);
		if (t->stats.waited_ns >= t->stats.elapsed_ns / WAITED_PART)
			fprintf(stderr, "  run-queue latency of the recorder: %.1f s\n",
				t->stats.waited_ns / 1e9);
	}
	str_counted(&line, account->lost[LOSS_ACCOUNTING_STACKS], "stack");
	if (account->lost[LOSS_ACCOUNTING_STACKS])
		fprintf(stderr,
			"  %s dropped while a ring buffer or the recorder's queue was nearly full; "
			"their events are recorded\n",
			buf_cstr(&line));
	buf_clear(&line);
	if (report_text_sideband(&line, account))
		fprintf(stderr, "  process metadata incomplete: %s\n", buf_cstr(&line));
	buf_clear(&line);
	str_counted(&line, account->lost[LOSS_ACCOUNTING_ESTIMATE], "sample");
	if (account->lost[LOSS_ACCOUNTING_ESTIMATE])
		fprintf(stderr, "  about %s missing (estimate): they hit a running BPF program\n",
			buf_cstr(&line));
	buf_free(&line);
}

/* "3.0 s, 12 events (0 lost) and 1 sample in 6.6 kB (50.0 B each with stacks and symbols)" */
static void put_amounts(struct buf *line, const struct status_totals *t)
{
	struct loss_accounting account = account_of(t);
	uint64_t all = t->stats.written + t->stats.samples;
	char bytes[32], lost[32];

	buf_printf(line, "%.1f s, ", t->stats.elapsed_ns / 1e9);
	str_counted(line, t->stats.written, "event");
	str_count(lost, loss_accounting_lost(&account));
	buf_printf(line, " (%s%s lost) and ", t->at_most ? "up to " : "", lost);
	str_counted(line, t->stats.samples, "sample");
	str_bytes(bytes, t->stats.bytes_written);
	buf_printf(line, " in %s", bytes);
	if (all)
		buf_printf(line, " (%.1f B each with stacks and symbols)",
			   (double)t->stats.bytes_written / all);
}

static void print_figures(const struct recorder_cfg *cfg, const struct recorder_result *result)
{
	const struct status_totals *t = &result->totals;
	struct loss_accounting account = account_of(t);
	struct buf line = { 0 };

	put_amounts(&line, t);
	fprintf(stderr, "[ dial9-prof: %s; ", buf_cstr(&line));
	print_cost(t);
	buf_free(&line);
	print_loss(cfg, t, &account);
	if (result->sampler && strcmp(result->sampler, "cycles"))
		fprintf(stderr, "  sampled with %s at %u Hz: no hardware counters\n",
			result->sampler, result->hz);
}

struct story {
	struct names *names;
	struct profile *profile;
	struct intervals *intervals;
	struct thread_times times;
};

typedef void (*story_fn)(struct story *story, struct trace *trace, const struct trace_event *ev);

/* One pass over the file just written. */
static int read_back(const char *file, struct story *story, story_fn fn)
{
	struct trace_opts opts = { .names = story->names, .learn = true };
	struct trace_event ev;
	struct source *source;
	struct trace *trace;
	int err;

	err = source_open(file, &source);
	if (err)
		return err;
	opts.read = source_read;
	opts.ctx = source;
	err = trace_new(&opts, &trace);
	if (!err) {
		while (trace_next(trace, &ev) == 1)
			fn(story, trace, &ev);
		trace_free(trace);
	}
	source_close(source);
	return err;
}

/* Loss is reported after it happened, and spoils what happened before. */
static void learn_gaps(struct story *story, struct trace *trace, const struct trace_event *ev)
{
	intervals_add_gaps(story->intervals, trace, ev);
}

static void learn_all(struct story *story, struct trace *trace, const struct trace_event *ev)
{
	if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SAMPLE)
		profile_add(story->profile, ev);
	intervals_add(story->intervals, trace, ev);
}

static void print_hottest(struct story *story)
{
	uint64_t samples = profile_samples(story->profile);
	struct profile_rows rows = { 0 };
	struct buf line = { 0 };
	size_t i;

	if (!samples)
		return;
	profile_flat(story->profile, 1 << PROFILE_SYM | 1 << PROFILE_DSO, &rows);
	fputs("  hottest functions by samples:\n", stderr);
	for (i = 0; i < rows.cnt && i < HOTTEST && rows.v[i].self; i++) {
		buf_clear(&line);
		value_text_name(&line, story->names, rows.v[i].sym);
		buf_addstr(&line, "  ");
		value_text_module_base(&line, story->names, rows.v[i].module);
		fprintf(stderr, "    %5.1f%%  %s\n", percent(rows.v[i].self, samples),
			buf_cstr(&line));
	}
	free(rows.v);
	buf_free(&line);
}

/* A recording of a process or a command has all switches of its threads, and of its children's. */
static void print_times(struct story *story, uint32_t pid, bool children)
{
	struct hmap pids = { 0 };
	struct thread_times_task sum;
	uint64_t all;

	thread_times_finish(&story->times, story->names);
	if (children)
		descendants_of(story->names, pid, &pids);
	else
		hmap_set(&pids, pid, story);
	thread_times_sum(&story->times, &pids, &sum);
	hmap_fini(&pids);
	all = sum.run + sum.wait + sum.off;
	if (!all)
		return;
	fprintf(stderr,
		"  %s threads of process %u%s: running %.3f s (%.1f%%), "
		"runnable %.3f s (%.1f%%), blocked %.3f s (%.1f%%)\n",
		children ? "all" : "recorded", pid, children ? " and its children" : "",
		sum.run / 1e9, percent(sum.run, all), sum.wait / 1e9, percent(sum.wait, all),
		sum.off / 1e9, percent(sum.off, all));
}

/* Of a single process or the command. */
static void print_one(struct story *story, const struct recorder_cfg *cfg,
		      const struct recorder_result *result)
{
	if (cfg->pid_cnt == 1)
		print_times(story, cfg->pids[0], !cfg->no_inherit);
	else if (result->command_pid)
		print_times(story, result->command_pid, !cfg->no_inherit);
}

static void print_result(const struct end_summary *s, const struct recorder_cfg *cfg,
			 const struct recorder_result *result)
{
	struct story story = { .times.edges = true };

	if (names_new(&story.names))
		return;
	story.intervals = intervals_new(
		&(struct intervals_opts){ story.names, thread_times_add, &story.times });
	if (result->totals.stats.lost)
		read_back(s->file, &story, learn_gaps);
	if (!profile_new(story.names, &story.profile) && !read_back(s->file, &story, learn_all)) {
		intervals_finish(story.intervals);
		print_hottest(&story);
		/* thread states between off-CPU intervals are unknown */
		if (!cfg->events.off_cpu)
			print_one(&story, cfg, result);
	}
	intervals_free(story.intervals);
	thread_times_fini(&story.times);
	profile_free(story.profile);
	names_free(story.names);
}

void end_summary_print_line(const struct end_summary *s, const struct recorder_cfg *cfg,
			    const struct status_totals *totals)
{
	const bool many = cfg->output.set || cfg->flight.ns;
	struct buf line = { 0 };

	put_amounts(&line, totals);
	fprintf(stderr, "dial9-prof: record: %s", buf_cstr(&line));
	if (!out_file_is_stdout(s->file))
		fprintf(stderr, ", written to %s%s", s->file, many ? ".N.bin" : "");
	fputc('\n', stderr);
	buf_free(&line);
}

void end_summary_print(const struct end_summary *s, const struct recorder_cfg *cfg,
		       const struct recorder_result *result)
{
	const bool many = cfg->output.set || cfg->flight.ns;
	struct stat st;

	print_figures(cfg, result);
	/* A pipe has been read by another, and would never end again. */
	if (s->shipped || (!many && (stat(s->file, &st) || !S_ISREG(st.st_mode))))
		return;
	print_result(s, cfg, result);
	fprintf(stderr, "  written to %s%s; next: dial9-prof report%s%s\n", s->file,
		many ? ".N.bin" : "", strcmp(s->file, "dial9.bin") ? " " : "",
		strcmp(s->file, "dial9.bin") ? s->file : "");
}

void end_summary_warn_nothing(const struct recorder_cfg *cfg, const struct status_totals *t)
{
	struct buf line = { 0 };

	if (t->stats.produced || t->stats.samples || t->samples_lost ||
	    !selection_is_by_task(&cfg->selection))
		return;
	/* a summary has no events; the others print when they record */
	if (cfg->summary_ns || cfg->flight.ns || cfg->when.control)
		return;
	selection_describe(&cfg->selection, &line);
	log_warn("record: nothing recorded: no event or sample belongs to a matching task (%s)",
		 buf_cstr(&line));
	buf_free(&line);
}

void end_summary_print_stacks(const struct status_totals *t, bool quiet)
{
	char walked[32], helped[32], reused[32], compared[32], differing[32];

	str_count(walked, t->stats.kernel_stacks_walked);
	str_count(helped, t->stats.kernel_stacks_helped);
	str_count(reused, t->stats.user_stacks_reused);
	str_count(compared, t->stats.stacks_compared);
	str_count(differing, t->stats.stacks_differing);
	if (t->stats.stacks_differing)
		log_error(
			"record: %s of %s stacks differ from the slow method; please report this; "
			"use --debug=no-orc to avoid it",
			differing, compared);
	else if (!quiet)
		fprintf(stderr,
			"[ %s stacks checked, no difference: %s kernel stacks walked, %s from the "
			"helper; %s user stacks reused ]\n",
			compared, walked, helped, reused);
}
