/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_WRITE_TARGETS_H
#define D9_RECORD_WRITE_TARGETS_H

struct recorder_cfg;
struct targets;
struct tasks;
struct translate;

/*
 * Writes the targets at the start of each segment, including those that never run. A command's exec reports it. 0
 * or the encoder's -errno.
 */
int write_targets_all(const struct targets *targets, struct tasks *tasks,
		      struct translate *translate, const struct recorder_cfg *cfg);

#endif
