/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RECORDER_TARGET_H
#define D9_RECORD_RECORDER_TARGET_H

#include <stdbool.h>

struct buf;
struct recorder_cfg;

/* Appends "system", "pid 17,42", "command NAME" and such; a name is as it was given. */
void recorder_target(const struct recorder_cfg *cfg, struct buf *out);

/* Whoever descends from a target is one, and so each process whose mappings are kept. */
bool recorder_target_has_family(const struct recorder_cfg *cfg);

#endif
