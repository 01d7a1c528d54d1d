// SPDX-License-Identifier: BSD-2-Clause
/*
 * write_targets.c - writes the targets at the start of a segment
 */
#include "record/write_targets.h"

#include "events/emit.h"
#include "record/encode/translate.h"
#include "record/process/tasks.h"
#include "record/recorder.h"
#include "record/recorder_target.h"
#include "record/target/targets.h"

struct write_targets {
	struct translate *translate;
	bool family;
	uint32_t command_pid; /* its exec reports that process */
	int err;
};

static void announce_task(struct task *task, void *ctx)
{
	struct write_targets *a = ctx;

	if (!a->err)
		a->err = translate_task(a->translate, EMIT_NOW, task->tid, task->proc->pid);
}

static void announce_target(struct task *task, void *ctx)
{
	const struct write_targets *a = ctx;

	if (task->followed ||
	    (a->family && task->proc->wanted && task->proc->pid != a->command_pid))
		announce_task(task, ctx);
}

int write_targets_all(const struct targets *targets, struct tasks *tasks,
		      struct translate *translate, const struct recorder_cfg *cfg)
{
	size_t i, cnt;
	const pid_t *pids = targets_processes(targets, &cnt);
	struct write_targets a = {
		.translate = translate,
		.family = recorder_target_has_family(cfg),
		.command_pid = cfg->command && cnt ? (uint32_t)pids[0] : 0,
	};

	for (i = 0; i < cnt && !cfg->command; i++)
		tasks_each(tasks, pids[i], announce_task, &a);
	tasks_each_alive(tasks, announce_target, &a);
	for (i = 0; i < cfg->tid_cnt && !a.err; i++)
		a.err = translate_task(translate, EMIT_NOW, cfg->tids[i], 0);
	return a.err;
}
