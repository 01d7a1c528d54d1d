/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TICK_H
#define D9_RECORD_TICK_H

#include <stdint.h>

struct symbroker;
struct targets;
struct unwinding;

struct tick_cfg {
	const struct targets *targets; /* all borrowed */
	struct symbroker *broker;
	struct unwinding *unwinding; /* NULL: none */
};

/*
 * Waits until until_ns (CLOCK_MONOTONIC, now_ns is what it is now), or until the only target ends or an unwind
 * table is there to be taken. What
 * cannot wait so long has its turn meanwhile: the broker's processes, and the news of what is mapped, which
 * stacks are walked by.
 */
void tick_wait(const struct tick_cfg *cfg, uint64_t now_ns, uint64_t until_ns);

#endif
