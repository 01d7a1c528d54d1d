/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_DRAIN_TIMER_H
#define D9_RECORD_CONTROL_DRAIN_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct capture;
struct sideband_reader;
struct sym_client;
struct targets;
struct unwind_loader;

struct drain_timer_cfg {
	const struct targets *targets; /* all borrowed */
	struct sym_client *broker;
	struct unwind_loader *unwinding; /* NULL: none */
	const struct capture
		*rings; /* that end the wait when they fill up; NULL: they are no matter */
	const struct sideband_reader
		*sides; /* news of what is mapped, where nobody unwinds; NULL: it is no matter */
	uint64_t hurry_ns; /* when it ends at the latest once something came; 0: as if nothing had */
};

/*
 * Waits until until_ns (CLOCK_MONOTONIC, now_ns is what it is now), or until the only target ends, an unwind
 * table is there to be taken, or rings fill up. What cannot wait so long has its turn meanwhile: the broker's
 * processes, and the news of what is mapped, which stacks are walked by. Either is followed by more as a rule,
 * which a long wait is cut short for.
 */
void drain_timer_wait(const struct drain_timer_cfg *cfg, uint64_t now_ns, uint64_t until_ns);

/* Whether it is time, which is so at first (0) and then once in a period at most. Of one clock, in ns. */
bool drain_timer_is_due(uint64_t *due_ns, uint64_t now_ns, uint64_t period_ns);

#endif
