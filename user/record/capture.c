// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture.c - the kernel side: open, configure, load, attach, start, stop
 *
 * The sole user of libbpf. Programs that a recording does not need are not loaded. Rings are one
 * for each CPU, in a map of maps. While recording, nothing here makes a system call on a map:
 * tracepoint programs do not run on a CPU that is inside one. Counters and target bitmaps are
 * reached through the mapped .bss.
 */
#include "record/capture.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "kernel/cpus.h"
#include "kernel/format.h"
#include "kernel/perf.h"
#include "kernel/perf_ring.h"
#include "kernel/privileges.h"
#include "prof.skel.h"
#include "record/capture_cpus.h"
#include "record/capture_filter.h"
#include "record/capture_layout.h"
#include "record/capture_offcpu.h"
#include "record/capture_orc.h"
#include "record/capture_recipes.h"
#include "record/capture_rings.h"
#include "record/capture_select.h"
#include "record/detach.h"
#include "record/eventset.h"
#include "record/ring.h"

struct capture {
	struct capture_cfg cfg;
	struct prof *skel;
	struct bpf_link **links;
	struct bpf_link *look; /* at all tasks; NULL: not made */
	struct bpf_link *held; /* likewise, for those off the CPU */
	size_t link_cnt;
	size_t link_cap;
	struct capture_cpus cpus;
	struct capture_rings rings;
	struct capture_unwind unwind;
	struct capture_summary summary;
	struct capture_recipes recipes;
	bool orc; /* programs that walk kernel stacks are loaded */
	bool orc_begun; /* and were told how, if that is known */
	uint64_t lost_seen[PROF_CPUS_MAX][CAPTURE_LOSS_CNT];
	uint64_t nested_before; /* recording was on, or while it was not */
	bool started, paused;
	uint64_t nested_paused; /* when it was last paused */
};

__attribute__((format(printf, 2, 0))) static int print_libbpf(enum libbpf_print_level level,
							      const char *fmt, va_list ap)
{
	if (level == LIBBPF_DEBUG || log_get_level() < LOG_LEVEL_DEBUG)
		return 0;
	return vfprintf(stderr, fmt, ap);
}

static bool is_generic(const struct capture *c, size_t event)
{
	return !eventset_is_hot(c->cfg.events, event) && !capture_recipes_has(&c->recipes, event);
}

static bool needs_generic(const struct capture *c)
{
	size_t i;

	for (i = 0; i < c->cfg.events->cnt; i++)
		if (is_generic(c, i))
			return true;
	return false;
}

/* What notes which interrupt a CPU is in, for wakings. */
static bool is_mark(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__name(prog), "prof_mark_", strlen("prof_mark_"));
}

/* What measures waits to see whether one is too long: its misses are no event's. */
static bool is_latency(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__name(prog), "prof_latency_", strlen("prof_latency_"));
}

static bool is_ipi_mark(const struct bpf_program *prog)
{
	return strstr(bpf_program__name(prog), "irq_work") ||
	       strstr(bpf_program__name(prog), "call_function");
}

static void configure_marks(struct capture *c)
{
	const struct eventset *set = c->cfg.events;
	struct bpf_program *prog;
	bool wanted = c->cfg.event_stacks || set->hot[EVENTSET_OFF_CPU] >= 0;
	size_t i;

	for (i = 0; i < set->cnt; i++)
		wanted |= set->defs[i]->has_context;
	bpf_object__for_each_program(prog, c->skel->obj)
		if (is_mark(prog))
			bpf_program__set_autoload(prog,
						  wanted && (set->has_ipis || !is_ipi_mark(prog)));
}

static void configure_neighbours(struct capture *c)
{
	const int event = c->cfg.events->hot[EVENTSET_CPU_WATCH];
	struct prof *s = c->skel;

	s->rodata->cfg_neighbours = event >= 0;
	if (event < 0)
		return;
	s->rodata->cfg_watch_type = c->cfg.events->defs[event]->cfg.type;
	s->rodata->cfg_watch_event = event;
	bpf_program__set_autoload(s->progs.prof_wait_wakeup, true);
	bpf_map__set_max_entries(s->maps.waits, PROF_WAIT_SLOTS);
}

static void configure_latency(struct capture *c)
{
	const bool wanted = c->cfg.offcpu_ns || c->cfg.runq_ns;
	struct prof *s = c->skel;
	struct bpf_program *prog;

	s->rodata->cfg_latency_blocked_ns = c->cfg.offcpu_ns;
	s->rodata->cfg_latency_ready_ns = c->cfg.runq_ns;
	bpf_map__set_autocreate(s->maps.latency_times, wanted);
	bpf_object__for_each_program(prog, s->obj)
		if (is_latency(prog))
			bpf_program__set_autoload(prog, wanted);
}

/* Lists of mappings follow targets, or whoever there is. */
static int configure_unwind(struct capture *c)
{
	bool lists = c->cfg.call_graph == PROF_CALL_GRAPH_AUTO;
	struct prof *s = c->skel;

	s->rodata->cfg_call_graph = c->cfg.call_graph;
	if (c->cfg.max_stack && c->cfg.max_stack < PROF_STACK_MAX)
		s->rodata->cfg_max_stack = c->cfg.max_stack;
	bpf_program__set_autoload(s->progs.prof_unwind_exec, lists);
	bpf_program__set_autoload(s->progs.prof_unwind_fork,
				  lists && (c->cfg.follow || c->cfg.system_wide));
	return lists ? capture_unwind_size(s, &c->cfg.unwind) : 0;
}

/* That are there, as numbers from 0 on; those that come later are above, at most. */
static size_t present_cnt(const struct capture *c)
{
	return (size_t)c->cpus.v[c->cpus.cnt - 1].cpu + 1;
}

/* A CPU that comes later shares a ring with one of those that are there. */
static size_t ring_cnt(const struct capture *c)
{
	size_t cnt = present_cnt(c);
	size_t max = c->cfg.ring_max && c->cfg.ring_max < PROF_RINGS_MAX ? c->cfg.ring_max :
									   PROF_RINGS_MAX;

	return cnt < max ? cnt : max;
}

static uint32_t summary_cpus(const struct capture *c)
{
	return present_cnt(c) < PROF_CPUS_MAX ? present_cnt(c) : PROF_CPUS_MAX;
}

static int configure(struct capture *c)
{
	const struct capture_cfg *cfg = &c->cfg;
	struct prof *s = c->skel;
	size_t cnt = cfg->events->cnt;
	const struct capture_rings_cfg rings = {
		.ring_cnt = ring_cnt(c),
		.ring_bytes = cfg->ring_bytes,
		.samples = cfg->samples,
	};
	int err;

	s->rodata->cfg_system_wide = cfg->system_wide;
	s->rodata->cfg_self_tgid = cfg->include_self ? UINT32_MAX : (uint32_t)getpid();
	s->rodata->cfg_boot_clock = clock_mono_id() == CLOCK_BOOTTIME;
	s->rodata->cfg_switch_stacks = cfg->switch_stacks;
	s->rodata->cfg_waking_stacks = cfg->waking_stacks;
	s->rodata->cfg_verify_stacks = cfg->verify_stacks;
	s->rodata->cfg_event_stacks = cfg->event_stacks;
	bpf_program__set_autoload(s->progs.prof_sample, cfg->samples);
	capture_recipes_choose(s, cfg->events, cfg->no_recipes, &c->recipes);
	bpf_program__set_autoload(s->progs.prof_tracepoint, needs_generic(c));
	if (cfg->follow && !cfg->system_wide) {
		bpf_program__set_autoload(s->progs.prof_follow_fork, true);
		bpf_program__set_autoload(s->progs.prof_follow_exec, true);
	}
	capture_select_configure(s, cfg->select, cfg->follow);
	bpf_program__set_autoload(s->progs.prof_forget_freed,
				  !cfg->system_wide && cfg->events->hot[EVENTSET_SWITCH] < 0);
	configure_marks(c);
	configure_neighbours(c);
	err = capture_offcpu_configure(s, cfg->events, &cfg->off_cpu);
	if (err)
		return err;
	configure_latency(c);
	bpf_map__set_max_entries(s->maps.event_cfgs, cnt ? cnt : 1);
	capture_filter_size(s, cfg->events);
	err = capture_rings_size(s, &rings, &c->rings);
	if (!err)
		err = configure_unwind(c);
	if (!err && cfg->summary)
		err = capture_summary_configure(s, summary_cpus(c));
	if (!err)
		err = capture_layout(s, cfg->events);
	if (!err)
		capture_orc_choose(s, c->orc);
	return err;
}

static int load_error(int err)
{
	if (err == -EPERM || err == -EACCES)
		log_error(
			"record: may not load BPF programs: run it with sudo, or give it " PRIVILEGES_TEXT);
	else if (access("/sys/kernel/btf/vmlinux", R_OK))
		log_error("record: this kernel has no BTF (/sys/kernel/btf/vmlinux): it needs "
			  "5.15 or later built with CONFIG_DEBUG_INFO_BTF=y");
	else
		log_error("record: cannot load BPF programs: %s (-vv shows why)", strerror(-err));
	return err;
}

static int fill_event_cfgs(struct capture *c)
{
	int fd = bpf_map__fd(c->skel->maps.event_cfgs);
	uint32_t i;

	for (i = 0; i < c->cfg.events->cnt; i++)
		if (bpf_map_update_elem(fd, &i, &c->cfg.events->defs[i]->cfg, BPF_ANY))
			return -errno;
	return 0;
}

/* Two descriptors an event, and some for each CPU. */
static void raise_fd_limit(void)
{
	struct rlimit lim;

	if (!getrlimit(RLIMIT_NOFILE, &lim)) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
}

/* A kernel that refuses the programs that walk its stacks gets the others. */
static int load_programs(struct capture *c)
{
	int err;

	c->skel = prof__open();
	if (!c->skel)
		return load_error(-errno);
	err = configure(c);
	if (err)
		return err;
	err = prof__load(c->skel);
	if (err && c->orc) {
		log_info("record: the kernel does not let its stacks be walked: %s",
			 strerror(-err));
		prof__destroy(c->skel);
		capture_recipes_fini(&c->recipes);
		c->recipes = (struct capture_recipes){ 0 };
		c->orc = false;
		return load_programs(c);
	}
	return err ? load_error(err) : 0;
}

int capture_new(const struct capture_cfg *cfg, struct capture **out)
{
	struct capture *c = xcalloc(1, sizeof(*c));
	int err;

	c->cfg = *cfg;
	raise_fd_limit();
	libbpf_set_print(print_libbpf);
	err = capture_cpus_init(&c->cpus);
	if (err)
		goto out;
	c->orc = !cfg->no_orc && capture_orc_is_likely();
	err = load_programs(c);
	if (!err)
		err = capture_rings_init(c->skel, &c->rings);
	if (!err)
		err = fill_event_cfgs(c);
	if (!err)
		err = capture_recipes_fill(c->skel, &c->recipes);
	if (!err)
		err = capture_filter_fill(c->skel, cfg->events);
	if (!err && cfg->call_graph == PROF_CALL_GRAPH_AUTO)
		err = capture_unwind_init(c->skel, &c->unwind);
	if (!err && cfg->summary)
		err = capture_summary_init(c->skel, &c->summary);
out:
	if (err)
		capture_free(c);
	else
		*out = c;
	return err;
}

static void keep_link(struct capture *c, struct bpf_link *link)
{
	c->links = array_reserve(c->links, &c->link_cap, c->link_cnt + 1, sizeof(*c->links));
	c->links[c->link_cnt++] = link;
}

static int attach_btf_programs(struct capture *c)
{
	struct bpf_program *prog;
	struct bpf_link *link;
	int err;

	bpf_object__for_each_program(prog, c->skel->obj) {
		if (!bpf_program__autoload(prog) ||
		    bpf_program__type(prog) != BPF_PROG_TYPE_TRACING ||
		    bpf_program__expected_attach_type(prog) == BPF_TRACE_ITER)
			continue;
		link = bpf_program__attach_trace(prog);
		if (!link) {
			err = -errno;
			log_error("record: cannot attach %s: %s", bpf_program__name(prog),
				  strerror(-err));
			return err;
		}
		keep_link(c, link);
	}
	return 0;
}

static int attach_event(struct capture *c, size_t idx)
{
	const struct event_def *def = c->cfg.events->defs[idx];
	DECLARE_LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = idx);
	struct bpf_link *link;
	int fd, err;

	if (capture_recipes_has(&c->recipes, idx)) {
		err = capture_recipes_attach(c->skel, &c->recipes, idx, def->format->name);
		if (err)
			log_error("record: cannot attach %s: %s", def->name, strerror(-err));
		return err;
	}
	err = perf_open_tracepoint(def->format->id, &fd);
	if (err) {
		log_error("record: cannot attach %s: %s (%s)", def->name, strerror(-err),
			  perf_open_error(err));
		return err;
	}
	link = bpf_program__attach_perf_event_opts(c->skel->progs.prof_tracepoint, fd, &opts);
	if (!link) {
		err = -errno;
		log_error("record: cannot attach %s: %s", def->name, strerror(-err));
		close(fd);
		return err;
	}
	keep_link(c, link);
	return 0;
}

static struct bpf_program *sampler_program(const struct capture *c)
{
	return c->orc ? c->skel->progs.prof_sample_orc : c->skel->progs.prof_sample;
}

static void clamp_hz(struct capture *c)
{
	uint32_t max = perf_max_rate();

	if (max && c->cfg.hz > max) {
		log_warn("record: sampling at %u Hz: the kernel allows no more "
			 "(kernel.perf_event_max_sample_rate)",
			 max);
		c->cfg.hz = max;
	}
}

static int attach_samplers(struct capture *c)
{
	const struct perf_sampler_cfg cfg = {
		.which = c->cfg.force_cycles	? PERF_SAMPLER_CYCLES :
			 c->cfg.force_cpu_clock ? PERF_SAMPLER_CPU_CLOCK :
						  PERF_SAMPLER_AUTO,
		.hz = c->cfg.hz,
	};

	return capture_cpus_attach(&c->cpus, &cfg, sampler_program(c), c->cfg.select);
}

int capture_attach(struct capture *c)
{
	size_t i;
	int err;

	err = c->cfg.summary ? 0 : capture_cpus_open_sides(&c->cpus);
	if (!err)
		err = attach_btf_programs(c);
	for (i = 0; i < c->cfg.events->cnt && !err; i++)
		if (!eventset_is_hot(c->cfg.events, i))
			err = attach_event(c, i);
	if (!err)
		err = capture_select_names(c->skel, &c->look);
	if (!err)
		err = capture_offcpu_attach(c->skel, &c->held);
	if (err || !c->cfg.samples)
		return err;
	clamp_hz(c);
	err = attach_samplers(c);
	if (!err && !c->cpus.cycles && !c->cfg.force_cpu_clock)
		log_info("record: without a cycle counter: samples by a timer, none where "
			 "interrupts are off");
	return err;
}

bool capture_can_count(const struct capture *c)
{
	struct bpf_program *prog;
	struct bpf_prog_info info = { 0 };
	uint32_t sz = sizeof(info);

	bpf_object__for_each_program(prog, c->skel->obj)
		if (bpf_program__fd(prog) >= 0)
			return !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &sz);
	return true;
}

/* Runs that the kernel refused. Not a call on a map: programs go on running meanwhile. */
static uint64_t count_nested(struct capture *c)
{
	struct bpf_program *prog;
	uint64_t misses = capture_recipes_refused(c->skel, &c->recipes);

	bpf_object__for_each_program(prog, c->skel->obj) {
		enum bpf_prog_type type = bpf_program__type(prog);
		struct bpf_prog_info info = { 0 };
		uint32_t sz = sizeof(info);

		/* those that mark have nothing to lose but the number of an interrupt */
		if ((type != BPF_PROG_TYPE_TRACEPOINT && type != BPF_PROG_TYPE_TRACING) ||
		    is_mark(prog) || is_latency(prog))
			continue;
		if (bpf_program__fd(prog) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &sz))
			misses += info.recursion_misses;
	}
	return misses;
}

static void switch_on(struct capture *c)
{
	c->skel->bss->summary_since = c->skel->bss->off_cpu_since = clock_mono_ns();
	__atomic_store_n(&c->skel->bss->recording, true, __ATOMIC_SEQ_CST);
	capture_cpus_enable(&c->cpus, true);
	/* without it who is a target is told as soon as something happens to it */
	capture_select_all(c->skel, &c->look);
}

void capture_take_kallsyms(struct capture *c, const struct kallsyms *kallsyms)
{
	struct prof_orc_tables tables;

	if (c->orc && !c->orc_begun && kallsyms && capture_orc_find(kallsyms, &tables))
		capture_orc_begin(c->skel, &tables);
	c->orc_begun = true;
}

/* A program that saw the flag set runs for microseconds, with preemption off. */
static void let_run_out(void)
{
	const struct timespec grace = { .tv_nsec = 1000000 };

	nanosleep(&grace, NULL);
}

static void switch_off(struct capture *c)
{
	capture_cpus_enable(&c->cpus, false);
	__atomic_store_n(&c->skel->bss->recording, false, __ATOMIC_SEQ_CST);
	if (c->held)
		let_run_out();
	capture_offcpu_end(c->held);
}

void capture_start(struct capture *c)
{
	c->nested_before = count_nested(c);
	c->started = true;
	switch_on(c);
}

void capture_follow_cpus(struct capture *c)
{
	capture_cpus_follow(&c->cpus);
}

void capture_pause(struct capture *c)
{
	switch_off(c);
	c->paused = true;
	c->nested_paused = count_nested(c);
}

/* Whoever waited then may have run meanwhile: no wait from before counts any more. */
static void forget_waits(struct capture *c)
{
	size_t cpu;

	for (cpu = 0; cpu < PROF_CPUS_MAX; cpu++) {
		uint64_t *waiting = (uint64_t *)&c->skel->bss->cpu_watches[cpu].waiting;

		__atomic_store_n(waiting, ((*waiting >> 32) + 1) << 32, __ATOMIC_SEQ_CST);
	}
}

void capture_resume(struct capture *c)
{
	if (!c->started) {
		capture_start(c);
		return;
	}
	forget_waits(c);
	c->nested_before += count_nested(c) - c->nested_paused;
	c->paused = false;
	switch_on(c);
}

void capture_stop(struct capture *c)
{
	switch_off(c);
	let_run_out();
}

void capture_free(struct capture *c)
{
	size_t i;

	if (!c)
		return;
	if (c->link_cnt || c->recipes.link_cnt)
		detach_later();
	for (i = 0; i < c->link_cnt; i++)
		bpf_link__destroy(c->links[i]);
	bpf_link__destroy(c->look);
	bpf_link__destroy(c->held);
	capture_cpus_fini(&c->cpus);
	capture_rings_fini(&c->rings);
	capture_unwind_fini(&c->unwind);
	capture_recipes_fini(&c->recipes);
	capture_summary_fini(&c->summary);
	prof__destroy(c->skel);
	free(c->links);
	free(c);
}

void capture_add_target(struct capture *c, pid_t tid, pid_t tgid)
{
	struct prof__bss *bss = c->skel->bss;

	if (tid > 0 && tid / 64 < PROF_TASK_WORDS)
		__atomic_fetch_or(&bss->target_tids[tid / 64], 1ULL << tid % 64, __ATOMIC_SEQ_CST);
	/* A marked group takes in threads made later. */
	if (c->cfg.follow && tgid > 0 && tgid / 64 < PROF_TASK_WORDS)
		__atomic_fetch_or(&bss->target_tgids[tgid / 64], 1ULL << tgid % 64,
				  __ATOMIC_SEQ_CST);
}

void capture_take_stacks(struct capture *c, bool take)
{
	c->skel->bss->stacks_off = !take;
}

struct capture_unwind *capture_unwind(struct capture *c)
{
	return c->unwind.procs ? &c->unwind : NULL;
}

const struct capture_summary *capture_summary(const struct capture *c)
{
	return c->summary.rows ? &c->summary : NULL;
}

struct ring *capture_rings(struct capture *c, size_t *cnt)
{
	*cnt = c->rings.reader_cnt;
	return c->rings.readers;
}

struct perf_ring **capture_sides(struct capture *c, size_t *cnt)
{
	*cnt = c->cpus.side_cnt;
	return c->cpus.sides;
}

int capture_wakeups_fd(const struct capture *c)
{
	return c->rings.epoll_fd;
}

bool capture_take_wakeups(const struct capture *c)
{
	return capture_rings_take_wakeups(&c->rings);
}

bool capture_is_filled(struct capture *c, size_t parts)
{
	size_t i;

	for (i = 0; i < c->rings.reader_cnt; i++)
		if (ring_fill(&c->rings.readers[i]) > c->rings.readers[i].sz / parts)
			return true;
	for (i = 0; i < c->cpus.side_cnt; i++)
		if (perf_ring_is_filled(c->cpus.sides[i], parts))
			return true;
	return false;
}

const char *capture_sampler(const struct capture *c)
{
	if (!c->cfg.samples)
		return NULL;
	return c->cpus.cycles ? "cycles" : "cpu-clock";
}

const struct capture_cfg *capture_config(const struct capture *c)
{
	return &c->cfg;
}

uint32_t capture_hz(const struct capture *c)
{
	return c->cfg.hz;
}

size_t capture_cpu_cnt(const struct capture *c)
{
	const size_t cnt = c->rings.stage_cnt;

	return cnt < PROF_CPUS_MAX ? cnt : PROF_CPUS_MAX;
}

void capture_count(struct capture *c, struct capture_counts *out)
{
	uint64_t timed_ns[PROF_PROG_CNT] = { 0 }, timed_runs[PROF_PROG_CNT] = { 0 };
	uint64_t staged;
	size_t cpu, cnt = capture_cpu_cnt(c);
	int i;

	memset(out, 0, sizeof(*out));
	for (cpu = 0; cpu < cnt; cpu++) {
		const volatile struct prof_cpu_stat *s = &c->skel->bss->cpu_stats[cpu];

		for (i = 0; i < PROF_CLASS_CNT; i++) {
			out->produced[i] += s->classes[i].produced;
			out->lost[i] += s->classes[i].lost;
		}
		out->lost[PROF_CLASS_TRACEPOINT] += s->read_failed;
		out->stacks_reused += s->stacks_reused;
		out->reused_compared += s->reused_compared;
		out->reused_differing += s->reused_differing;
		for (i = 0; i < 2; i++) {
			out->kstacks[i].walked += s->kstacks[i].walked;
			out->kstacks[i].helped += s->kstacks[i].helped;
			out->kstacks[i].compared += s->kstacks[i].compared;
			out->kstacks[i].differing += s->kstacks[i].differing;
		}
		out->stacks_left_out += s->stacks_left_out;
		for (i = 0; i < PROF_PROG_CNT; i++) {
			out->prog_runs[i] += s->progs[i].runs;
			timed_ns[i] += s->progs[i].timed_ns;
			timed_runs[i] += s->progs[i].timed_runs;
		}
	}
	for (i = 0; i < PROF_PROG_CNT; i++)
		if (timed_runs[i])
			out->prog_ns[i] = (double)timed_ns[i] / timed_runs[i] * out->prog_runs[i];
	if (c->started)
		out->nested = (c->paused ? c->nested_paused : count_nested(c)) - c->nested_before;
	capture_rings_count(&c->rings, &staged, &out->nested_sched);
	out->produced[PROF_CLASS_TRACEPOINT] += staged;
}

bool capture_lost(struct capture *c, size_t cpu, enum capture_loss kind, uint64_t *cnt,
		  uint64_t *first_ns, uint64_t *last_ns)
{
	struct prof_cpu_stat *s = &c->skel->bss->cpu_stats[cpu];
	struct prof_class_stat *events = &s->classes[PROF_CLASS_TRACEPOINT],
			       *samples = &s->classes[PROF_CLASS_SAMPLE];
	const struct {
		__u64 *cnt, *first, *last;
	} words[CAPTURE_LOSS_CNT] = {
		[CAPTURE_RING_FULL] = { &events->lost, &events->lost_first, &events->lost_last },
		[CAPTURE_SAMPLE_RING_FULL] = { &samples->lost, &samples->lost_first,
					       &samples->lost_last },
		[CAPTURE_READ_FAILED] = { &s->read_failed, &s->read_failed_first,
					  &s->read_failed_last },
	};
	uint64_t lost = __atomic_load_n(words[kind].cnt, __ATOMIC_ACQUIRE);

	if (lost == c->lost_seen[cpu][kind])
		return false;
	*cnt = lost - c->lost_seen[cpu][kind];
	c->lost_seen[cpu][kind] = lost;
	*first_ns = __atomic_exchange_n(words[kind].first, 0, __ATOMIC_ACQ_REL);
	*last_ns = __atomic_load_n(words[kind].last, __ATOMIC_ACQUIRE);
	if (!*first_ns)
		*first_ns = *last_ns;
	return true;
}

bool capture_latency(struct capture *c, struct prof_latency_hit *out)
{
	struct prof_latency_hit *hit = &c->skel->bss->latency_hit;

	if (__atomic_load_n(&hit->state, __ATOMIC_ACQUIRE) != PROF_LATENCY_THERE)
		return false;
	*out = *hit;
	__atomic_store_n(&hit->state, PROF_LATENCY_NONE, __ATOMIC_RELEASE);
	return true;
}
