/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_RECORDED_H
#define D9_PROFILE_SCHED_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

struct names;

/* Which CPUs a recording has the events of. {0}: all. */
struct recorded {
	uint64_t *bits; /* NULL: all */
};

/* By the metadata of a part; a list that makes no sense says nothing. Of an @r that knows, nothing changes. */
void recorded_learn(struct recorded *r, const struct names *n, uint32_t part);
bool recorded_has(const struct recorded *r, uint64_t cpu);
void recorded_fini(struct recorded *r);

#endif /* D9_PROFILE_SCHED_RECORDED_H */
