/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_H
#define D9_RECORD_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "prof_abi.h"
#include "prof_select.h"
#include "record/capture/capture_summary.h"
#include "record/capture/capture_unwind.h"

struct eventset;
struct kallsyms;
struct perf_ring;
struct ring;

/* The off-CPU intervals to record, if the eventset has their event. */
struct capture_off_cpu {
	uint64_t min_ns, max_ns; /* max 0: no limit */
};

struct capture_cfg {
	const struct eventset *events; /* borrowed for the capture's life */
	bool system_wide;
	bool follow; /* threads and children of targets become targets */
	const struct prof_select *select; /* filters the targets, borrowed; NULL: all */
	bool include_self; /* samples and stacks of this process, too */
	uint32_t helpers[PROF_HELPERS_MAX]; /* they fire no trigger, nor do their children; 0: no more */
	bool samples;
	bool force_cpu_clock;
	bool force_cycles;
	uint32_t hz;
	uint32_t switch_stacks; /* enum prof_stacks */
	uint32_t wakeup_stacks; /* likewise, stacks of wakers */
	bool no_extracts; /* use the kernel's own records except for the scheduler's hot events */
	bool no_marks; /* do not note interrupts for the events that they cause */
	bool no_forget; /* keep ended targets in the bitmaps */
	const char *btf; /* a file with the kernel's types; NULL: the kernel's own. Borrowed */
	bool no_orc; /* read kernel stacks only by the kernel's helper */
	bool verify_stacks; /* compare walked, reused and repeated stacks, and count differences */
	struct capture_off_cpu off_cpu;
	uint32_t event_stacks; /* likewise, for events whose cfg.has_stacks */
	uint32_t call_graph; /* enum prof_call_graph */
	uint32_t max_stack; /* user frames, at most PROF_STACK_MAX; 0: PROF_STACK_MAX */
	struct capture_unwind_cfg unwind; /* for PROF_CALL_GRAPH_AUTO */
	uint64_t offcpu_ns, runq_ns; /* runnable for too long, see capture_latency(); 0: no limit */
	uint64_t ring_bytes; /* of each ring; a power of two of at least a page */
	bool one_ring; /* for all CPUs; otherwise only CPUs beyond PROF_RINGS_MAX share */
	bool summary; /* sums in place of events: no process metadata is read */
};

/* The kernel side's counters, over all CPUs. */
struct capture_counts {
	uint64_t produced[PROF_CLASS_CNT];
	uint64_t lost[PROF_CLASS_CNT]; /* by class */
	uint64_t nested; /* runs that the kernel refused */
	uint64_t nested_sched; /* events of the scheduler during another event's record */
	uint64_t stacks_reused; /* of switches out: valid stacks of an earlier walk */
	uint64_t reused_compared, reused_differing;
	uint64_t repeats_compared, repeats_differing; /* stacks that were marked as repeated */
	struct prof_kstack_stat kstacks[2]; /* of tracepoints, and of samples */
	uint64_t stacks_dropped; /* of switches and wakeups, under load (capture_set_stacks()) */
	uint64_t prog_runs[PROF_PROG_CNT];
	uint64_t prog_ns[PROF_PROG_CNT]; /* extrapolated from the measured runs */
};

/* Losses that the programs count per CPU. */
enum capture_loss {
	CAPTURE_RING_FULL, /* tracepoint records */
	CAPTURE_SAMPLE_RING_FULL,
	CAPTURE_READ_FAILED, /* tracepoint records */
	CAPTURE_LOSS_CNT,
};

/* The kernel side of a recording: programs, rings, samplers, process metadata. */
struct capture;

/* Opens, configures and loads; nothing is attached yet. Prints one line and returns -errno. */
int capture_new(const struct capture_cfg *cfg, struct capture **out);
/*
 * Attaches everything, samplers last. Records flow after capture_start(). Process metadata flows and targets are
 * followed from here on, so add targets after this.
 */
int capture_attach(struct capture *c);
void capture_start(struct capture *c);
/*
 * No records are made until capture_resume(), except those being written. Targets and process metadata are still
 * followed.
 */
void capture_pause(struct capture *c);
/* Records flow again, or for the first time in place of capture_start(). */
void capture_resume(struct capture *c);
/* Kernel stacks are walked from the first call on, if possible. Not a system call. */
void capture_set_kallsyms(struct capture *c, const struct kallsyms *kallsyms);
/* No program writes any more when this returns; the rings still hold unread records. */
void capture_stop(struct capture *c);
/*
 * Releases everything at once. Detaching a tracepoint takes the kernel tens of milliseconds. So a forked child
 * holds the tracepoints until this process has ended, and waits for the kernel instead.
 */
void capture_free(struct capture *c);

/* Handles CPUs that went offline or online: see capture_cpus_follow(). Call it once per second. */
void capture_follow_cpus(struct capture *c);

/* Marks a thread (tid) or a whole thread group (tgid) as target; 0 for none. */
void capture_add_target(struct capture *c, pid_t tid, pid_t tgid);

/* Whether switches and wakeups are recorded with the configured stacks (initially true). */
void capture_set_stacks(struct capture *c, bool take);

/* The memory for unwinding stacks, borrowed; NULL unless call_graph is PROF_CALL_GRAPH_AUTO. */
struct capture_unwind *capture_unwind(struct capture *c);
/* The tables of --summary, borrowed; NULL without cfg.summary. */
const struct capture_summary *capture_summary(const struct capture *c);
/* The readers of all rings, and of the stages that collect records of hot events. */
struct ring *capture_rings(struct capture *c, size_t *cnt);
struct perf_ring **capture_sides(struct capture *c, size_t *cnt);
/*
 * A descriptor that belongs to the capture. It is readable if a ring of events has filled up to an eighth since the
 * last capture_read_wakeups(), which returns whether one has.
 */
int capture_wakeups_fd(const struct capture *c);
bool capture_read_wakeups(const struct capture *c);
/* Adds the same event to another epoll instance. 0 or -errno. */
int capture_watch_rings(const struct capture *c, int epoll_fd);
/* Percent of the fullest ring. Any thread may call it. */
unsigned int capture_ring_fill(const struct capture *c);
/* Whether a ring or stage is filled by more than 1 / @parts. */
bool capture_is_filled(struct capture *c, size_t parts);
/* "cycles" or "cpu-clock"; NULL without samples. */
const char *capture_sampler(const struct capture *c);
/* The configuration, with the changes of the functions below. Borrowed. */
const struct capture_cfg *capture_config(const struct capture *c);
/* The effective --hz: a value above the kernel's limit is lowered. */
uint32_t capture_hz(const struct capture *c);

/* The first latency above the limit since the last call, if there was one. No system call. */
bool capture_latency(struct capture *c, struct prof_latency_hit *out);
/* Whether capture_count() works with the current capabilities: kernels before 5.19 may require CAP_BPF. */
bool capture_can_count(const struct capture *c);
/* Makes no map system calls, so it may be called while recording. */
void capture_count(struct capture *c, struct capture_counts *out);
/* Number of slots for capture_lost(). */
size_t capture_cpu_cnt(const struct capture *c);
/* Losses of one kind on one CPU since the last call for both; false: none. */
bool capture_lost(struct capture *c, size_t cpu, enum capture_loss kind, uint64_t *cnt,
		  uint64_t *first_ns, uint64_t *last_ns);

#endif
