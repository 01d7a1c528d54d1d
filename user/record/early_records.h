/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_EARLY_RECORDS_H
#define D9_RECORD_EARLY_RECORDS_H

struct merge_sink;
struct perf_side;
struct prof_rec;

/*
 * Records in order, kept in memory until somebody can take them. A recording starts before all is
 * known that its records refer to, and the rings must not wait for that.
 */
struct early_records;

/* Never fails. */
struct early_records *early_records_new(void);
void early_records_free(struct early_records *h);

/* Copies; 0, or -ENOBUFS beyond 1 GiB. */
int early_records_add(struct early_records *h, const struct prof_rec *rec);
int early_records_add_side(struct early_records *h, const struct perf_side *side);

/* Hands everything over in the order it came, and forgets it. Returns what the sink returned. */
int early_records_release(struct early_records *h, const struct merge_sink *sink);

#endif
