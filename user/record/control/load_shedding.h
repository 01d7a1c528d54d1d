/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_LOAD_SHEDDING_H
#define D9_RECORD_CONTROL_LOAD_SHEDDING_H

#include <stdbool.h>
#include <stdint.h>

struct capture;
struct pause;
struct status;

/*
 * What is dropped, by option or to limit the overhead: first stacks of switches, then time slices. Level 0:
 * nothing. Level 1: stacks. Level k: stacks, and all slices except one in 2^(k-1) of those that `one_in` selects.
 */
struct load_shedding {
	struct capture *capture;
	uint32_t one_in; /* record one slice in this many, at any cost; 1: each */
	uint32_t max_ppm; /* of the CPU time of all CPUs; 0: no limit */
	uint32_t cpu_cnt;
	bool has_stacks; /* of switches or wakeups */
	unsigned int level;
	uint32_t ppm; /* the last measurement */
	bool is_measured; /* at least once */
	uint64_t looked_ns, spent_ns; /* time of the last check, and total cost at that time */
	uint64_t slice_ns; /* start of the slice or gap */
	unsigned int calm; /* checks in a row that would allow a lower level */
	unsigned int patience; /* checks needed */
	unsigned int since_eased; /* checks */
};

enum { LOAD_SHEDDING_LEVEL_MAX = 7, LOAD_SHEDDING_SLICE_MS = 50 };

struct load_shedding_cfg {
	uint32_t one_in, max_ppm; /* see struct load_shedding */
	bool has_stacks; /* switches or wakeups have stacks */
};

/* The capture is borrowed. now_ns: CLOCK_MONOTONIC; costs before it do not count. */
void load_shedding_begin(struct load_shedding *t, const struct load_shedding_cfg *cfg,
			 struct capture *capture, struct status *status, uint64_t now_ns);
/*
 * Measures the cost if a check is due, which may change the level and write that. Starts and ends pauses. Call
 * it often. 0 or the encoder's -errno.
 */
int load_shedding_step(struct load_shedding *t, struct pause *pause, struct status *status,
		       uint64_t now_ns);
/* Whether time slices may be skipped. */
static inline bool load_shedding_may_skip(const struct load_shedding_cfg *cfg)
{
	return cfg->max_ppm || cfg->one_in > 1;
}

/* The time at which the next slice, or the next gap, is due; UINT64_MAX: none. */
uint64_t load_shedding_due_ns(const struct load_shedding *t, const struct pause *pause);
/* Returns N if one slice in N is recorded. */
uint32_t load_shedding_one_in(const struct load_shedding *t);
/* Writes what is dropped, if anything, at the start of the recording or of a segment. 0 or -errno. */
int load_shedding_write(const struct load_shedding *t, struct status *status);

#endif
