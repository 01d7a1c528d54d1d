// SPDX-License-Identifier: BSD-2-Clause
/*
 * status.c - the trace about itself: loss, cost, clocks
 *
 * Loss is written when it is detected, with its bounds in time. For tracepoint records, produced = written + lost
 * once the rings are empty. Runs that the kernel refused because another program was running on that CPU ("nested")
 * count as produced and lost. The kernel does not count samples that it drops. Their number is estimated from the
 * run time of programs that block samples, and is marked as an estimate.
 */
#include "record/encode/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "dial9.h"
#include "events/emit.h"
#include "kernel/tracefs/format.h"
#include "kernel/helper_usage.h"
#include "kernel/perf_side.h"
#include "kernel/realtime.h"
#include "record/ring/ring.h"
#include "record/encode/cost_events.h"
#include "record/encode/metadata.h"
#include "record/encode/translate.h"
#include "record/process/tasks.h"
#include "record/tracepoint/annotate.h"
#include "record/tracepoint/enum_names.h"
#include "record/tracepoint/eventset.h"
#include "record/unwind_maps/unwind_loader.h"

#define SECOND_NS 1000000000ULL
#define CLOCK_SYNC_NS (10 * SECOND_NS)
#define PROCESSES_NS (10 * SECOND_NS)

struct status {
	struct status_cfg cfg;
	uint64_t next_stats;
	uint64_t next_clock;
	uint64_t last_ns;
	uint64_t start_real_ns; /* wall clock at the start */
	long cpus; /* online at the start */
	uint64_t bytes_before; /* of earlier segments */
	struct cost_events costs;
	uint64_t nested, nested_sched;
	uint64_t dropped_stacks;
	uint64_t malformed;
	uint64_t stacks_dropped;
	uint64_t side_lost, side_stalls, doubts;
	uint64_t output_full_ns;
	uint64_t waited_base_ns;
	uint64_t cpu_base_ns; /* CPU time used before recording */
	struct helper_usage usage; /* of the helpers, and the recorder's row */
	uint64_t next_processes; /* time of the next events about processes */
	uint64_t helper_base_ns; /* CPU time of the helpers before recording */
	uint64_t helper_ns; /* since then, as last written */
	uint64_t cpu_end_ns; /* CPU time used up to the end of recording; 0 while recording */
};

static uint64_t own_cpu_ns(void)
{
	struct rusage ru;

	if (getrusage(RUSAGE_SELF, &ru))
		return 0;
	return (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * SECOND_NS +
	       (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000ULL;
}

/* Run-queue latency of this thread; 0 if the kernel does not count it. */
static uint64_t own_waited_ns(void)
{
	unsigned long long ran = 0, waited = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	fclose(f);
	return waited;
}

static void read_helpers(struct status *s)
{
	helper_usage_read(s->cfg.helpers, s->cfg.helpers ? PROF_HELPERS_MAX : 0, &s->usage);
}

struct status *status_new(const struct status_cfg *cfg)
{
	struct status *s = xcalloc(1, sizeof(*s));

	s->cfg = *cfg;
	s->next_stats = cfg->start_ns + SECOND_NS;
	s->next_clock = cfg->start_ns + CLOCK_SYNC_NS;
	s->last_ns = cfg->start_ns;
	s->start_real_ns = clock_real_ns() - (clock_mono_ns() - cfg->start_ns);
	s->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	s->cpu_base_ns = own_cpu_ns();
	s->waited_base_ns = own_waited_ns();
	read_helpers(s);
	s->helper_base_ns = s->usage.cpu_ns;
	return s;
}

void status_free(struct status *s)
{
	free(s);
}

/* ---- head ------------------------------------------------------------------------------------- */

static int write_clock_sync(struct status *s)
{
	uint64_t before = clock_mono_ns(), real = clock_real_ns(), after = clock_mono_ns();

	/* The event's time is the last one written, so the wall clock is adjusted to it. */
	return emit_clock_sync(s->cfg.emit, s->last_ns,
			       real - (before + (after - before) / 2 - s->last_ns));
}

static int write_symbols(struct status *s, const struct event_def *def)
{
	const struct format_event *format = def->format;
	size_t i;
	int err = 0;

	for (i = 0; i < format->symbol_cnt && !err; i++)
		err = emit_tp_symbol(s->cfg.emit, EMIT_NOW, def->name, format->symbols[i].field,
				     format->symbols[i].kind, format->symbols[i].value,
				     format->symbols[i].name);
	return err;
}

/* A field with named values. */
struct named {
	struct emit *emit;
	const char *event, *field;
};

static int write_word(void *ctx, uint8_t kind, uint64_t value, const char *name)
{
	const struct named *to = ctx;

	return emit_tp_symbol(to->emit, EMIT_NOW, to->event, to->field, kind, value, name);
}

static int write_words(struct status *s, const struct eventset *events, bool summary)
{
	struct named to = { s->cfg.emit, PROF_EV_CPU_SAMPLE, PROF_F_USER_END };
	int err = 0;

	for (size_t i = 0; i < events->cnt && !err; i++)
		if (events->defs[i]->has_context || events->defs[i]->is_stay)
			err = enum_names_context(write_word, &(struct named){ s->cfg.emit,
									      events->defs[i]->name,
									      PROF_F_CONTEXT });
	if (summary && !err)
		err = enum_names_summary_kind(
			write_word, &(struct named){ s->cfg.emit, PROF_EV_SUMMARY, PROF_F_KIND });
	return err ? err : enum_names_user_end(write_word, &to);
}

int status_write_head(struct status *s, const struct status_head *head)
{
	size_t i;
	int err = 0;

	if (head->annotate)
		err = annotate_all(s->cfg.enc, s->cfg.emit, head->events);
	if (!err)
		err = metadata_write(s->cfg.emit, head,
				     &(struct metadata_recording){
					     .capture = s->cfg.capture,
					     .at_ns = s->last_ns,
					     .start_real_ns = s->start_real_ns,
					     .cpus = s->cpus,
				     });
	if (!err)
		err = write_clock_sync(s);
	for (i = 0; i < head->events->cnt && !err; i++)
		err = write_symbols(s, head->events->defs[i]);
	return err ? err : write_words(s, head->events, head->summary_ns);
}

/* ---- loss and figures ----------------------------------------------------------------------------- */

/* now_ns is the drain's position, so times step neither back nor ahead of it. */
static void advance(struct status *s, uint64_t now_ns)
{
	uint64_t last = dial9_enc_last_ts(s->cfg.enc);

	s->last_ns = now_ns > last ? now_ns : last;
}

static uint64_t count_malformed(struct status *s)
{
	uint64_t n = 0;
	size_t cnt, i;
	const struct ring *rings = capture_rings(s->cfg.capture, &cnt);

	for (i = 0; i < cnt; i++)
		n += rings[i].malformed;
	return n;
}

/* If a damaged ring was skipped to its end, the number of lost records is unknown. */
static bool rings_are_whole(const struct status *s)
{
	size_t cnt, i;
	const struct ring *rings = capture_rings(s->cfg.capture, &cnt);

	for (i = 0; i < cnt; i++)
		if (rings[i].torn)
			return false;
	return true;
}

static int write_ring_loss(struct status *s)
{
	static const char *const kinds[CAPTURE_LOSS_CNT] = {
		[CAPTURE_RING_FULL] = PROF_LOST_RING_FULL,
		[CAPTURE_SAMPLE_RING_FULL] = PROF_LOST_SAMPLE_RING_FULL,
		[CAPTURE_READ_FAILED] = PROF_LOST_READ_FAILED,
	};
	size_t cpu, cnt = capture_cpu_cnt(s->cfg.capture);
	uint64_t n, first, last;
	int kind, err = 0;

	for (cpu = 0; cpu < cnt; cpu++)
		for (kind = 0; kind < CAPTURE_LOSS_CNT && !err; kind++)
			if (capture_lost(s->cfg.capture, cpu, kind, &n, &first, &last))
				err = emit_lost(s->cfg.emit, s->last_ns, cpu, kinds[kind], n, first,
						last);
	return err;
}

/* Not all events are recorded: a nested run may belong to an event that is not. */
static bool selects(const struct status *s)
{
	const struct capture_cfg *capture = capture_config(s->cfg.capture);

	return !capture->system_wide || capture->select || capture->events->filter_cnt;
}

static int write_other_loss(struct status *s, const struct capture_counts *counts, uint64_t since)
{
	uint64_t malformed = count_malformed(s);
	int err = 0;

	if (counts->nested != s->nested)
		err = emit_lost(s->cfg.emit, s->last_ns, PROF_LOST_ANY_CPU,
				selects(s) ? PROF_LOST_NESTED_AT_MOST : PROF_LOST_NESTED,
				counts->nested - s->nested, since, s->last_ns);
	if (!err && counts->nested_sched != s->nested_sched)
		err = emit_lost(s->cfg.emit, s->last_ns, PROF_LOST_ANY_CPU, PROF_LOST_NESTED_SCHED,
				counts->nested_sched - s->nested_sched, since, s->last_ns);
	if (!err && malformed != s->malformed)
		err = emit_lost(s->cfg.emit, s->last_ns, PROF_LOST_ANY_CPU, PROF_LOST_MALFORMED,
				malformed - s->malformed, since, s->last_ns);
	if (!err && counts->stacks_dropped != s->stacks_dropped)
		err = emit_lost(s->cfg.emit, s->last_ns, PROF_LOST_ANY_CPU, PROF_LOST_STACKS_OFF,
				counts->stacks_dropped - s->stacks_dropped, since, s->last_ns);
	s->stacks_dropped = counts->stacks_dropped;
	s->nested = counts->nested;
	s->nested_sched = counts->nested_sched;
	s->malformed = malformed;
	return err;
}

/* Only stacks were dropped: their events have been written. */
static int write_dropped_stacks(struct status *s)
{
	struct translate_span span;
	uint64_t cnt = translate_dropped_stacks(s->cfg.translate, &span) - s->dropped_stacks;

	if (!cnt)
		return 0;
	s->dropped_stacks += cnt;
	return emit_lost(s->cfg.emit, s->last_ns, PROF_LOST_ANY_CPU, PROF_LOST_STACKS_THINNED, cnt,
			 span.first_ns, span.last_ns);
}

static int write_task_loss(struct status *s)
{
	static const char *const kinds[TASKS_LOSS_CNT] = {
		[TASKS_LOST_MAPS] = PROF_LOST_SIDEBAND_MAPS,
		[TASKS_IN_DOUBT] = PROF_LOST_SIDEBAND_DOUBT,
	};
	struct tasks_loss loss;
	int kind, err = 0;

	for (kind = 0; kind < TASKS_LOSS_CNT && !err; kind++) {
		if (!tasks_read_loss(s->cfg.tasks, kind, &loss))
			continue;
		*(kind == TASKS_IN_DOUBT ? &s->doubts : &s->side_lost) += loss.cnt;
		err = emit_lost(s->cfg.emit, s->last_ns, PROF_LOST_ANY_CPU, kinds[kind], loss.cnt,
				loss.first_ns, loss.last_ns);
	}
	return err;
}

static uint64_t own_rss(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (uint64_t)pages * sysconf(_SC_PAGESIZE);
}

static uint64_t fill_max(struct status *s)
{
	uint64_t max = 0;
	size_t cnt, i;
	const struct ring *rings = capture_rings(s->cfg.capture, &cnt);

	for (i = 0; i < cnt; i++)
		if (rings[i].fill_max > max)
			max = rings[i].fill_max;
	return max;
}

static void count_stacks(const struct capture_counts *c, struct own_stats *out)
{
	size_t i;

	for (i = 0; i < sizeof(c->kstacks) / sizeof(c->kstacks[0]); i++) {
		out->kernel_stacks_walked += c->kstacks[i].walked;
		out->kernel_stacks_helped += c->kstacks[i].helped;
		out->stacks_compared += c->kstacks[i].compared;
		out->stacks_differing += c->kstacks[i].differing;
	}
	out->user_stacks_reused = c->stacks_reused;
	out->stacks_compared += c->reused_compared + c->repeats_compared;
	out->stacks_differing += c->reused_differing + c->repeats_differing;
}

static void count_programs(const struct capture_counts *c, struct own_stats *out)
{
	int i;

	for (i = 0; i < PROF_PROG_CNT; i++) {
		out->bpf_ns += c->prog_ns[i];
		out->bpf_runs += c->prog_runs[i];
	}
	out->bpf_switch_ns = c->prog_ns[PROF_PROG_SWITCH];
	out->bpf_wakeup_ns = c->prog_ns[PROF_PROG_WAKEUP];
	out->bpf_tracepoint_ns = c->prog_ns[PROF_PROG_TRACEPOINT] + c->prog_ns[PROF_PROG_EXTRACT];
	out->bpf_sample_ns = c->prog_ns[PROF_PROG_SAMPLE];
}

static void count_unwinding(const struct status *s, struct own_stats *out)
{
	struct unwind_loader_counts c;

	if (!s->cfg.unwinding)
		return;
	unwind_loader_count(s->cfg.unwinding, &c);
	out->unwind_tables = c.store.put;
	out->unwind_evicted = c.store.evicted;
	out->unwind_tables_left_out = c.store.left_out;
	out->unwind_bytes = c.store.bytes;
	out->unwind_modules_left_out = c.store.modules_left_out;
	out->unwind_lists = c.lists.published;
	out->unwind_lists_left_out = c.left_out;
}

/* All but rss_bytes, ring_fill_max_bytes and the helpers, which cost more to read, and closed. */
static void count_stats(struct status *s, const struct capture_counts *counts, uint64_t now_ns,
			struct own_stats *out)
{
	uint64_t nested = counts->nested + counts->nested_sched;
	uint64_t cpu_ns = own_cpu_ns();

	*out = (struct own_stats){
		.elapsed_ns = now_ns - s->cfg.start_ns,
		.produced = counts->produced[PROF_CLASS_TRACEPOINT] + nested,
		.written = translate_written(s->cfg.translate, PROF_CLASS_TRACEPOINT),
		.lost = counts->lost[PROF_CLASS_TRACEPOINT] + nested + count_malformed(s),
		.samples = translate_written(s->cfg.translate, PROF_CLASS_SAMPLE),
		.cpu_ns = (s->cpu_end_ns ? s->cpu_end_ns : cpu_ns) - s->cpu_base_ns,
		.end_cpu_ns = s->cpu_end_ns ? cpu_ns - s->cpu_end_ns : 0,
		.realtime_ns = realtime_ns(s->cfg.realtime),
		.waited_ns = own_waited_ns() - s->waited_base_ns,
		.output_full_ns = s->output_full_ns,
		.bytes_written = s->bytes_before + dial9_enc_bytes(s->cfg.enc),
		.memory_bytes = *s->cfg.memory_bytes,
		.forgotten = *s->cfg.forgotten,
	};
	count_programs(counts, out);
	count_unwinding(s, out);
	count_stacks(counts, out);
}

void status_totals(struct status *s, uint64_t now_ns, struct status_totals *out)
{
	uint32_t hz = capture_hz(s->cfg.capture);
	struct capture_counts counts;

	capture_count(s->cfg.capture, &counts);
	*out = (struct status_totals){
		.at_most = selects(s) ? counts.nested : 0,
		.samples_lost = counts.lost[PROF_CLASS_SAMPLE],
		.ring_lost = counts.lost[PROF_CLASS_TRACEPOINT] + counts.lost[PROF_CLASS_SAMPLE],
		.stacks_thinned = translate_dropped_stacks(s->cfg.translate, NULL),
		.side_lost = s->side_lost,
		.side_stalls = s->side_stalls,
		.doubts = s->doubts,
	};
	count_stats(s, &counts, now_ns, &out->stats);
	if (capture_sampler(s->cfg.capture))
		out->samples_missed = counts.prog_ns[PROF_PROG_TRACEPOINT] * hz / SECOND_NS;
}

/* The helpers' time does not step back when one of them ends, whose time is then known in clock ticks only. */
static void count_helpers(struct status *s, struct own_stats *out)
{
	uint64_t ns;

	read_helpers(s);
	ns = s->usage.cpu_ns > s->helper_base_ns ? s->usage.cpu_ns - s->helper_base_ns : 0;
	s->helper_ns = ns > s->helper_ns ? ns : s->helper_ns;
	out->helper_cpu_ns = s->helper_ns;
	out->helper_bytes = s->usage.bytes;
	out->helpers = s->usage.cnt;
}

/* Reading the recorder's own mappings takes a millisecond, so it is done less often. */
static int write_processes(struct status *s)
{
	int err = 0;
	size_t i;

	if (!s->cfg.helpers || !s->cfg.helpers[0])
		return 0;
	read_helpers(s);
	helper_usage_read_one((uint32_t)getpid(), &s->usage);
	for (i = 0; i < s->usage.v_cnt && !err; i++) {
		const struct helper_process *p = &s->usage.v[i];

		err = emit_recorder_process(s->cfg.emit, s->last_ns,
					    &(struct own_recorder_process){
						    .pid = p->pid,
						    .name = own_text(p->name),
						    .cpu_ns = p->cpu_ns,
						    .pss_bytes = p->bytes,
						    .peak_bytes = p->peak_bytes,
					    });
	}
	helper_usage_forget_ended(&s->usage);
	return err;
}

uint64_t status_cost_ns(struct status *s, uint64_t now_ns)
{
	struct status_totals t;

	status_totals(s, now_ns, &t);
	read_helpers(s);
	return t.stats.bpf_ns + t.stats.cpu_ns + s->usage.cpu_ns;
}

/* Values of own_stats.closed. */
enum closed { GOES_ON, CLOSED, CLOSED_SEGMENT = PROF_CLOSED_SEGMENT };

static int write_stats(struct status *s, const struct capture_counts *counts, uint64_t now_ns,
		       enum closed closed)
{
	struct own_stats stats;

	count_stats(s, counts, now_ns, &stats);
	stats.rss_bytes = own_rss();
	count_helpers(s, &stats);
	stats.ring_fill_max_bytes = fill_max(s);
	stats.closed = closed == CLOSED && !rings_are_whole(s) ? GOES_ON : closed;
	return emit_stats(s->cfg.emit, s->last_ns, &stats);
}

static int write_due_processes(struct status *s, uint64_t now_ns, enum closed closed)
{
	if (closed == GOES_ON && now_ns < s->next_processes &&
	    s->usage.v_cnt < HELPER_PROCESSES_MAX)
		return 0;
	s->next_processes = now_ns + PROCESSES_NS;
	return write_processes(s);
}

static int write_figures(struct status *s, uint64_t now_ns, enum closed closed)
{
	uint64_t since = s->last_ns;
	struct capture_counts counts;
	int err;

	advance(s, now_ns);
	capture_count(s->cfg.capture, &counts);
	err = write_ring_loss(s);
	if (!err)
		err = write_other_loss(s, &counts, since);
	if (!err)
		err = write_dropped_stacks(s);
	if (!err)
		err = write_task_loss(s);
	if (!err)
		err = cost_events_write(&s->costs, s->cfg.tasks, s->cfg.emit, s->last_ns,
					closed != GOES_ON);
	if (!err)
		err = write_due_processes(s, now_ns, closed);
	return err ? err : write_stats(s, &counts, now_ns, closed);
}

/* Missed periods are not made up for. */
static void set_next(uint64_t *next, uint64_t period, uint64_t now_ns)
{
	*next += period;
	if (*next <= now_ns)
		*next = now_ns + period;
}

int status_tick(struct status *s, uint64_t now_ns)
{
	int err;

	if (now_ns < s->next_stats)
		return 0;
	set_next(&s->next_stats, SECOND_NS, now_ns);
	err = write_figures(s, now_ns, GOES_ON);
	if (!err && now_ns >= s->next_clock) {
		set_next(&s->next_clock, CLOCK_SYNC_NS, now_ns);
		err = write_clock_sync(s);
	}
	return err;
}

int status_write_seam(struct status *s, uint64_t now_ns)
{
	int err = write_figures(s, now_ns, CLOSED_SEGMENT);

	return err ? err : write_clock_sync(s);
}

void status_next_segment(struct status *s, struct dial9_enc *enc, struct emit *emit, uint64_t bytes)
{
	s->cfg.enc = enc;
	s->cfg.emit = emit;
	s->bytes_before = bytes;
}

void status_output_full(struct status *s, uint64_t ns)
{
	s->output_full_ns += ns;
}

void status_end(struct status *s)
{
	s->cpu_end_ns = own_cpu_ns();
}

int status_write_tail(struct status *s, uint64_t now_ns)
{
	struct status_totals t;
	int err;

	err = write_figures(s, now_ns, CLOSED);
	status_totals(s, now_ns, &t);
	if (!err && t.samples_missed)
		err = emit_lost(s->cfg.emit, s->last_ns, PROF_LOST_ANY_CPU,
				PROF_LOST_SAMPLE_ESTIMATE, t.samples_missed, s->cfg.start_ns,
				s->last_ns);
	return err ? err : write_clock_sync(s);
}

int status_trigger(struct status *s, const struct emit_trigger *by)
{
	return emit_trigger(s->cfg.emit, by);
}

int status_not_kept(struct status *s, uint64_t from_ns, uint64_t to_ns)
{
	return emit_lost(s->cfg.emit, EMIT_NOW, PROF_LOST_ANY_CPU, PROF_LOST_NOT_KEPT, 1, from_ns,
			 to_ns);
}

int status_paused(struct status *s, bool skips_slice, uint64_t from_ns, uint64_t to_ns)
{
	return emit_lost(s->cfg.emit, to_ns, PROF_LOST_ANY_CPU,
			 skips_slice ? PROF_LOST_THINNED : PROF_LOST_PAUSED, 1, from_ns, to_ns);
}

int status_thinning(struct status *s, uint64_t one_in, bool stacks, uint64_t overhead_ppm)
{
	return emit_thinning(s->cfg.emit, EMIT_NOW, one_in, stacks, overhead_ppm);
}

int status_side_lost(struct status *s, const struct perf_side *side)
{
	uint64_t since = side->since > s->cfg.start_ns ? side->since : s->cfg.start_ns;
	uint64_t until = side->time > since ? side->time : since;
	const char *kind;

	if (side->type == PERF_SIDE_LOST)
		kind = PROF_LOST_SIDEBAND;
	else if (side->type == PERF_SIDE_DAMAGED)
		kind = PROF_LOST_SIDEBAND_DAMAGED;
	else if (side->type == PERF_SIDE_STALLED)
		kind = PROF_LOST_SIDEBAND_STALLED;
	else
		return 0;
	*(side->type == PERF_SIDE_STALLED ? &s->side_stalls : &s->side_lost) += side->lost;
	return emit_lost(s->cfg.emit, EMIT_NOW, side->cpu, kind, side->lost, since, until);
}

void status_check_balance(const struct status_totals *t)
{
	const struct own_stats *stats = &t->stats;

	if (stats->produced != stats->written + stats->lost)
		log_warn("record: %llu records produced, but %llu written and %llu lost: "
			 "please report this",
			 (unsigned long long)stats->produced, (unsigned long long)stats->written,
			 (unsigned long long)stats->lost);
}
