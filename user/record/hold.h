/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_HOLD_H
#define D9_RECORD_HOLD_H

struct merge_sink;
struct perf_side;
struct prof_rec;

/*
 * Records in order, kept in memory until somebody can take them. A recording starts before all is
 * known that its records refer to, and the rings must not wait for that.
 */
struct hold;

/* Never fails. */
struct hold *hold_new(void);
void hold_free(struct hold *h);

/* Copies; 0, or -ENOBUFS beyond 1 GiB. */
int hold_record(struct hold *h, const struct prof_rec *rec);
int hold_side(struct hold *h, const struct perf_side *side);

/* Hands everything over in the order it came, and forgets it. Returns what the sink returned. */
int hold_release(struct hold *h, const struct merge_sink *sink);

#endif
