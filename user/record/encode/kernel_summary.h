/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_KERNEL_SUMMARY_H
#define D9_RECORD_ENCODE_KERNEL_SUMMARY_H

#include <stdint.h>

struct capture_summary;
struct emit;

/* Writes at the end of each period what the programs summed up in it. */
struct kernel_summary;

/*
 * Tables are borrowed; NULL: there is nothing to do, and no summary, for which all of these do nothing. start_ns:
 * of the first period, CLOCK_MONOTONIC.
 */
struct kernel_summary *kernel_summary_new(const struct capture_summary *tables, uint64_t period_ns,
					  uint64_t start_ns);
void kernel_summary_free(struct kernel_summary *s);

/* Where to write from here on, borrowed: processes are introduced there anew. Once before all else. */
void kernel_summary_begin_segment(struct kernel_summary *s, struct emit *emit);

/*
 * To be called some ten times a second: ends the period when it is over, and writes it a while later, when
 * no program adds to it any more. 0 or the encoder's -errno. Allocates nothing.
 */
int kernel_summary_step(struct kernel_summary *s, uint64_t now_ns);
/* When the programs have stopped: all that is left. */
int kernel_summary_finish(struct kernel_summary *s, uint64_t now_ns);

#endif
