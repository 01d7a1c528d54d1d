/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RECORDER_TARGET_H
#define D9_RECORD_RECORDER_TARGET_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct recorder_cfg;
struct status;
struct status_head;

/* Appends "system", "pid 17,42", "command NAME" or similar; a name as given by the user. */
void recorder_target(const struct recorder_cfg *cfg, struct buf *out);

/* Writes the head of a trace. @known: results of the recorder; the rest comes from @cfg. 0 or -errno. */
int recorder_target_write_head(const struct recorder_cfg *cfg, struct status *status,
			       const struct status_head *known);

/* Whether children of targets are targets, and so each process with known mappings. */
bool recorder_target_has_family(const struct recorder_cfg *cfg);

/* The recorder's process id in the trace; 0: unknown, inside a pid namespace. */
uint32_t recorder_target_pid(void);

#endif
