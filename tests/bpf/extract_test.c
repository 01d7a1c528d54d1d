// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records made by extracts: they are what the kernel itself makes of the same events, and next to none is
 * lost amidst others. Perf counters are the kernel's own count of what happened.
 */
/* ALONE: events in interrupts that hit a BPF program are lost */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "kernel/tracefs/format.h"
#include "kernel/tracefs/tracefs.h"
#include "record/capture/capture.h"
#include "record/tracepoint/eventset.h"
#include "record/tracepoint/field_extract.h"
#include "tests/bpf/side.h"
#include "tests/bpf/support.h"

TestSuite(extract_live, .fini = live_cleanup);

enum { RING_BYTES = 64 << 20, COMMON_SIZE = 8, EVENTS_MAX = 64, APART_NS = 5000000 };

#define MIXED                                                                                      \
	"timer:*,irq:*,irq_vectors:local_timer_*,irq_vectors:irq_work_*,irq_vectors:reschedule_*," \
	"kmem:kfree,kmem:kmalloc,kmem:kmem_cache_free"
#define OTHERS                                                                                     \
	"workqueue:*,sched:sched_wakeup,sched:sched_stat_runtime,power:cpu_idle,ipi:ipi_send_cpu," \
	"tlb:tlb_flush"

static void open_side(struct side *s, const char *pattern, bool kernels, bool all, uint32_t stacks)
{
	const struct eventset_cfg events_cfg = { .patterns = &pattern, .pattern_cnt = 1 };
	struct capture_cfg cfg = {
		.ring_bytes = RING_BYTES,
		.no_extracts = kernels,
		.system_wide = all,
		.event_stacks = stacks,
	};
	int tracefs_fd;

	*s = (struct side){ 0 };
	cr_assert_eq(tracefs_open(&tracefs_fd), 0);
	cr_assert_eq(eventset_new(tracefs_fd, &events_cfg, &s->events), 0);
	close(tracefs_fd);
	cfg.events = s->events;
	cr_assert_eq(capture_new(&cfg, &s->capture), 0);
	cr_assert_eq(capture_attach(s->capture), 0);
}

/* By more than what two programs at the same event are apart. */
static bool is_before(const struct prof_rec *a, const struct prof_rec *b)
{
	return a->cpu != b->cpu ? a->cpu < b->cpu : a->ts + APART_NS < b->ts;
}

/* Ticks may come between the two reads of their count. */
static bool is_ticks(const struct event_def *def, size_t field)
{
	return !strcmp(def->format->system, "timer") && !strcmp(def->names[field], "now") &&
	       !strncmp(def->format->name, "timer_", strlen("timer_"));
}

static bool is_same_field(const struct event_def *def, size_t i, const struct prof_rec *a,
			  const struct prof_rec *b)
{
	const struct event_field *f = &def->fields[i];
	const uint8_t *x, *y;
	size_t x_sz, y_sz;

	if (is_ticks(def, i))
		return llabs(event_field_int(f, (const void *)(a + 1), a->raw_len) -
			     event_field_int(f, (const void *)(b + 1), b->raw_len)) <= 1;
	if (f->op < EVENT_OP_CHARS)
		return event_field_int(f, (const void *)(a + 1), a->raw_len) ==
		       event_field_int(f, (const void *)(b + 1), b->raw_len);
	cr_assert_eq(event_field_bytes(f, (const void *)(a + 1), a->raw_len, &x, &x_sz), 0);
	cr_assert_eq(event_field_bytes(f, (const void *)(b + 1), b->raw_len, &y, &y_sz), 0);
	return x_sz == y_sz && !memcmp(x, y, x_sz);
}

static bool is_same(const struct eventset *events, const struct prof_rec *a,
		    const struct prof_rec *b)
{
	const struct event_def *def = events->defs[a->event];
	size_t i;

	if (a->event != b->event || a->tid != b->tid || a->pid != b->pid || a->cpu != b->cpu ||
	    a->raw_len != b->raw_len || memcmp(a + 1, b + 1, COMMON_SIZE) != 0)
		return false;
	for (i = 0; i < def->field_cnt; i++)
		if (!is_same_field(def, i, a, b))
			return false;
	return true;
}

/*
 * How many of the kernel's records are not among those that were made, of the same CPU and about the same
 * time. same[event] counts the others. Each that was made counts once. Both are in order.
 */
static size_t count_missing(const struct side *made, const struct side *kernels, uint64_t *same)
{
	bool *used = xcalloc(made->cnt + 1, sizeof(*used));
	size_t i, j, first = 0, missing = 0;

	for (i = 0; i < kernels->cnt; i++) {
		const struct prof_rec *rec = kernels->recs[i];

		while (first < made->cnt && is_before(made->recs[first], rec))
			first++;
		for (j = first; j < made->cnt && !is_before(rec, made->recs[j]); j++)
			if (!used[j] && is_same(made->events, made->recs[j], rec))
				break;
		if (j == made->cnt || is_before(rec, made->recs[j])) {
			missing++;
			continue;
		}
		used[j] = true;
		same[rec->event]++;
	}
	free(used);
	return missing;
}

/* All events of the whole system, while the workload runs: of both ways, the kernel's within the other's. */
static void record_both(const char *pattern, const char *rounds, struct side *made,
			struct side *kernels)
{
	struct live_proc ticks;

	live_stimulus(&ticks, "ticks", rounds, NULL);
	open_side(made, pattern, false, true, 0);
	open_side(kernels, pattern, true, true, 0);
	capture_start(made->capture);
	capture_start(kernels->capture);
	live_go(&ticks);
	capture_stop(kernels->capture);
	capture_stop(made->capture);
	side_next(made);
	side_next(kernels);
	live_end(&ticks);
}

static void expect_same(const char *pattern, const char *rounds, size_t min_events)
{
	uint64_t same[EVENTS_MAX] = { 0 };
	struct side made, kernels;
	size_t event, missing, seen = 0;

	record_both(pattern, rounds, &made, &kernels);
	cr_assert_lt(made.events->cnt, EVENTS_MAX);
	missing = count_missing(&made, &kernels, same);
	for (event = 0; event < made.events->cnt; event++)
		seen += same[event] > 0;
	cr_expect_leq(missing, made.nested,
		      "%zu of the kernel's %zu records were not made; %llu lost", missing,
		      kernels.cnt, (unsigned long long)made.nested);
	cr_expect_geq(seen, min_events, "%zu events were compared", seen);
	side_close(&made);
	side_close(&kernels);
}

Test(extract_live, extracted_records_equal_the_kernels_records)
{
	expect_same(MIXED, "2000", 12);
}

Test(extract_live, extracted_texts_and_names_equal_the_kernels)
{
	expect_same(OTHERS, "2000", 4);
}

/* Occurrences of an event while a thread runs, from any cause. */
static int count_by_perf(uint32_t id, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	cr_assert_geq(fd, 0, "%s", strerror(errno));
	return fd;
}

static uint64_t records_of(const struct side *s, size_t event)
{
	uint64_t cnt = 0;
	size_t i;

	for (i = 0; i < s->cnt; i++)
		cnt += s->recs[i]->event == event;
	return cnt;
}

/* Records what happens while a thread runs, and counts[] it. */
static void record_counted(struct side *s, const char *pattern, uint32_t stacks, uint64_t *counts)
{
	struct live_switches still;
	int fds[EVENTS_MAX];
	struct live_proc ticks;
	size_t i;

	live_stimulus(&ticks, "ticks", NULL);
	open_side(s, pattern, false, false, stacks);
	cr_assert_lt(s->events->cnt, EVENTS_MAX);
	capture_add_target(s->capture, ticks.pid, 0);
	for (i = 0; i < s->events->cnt; i++) {
		cr_assert(field_extract_is_known(s->events->defs[i]->format), "%s",
			  s->events->defs[i]->name);
		fds[i] = count_by_perf(s->events->defs[i]->format->id, ticks.pid);
		cr_assert_eq(ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0), 0);
	}
	live_read_switches(ticks.pid, &still);
	capture_start(s->capture);
	live_go(&ticks);
	live_read_switches(ticks.pid, &still);
	capture_stop(s->capture);
	for (i = 0; i < s->events->cnt; i++) {
		cr_assert_eq(read(fds[i], &counts[i], sizeof(counts[i])), sizeof(counts[i]));
		close(fds[i]);
	}
	side_next(s);
	cr_assert_geq(live_truth(&ticks, "fired"), 500);
	live_end(&ticks);
}

Test(extract_live, nested_events_are_recorded)
{
	uint64_t counts[EVENTS_MAX], counted = 0, recorded = 0, cnt;
	struct side s;
	size_t i;

	record_counted(&s, MIXED, 0, counts);
	for (i = 0; i < s.events->cnt; i++) {
		cnt = records_of(&s, i);
		counted += counts[i];
		recorded += cnt;
		cr_expect_leq(cnt, counts[i], "%s: %llu records", s.events->defs[i]->name,
			      (unsigned long long)cnt);
	}
	cr_expect_geq(counted, 50000);
	cr_expect_leq(counted - recorded, s.nested, "%llu of %llu recorded, %llu reported as lost",
		      (unsigned long long)recorded, (unsigned long long)counted,
		      (unsigned long long)s.nested);
	cr_expect_leq(500 * (counted - recorded), counted, "%llu of %llu lost",
		      (unsigned long long)(counted - recorded), (unsigned long long)counted);
	side_close(&s);
}

/*
 * The programs are in the kernel's stacks for most of the time, and all in the same lane: the first event of
 * these and the third. Each interrupt starts the timer again.
 */
Test(extract_live, another_program_records_while_the_first_is_interrupted)
{
	uint64_t counts[EVENTS_MAX], cnt;
	struct side s;

	record_counted(&s, "timer:hrtimer_start,tlb:tlb_flush,kmem:kmem_cache_free",
		       PROF_STACKS_KERNEL, counts);
	cnt = records_of(&s, 0);
	cr_expect_geq(counts[0], 50);
	cr_expect_leq(cnt, counts[0]);
	cr_expect_leq(counts[0] - cnt, s.nested);
	cr_expect_geq(10 * cnt, 9 * counts[0], "%llu of %llu recorded", (unsigned long long)cnt,
		      (unsigned long long)counts[0]);
	side_close(&s);
}

#define KMALLOC "kmem:kmalloc"

enum {
	PIPES = 500,
	PIPE_BYTES = 512
}; /* the kernel asks for more than that at once for each pipe */

struct filtered {
	uint64_t events, small, stacks, in_main, with_kernel;
};

static void read_filtered(const char *path, struct filtered *f)
{
	struct live_trace lt;
	struct trace_event ev;

	*f = (struct filtered){ 0 };
	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (live_is(&ev, KMALLOC)) {
			f->events++;
			f->small += live_int(&ev, "bytes_req") <= PIPE_BYTES;
		}
		if (ev.kind != TRACE_SAMPLE || ev.source != PROF_SOURCE_EVENT)
			continue;
		f->stacks++;
		f->in_main += live_stack_has(&lt, &ev, "main");
		f->with_kernel += ev.frame_cnt && ev.frames[0] & PROF_FRAME_KERNEL;
	}
	live_close(&lt);
}

Test(extract_live, extracted_events_have_filters_and_stacks)
{
	struct live_proc ticks;
	struct live_rec rec;
	struct filtered f;

	live_stimulus(&ticks, "ticks", live_number(PIPES), NULL);
	live_record(&rec, "-p", live_number(ticks.pid), "--no-samples", "-m", "16M", "-e", KMALLOC,
		    "--filter", "bytes_req > 512", "--event-stacks", "both", NULL);
	live_recording(&rec);
	live_go(&ticks);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&ticks);
	read_filtered(rec.path, &f);
	cr_expect_eq(f.small, 0);
	cr_expect_geq(f.events, PIPES, "%llu events", (unsigned long long)f.events);
	cr_expect_leq(f.events, PIPES + PIPES / 10, "%llu events", (unsigned long long)f.events);
	cr_expect_eq(f.stacks, f.events);
	cr_expect_geq(f.in_main, PIPES, "%llu in main", (unsigned long long)f.in_main);
	cr_expect_eq(f.with_kernel, f.events);
}
