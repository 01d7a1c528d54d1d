/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_RECORD_QUEUE_H
#define D9_RECORD_ENCODE_RECORD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_merge_sink;
struct perf_side;
struct prof_rec;

/*
 * Keeps records in order until the recorder can use them: a recording starts before everything is known that its
 * records refer to, and stacks wait for unwind tables. The rings must not wait for that.
 */
struct record_queue;

/* max: size in bytes at which it is full. Never fails. */
struct record_queue *record_queue_new(size_t max);
void record_queue_free(struct record_queue *h);

/* Copies the record. */
void record_queue_add(struct record_queue *h, const struct prof_rec *rec);
void record_queue_add_side(struct record_queue *h, const struct perf_side *side);
/* True if it is full: leave further records where they are. */
bool record_queue_is_full(const struct record_queue *h);
/* Used memory, in percent of the maximum; more than 100 if a record did not fit exactly. */
unsigned int record_queue_fill(const struct record_queue *h);
/* True if half is used: records should not wait any longer. */
bool record_queue_is_crowded(const struct record_queue *h);
/* The time of the first record; UINT64_MAX: it is empty. */
uint64_t record_queue_time(const struct record_queue *h);

/*
 * Passes at most max records to the sink in order and frees them. If the sink returns RING_MERGE_LATER, that record
 * and the later ones stay. Returns the number of records, or the sink's result, except RING_MERGE_LATER.
 */
long record_queue_release(struct record_queue *h, size_t max, const struct ring_merge_sink *sink);

#endif
