/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RECORDER_PROGRAMS_H
#define D9_RECORD_RECORDER_PROGRAMS_H

#include "record/capture/capture_programs.h"

struct recorder_cfg;

/*
 * capture_programs() for a recording of @cfg, whose targets need not exist. -errno after one line: an event or a
 * cgroup that does not exist on this machine, or an error of capture_programs().
 */
int recorder_programs(const struct recorder_cfg *cfg, bool alternatives, struct verdicts *verdicts,
		      capture_program_fn fn, void *ctx);

#endif
