/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_WALL_CLOCK_H
#define D9_QUERY_WALL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Points kept of one recording; beyond, every second one is removed. */
#define WALL_CLOCK_MAX 65536

struct wall_clock_point {
	uint64_t mono;
	int64_t real;
};

/* Wall-clock time of a recording, from points at which both clocks are known. {0} is empty. */
struct wall_clock {
	struct wall_clock_point *v; /* by mono */
	size_t cnt, cap;
};

/* Ignores a point before the last one. */
void wall_clock_add(struct wall_clock *w, uint64_t mono, uint64_t real);
/*
 * ns since 1970, interpolated between the points around @mono; before the first and after the last one at their
 * distance. false: there is no point.
 */
bool wall_clock_at(const struct wall_clock *w, uint64_t mono, int64_t *out);
void wall_clock_fini(struct wall_clock *w);

#endif /* D9_QUERY_WALL_CLOCK_H */
