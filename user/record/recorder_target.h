/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RECORDER_TARGET_H
#define D9_RECORD_RECORDER_TARGET_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct recorder_cfg;
struct status;
struct status_head;

/* Appends "system", "pid 17,42", "command NAME" and such; a name is as it was given. */
void recorder_target(const struct recorder_cfg *cfg, struct buf *out);

/* What a trace begins with. @known: what the recorder found out; all else is as @cfg has it. 0 or -errno. */
int recorder_target_write_head(const struct recorder_cfg *cfg, struct status *status,
			       const struct status_head *known);

/* Whoever descends from a target is one, and so each process whose mappings are kept. */
bool recorder_target_has_family(const struct recorder_cfg *cfg);

/* The recorder's own process id as the trace has it; 0: inside a pid namespace, where it is not known. */
uint32_t recorder_target_pid(void);

#endif
