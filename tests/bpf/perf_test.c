// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compared with other records of the kernel for the same time: perf's record of every switch, and the
 * kernel's own count of them.
 *
 * perf's tracepoint events leave out what the idle task does, so those switches are checked by the
 * count alone.
 */
/* ALONE: perf runs too */
#include <criterion/criterion.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "tests/bpf/support.h"

TestSuite(perf, .fini = live_cleanup);

enum {
	CPUS_MAX = 64,
	SECOND_NS = 1000000000,
	SKEW_NS = 1000000,
	GAP_MAX = 8,
	HOLES_MAX = 8,
	LATE_MAX = 4
};

static const char perf_path[] = "/usr/bin/perf";

const char *live_missing(void)
{
	return access(perf_path, X_OK) ? "needs perf (Debian: linux-perf)" : NULL;
}

struct cpu_switch {
	uint64_t ts;
	int prev, next;
};

/* The switches of one CPU, in order. */
struct cpu_switches {
	struct cpu_switch *v;
	size_t cnt, cap;
};

static void add_switch(struct cpu_switches *cpus, unsigned int cpu, struct cpu_switch cpu_switch)
{
	struct cpu_switches *h = &cpus[cpu];

	cr_assert_lt(cpu, CPUS_MAX);
	h->v = array_reserve(h->v, &h->cap, h->cnt + 1, sizeof(*h->v));
	h->v[h->cnt++] = cpu_switch;
}

static void free_switches(struct cpu_switches *cpus)
{
	int i;

	for (i = 0; i < CPUS_MAX; i++)
		free(cpus[i].v);
}

static void read_ours(const char *path, bool with_idle, struct cpu_switches *cpus)
{
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	while (live_event(&lt, &ev)) {
		struct cpu_switch cpu_switch = { .ts = ev.ts };

		if (ev.kind != TRACE_SCHED_SWITCH)
			continue;
		cpu_switch.prev = live_int(&ev, "prev_pid");
		cpu_switch.next = live_int(&ev, "next_pid");
		if (cpu_switch.prev || with_idle)
			add_switch(cpus, ev.cpu, cpu_switch);
	}
	live_close(&lt);
}

/* ---- perf record ------------------------------------------------------------------------------- */

static uint64_t field_after(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	cr_assert(at, "no %s in: %s", key, line);
	return strtoull(at + strlen(key), NULL, 10);
}

/* "[000]  2888.153482028: sched:sched_switch: prev_comm=..." */
static void read_line(const char *line, struct cpu_switches *cpus)
{
	unsigned long long cpu, seconds, ns;
	struct cpu_switch cpu_switch;

	if (!strstr(line, "sched_switch:"))
		return;
	cr_assert_eq(sscanf(line, " [%llu] %llu.%9llu:", &cpu, &seconds, &ns), 3, "%s", line);
	cpu_switch.ts = seconds * SECOND_NS + ns;
	cpu_switch.prev = field_after(line, "prev_pid=");
	cpu_switch.next = field_after(line, "next_pid=");
	if (cpu_switch.prev)
		add_switch(cpus, cpu, cpu_switch);
}

static void read_perfs(const char *data, struct cpu_switches *cpus)
{
	const char *argv[] = {
		perf_path, "script", "-i", data, "--ns", "-F", "trace:cpu,time,event,trace", NULL
	};
	struct live_proc p;
	char *line, *save = NULL;

	live_spawn(&p, argv, NULL);
	live_read_rest(&p);
	cr_assert_eq(live_wait(&p), 0);
	for (line = strtok_r(p.output.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_line(line, cpus);
	live_proc_fini(&p);
}

/* perf runs the workload, so that its window lies inside ours. */
static void run_perf(const char *data)
{
	char script[1200];
	const char *argv[] = {
		perf_path, "record", "-q",
		/* as we do: next to us, perf cannot read its own records of the other kind */
		"--buildid-mmap", "-k", "CLOCK_MONOTONIC", "-m", "2048", "-e", "sched:sched_switch",
		"-a", "-o", data, "--", "/bin/sh", "-c", script, NULL
	};
	const char *pingpong = live_built("stimuli/pingpong"),
		   *sleeper = live_built("stimuli/sleeper");
	struct live_proc p;
	struct buf text;

	snprintf(script, sizeof(script), "%s --now 2000 & %s --now 2000 & %s --now 500 & wait",
		 pingpong, pingpong, sleeper);
	live_spawn(&p, argv, NULL);
	live_read_rest(&p);
	cr_assert_eq(live_wait(&p), 0);
	text = live_errors(&p);
	cr_assert(!strstr(text.data, "LOST"), "%s", text.data);
	buf_free(&text);
	live_proc_fini(&p);
}

static bool is_same_pair(const struct cpu_switch *a, const struct cpu_switch *b)
{
	return a->prev == b->prev && a->next == b->next;
}

static bool is_same_switch(const struct cpu_switch *a, const struct cpu_switch *b)
{
	uint64_t apart = a->ts > b->ts ? a->ts - b->ts : b->ts - a->ts;

	return is_same_pair(a, b) && apart < SKEW_NS;
}

/*
 * A task that was switched in and never out again is a hole in perf's own record: the next task
 * ran on the same CPU. Idle is apart, since perf is not always given switches out of it.
 */
static bool perf_has_hole(const struct cpu_switches *perfs, size_t i)
{
	return i && perfs->v[i - 1].next && perfs->v[i - 1].next != perfs->v[i].prev;
}

/*
 * perf's switches are a contiguous part of ours, but for what perf can be seen to lack. A hypervisor may take
 * the CPU away between perf's reading of the clock and ours: few times are apart, and no switch is.
 */
static void check_cpu(int cpu, const struct cpu_switches *perfs, const struct cpu_switches *ours)
{
	size_t at = 0, i, holes = 0, late = 0;

	while (at < ours->cnt && !is_same_switch(&perfs->v[0], &ours->v[at]))
		at++;
	for (i = 0; i < perfs->cnt; i++, at++) {
		while (perf_has_hole(perfs, i) && at < ours->cnt &&
		       !is_same_switch(&perfs->v[i], &ours->v[at])) {
			holes++;
			at++;
		}
		cr_assert_lt(at, ours->cnt, "CPU %d: perf has switches that we lack", cpu);
		late += !is_same_switch(&perfs->v[i], &ours->v[at]);
		cr_assert(is_same_pair(&perfs->v[i], &ours->v[at]),
			  "CPU %d, switch %zu of %zu: perf has %d -> %d, we %d -> %d", cpu, i,
			  perfs->cnt, perfs->v[i].prev, perfs->v[i].next, ours->v[at].prev,
			  ours->v[at].next);
	}
	cr_assert_leq(late, LATE_MAX, "CPU %d: %zu switches at other times", cpu, late);
	cr_assert_leq(holes, HOLES_MAX, "CPU %d: perf lacks %zu switches", cpu, holes);
}

Test(perf, recorded_switches_equal_perfs_on_every_cpu)
{
	static struct cpu_switches perfs[CPUS_MAX], ours[CPUS_MAX];
	struct live_rec rec;
	char data[128];
	size_t total = 0;
	int cpu;

	snprintf(data, sizeof(data), "%s", live_path("perf.data"));
	live_record(&rec, "-a", "--no-samples", "-m", "64M", NULL);
	live_recording(&rec);
	run_perf(data);
	cr_assert_eq(live_stop(&rec), 0);
	read_perfs(data, perfs);
	read_ours(rec.path, false, ours);
	for (cpu = 0; cpu < CPUS_MAX; cpu++) {
		total += perfs[cpu].cnt;
		if (perfs[cpu].cnt)
			check_cpu(cpu, &perfs[cpu], &ours[cpu]);
	}
	cr_assert_gt(total, 1000);
	free_switches(perfs);
	free_switches(ours);
}

/* ---- the kernel's own count --------------------------------------------------------------------- */

static int open_switch_count(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The count and when it was read: nothing switches on that CPU while this thread reads it there. */
struct reading {
	uint64_t cnt, ts;
};

static void start_reading(int cpu, int fd, struct reading *best)
{
	uint64_t shortest = UINT64_MAX, before, after, cnt;
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	for (i = 0; i < 100; i++) {
		before = clock_mono_ns();
		cr_assert_eq(read(fd, &cnt, sizeof(cnt)), sizeof(cnt));
		after = clock_mono_ns();
		if (after - before < shortest) {
			shortest = after - before;
			*best = (struct reading){ cnt, before };
		}
	}
}

/* Whether a switch is missing after h->v[i]: a thread leaves that never came. */
static bool is_gap(const struct cpu_switches *h, size_t i)
{
	return i + 1 < h->cnt && h->v[i].next != h->v[i + 1].prev;
}

static bool is_thread_of_init(int tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/1/task/%d", tid);
	return !access(path, F_OK);
}

/* On some VMs what init does is hidden from all tracing: its switches show as gaps, each of at least one. */
static void check_count(int cpu, const struct cpu_switches *h, const struct reading *first,
			const struct reading *last)
{
	uint64_t seen = 0, gaps = 0, counted = last->cnt - first->cnt;
	size_t i;

	for (i = 0; i < h->cnt; i++) {
		if (h->v[i].ts < first->ts || h->v[i].ts >= last->ts)
			continue;
		seen++;
		if (!is_gap(h, i))
			continue;
		cr_assert(is_thread_of_init(h->v[i].next), "CPU %d: %d came and never left", cpu,
			  h->v[i].next);
		gaps++;
	}
	cr_assert(counted >= seen + gaps && counted <= seen + GAP_MAX * gaps,
		  "CPU %d: %llu switches counted, %llu seen, %llu gaps", cpu,
		  (unsigned long long)counted, (unsigned long long)seen, (unsigned long long)gaps);
}

Test(perf, number_of_switches_including_idle_equals_perfs)
{
	static struct cpu_switches ours[CPUS_MAX];
	struct reading first[CPUS_MAX], last[CPUS_MAX];
	int fds[CPUS_MAX], cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;
	struct live_proc sleeper;
	struct live_rec rec;

	cr_assert_leq(cpus, CPUS_MAX);
	live_stimulus(&sleeper, "sleeper", "2000", NULL);
	live_record(&rec, "-a", "--no-samples", "-m", "64M", NULL);
	live_recording(&rec);
	for (cpu = 0; cpu < cpus; cpu++) {
		fds[cpu] = open_switch_count(cpu);
		cr_assert_geq(fds[cpu], 0);
		start_reading(cpu, fds[cpu], &first[cpu]);
	}
	live_go(&sleeper);
	for (cpu = 0; cpu < cpus; cpu++)
		start_reading(cpu, fds[cpu], &last[cpu]);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&sleeper);
	read_ours(rec.path, true, ours);
	for (cpu = 0; cpu < cpus; cpu++)
		check_count(cpu, &ours[cpu], &first[cpu], &last[cpu]);
	free_switches(ours);
}
