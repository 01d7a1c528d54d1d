/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_KERNEL_SUMMARY_H
#define D9_RECORD_ENCODE_KERNEL_SUMMARY_H

#include <stdint.h>

struct capture_summary;
struct emit;

/* Writes the programs' sums at the end of each period. */
struct kernel_summary;

/*
 * Tables are borrowed; NULL: returns NULL, for which all functions do nothing. start_ns: start of the first period,
 * CLOCK_MONOTONIC.
 */
struct kernel_summary *kernel_summary_new(const struct capture_summary *tables, uint64_t period_ns,
					  uint64_t start_ns);
void kernel_summary_free(struct kernel_summary *s);

/* Sets the destination, borrowed; processes are introduced there again. Call once before all other functions. */
void kernel_summary_begin_segment(struct kernel_summary *s, struct emit *emit);

/*
 * Call it about ten times per second: ends the period on time, and writes it when no program adds to it any more. 0
 * or the encoder's -errno. Allocates nothing.
 */
int kernel_summary_step(struct kernel_summary *s, uint64_t now_ns);
/* Call after the programs have stopped: writes the rest. */
int kernel_summary_finish(struct kernel_summary *s, uint64_t now_ns);

#endif
