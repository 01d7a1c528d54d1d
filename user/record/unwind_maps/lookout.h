/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_LOOKOUT_H
#define D9_RECORD_UNWIND_MAPS_LOOKOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring;
struct perf_side;

/*
 * The side-band as it comes, for what cannot wait until the drain has come to that time: in order of time
 * across rings, as far as what is there allows it.
 */
struct lookout;

/* The rings are borrowed. -errno when there is no descriptor to be had. */
int lookout_new(struct perf_ring **sides, size_t cnt, struct lookout **out);
void lookout_free(struct lookout *l);

/* Readable when records came since it was last polled. Stays the lookout's. */
int lookout_fd(const struct lookout *l);
/*
 * Hands over at most max records, damaged ones as PERF_SIDE_DAMAGED. Returns how many. *more: there are
 * others, or some of the last moment, which may be overtaken by those that are still under way.
 */
size_t lookout_pass(struct lookout *l, size_t max,
		    void (*fn)(void *ctx, const struct perf_side *side), void *ctx, bool *more);
/* Hands over what is held back up to a time: before others give what came behind it. */
void lookout_pass_held(struct lookout *l, uint64_t until,
		       void (*fn)(void *ctx, const struct perf_side *side), void *ctx);

#endif
