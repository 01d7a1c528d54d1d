/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PERF_H
#define D9_KERNEL_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/perf_ring.h"

/*
 * Thin wrappers of perf_event_open. The open functions return 0 and a descriptor, which the caller
 * closes, or -errno without a message. The descriptor is close-on-exec and, where possible,
 * disabled. perf_open_error() has the remedy.
 */

/* For attaching a BPF program with a cookie; @cpu: any online one. */
int perf_open_tracepoint(uint32_t id, uint32_t cpu, int *fd);

enum perf_sampler { PERF_SAMPLER_AUTO, PERF_SAMPLER_CPU_CLOCK, PERF_SAMPLER_CYCLES };

struct perf_sampler_cfg {
	enum perf_sampler which; /* AUTO: cycles if there is a PMU, otherwise cpu-clock */
	uint32_t hz; /* cpu-clock: period 1e9 / hz ns; cycles: frequency hz */
	uint64_t period; /* if not 0: period in ns or cycles; hz is not used */
	bool exclude_kernel, exclude_user;
	bool include_idle;
};

/* Opens a sampler of one CPU, disabled. Sets *is_cycles to the clock in use. */
int perf_open_sampler(uint32_t cpu, const struct perf_sampler_cfg *cfg, int *fd, bool *is_cycles);
/* /proc/sys/kernel/perf_event_max_sample_rate; 0 if unreadable */
uint32_t perf_max_rate(void);
int perf_enable(int fd);
int perf_disable(int fd);

/* Describes a failed open for users: a static sentence without a full stop. */
const char *perf_open_error(int err);

#endif /* D9_KERNEL_PERF_H */
