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
	const struct capture *rings; /* they end the wait when they fill up; NULL: ignored */
	const struct sideband_reader
		*sides; /* new mappings, if stacks are not unwound; NULL: ignored */
	uint64_t hurry_ns; /* deadline after the first event; 0: none */
};

/*
 * Waits until until_ns (CLOCK_MONOTONIC, now_ns is the current time), until the only target ends, an unwind table
 * has arrived, or rings fill up. During the wait it handles the broker's processes, and new mappings, which walks
 * need. More of either usually follows, so they shorten a long wait.
 */
void drain_timer_wait(const struct drain_timer_cfg *cfg, uint64_t now_ns, uint64_t until_ns);

/* Whether the time has come: true at first (0), then at most once per period. All times in ns of one clock. */
bool drain_timer_is_due(uint64_t *due_ns, uint64_t now_ns, uint64_t period_ns);

#endif
