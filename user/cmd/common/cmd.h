/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_CMD_H
#define D9_CMD_COMMON_CMD_H

#include "base/exit_code.h"
#include "trace/source/source.h"

#define CMD_DEFAULT_FILE SOURCE_DEFAULT_FILE

/*
 * Subcommands in the order of the help: COMMAND(NAME, ASKS_KERNEL, BRIEF). A row declares cmd_NAME(); help and completions
 * list it. ASKS_KERNEL: it keeps the privileges of the program's file.
 */
/* clang-format off */
#define CMD_LIST(COMMAND) \
	COMMAND(record, true, "record a process, a command or the system (the default)") \
	COMMAND(top, true, "show functions and threads by CPU and run-queue time, live") \
	COMMAND(report, false, "show CPU time by function") \
	COMMAND(offcpu, false, "show where threads blocked, and who woke them") \
	COMMAND(sched, false, "show run-queue latency, and who ran instead") \
	COMMAND(wakeup, false, "show who woke whom, and the chain of wakeups before it") \
	COMMAND(explain, false, "explain what a thread did in a time range, and why") \
	COMMAND(polls, false, "explain the slowest polls of a Tokio service") \
	COMMAND(script, false, "print events, one per line") \
	COMMAND(count, false, "count events by their fields, or time pairs of events") \
	COMMAND(info, false, "print what a trace contains, and what was lost") \
	COMMAND(dump, false, "print the frames of a trace file") \
	COMMAND(convert, false, "convert perf.data, Tonbandgeraet, Heph and apitrace") \
	COMMAND(diff, false, "compare two traces, with significance") \
	COMMAND(query, false, "query traces with SQL") \
	COMMAND(ship, false, "send rotated traces to ClickHouse or Pyroscope as they are finished") \
	COMMAND(export, false, "write a trace for flame graphs and other viewers") \
	COMMAND(view, false, "open a trace in a browser: timeline, flame graph, tables") \
	COMMAND(cut, false, "write a smaller trace of selected events, or an anonymous one") \
	COMMAND(symbolize, false, "add missing symbols from debug files or debuginfod") \
	COMMAND(merge, false, "merge recordings and traces that applications wrote") \
	COMMAND(list, true, "list the tracepoints of this kernel and their fields") \
	COMMAND(check, true, "check whether a recording can start here")
/* clang-format on */

/* argv[0] is the subcommand's name. Prints its output and returns an exit code. */
#define CMD_DECLARE(name, asks_kernel, brief) int cmd_##name(int argc, char **argv);
CMD_LIST(CMD_DECLARE)

#endif /* D9_CMD_COMMON_CMD_H */
