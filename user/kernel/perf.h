/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PERF_H
#define D9_KERNEL_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/perf_ring.h"

/*
 * Thin wrappers of perf_event_open. Those that open return 0 and an fd (close-on-exec, disabled
 * where there is something to enable) that the caller closes, or -errno, silently: the caller knows
 * what it was for. perf_open_error() words the remedy.
 */

/* For attaching a BPF program with a cookie: pid = self, cpu = -1. */
int perf_open_tracepoint(uint32_t id, int *fd);

enum perf_sampler { PERF_SAMPLER_AUTO, PERF_SAMPLER_CPU_CLOCK, PERF_SAMPLER_CYCLES };

struct perf_sampler_cfg {
	enum perf_sampler which; /* AUTO: cycles where there is a PMU, cpu-clock otherwise */
	uint32_t hz; /* cpu-clock: period 1e9 / hz ns; cycles: frequency hz */
	uint64_t period; /* when not 0: that many ns or cycles, hz is not used */
	bool exclude_kernel, exclude_user;
	bool include_idle;
};

/* A sampler of everything on one CPU, disabled. *is_cycles says which clock it got. */
int perf_open_sampler(uint32_t cpu, const struct perf_sampler_cfg *cfg, int *fd, bool *is_cycles);
/* /proc/sys/kernel/perf_event_max_sample_rate, 0 when it cannot be read. */
uint32_t perf_max_rate(void);
int perf_enable(int fd);
int perf_disable(int fd);

/* What to tell the user about a failed open: a static sentence, without a full stop. */
const char *perf_open_error(int err);

#endif /* D9_KERNEL_PERF_H */
