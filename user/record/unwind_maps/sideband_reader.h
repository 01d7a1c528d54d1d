/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_SIDEBAND_READER_H
#define D9_RECORD_UNWIND_MAPS_SIDEBAND_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring;
struct perf_side;

/*
 * Reads metadata records as they arrive, ahead of the drain: in order of time across rings, as far as possible.
 */
struct sideband_reader;

/* The rings are borrowed. -errno if no descriptor is available. */
int sideband_reader_new(struct perf_ring **sides, size_t cnt, struct sideband_reader **out);
void sideband_reader_free(struct sideband_reader *l);

/* Readable if records arrived since the last poll. Owned by the reader. */
int sideband_reader_fd(const struct sideband_reader *l);
/*
 * Passes on at most max records, damaged ones as PERF_SIDE_DAMAGED. Returns their number. *more: there are others,
 * or records of the last moment, which may still be overtaken.
 */
size_t sideband_reader_pass(struct sideband_reader *l, size_t max,
			    void (*fn)(void *ctx, const struct perf_side *side), void *ctx,
			    bool *more);
/* Passes on waiting records up to a time: call it before other records of a later time are handled. */
void sideband_reader_pass_held(struct sideband_reader *l, uint64_t until,
			       void (*fn)(void *ctx, const struct perf_side *side), void *ctx);

#endif
