// SPDX-License-Identifier: BSD-2-Clause
/* recorder_target.c - describes the targets of a recording, for metadata */
#include "record/recorder_target.h"

#include <unistd.h>

#include "base/buf.h"
#include "events/emit.h"
#include "record/encode/status.h"
#include "record/recorder.h"
#include "record/target/targets.h"

void recorder_target(const struct recorder_cfg *cfg, struct buf *out)
{
	const uint32_t *ids = cfg->pid_cnt ? cfg->pids : cfg->tids;
	size_t cnt = cfg->pid_cnt ? cfg->pid_cnt : cfg->tid_cnt, i;

	if (cfg->capture.system_wide) {
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
	return !cfg->capture.system_wide && !cfg->tid_cnt && !cfg->no_inherit;
}

uint32_t recorder_target_pid(void)
{
	return targets_numbers_are_kernels() ? (uint32_t)getpid() : 0;
}

int recorder_target_write_head(const struct recorder_cfg *cfg, struct status *status,
			       const struct status_head *known)
{
	struct buf target = { 0 }, valid = { 0 };
	struct status_head head = *known;
	int err;

	recorder_target(cfg, &target);
	head.target = emit_text(&valid, buf_cstr(&target), target.len).ptr;
	head.command_line = cfg->command_line;
	head.no_inherit = cfg->no_inherit;
	head.selection = &cfg->selection;
	head.neighbours = cfg->events.neighbours;
	head.summary_ns = cfg->summary_ns;
	head.max_overhead_ppm = cfg->load_shedding.max_ppm;
	head.user = cfg->meta;
	head.user_cnt = cfg->meta_cnt;
	head.annotate = cfg->annotate;
	err = status_write_head(status, &head);
	buf_free(&target);
	buf_free(&valid);
	return err;
}
