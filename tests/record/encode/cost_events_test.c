// SPDX-License-Identifier: BSD-2-Clause
/* Which processes are written as the most expensive ones, when, and with which name. */
#include "record/encode/cost_events.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kernel/perf_side.h"
#include "record/process/tasks.h"
#include "record/process/work_budget.h"
#include "tests/record/support.h"

#define MS 1000000ULL

_Static_assert(NO_SUCH_TID == 5000000, "the texts below have it");

enum { A = NO_SUCH_TID, B, C, D };

static struct rig rig;
static struct cost_events costs;

static void setup(void)
{
	rig_init(&rig);
	costs = (struct cost_events){ 0 };
}

static void teardown(void)
{
	rig_fini(&rig);
}

TestSuite(cost_events, .init = setup, .fini = teardown, .timeout = 60);

static void charge(uint32_t pid, enum work_kind kind, uint64_t ns)
{
	work_budget_charge(tasks_work(rig.tasks), pid, kind, ns);
}

static void name(uint32_t pid, uint32_t tid, const char *comm)
{
	tasks_side(rig.tasks, &(struct perf_side){ .type = PERF_SIDE_COMM,
						   .pid = pid,
						   .tid = tid,
						   .name = comm,
						   .name_len = strlen(comm) });
}

static void write_costs(uint64_t ts, bool all)
{
	cr_assert_eq(cost_events_write(&costs, rig.tasks, rig.emit, ts, all), 0);
}

Test(cost_events, three_most_expensive_processes_are_written_with_their_names)
{
	name(A, A, "hog");
	name(A, A + 9, "thread");
	charge(A, WORK_COPIES, 4 * MS);
	charge(B, WORK_LISTS, 3 * MS);
	charge(C, WORK_TABLES, 2 * MS);
	charge(D, WORK_SYMBOLS, 5 * MS);
	write_costs(10, false);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "10 RecorderCost pid=5000003 comm=\"\" copies_ns=0 lists_ns=0 "
			 "tables_ns=0 symbols_ns=5000000\n"
			 "10 RecorderCost pid=5000000 comm=\"hog\" copies_ns=4000000 lists_ns=0 "
			 "tables_ns=0 symbols_ns=0\n"
			 "10 RecorderCost pid=5000001 comm=\"\" copies_ns=0 lists_ns=3000000 "
			 "tables_ns=0 symbols_ns=0\n");
}

Test(cost_events, thread_names_a_process_whose_leader_did_nothing)
{
	name(A, A + 9, "thread");
	charge(A, WORK_COPIES, 4 * MS);
	write_costs(10, false);
	name(A, A, "leader");
	charge(A, WORK_COPIES, 4 * MS);
	write_costs(20, false);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "10 RecorderCost pid=5000000 comm=\"thread\" copies_ns=4000000 "
			 "lists_ns=0 tables_ns=0 symbols_ns=0\n"
			 "20 RecorderCost pid=5000000 comm=\"leader\" copies_ns=8000000 "
			 "lists_ns=0 tables_ns=0 symbols_ns=0\n");
}

Test(cost_events, costs_are_written_again_only_if_they_have_grown)
{
	charge(A, WORK_COPIES, 4 * MS);
	charge(B, WORK_COPIES, 3 * MS);
	write_costs(10, false);
	charge(B, WORK_COPIES, 1);
	write_costs(20, false);
	write_costs(30, false);
	write_costs(40, true);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "10 RecorderCost pid=5000000 comm=\"\" copies_ns=4000000 lists_ns=0 "
			 "tables_ns=0 symbols_ns=0\n"
			 "10 RecorderCost pid=5000001 comm=\"\" copies_ns=3000000 lists_ns=0 "
			 "tables_ns=0 symbols_ns=0\n"
			 "20 RecorderCost pid=5000001 comm=\"\" copies_ns=3000001 lists_ns=0 "
			 "tables_ns=0 symbols_ns=0\n"
			 "40 RecorderCost pid=5000000 comm=\"\" copies_ns=4000000 lists_ns=0 "
			 "tables_ns=0 symbols_ns=0\n"
			 "40 RecorderCost pid=5000001 comm=\"\" copies_ns=3000001 lists_ns=0 "
			 "tables_ns=0 symbols_ns=0\n");
}
