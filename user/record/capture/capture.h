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

/* Which stays off the CPU are recorded, where that is asked of the eventset. */
struct capture_off_cpu {
	uint64_t min_ns, max_ns; /* max 0: no limit */
};

struct capture_cfg {
	const struct eventset *events; /* borrowed for the capture's life */
	bool system_wide;
	bool follow; /* threads and children of targets become targets */
	const struct prof_select *select; /* who of them is one, borrowed; NULL: all */
	bool include_self; /* samples and stacks of this process, too */
	uint32_t helpers[PROF_HELPERS_MAX]; /* that fire no trigger, nor do their children; 0: no more */
	bool samples;
	bool force_cpu_clock;
	bool force_cycles;
	uint32_t hz;
	uint32_t switch_stacks; /* enum prof_stacks */
	uint32_t wakeup_stacks; /* likewise: of wakers */
	bool no_recipes; /* events but the scheduler's hot ones are the kernel's own records */
	bool no_marks; /* interrupts are not noted for events that they cause */
	bool no_forget; /* targets that end stay in the bitmaps */
	const char *btf; /* a file with the kernel's types; NULL: the kernel's own. Borrowed */
	bool no_orc; /* kernel stacks are taken by the kernel's helper alone */
	bool verify_stacks; /* what is walked or reused is compared, and counted */
	struct capture_off_cpu off_cpu;
	uint32_t event_stacks; /* likewise: of events whose cfg.has_stacks */
	uint32_t call_graph; /* enum prof_call_graph */
	uint32_t max_stack; /* user frames, at most PROF_STACK_MAX; 0: that many */
	struct capture_unwind_cfg unwind; /* of PROF_CALL_GRAPH_AUTO */
	uint64_t offcpu_ns,
		runq_ns; /* how long a wait is too long: capture_latency(); 0: none is */
	uint64_t ring_bytes; /* of each ring; a power of two of at least a page */
	bool one_ring; /* for all CPUs; else they share beyond PROF_RINGS_MAX */
	bool summary; /* sums in place of events: there is no side-band */
};

/* What the kernel side has counted so far, over all CPUs. */
struct capture_counts {
	uint64_t produced[PROF_CLASS_CNT];
	uint64_t lost[PROF_CLASS_CNT]; /* of whatever kind */
	uint64_t nested; /* runs that the kernel refused */
	uint64_t nested_sched; /* events of the scheduler that came amidst the record of another */
	uint64_t stacks_reused; /* of switch-outs, walked before and still true */
	uint64_t reused_compared, reused_differing;
	struct prof_kstack_stat kstacks[2]; /* of tracepoints, of samples */
	uint64_t stacks_dropped; /* of switches and wakeups, while capture_take_stacks() said so */
	uint64_t prog_runs[PROF_PROG_CNT];
	uint64_t prog_ns[PROF_PROG_CNT]; /* extrapolated from the runs that measured themselves */
};

/* What the programs count as lost, CPU by CPU. */
enum capture_loss {
	CAPTURE_RING_FULL, /* tracepoint records */
	CAPTURE_SAMPLE_RING_FULL,
	CAPTURE_READ_FAILED, /* tracepoint records */
	CAPTURE_LOSS_CNT,
};

/* The kernel side of a recording: programs, rings, samplers, side-band. */
struct capture;

/* Opens, configures and loads; nothing is attached yet. Prints one line and returns -errno. */
int capture_new(const struct capture_cfg *cfg, struct capture **out);
/*
 * Attaches everything, samplers last; records flow after capture_start(). The side-band flows from
 * here on, and targets are followed, so add them after this.
 */
int capture_attach(struct capture *c);
void capture_start(struct capture *c);
/* No record is made meanwhile, but for those that are under way; targets and the side-band are followed on. */
void capture_pause(struct capture *c);
/* Records flow, also for the first time, in place of capture_start(). */
void capture_resume(struct capture *c);
/* Where kernel stacks can be walked they are, from the first call on. Not a system call. */
void capture_take_kallsyms(struct capture *c, const struct kallsyms *kallsyms);
/* No program writes any more when this returns; what was written waits in the rings. */
void capture_stop(struct capture *c);
/*
 * Releases everything at once. Detaching a tracepoint takes the kernel tens of milliseconds each:
 * a forked child holds them until this process has ended, and waits for it in its stead.
 */
void capture_free(struct capture *c);

/* CPUs that went and came back: see capture_cpus_follow(). To be asked about once a second. */
void capture_follow_cpus(struct capture *c);

/* Marks a thread (tid) or a whole thread group (tgid) as target; 0 for none. */
void capture_add_target(struct capture *c, pid_t tid, pid_t tgid);

/* Whether switches and wakeups come with the stacks that were asked for; they do at first. */
void capture_take_stacks(struct capture *c, bool take);

/* The memory that stacks are unwound by, borrowed; NULL unless call_graph is PROF_CALL_GRAPH_AUTO. */
struct capture_unwind *capture_unwind(struct capture *c);
/* Its tables, borrowed; NULL without cfg.summary. */
const struct capture_summary *capture_summary(const struct capture *c);
/* The readers of all rings, and of the stages in which records of hot events gather. */
struct ring *capture_rings(struct capture *c, size_t *cnt);
struct perf_ring **capture_sides(struct capture *c, size_t *cnt);
/*
 * A descriptor, the capture's, that is readable when a ring of events has filled up to an eighth since
 * capture_take_wakeups() was last called, which returns whether one has.
 */
int capture_wakeups_fd(const struct capture *c);
bool capture_take_wakeups(const struct capture *c);
/* Whether one of these is fuller than one part of so many. */
bool capture_is_filled(struct capture *c, size_t parts);
/* "cycles" or "cpu-clock"; NULL without samples. */
const char *capture_sampler(const struct capture *c);
/* What it was made with, but for what the functions below say. Borrowed. */
const struct capture_cfg *capture_config(const struct capture *c);
/* What --hz came out as: a value above the kernel's limit is lowered. */
uint32_t capture_hz(const struct capture *c);

/* A wait that was too long, if there was one since the last call: the first. No system call. */
bool capture_latency(struct capture *c, struct prof_latency_hit *out);
/* Whether capture_count() works with the capabilities that the caller has now: kernels before 5.19 may
 * want CAP_BPF for it. */
bool capture_can_count(const struct capture *c);
/* No map system calls in here, so it may be called while recording. */
void capture_count(struct capture *c, struct capture_counts *out);
/* Number of slots for capture_lost(). */
size_t capture_cpu_cnt(const struct capture *c);
/* Loss of one kind on one CPU since the last call for both: false when there was none. */
bool capture_lost(struct capture *c, size_t cpu, enum capture_loss kind, uint64_t *cnt,
		  uint64_t *first_ns, uint64_t *last_ns);

#endif
