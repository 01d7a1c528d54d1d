/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PERF_RING_H
#define D9_KERNEL_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/perf_side.h"

/*
 * Side-band: what processes map, their names, births and deaths on one CPU, times in
 * CLOCK_MONOTONIC. One dummy event and one ring a CPU.
 */
struct perf_ring;

/* ring_sz: bytes of data, rounded up to a power of two of pages. Enabled at once. */
int perf_ring_open(uint32_t cpu, size_t ring_sz, struct perf_ring **out);
/*
 * A CPU that was taken away and came back has lost its event: gives it another one that fills the same ring.
 * 0 or -errno, silently. A PERF_SIDE_FULL follows what is in the ring: nothing was noted meanwhile.
 */
int perf_ring_renew(struct perf_ring *r);
void perf_ring_close(struct perf_ring *r);

/*
 * The next record: 1 and *out, whose strings are borrowed until the next call; 0 when there is
 * none; -EBADMSG for a record that does not hold together, which is skipped. Space is given back to
 * the kernel as records are passed. A ring that may have been full ends with a PERF_SIDE_FULL, which
 * comes before the kernel's own PERF_SIDE_LOST and has no time.
 */
int perf_ring_next(struct perf_ring *r, struct perf_side *out);
/*
 * The same beside it, ahead of it: records stay to be given by perf_ring_next(). What that gave last is
 * still seen here, what it gave before is not any more.
 */
int perf_ring_look(struct perf_ring *r, struct perf_side *out);
/* Whether what perf_ring_next() gave last has been seen by perf_ring_look(). */
bool perf_ring_is_looked(const struct perf_ring *r);
/* Readable when there are records that nobody has polled for yet. Stays the ring's. */
int perf_ring_fd(const struct perf_ring *r);
/* Whether more than one part of so many waits to be read. */
bool perf_ring_is_filled(const struct perf_ring *r, size_t parts);
uint32_t perf_ring_cpu(const struct perf_ring *r);

#endif /* D9_KERNEL_PERF_RING_H */
