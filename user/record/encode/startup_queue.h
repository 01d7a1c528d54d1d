/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_STARTUP_QUEUE_H
#define D9_RECORD_ENCODE_STARTUP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct ring_merge_sink;
struct perf_side;
struct prof_rec;

/*
 * Records in order, kept in memory until somebody can take them. A recording starts before all is
 * known that its records refer to, and the rings must not wait for that.
 */
struct startup_queue;

/* max: bytes that are enough. Never fails. */
struct startup_queue *startup_queue_new(size_t max);
void startup_queue_free(struct startup_queue *h);

/* Copy. */
void startup_queue_add(struct startup_queue *h, const struct prof_rec *rec);
void startup_queue_add_side(struct startup_queue *h, const struct perf_side *side);
/* True once there is enough: what comes next is better left where it is. */
bool startup_queue_are_full(const struct startup_queue *h);

/* Hands everything over in the order it came, and forgets it: but for a record that the sink does not take
 * yet (RING_MERGE_LATER) and what came behind that. Returns what the sink returned. */
int startup_queue_release(struct startup_queue *h, const struct ring_merge_sink *sink);

#endif
