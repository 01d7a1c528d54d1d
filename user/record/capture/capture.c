// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture.c - the kernel side: open, configure, load, attach, start, stop
 *
 * The only user of libbpf. Programs that a recording does not need are not loaded. There is one ring per CPU, in a
 * map of maps. While recording, nothing here makes a system call on a map: tracepoint programs do not run on a CPU
 * that is inside one. Counters and target bitmaps are accessed through the mapped .bss.
 */
#include "record/capture/capture.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "kernel/cpus.h"
#include "kernel/tracefs/format.h"
#include "kernel/perf.h"
#include "kernel/perf_ring.h"
#include "prof.skel.h"
#include "record/capture/capture_configure.h"
#include "record/capture/capture_cpus.h"
#include "record/capture/capture_features.h"
#include "record/capture/capture_field_extract.h"
#include "record/capture/capture_files.h"
#include "record/capture/capture_filter.h"
#include "record/capture/capture_load.h"
#include "record/capture/capture_offcpu.h"
#include "record/capture/capture_orc.h"
#include "record/capture/capture_rings.h"
#include "record/capture/capture_select.h"
#include "record/capture/detach.h"
#include "record/capture/given_btf.h"
#include "record/capture/load_aside.h"
#include "record/capture/refusal.h"
#include "record/ring/ring.h"
#include "record/ring/stack_repeats.h"
#include "record/tracepoint/eventset.h"

struct capture {
	struct capture_cfg cfg;
	struct prof *skel;
	struct bpf_link **links;
	struct bpf_link *task_iter; /* iterator over all tasks; NULL: not made */
	struct bpf_link *offcpu_iter; /* likewise, over threads off the CPU */
	size_t link_cnt;
	size_t link_cap;
	struct capture_cpus cpus;
	struct capture_rings rings;
	struct capture_unwind unwind;
	struct capture_summary summary;
	struct capture_field_extract extracts;
	bool orc; /* programs that walk kernel stacks are loaded */
	bool orc_begun; /* the programs have the tables */
	uint64_t lost_seen[PROF_CPUS_MAX][CAPTURE_LOSS_CNT];
	uint64_t nested_before; /* while recording was on, or off */
	bool started, paused;
	uint64_t nested_paused; /* count at the last pause */
};

static int load_error(const struct capture *c, const struct capture_refusal *why)
{
	const struct capture_feature *feature = capture_feature_of(why->program);
	struct refusal_facts facts;

	refusal_read(c->cfg.btf, &facts);
	refusal_report("record", &facts, why, feature ? feature->option : NULL);
	return why->err;
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

static int load_in_order(struct capture *c, struct capture_refusal *why)
{
	const struct capture_configure how = {
		.cfg = &c->cfg,
		.cpu_cnt = (size_t)c->cpus.v[c->cpus.cnt - 1].cpu + 1,
		.orc = c->orc,
		.rings = &c->rings,
		.extracts = &c->extracts,
	};
	int err;

	c->skel = prof__open();
	if (!c->skel)
		return why->err = -errno;
	err = capture_configure(c->skel, &how);
	if (!err)
		err = capture_files_check(c->skel, &how, why);
	return err ? err : capture_load(c->skel, why);
}

static void unload(struct capture *c)
{
	prof__destroy(c->skel);
	c->skel = NULL;
	capture_field_extract_fini(&c->extracts);
	c->extracts = (struct capture_field_extract){ 0 };
}

/* The largest programs in threads. If that fails, all again in order: libbpf then gets the reason. */
static int load_once(struct capture *c, struct capture_refusal *why)
{
	int err;

	load_aside_begin();
	err = load_in_order(c, why);
	if (!load_aside_end(c->skel) || err)
		return err;
	unload(c);
	return load_in_order(c, why);
}

/* Removes the feature of an optional program from the recording. */
static bool disable_feature(struct capture *c, const struct capture_refusal *why)
{
	const struct capture_feature *feature = capture_feature_of(why->program);

	if (!capture_refusal_is_verifiers(why) || !capture_feature_is_optional(feature, &c->cfg))
		return false;
	if (feature->same)
		log_info("record: no %s: refused by this kernel", feature->name);
	else
		log_warn("record: no %s: refused by this kernel (-v shows why)", feature->name);
	log_info("record: %s: %s", why->program,
		 why->reason[0] ? why->reason : strerror(-why->err));
	feature->leave_out(&c->cfg);
	c->orc = c->orc && !c->cfg.no_orc;
	unload(c);
	return true;
}

static int load_programs(void *ctx)
{
	struct capture *c = ctx;
	int err, tries;

	for (tries = 0; tries < CAPTURE_FEATURES; tries++) {
		struct capture_refusal why = { 0 };
		bool again;

		err = load_once(c, &why);
		again = err && disable_feature(c, &why);
		if (why.err && !again)
			load_error(c, &why);
		capture_refusal_fini(&why);
		if (!again)
			break;
	}
	return err;
}

int capture_new(const struct capture_cfg *cfg, struct capture **out)
{
	struct capture *c = xcalloc(1, sizeof(*c));
	int err;

	c->cfg = *cfg;
	err = capture_cpus_init(&c->cpus);
	if (err)
		goto out;
	c->orc = !cfg->no_orc && capture_orc_is_likely();
	err = cfg->btf ? given_btf_run("record", cfg->btf, load_programs, c) : load_programs(c);
	if (!err)
		err = capture_rings_init(c->skel, &c->rings);
	if (!err)
		err = fill_event_cfgs(c);
	if (!err)
		err = capture_field_extract_fill(c->skel, &c->extracts);
	if (!err)
		err = capture_filter_fill(c->skel, cfg->events);
	/* c->cfg: a refused program may have changed it */
	if (!err && c->cfg.call_graph == PROF_CALL_GRAPH_AUTO)
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

	if (capture_field_extract_has(&c->extracts, idx)) {
		err = capture_field_extract_attach(c->skel, &c->extracts, idx, def->format->name);
		if (err)
			log_error("record: cannot attach %s: %s", def->name, strerror(-err));
		return err;
	}
	err = perf_open_tracepoint(def->format->id, c->cpus.v[0].cpu, &fd);
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
	perf_disable(fd); /* bpf_program__attach_perf_event_opts() has enabled it */
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
		err = capture_select_names(c->skel, &c->task_iter);
	if (!err)
		err = capture_offcpu_attach(c->skel, &c->offcpu_iter);
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

/* Runs that the kernel refused. Not a call on a map, because programs are running. */
static uint64_t count_nested(struct capture *c)
{
	struct bpf_program *prog;
	uint64_t misses = capture_field_extract_refused(c->skel, &c->extracts);

	bpf_object__for_each_program(prog, c->skel->obj) {
		enum bpf_prog_type type = bpf_program__type(prog);
		struct bpf_prog_info info = { 0 };
		uint32_t sz = sizeof(info);

		if ((type != BPF_PROG_TYPE_TRACEPOINT && type != BPF_PROG_TYPE_TRACING) ||
		    capture_configure_is_lossless(prog))
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
	/* without it, a task's selection is recorded at its next event only */
	capture_select_all(c->skel, &c->task_iter);
}

void capture_set_kallsyms(struct capture *c, const struct kallsyms *kallsyms)
{
	struct prof_orc_tables tables;

	if (c->orc && !c->orc_begun && kallsyms && capture_orc_find(kallsyms, &tables))
		capture_orc_begin(c->skel, &tables);
	c->orc_begun = true;
}

/* A program that read the flag as set runs for microseconds, with preemption off. */
static void wait_for_programs(void)
{
	const struct timespec grace = { .tv_nsec = 1000000 };

	nanosleep(&grace, NULL);
}

static void switch_off(struct capture *c)
{
	capture_cpus_enable(&c->cpus, false);
	__atomic_store_n(&c->skel->bss->recording, false, __ATOMIC_SEQ_CST);
	if (c->offcpu_iter)
		wait_for_programs();
	capture_offcpu_end(c->offcpu_iter);
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

/* A thread that was runnable at the pause may have run since: earlier waits no longer count. */
static void reset_waits(struct capture *c)
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
	reset_waits(c);
	c->nested_before += count_nested(c) - c->nested_paused;
	c->paused = false;
	switch_on(c);
}

void capture_stop(struct capture *c)
{
	switch_off(c);
	wait_for_programs();
}

void capture_free(struct capture *c)
{
	size_t i;

	if (!c)
		return;
	if (c->link_cnt || c->extracts.link_cnt)
		detach_later();
	for (i = 0; i < c->link_cnt; i++)
		bpf_link__destroy(c->links[i]);
	bpf_link__destroy(c->task_iter);
	bpf_link__destroy(c->offcpu_iter);
	capture_cpus_fini(&c->cpus);
	capture_rings_fini(&c->rings);
	capture_unwind_fini(&c->unwind);
	capture_field_extract_fini(&c->extracts);
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
	/* A marked group includes threads that are created later. */
	if (c->cfg.follow && tgid > 0 && tgid / 64 < PROF_TASK_WORDS)
		__atomic_fetch_or(&bss->target_tgids[tgid / 64], 1ULL << tgid % 64,
				  __ATOMIC_SEQ_CST);
}

void capture_set_stacks(struct capture *c, bool take)
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

bool capture_read_wakeups(const struct capture *c)
{
	return capture_rings_read_wakeups(&c->rings);
}

int capture_watch_rings(const struct capture *c, int epoll_fd)
{
	return capture_rings_watch(&c->rings, epoll_fd);
}

unsigned int capture_ring_fill(const struct capture *c)
{
	return capture_rings_fill(&c->rings);
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
	struct stack_repeats_check repeats;
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
		out->stacks_dropped += s->stacks_dropped;
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
	capture_rings_check(&c->rings, &repeats);
	out->repeats_compared = repeats.compared;
	out->repeats_differing = repeats.differing;
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
