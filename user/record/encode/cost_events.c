// SPDX-License-Identifier: BSD-2-Clause
/* cost_events.c - writes which processes cost the recorder most */
#include "record/encode/cost_events.h"

#include <string.h>

#include "events/emit.h"
#include "record/process/tasks.h"
#include "record/process/work_budget.h"

struct leader {
	uint32_t pid;
	char *comm;
};

static void copy_comm(struct task *task, void *ctx)
{
	const struct leader *leader = ctx;

	if (*task->comm && (task->tid == leader->pid || !*leader->comm))
		memcpy(leader->comm, task->comm, sizeof(task->comm));
}

/* By its leader, or by another thread if the leader did nothing yet. */
static void name_process(void *ctx, uint32_t pid, char comm[16])
{
	tasks_each(ctx, pid, copy_comm, &(struct leader){ pid, comm });
}

static bool has_grown(const struct cost_events *c, const struct work_cost *cost)
{
	for (size_t i = 0; i < COST_EVENTS_MAX; i++)
		if (c->written[i].pid == cost->pid && c->written[i].ns == work_cost_sum(cost))
			return false;
	return true;
}

int cost_events_write(struct cost_events *c, struct tasks *tasks, struct emit *emit, uint64_t ts,
		      bool all)
{
	const struct work_cost *top[COST_EVENTS_MAX];
	struct cost_events written = { 0 };
	struct work_budget *work = tasks_work(tasks);
	size_t cnt;
	int err = 0;

	work_budget_name(work, name_process, tasks);
	cnt = work_budget_top(work, top, COST_EVENTS_MAX);
	for (size_t i = 0; i < cnt && !err; i++) {
		const struct work_cost *w = top[i];

		written.written[i].pid = w->pid;
		written.written[i].ns = work_cost_sum(w);
		if (!all && !has_grown(c, w))
			continue;
		err = emit_cost(emit, ts,
				&(struct own_cost){
					.pid = w->pid,
					.comm = { w->comm, strnlen(w->comm, sizeof(w->comm)) },
					.copies_ns = w->ns[WORK_COPIES],
					.lists_ns = w->ns[WORK_LISTS],
					.tables_ns = w->ns[WORK_TABLES],
					.symbols_ns = w->ns[WORK_SYMBOLS],
				});
	}
	*c = written;
	return err;
}
