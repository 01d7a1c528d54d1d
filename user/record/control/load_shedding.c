// SPDX-License-Identifier: BSD-2-Clause
/*
 * load_shedding.c - drops stacks and time slices when recording costs too much
 *
 * Single events are never dropped: a thread without its switch out would appear to continue running. Whole time
 * slices are skipped and reported as gaps. So each recorded interval is either complete or marked.
 *
 * If a level costs too much, the level rises at once. It rises by several levels at a time, assuming that stacks cost
 * three quarters, and that the rest is proportional to the recorded part. It falls if the next lower level would be
 * affordable at several checks in a row. If that was wrong, the next fall needs twice as many checks.
 */
#include "record/control/load_shedding.h"

#include <unistd.h>

#include "record/capture/capture.h"
#include "record/control/pause.h"
#include "record/encode/status.h"

#define SLICE_NS (LOAD_SHEDDING_SLICE_MS * 1000000ULL)
#define LOOK_NS 500000000ULL /* the cost is limited within two seconds */

enum {
	CYCLES = 2, /* of slices, the minimum between two checks */
	PATIENCE_MIN = 6,
	PATIENCE_MAX = 120,
	REGRET = 10, /* checks after which a lower level was right */
	GOAL_PART = 8, /* below the limit by this part */
	STACKS_FACTOR = 4, /* assumed cost factor of stacks until it is measured */
};

uint32_t load_shedding_one_in(const struct load_shedding *t)
{
	return t->one_in << (t->level < 2 ? 0 : t->level - 1);
}

void load_shedding_begin(struct load_shedding *t, const struct load_shedding_cfg *cfg,
			 struct capture *capture, struct status *status, uint64_t now_ns)
{
	*t = (struct load_shedding){
		.capture = capture,
		.one_in = cfg->one_in,
		.max_ppm = cfg->max_ppm,
		.cpu_cnt = sysconf(_SC_NPROCESSORS_ONLN),
		.has_stacks = cfg->has_stacks,
		.patience = PATIENCE_MIN,
		.since_eased = REGRET,
		.slice_ns = now_ns,
		.looked_ns = now_ns,
		.spent_ns = status_cost_ns(status, now_ns),
	};
}

/* Only between two cycles, since the recorded part differs within a cycle. */
static bool is_due(const struct load_shedding *t, const struct pause *pause, uint64_t now_ns)
{
	const uint64_t cycles = (uint64_t)CYCLES * load_shedding_one_in(t) * SLICE_NS;
	/* at the start everything is new: its cost does not last */
	const uint64_t min_ns = t->is_measured ? LOOK_NS : 2 * LOOK_NS;

	if (!t->max_ppm || now_ns - t->looked_ns < (cycles > min_ns ? cycles : min_ns))
		return false;
	return load_shedding_one_in(t) == 1 ||
	       (pause->skips_slice &&
		now_ns - t->slice_ns >= (load_shedding_one_in(t) - 1) * SLICE_NS);
}

int load_shedding_write(const struct load_shedding *t, struct status *status)
{
	return t->level || t->one_in > 1 ?
		       status_thinning(status, load_shedding_one_in(t), !t->level, t->ppm) :
		       0;
}

static int set_level(struct load_shedding *t, struct status *status, unsigned int level)
{
	if (level == t->level)
		return 0;
	if (!level != !t->level && t->has_stacks)
		capture_set_stacks(t->capture, !level);
	t->level = level;
	t->calm = 0;
	return status_thinning(status, load_shedding_one_in(t), !level, t->ppm);
}

/* Once something is dropped, the cost stays below the limit: it differs from one check to the next. */
static uint64_t goal(const struct load_shedding *t)
{
	return t->level ? t->max_ppm - t->max_ppm / GOAL_PART : t->max_ppm;
}

static unsigned int higher(const struct load_shedding *t)
{
	uint64_t ppm = t->ppm;
	unsigned int level = t->level;

	if (!level && t->has_stacks)
		ppm /= STACKS_FACTOR;
	if (!level)
		level = 1;
	while (level < LOAD_SHEDDING_LEVEL_MAX && ppm > goal(t)) {
		level++;
		ppm /= 2;
	}
	return level;
}

static unsigned int lower(const struct load_shedding *t)
{
	return t->level == 2 && !t->has_stacks ? 0 : t->level - 1;
}

static bool is_calm(const struct load_shedding *t)
{
	const uint64_t factor = lower(t) == 0 && t->has_stacks ? STACKS_FACTOR : 2;

	return t->ppm * factor < goal(t);
}

static int measure_cost(struct load_shedding *t, struct status *status, uint64_t now_ns)
{
	const uint64_t elapsed = now_ns - t->looked_ns, all = status_cost_ns(status, now_ns);
	/* the programs' cost is extrapolated from measured runs */
	const uint64_t cost = all > t->spent_ns ? all - t->spent_ns : 0;

	t->ppm = (double)cost * 1e6 / ((double)elapsed * t->cpu_cnt);
	t->looked_ns = now_ns;
	t->spent_ns = all;
	t->is_measured = true;
	t->since_eased++;
	if (t->ppm > goal(t)) {
		if (t->since_eased <= REGRET && t->patience < PATIENCE_MAX)
			t->patience *= 2;
		return set_level(t, status, higher(t));
	}
	if (!t->level || !is_calm(t)) {
		t->calm = 0;
		return 0;
	}
	if (++t->calm < t->patience)
		return 0;
	t->since_eased = 0;
	return set_level(t, status, lower(t));
}

uint64_t load_shedding_due_ns(const struct load_shedding *t, const struct pause *pause)
{
	const uint64_t rest = (load_shedding_one_in(t) - 1) * SLICE_NS;

	if (pause->skips_slice)
		return t->slice_ns + rest;
	return pause->recording && rest ? t->slice_ns + SLICE_NS : UINT64_MAX;
}

static int step(struct load_shedding *t, struct pause *pause, struct status *status,
		uint64_t now_ns)
{
	const uint64_t rest = (load_shedding_one_in(t) - 1) * SLICE_NS;
	int err;

	if (pause->skips_slice && now_ns - t->slice_ns >= rest) {
		err = pause_end_slice(pause, status);
		t->slice_ns = now_ns;
		return err;
	}
	if (pause->recording && rest && now_ns - t->slice_ns >= SLICE_NS) {
		pause_skip_slice(pause);
		t->slice_ns = now_ns;
	}
	return 0;
}

int load_shedding_step(struct load_shedding *t, struct pause *pause, struct status *status,
		       uint64_t now_ns)
{
	int err = is_due(t, pause, now_ns) ? measure_cost(t, status, now_ns) : 0;

	return err ? err : step(t, pause, status, now_ns);
}
