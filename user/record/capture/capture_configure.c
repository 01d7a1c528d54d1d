// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_configure.c - which programs a recording loads, and the constants that they are loaded with
 *
 * Between prof__open() and prof__load(). Programs that a recording does not need are not loaded.
 */
#include "record/capture/capture_configure.h"

#include <bpf/libbpf.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/capture/capture.h"
#include "record/capture/capture_field_extract.h"
#include "record/capture/capture_filter.h"
#include "record/capture/capture_fields.h"
#include "record/capture/capture_offcpu.h"
#include "record/capture/capture_orc.h"
#include "record/capture/capture_rings.h"
#include "record/capture/capture_select.h"
#include "record/capture/capture_summary.h"
#include "record/capture/capture_unwind.h"
#include "record/tracepoint/eventset.h"

static bool needs_generic(const struct eventset *set, const struct capture_field_extract *extracts)
{
	size_t i;

	for (i = 0; i < set->cnt; i++)
		if (!eventset_is_hot(set, i) && !capture_field_extract_has(extracts, i))
			return true;
	return false;
}

/* Programs that note the interrupt that a CPU is in, for wakeups. */
static bool is_mark(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__name(prog), "prof_mark_", strlen("prof_mark_"));
}

/* Programs that measure latencies: their misses lose no event. */
static bool is_latency(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__name(prog), "prof_latency_", strlen("prof_latency_"));
}

static bool is_ipi_mark(const struct bpf_program *prog)
{
	return strstr(bpf_program__name(prog), "irq_work") ||
	       strstr(bpf_program__name(prog), "call_function");
}

bool capture_configure_is_lossless(const struct bpf_program *prog)
{
	return is_mark(prog) || is_latency(prog);
}

static void configure_marks(struct prof *s, const struct capture_cfg *cfg)
{
	const struct eventset *set = cfg->events;
	struct bpf_program *prog;
	bool wanted = cfg->event_stacks || set->hot[EVENTSET_OFF_CPU] >= 0;
	size_t i;

	for (i = 0; i < set->cnt; i++)
		wanted |= set->defs[i]->has_context;
	wanted = wanted && !cfg->no_marks;
	bpf_object__for_each_program(prog, s->obj)
		if (is_mark(prog))
			bpf_program__set_autoload(prog,
						  wanted && (set->has_ipis || !is_ipi_mark(prog)));
}

static void configure_neighbours(struct prof *s, const struct eventset *set)
{
	const int event = set->hot[EVENTSET_CPU_WATCH];

	s->rodata->cfg_neighbours = event >= 0;
	if (event < 0)
		return;
	s->rodata->cfg_watch_type = set->defs[event]->cfg.type;
	s->rodata->cfg_watch_event = event;
	bpf_program__set_autoload(s->progs.prof_wait_wakeup, true);
	bpf_map__set_max_entries(s->maps.waits, PROF_WAIT_SLOTS);
}

static void configure_latency(struct prof *s, const struct capture_cfg *cfg)
{
	const bool wanted = cfg->offcpu_ns || cfg->runq_ns;
	struct bpf_program *prog;

	s->rodata->cfg_latency_blocked_ns = cfg->offcpu_ns;
	s->rodata->cfg_latency_ready_ns = cfg->runq_ns;
	if (!cfg->include_self)
		memcpy((void *)s->rodata->cfg_latency_helpers, cfg->helpers, sizeof(cfg->helpers));
	bpf_map__set_autocreate(s->maps.latency_times, wanted);
	bpf_object__for_each_program(prog, s->obj)
		if (is_latency(prog))
			bpf_program__set_autoload(prog, wanted);
}

/* Sizes the lists of mappings for the targets, or for all processes. */
static int configure_unwind(struct prof *s, const struct capture_cfg *cfg)
{
	bool lists = cfg->call_graph == PROF_CALL_GRAPH_AUTO;

	s->rodata->cfg_call_graph = cfg->call_graph;
	s->rodata->cfg_code_mask = capture_unwind_code_mask();
	if (cfg->max_stack && cfg->max_stack < PROF_STACK_MAX)
		s->rodata->cfg_max_stack = cfg->max_stack;
	bpf_program__set_autoload(s->progs.prof_unwind_exec, lists);
	bpf_program__set_autoload(s->progs.prof_unwind_fork,
				  lists && (cfg->follow || cfg->system_wide));
	return lists ? capture_unwind_size(s, &cfg->unwind) : 0;
}

/* A CPU that comes online later shares a ring with another CPU. */
static size_t ring_cnt(const struct capture_configure *c)
{
	const size_t max = c->cfg->one_ring ? 1 : PROF_RINGS_MAX;

	return c->cpu_cnt < max ? c->cpu_cnt : max;
}

/* At least a page, whose size depends on the machine. */
static size_t ring_bytes(const struct capture_cfg *cfg)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	return cfg->ring_bytes < page ? page : cfg->ring_bytes;
}

int capture_configure(struct prof *s, const struct capture_configure *c)
{
	const struct capture_cfg *cfg = c->cfg;
	const size_t cnt = cfg->events->cnt;
	const struct capture_rings_cfg rings = {
		.ring_cnt = ring_cnt(c),
		.ring_bytes = ring_bytes(cfg),
		.samples = cfg->samples,
		.stacks = cfg->switch_stacks | cfg->wakeup_stacks,
	};
	int err;

	s->rodata->cfg_system_wide = cfg->system_wide;
	s->rodata->cfg_self_tgid = cfg->include_self ? UINT32_MAX : (uint32_t)getpid();
	s->rodata->cfg_boot_clock = clock_mono_id() == CLOCK_BOOTTIME;
	s->rodata->cfg_switch_stacks = cfg->switch_stacks;
	s->rodata->cfg_wakeup_stacks = cfg->wakeup_stacks;
	s->rodata->cfg_verify_stacks = cfg->verify_stacks;
	s->rodata->cfg_event_stacks = cfg->event_stacks;
	bpf_program__set_autoload(s->progs.prof_sample, cfg->samples);
	capture_field_extract_choose(s, cfg->events, cfg->no_extracts, c->extracts);
	bpf_program__set_autoload(s->progs.prof_tracepoint,
				  needs_generic(cfg->events, c->extracts));
	if (cfg->follow && !cfg->system_wide) {
		bpf_program__set_autoload(s->progs.prof_follow_fork, true);
		bpf_program__set_autoload(s->progs.prof_follow_exec, true);
	}
	capture_select_configure(s, cfg->select, cfg->follow);
	bpf_program__set_autoload(s->progs.prof_forget_freed,
				  !cfg->system_wide && !cfg->no_forget &&
					  cfg->events->hot[EVENTSET_SWITCH] < 0);
	configure_marks(s, cfg);
	configure_neighbours(s, cfg->events);
	err = capture_offcpu_configure(s, cfg->events, &cfg->off_cpu);
	if (err)
		return err;
	configure_latency(s, cfg);
	bpf_map__set_max_entries(s->maps.event_cfgs, cnt ? cnt : 1);
	capture_filter_size(s, cfg->events);
	err = capture_rings_size(s, &rings, c->rings);
	if (!err)
		err = configure_unwind(s, cfg);
	if (!err && cfg->summary)
		err = capture_summary_configure(s, c->cpu_cnt < PROF_CPUS_MAX ? c->cpu_cnt :
										PROF_CPUS_MAX);
	if (!err)
		err = capture_fields(s, cfg->events);
	if (!err)
		capture_orc_choose(s, c->orc);
	return err;
}
