/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RECORDER_CAPTURE_H
#define D9_RECORD_RECORDER_CAPTURE_H

#include <stdbool.h>

struct capture_cfg;
struct eventset;
struct prof_select;
struct recorder_cfg;

/* The kernel side of a recording of @cfg. @events and @select are borrowed. */
void recorder_capture_cfg(const struct recorder_cfg *cfg, const struct eventset *events,
			  const struct prof_select *select, struct capture_cfg *out);
/* Whether records contain addresses of kernel code: in stacks, or in fields of @events. */
bool recorder_capture_has_kernel_code(const struct recorder_cfg *cfg,
				      const struct eventset *events);

#endif
