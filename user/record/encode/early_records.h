/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_EARLY_RECORDS_H
#define D9_RECORD_ENCODE_EARLY_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

struct merge_sink;
struct perf_side;
struct prof_rec;

/*
 * Records in order, kept in memory until somebody can take them. A recording starts before all is
 * known that its records refer to, and the rings must not wait for that.
 */
struct early_records;

/* max: bytes that are enough. Never fails. */
struct early_records *early_records_new(size_t max);
void early_records_free(struct early_records *h);

/* Copy. */
void early_records_add(struct early_records *h, const struct prof_rec *rec);
void early_records_add_side(struct early_records *h, const struct perf_side *side);
/* True once there is enough: what comes next is better left where it is. */
bool early_records_are_full(const struct early_records *h);

/* Hands everything over in the order it came, and forgets it: but for a record that the sink does not take
 * yet (MERGE_LATER) and what came behind that. Returns what the sink returned. */
int early_records_release(struct early_records *h, const struct merge_sink *sink);

#endif
