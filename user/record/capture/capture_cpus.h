/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_CPUS_H
#define D9_RECORD_CAPTURE_CAPTURE_CPUS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/perf.h"

struct bpf_link;
struct bpf_program;
struct perf_ring;
struct prof_select;

struct capture_cpu {
	uint32_t cpu;
	bool gone; /* when it was last looked */
	bool sampled;
	struct bpf_link *sampler; /* NULL: none */
	int sampler_fd; /* -1: none */
};

/* What each CPU that was there at the start has of its own: its side-band and its sampler. {0} is empty. */
struct capture_cpus {
	struct capture_cpu *v; /* by number */
	size_t cnt;
	struct perf_ring **sides; /* of v[0], v[1]..., or none */
	size_t side_cnt;
	struct perf_sampler_cfg sampler;
	const struct bpf_program *program; /* of samples */
	bool enabled, cycles;
};

/* The CPUs that are there. Prints one line and returns -errno. */
int capture_cpus_init(struct capture_cpus *c);
void capture_cpus_fini(struct capture_cpus *c);

/* Prints one line and returns -errno. */
int capture_cpus_open_sides(struct capture_cpus *c);
/*
 * Samples by @cfg with @program on each CPU of @select from capture_cpus_enable() on. Prints one line and returns -errno.
 */
int capture_cpus_attach(struct capture_cpus *c, const struct perf_sampler_cfg *cfg,
			const struct bpf_program *program, const struct prof_select *select);
void capture_cpus_enable(struct capture_cpus *c, bool on);

/* What capture_cpus_follow() puts into the effective set for the moment; to be permitted. */
#define CAPTURE_CPUS_RIGHTS (1ULL << CAP_PERFMON)

/*
 * Looks which CPUs there are. One that went and came back has neither side-band nor sampler any more: it gets
 * others. Prints a line for each that went or came.
 */
void capture_cpus_follow(struct capture_cpus *c);

/* Bytes of a side-band ring where so many CPUs have one. */
size_t capture_side_bytes(size_t cpu_cnt);

#endif
