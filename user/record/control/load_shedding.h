/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_LOAD_SHEDDING_H
#define D9_RECORD_CONTROL_LOAD_SHEDDING_H

#include <stdbool.h>
#include <stdint.h>

struct capture;
struct pause;
struct status;

/*
 * How much is left out, because that was asked for or so that recording costs no more than it may: stacks of
 * switches first, then slices of time. Levels: 0 nothing, 1 stacks, k: stacks, and all but one in 2^(k-1) of the slices that are to
 * be recorded at all.
 */
struct load_shedding {
	struct capture *capture;
	uint32_t one_in; /* slices that is recorded, whatever it costs; 1: each */
	uint32_t max_ppm; /* of the CPU time of all CPUs; 0: it may cost what it costs */
	uint32_t cpu_cnt;
	bool has_stacks; /* of switches or wakeups */
	unsigned int level;
	uint32_t ppm; /* what was measured last */
	uint64_t looked_ns, spent_ns; /* the last look, and what recording had cost by then */
	uint64_t slice_ns; /* since when the gate is as it is */
	unsigned int calm; /* looks in a row that would allow a lower level, */
	unsigned int patience; /* and how many it takes */
	unsigned int since_eased; /* looks */
};

enum { LOAD_SHEDDING_LEVEL_MAX = 7, LOAD_SHEDDING_SLICE_MS = 50 };

struct load_shedding_cfg {
	uint32_t one_in, max_ppm; /* see struct load_shedding */
	bool has_stacks; /* switches or wakeups come with some */
};

/* The capture is borrowed. now_ns: CLOCK_MONOTONIC; what was spent until then does not count. */
void load_shedding_begin(struct load_shedding *t, const struct load_shedding_cfg *cfg,
			 struct capture *capture, struct status *status, uint64_t now_ns);
/*
 * Looks at what recording cost when it is time to, which may lead to another level and writes that, and opens and
 * closes the gate. To be called often. 0 or the encoder's -errno.
 */
int load_shedding_step(struct load_shedding *t, struct pause *gate, struct status *status,
		       uint64_t now_ns);
/* One slice in so many is recorded. */
uint32_t load_shedding_one_in(const struct load_shedding *t);
/* Says at the start, and at that of a segment, what is left out, if anything. 0 or -errno. */
int load_shedding_write(const struct load_shedding *t, struct status *status);

#endif
