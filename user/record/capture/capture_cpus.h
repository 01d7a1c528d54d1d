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
	bool gone; /* offline at the last check */
	bool sampled;
	struct bpf_link *sampler; /* NULL: none */
	int sampler_fd; /* -1: none */
};

/* The descriptors of each CPU that was online at the start: process metadata and sampler. {0} is empty. */
struct capture_cpus {
	struct capture_cpu *v; /* by number */
	size_t cnt;
	struct perf_ring **sides; /* of v[0], v[1]..., or NULL */
	size_t side_cnt;
	struct perf_sampler_cfg sampler;
	const struct bpf_program *program; /* of samples */
	bool enabled, cycles;
};

/* Finds the online CPUs. Prints one line and returns -errno. */
int capture_cpus_init(struct capture_cpus *c);
void capture_cpus_fini(struct capture_cpus *c);

/* Prints one line and returns -errno. */
int capture_cpus_open_sides(struct capture_cpus *c);
/*
 * Samples by @cfg with @program on each CPU of @select from capture_cpus_enable() on. Prints one line and returns
 * -errno.
 */
int capture_cpus_attach(struct capture_cpus *c, const struct perf_sampler_cfg *cfg,
			const struct bpf_program *program, const struct prof_select *select);
void capture_cpus_enable(struct capture_cpus *c, bool on);

/* capture_cpus_follow() raises these in the effective set for a moment; they must be permitted. */
#define CAPTURE_CPUS_RIGHTS (1ULL << CAP_PERFMON)

/*
 * Checks which CPUs are online. A CPU that went offline and came back gets a new metadata ring and a new sampler.
 * Prints a line for each change.
 */
void capture_cpus_follow(struct capture_cpus *c);

/* Bytes of a metadata ring if @cpu_cnt CPUs have one. */
size_t capture_side_bytes(size_t cpu_cnt);

#endif
