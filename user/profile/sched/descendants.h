/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_DESCENDANTS_H
#define D9_PROFILE_SCHED_DESCENDANTS_H

#include <stdint.h>

#include "base/hmap.h"

struct names;

/*
 * Finds a process and its descendants, as far as the trace names parents. PIDs become keys of @out;
 * the values have no meaning. One pass over the tasks. The caller frees @out with hmap_fini().
 */
void descendants_of(const struct names *n, uint32_t pid, struct hmap *out);

#endif /* D9_PROFILE_SCHED_DESCENDANTS_H */
