// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_cpus.c - per-CPU descriptors, and what happens when a CPU goes offline and comes back
 *
 * The kernel closes the perf events of a CPU that goes offline and does not restore them. Programs at tracepoints
 * run on all CPUs.
 */
#include "record/capture/capture_cpus.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kernel/cpus.h"
#include "kernel/perf_ring.h"
#include "kernel/privileges.h"
#include "record/capture/capture_select.h"

enum {
	SIDE_RINGS_BYTES = 32 << 20, /* of all CPUs together, split evenly: */
	SIDE_RING_MOST = 8 << 20,
	SIDE_RING_BYTES = 1 << 20,
	SIDE_RING_MIN = 1 << 17, /* if memory may not be locked */
};

int capture_cpus_init(struct capture_cpus *c)
{
	uint32_t *cpus;
	size_t cnt, i;
	int err = cpus_online(&cpus, &cnt);

	if (!err && !cnt)
		err = -ENODEV;
	if (err) {
		log_error("record: cannot list the online CPUs: %s", strerror(-err));
		return err;
	}
	c->v = xcalloc(cnt, sizeof(*c->v));
	for (i = 0; i < cnt; i++)
		c->v[i] = (struct capture_cpu){ .cpu = cpus[i], .sampler_fd = -1 };
	c->cnt = cnt;
	free(cpus);
	return 0;
}

static void end_sampler(struct capture_cpu *cpu)
{
	bpf_link__destroy(cpu->sampler);
	cpu->sampler = NULL;
	if (cpu->sampler_fd >= 0)
		close(cpu->sampler_fd);
	cpu->sampler_fd = -1;
}

void capture_cpus_fini(struct capture_cpus *c)
{
	size_t i;

	for (i = 0; i < c->cnt; i++)
		end_sampler(&c->v[i]);
	for (i = 0; i < c->side_cnt; i++)
		perf_ring_close(c->sides[i]);
	free(c->sides);
	free(c->v);
}

/* ---- process metadata --------------------------------------------------------------------------- */

/*
 * A program that maps long paths writes megabytes per tick, and a loss makes the state of all processes uncertain.
 * Without CAP_IPC_LOCK the kernel allows half a megabyte and a page per CPU, and little more.
 */
size_t capture_side_bytes(size_t cpu_cnt)
{
	size_t sz = SIDE_RING_MOST;

	while (sz > SIDE_RING_BYTES && sz * cpu_cnt > SIDE_RINGS_BYTES)
		sz /= 2;
	return sz;
}

static int open_side(struct capture_cpus *c, uint32_t cpu, size_t *sz)
{
	int err;

	while ((err = perf_ring_open(cpu, *sz, &c->sides[c->side_cnt])) == -EPERM &&
	       *sz / 2 >= SIDE_RING_MIN)
		*sz /= 2;
	return err;
}

int capture_cpus_open_sides(struct capture_cpus *c)
{
	size_t want = capture_side_bytes(c->cnt), sz = want, i;
	int err;

	c->sides = xcalloc(c->cnt, sizeof(*c->sides));
	for (i = 0; i < c->cnt; i++) {
		/* the next CPU's size would be limited likewise */
		err = open_side(c, c->v[i].cpu, &sz);
		if (err) {
			log_error("record: no process metadata on CPU %u: %s (%s)", c->v[i].cpu,
				  strerror(-err), perf_open_error(err));
			return err;
		}
		c->side_cnt++;
	}
	if (sz < want)
		log_info(
			"record: without locked memory for larger metadata buffers: at least one CPU "
			"has %zu of %zu KiB",
			sz / 1024, want / 1024);
	return 0;
}

/* ---- samplers ----------------------------------------------------------------------------------- */

static int attach_sampler(struct capture_cpus *c, struct capture_cpu *cpu)
{
	int err = perf_open_sampler(cpu->cpu, &c->sampler, &cpu->sampler_fd, &c->cycles);

	if (err)
		return err;
	cpu->sampler = bpf_program__attach_perf_event(c->program, cpu->sampler_fd);
	if (cpu->sampler)
		return 0;
	err = -errno;
	end_sampler(cpu);
	return err;
}

int capture_cpus_attach(struct capture_cpus *c, const struct perf_sampler_cfg *cfg,
			const struct bpf_program *program, const struct prof_select *select)
{
	size_t i;
	int err;

	c->sampler = *cfg;
	c->program = program;
	for (i = 0; i < c->cnt; i++) {
		struct capture_cpu *cpu = &c->v[i];

		cpu->sampled = capture_select_has_cpu(select, cpu->cpu);
		err = cpu->sampled ? attach_sampler(c, cpu) : 0;
		if (!err)
			continue;
		if (cfg->which == PERF_SAMPLER_CYCLES)
			log_error(
				"record: no cycle counter here: %s; -e cpu-clock samples by a timer",
				strerror(-err));
		else
			log_error("record: cannot sample CPU %u: %s (%s)", cpu->cpu, strerror(-err),
				  perf_open_error(err));
		return err;
	}
	return 0;
}

void capture_cpus_enable(struct capture_cpus *c, bool on)
{
	size_t i;

	c->enabled = on;
	for (i = 0; i < c->cnt; i++)
		if (c->v[i].sampler)
			(on ? perf_enable : perf_disable)(c->v[i].sampler_fd);
}

/* ---- CPU hotplug -------------------------------------------------------------------------------- */

static void come_back(struct capture_cpus *c, size_t i)
{
	struct capture_cpu *cpu = &c->v[i];
	int err;

	privileges_resume(CAPTURE_CPUS_RIGHTS);
	err = i < c->side_cnt ? perf_ring_renew(c->sides[i]) : 0;
	end_sampler(cpu);
	if (!err && cpu->sampled)
		err = attach_sampler(c, cpu);
	if (!err && cpu->sampled && c->enabled)
		err = perf_enable(cpu->sampler_fd);
	privileges_suspend(CAPTURE_CPUS_RIGHTS);
	if (err)
		log_warn(
			"record: CPU %u is online again, but without samples and process metadata: %s (%s)",
			cpu->cpu, strerror(-err), perf_open_error(err));
	else
		log_info("record: CPU %u is online again", cpu->cpu);
}

static bool is_in(const uint32_t *cpus, size_t cnt, uint32_t cpu)
{
	for (size_t i = 0; i < cnt; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

void capture_cpus_follow(struct capture_cpus *c)
{
	uint32_t *now;
	size_t cnt, i;

	if (cpus_online(&now, &cnt))
		return;
	for (i = 0; i < c->cnt; i++) {
		const bool here = is_in(now, cnt, c->v[i].cpu), was_gone = c->v[i].gone;

		c->v[i].gone = !here;
		if (here && was_gone)
			come_back(c, i);
		else if (!here && !was_gone)
			log_info("record: CPU %u went offline", c->v[i].cpu);
	}
	free(now);
}
