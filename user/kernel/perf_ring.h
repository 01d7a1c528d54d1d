/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PERF_RING_H
#define D9_KERNEL_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/perf_side.h"

/*
 * Process metadata of one CPU: mappings, names, forks and exits, with times in CLOCK_MONOTONIC.
 * Each CPU has one dummy event and one ring.
 */
struct perf_ring;

/* Opens and enables a ring. ring_sz: bytes of data, rounded up to a power of two of pages. */
int perf_ring_open(uint32_t cpu, size_t ring_sz, struct perf_ring **out);
/*
 * A CPU that went offline and came back has lost its event. Opens a new event that fills the same
 * ring. The records in the ring are followed by a PERF_SIDE_FULL, because nothing was recorded in
 * between. 0 or -errno, without a message.
 */
int perf_ring_renew(struct perf_ring *r);
void perf_ring_close(struct perf_ring *r);

/*
 * Reads the next record. Returns 1 and *out, whose strings are borrowed until the next call; 0 if
 * there is none; -EBADMSG for a damaged record, which is skipped. Gives the space of earlier
 * records back to the kernel. If the ring may have been full, a PERF_SIDE_FULL follows its records;
 * it has no time, and comes before the kernel's PERF_SIDE_LOST.
 */
int perf_ring_next(struct perf_ring *r, struct perf_side *out);
/*
 * A second reader, which can read ahead: perf_ring_next() still returns the same records later. It
 * starts with the last record of perf_ring_next() at the earliest.
 */
int perf_ring_peek(struct perf_ring *r, struct perf_side *out);
/* Whether perf_ring_peek() has read the last record of perf_ring_next(). */
bool perf_ring_is_looked(const struct perf_ring *r);
/* Readable if there are new records since the last poll. Borrowed. */
int perf_ring_fd(const struct perf_ring *r);
/* Whether more than 1/@parts of the ring is unread. */
bool perf_ring_is_filled(const struct perf_ring *r, size_t parts);
uint32_t perf_ring_cpu(const struct perf_ring *r);

#endif /* D9_KERNEL_PERF_RING_H */
