/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_ORDER_H
#define D9_FORMATS_PERFDATA_ORDER_H

#include "formats/perfdata/stream.h"

/* Puts records in order of time. */
struct perfdata_order;

/* @ts is the record's time, or of the record before if it has none. 0, or -errno to stop. */
typedef int (*perfdata_order_fn)(void *ctx, const struct perfdata_record *r, uint64_t ts);

/*
 * At most about @max bytes wait. More are delivered early, so that later records may be out of order.
 */
void perfdata_order_new(size_t max, perfdata_order_fn deliver, void *ctx,
			struct perfdata_order **out);
void perfdata_order_free(struct perfdata_order *o);

/* A copy of the record waits for its turn; time 0: none. These return what deliver() returned. */
int perfdata_order_add(struct perfdata_order *o, const struct perfdata_record *r, uint64_t time);
/* No later record is older than any record before the last round. */
int perfdata_order_round(struct perfdata_order *o);
/* There are no more records. */
int perfdata_order_finish(struct perfdata_order *o);

/* Records that were delivered after a younger one. */
uint64_t perfdata_order_late(const struct perfdata_order *o);

#endif /* D9_FORMATS_PERFDATA_ORDER_H */
