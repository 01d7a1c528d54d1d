/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_DESCENDANTS_H
#define D9_PROFILE_SCHED_DESCENDANTS_H

#include <stdint.h>

#include "base/hmap.h"

struct names;

/*
 * The process with its descendants, as far as the trace names their parents: pids become keys of
 * out, whose values mean nothing. Takes one pass over the tasks. The caller frees with hmap_fini().
 */
void descendants_of(const struct names *n, uint32_t pid, struct hmap *out);

#endif /* D9_PROFILE_SCHED_DESCENDANTS_H */
