/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_RECORDED_SWITCHES_H
#define D9_PROFILE_SCHED_RECORDED_SWITCHES_H

#include "trace/read/names.h"

/*
 * Whether a recording has every context switch of its targets: then a thread without one was in one state all the
 * time. Known after its TracepointSymbols. False for other traces, even with switches in them.
 */
bool recorded_switches(const struct names *n, uint32_t part);
/* Whether -e of record or cut excluded the switches. Known after the TracepointSymbols, too. */
bool recorded_switches_excluded(const struct names *n, uint32_t part);

#endif /* D9_PROFILE_SCHED_RECORDED_SWITCHES_H */
