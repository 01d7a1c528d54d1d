// SPDX-License-Identifier: BSD-2-Clause
/* recorder_target.c - whom a recording is of, in words: what metadata say */
#include "record/recorder_target.h"

#include "base/buf.h"
#include "record/recorder.h"

void recorder_target(const struct recorder_cfg *cfg, struct buf *out)
{
	const uint32_t *ids = cfg->pid_cnt ? cfg->pids : cfg->tids;
	size_t cnt = cfg->pid_cnt ? cfg->pid_cnt : cfg->tid_cnt, i;

	if (cfg->system_wide) {
		buf_addstr(out, "system");
		return;
	}
	if (cfg->command) {
		buf_printf(out, "command %s", cfg->command[0]);
		return;
	}
	buf_addstr(out, cfg->pid_cnt ? "pid" : "tid");
	for (i = 0; i < cnt; i++)
		buf_printf(out, "%c%u", i ? ',' : ' ', ids[i]);
}

bool recorder_target_has_family(const struct recorder_cfg *cfg)
{
	return !cfg->system_wide && !cfg->tid_cnt && !cfg->no_inherit;
}
