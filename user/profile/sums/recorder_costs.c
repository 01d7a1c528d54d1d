// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processes that cost the recorder most. Costs are cumulative, so the last event of a process counts. A recorder
 * writes the first few processes only; a file may have any number.
 */
#include "profile/sums/recorder_costs.h"

#include <string.h>

static struct recorder_costs_row read_row(const struct trace *t, struct names *n,
					  const struct trace_event *ev)
{
	struct own_cost own = { .pid = 0 };
	struct recorder_costs_row row = { 0 };

	trace_read_cost(t, ev, &own);
	row.pid = own.pid;
	row.part = ev->part;
	row.comm = own.comm.len ? names_add(n, own.comm.ptr, own.comm.len) : NAMES_NONE;
	row.ns[RECORDER_COSTS_COPIES] = own.copies_ns;
	row.ns[RECORDER_COSTS_LISTS] = own.lists_ns;
	row.ns[RECORDER_COSTS_TABLES] = own.tables_ns;
	row.ns[RECORDER_COSTS_SYMBOLS] = own.symbols_ns;
	for (size_t i = 0; i < RECORDER_COSTS_KINDS; i++)
		row.sum_ns += row.ns[i];
	return row;
}

static void remove_row(struct recorder_costs *c, size_t at)
{
	memmove(&c->rows[at], &c->rows[at + 1], (--c->cnt - at) * sizeof(c->rows[0]));
}

void recorder_costs_add(struct recorder_costs *c, const struct trace *t, struct names *n,
			const struct trace_event *ev)
{
	struct recorder_costs_row row;
	size_t at = 0;

	if (ev->kind != TRACE_COST)
		return;
	row = read_row(t, n, ev);
	while (at < c->cnt && c->rows[at].pid != row.pid)
		at++;
	if (at < c->cnt)
		remove_row(c, at);
	if (c->cnt == RECORDER_COSTS_MAX)
		c->cnt--;
	for (at = c->cnt++; at && c->rows[at - 1].sum_ns < row.sum_ns; at--)
		c->rows[at] = c->rows[at - 1];
	c->rows[at] = row;
}

uint32_t recorder_costs_name(const struct names *n, const struct recorder_costs_row *row)
{
	const struct names_task *leader = names_task_first(n, row->part, row->pid);
	const uint32_t clock = names_part(n, row->part)->clock;
	uint32_t comm = row->comm, tid = UINT32_MAX;
	size_t pos = 0;
	uint64_t key;
	void *value;

	if (comm == NAMES_NONE && leader)
		comm = leader->comm;
	if (comm != NAMES_NONE)
		return comm;
	while (hmap_next(&n->tasks, &pos, &key, &value)) {
		const struct names_task *task = value;

		if (key >> 32 != clock || task->pid != row->pid || task->tid >= tid ||
		    task->comm == NAMES_NONE)
			continue;
		tid = task->tid;
		comm = task->comm;
	}
	return comm;
}

size_t recorder_costs_cnt(const struct recorder_costs *c)
{
	return c->cnt < RECORDER_COSTS_SHOWN ? c->cnt : RECORDER_COSTS_SHOWN;
}
