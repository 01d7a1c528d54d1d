// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * core.bpf.c - the maps, the configuration and the counters that all programs share
 *
 * The defaults switch everything on, so that loading the object as it is verifies every path; the
 * loader sets what the command line says.
 */
#include "neighbour.bpf.h"
#include "orc.bpf.h"
#include "repeat.bpf.h"
#include "reuse.bpf.h"
#include "select.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile bool cfg_system_wide = false;
const volatile bool cfg_follow = true;
const volatile struct prof_select cfg_select = {
	.by_task = true,
	.task.no_kthread = true,
	.by_cpu = true,
	.cgroup_cnt = PROF_SELECT_CGROUPS,
	.user_cnt = PROF_SELECT_USERS,
	.comm_cnt = PROF_SELECT_GLOBS,
	.no_comm_cnt = PROF_SELECT_GLOBS,
	.thread_cnt = PROF_SELECT_GLOBS,
};
const volatile bool cfg_boot_clock = false;
const volatile __u32 cfg_ring_cnt = 1;
const volatile __u32 cfg_batch_bytes = PROF_STAGE_BYTES;
const volatile __u32 cfg_stack_bytes = 1 << 20;
const volatile __u32 cfg_event_bytes = 1 << 20;
const volatile __u32 cfg_wake_bytes = 1 << 20;
const volatile bool cfg_preemptible = false;
const volatile __u32 cfg_self_tgid = 0;
const volatile __u32 cfg_switch_stacks = PROF_STACKS_USER | PROF_STACKS_KERNEL;
const volatile __u32 cfg_wakeup_stacks = 0;
const volatile bool cfg_verify_stacks = true;
const volatile __u32 cfg_event_stacks = PROF_STACKS_USER | PROF_STACKS_KERNEL;
const volatile __u32 cfg_call_graph = PROF_CALL_GRAPH_AUTO;
const volatile __u32 cfg_max_stack = PROF_STACK_MAX;
const volatile __u32 cfg_unwind_procs = PROF_UNWIND_PROC_PROBES;
const volatile __u32 cfg_unwind_knowns = 1;
const volatile __u32 cfg_repeats = 1;
const volatile __u64 cfg_code_mask = ~0ULL;
const volatile bool cfg_switch_state_arg = true;
const volatile bool cfg_filters = true;
const volatile bool cfg_neighbours = true;
const volatile __u32 cfg_watch_type = 0;
const volatile __u32 cfg_watch_event = 0;
const volatile __u32 cfg_off_type = 0;
const volatile __u32 cfg_off_event = 0;
const volatile __u64 cfg_off_min_ns = 1;
const volatile __u64 cfg_off_max_ns = 1;
const volatile __u32 cfg_summary_cpus = 1; /* CPUs that have tables; the others are not summed up */
const volatile __u32 cfg_summary_sets = 1; /* slots for threads: a power of two */

const volatile struct prof_switch_layout cfg_switch = {
	.size = 64,
	.prev_comm = 8,
	.prev_pid = 24,
	.prev_prio = 28,
	.prev_state = 32,
	.next_comm = 40,
	.next_pid = 56,
	.next_prio = 60,
};
const volatile struct prof_wakeup_layout cfg_wakeup = {
	.size = 36,
	.comm = 8,
	.pid = 24,
	.prio = 28,
	.target_cpu = 32,
};
const volatile struct prof_wakeup_layout cfg_wakeup_new = {
	.size = 36,
	.comm = 8,
	.pid = 24,
	.prio = 28,
	.target_cpu = 32,
};
const volatile struct prof_migrate_layout cfg_migrate = {
	.size = 40,
	.comm = 8,
	.pid = 24,
	.prio = 28,
	.orig_cpu = 32,
	.dest_cpu = 36,
};

volatile bool recording = false;
volatile bool stacks_off = false;
__u64 target_tids[PROF_TASK_WORDS];
__u64 target_tgids[PROF_TASK_WORDS];
struct prof_cpu_stat cpu_stats[PROF_CPUS_MAX] __attribute__((aligned(64)));
struct prof_cpu_interrupt cpu_interrupts[PROF_CPUS_MAX] __attribute__((aligned(64)));

struct prof_cpu_watch cpu_watches[PROF_CPUS_MAX] __attribute__((aligned(64)));

struct ring_maps rings SEC(".maps");
struct stage_map stages SEC(".maps");

__u64 known_cgroups[PROF_SELECT_CGROUP_SLOTS];

/* Resized by the loader. */
struct select_map selects SEC(".maps");
struct wait_map waits SEC(".maps");
struct unwind_chunk_maps unwind_chunks SEC(".maps");
struct unwind_module_map unwind_modules SEC(".maps");
struct unwind_map_map unwind_maps SEC(".maps");
struct unwind_proc_map unwind_procs SEC(".maps");
struct unwind_walk_map unwind_walks SEC(".maps");
struct unwind_known_map unwind_knowns SEC(".maps");
struct unwind_stack_map unwind_stacks SEC(".maps");
struct repeat_map repeats SEC(".maps");
struct orc_place_map orc_places SEC(".maps");
volatile struct prof_orc_tables orc_tables;
volatile __u64 orc_starts[ORC_FROM_CNT];
__u64 orc_rows[ORC_ROWS];
volatile __u32 unwind_generation, unwind_list_generation;
volatile __u64 unwind_condemned[PROF_UNWIND_MAPS_MAX / PROF_UNWIND_LIST_ROUND / 64];
