// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes through every command that reads and evaluates a trace. The first byte selects command and
 * options, the rest is the trace. What must hold: no crash, no sanitizer report, an exit code of ours.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/sched/sched.h"
#include "export/formats.h"
#include "tests/support/temp_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static const struct {
	int (*fn)(int argc, char **argv);
	const char *words[5];
} runs[] = {
	{ cmd_report, { "report", "/proc/self/fd/0", "--json", "-g" } },
	{ cmd_report, { "report", "/proc/self/fd/0", "-s", "sym,dso,comm,pid,tid" } },
	{ cmd_report, { "report", "-", "--call-graph=callee", "--time=10%,90%" } },
	{ cmd_script, { "script", "-", "-F+srcline", "--all" } },
	{ cmd_script, { "script", "-", "--json", "--all" } },
	{ cmd_script, { "script", "-", "-p5", "--time=+0.1,12:00:00" } },
	{ cmd_info, { "info", "-", "--schemas", "--modules" } },
	{ cmd_info, { "info", "-", "--schemas", "--json" } },
	{ cmd_cut, { "cut", "/proc/self/fd/0", "-qo/dev/null", "--anonymize" } },
	{ cmd_cut, { "cut", "-", "-qo/dev/null", "--time=10%,60%" } },
	{ cmd_diff, { "diff", "/proc/self/fd/0", "/proc/self/fd/0", "--kind=latency" } },
	{ cmd_diff, { "diff", "/proc/self/fd/0", "/proc/self/fd/0", "--kind=offcpu" } },
	{ cmd_wakeup, { "wakeup", "-", "--stacks", "--by-tid" } },
	{ cmd_wakeup, { "wakeup", "/proc/self/fd/0", "--chain=11", "--json" } },
	{ cmd_count, { "count", "-", "--by=event,comm,prev_state,tid", "--interval=1" } },
	{ cmd_count, { "count", "/proc/self/fd/0", "--hist=x", "--sum=x", "--json" } },
	{ cmd_count, { "count", "/proc/self/fd/0", "--pair=*S*,*", "--by=comm,tid" } },
	{ cmd_count, { "count", "-", "--syscalls", "--json", "--time=10%,90%" } },
	{ cmd_explain, { "explain", "-", "-t11", "--worst" } },
	{ cmd_explain, { "explain", "-", "-p10", "--json" } },
	{ cmd_explain, { "explain", "11", "/proc/self/fd/0", "--time=5%,+3" } },
	{ cmd_explain, { "explain", "-", "--span=*S*,*", "--json" } },
	{ cmd_explain, { "explain", "/proc/self/fd/0", "--span=*,sched*", "--span=raw_syscalls" } },
	{ cmd_polls, { "polls", "/proc/self/fd/0", "--min=1ns" } },
	{ cmd_polls, { "polls", "/proc/self/fd/0", "/proc/self/fd/0" } },
	{ cmd_polls, { "polls", "/proc/self/fd/0", "--json", "--span=*S*,*", "--min=0" } },
	{ cmd_offcpu, { "offcpu", "-", "--hist", "--by=stack,tid,waker,wstack" } },
	{ cmd_offcpu, { "offcpu", "-", "--json", "--time=10%,90%" } },
	{ cmd_offcpu, { "offcpu", "-", "--folded", "--min=1us" } },
	{ sched_latency, { "latency", "-", "--worst=5", "--hist" } },
	{ sched_latency, { "latency", "-", "--json", "--by=comm" } },
	{ sched_timehist, { "timehist", "-", "-n", "--state" } },
	{ sched_map, { "map", "-", "--cols=40", "--color=always" } },
	{ sched_summary, { "summary", "-", "--json" } },
	{ cmd_report, { "report", "-", "--wall", "-sstate,comm" } },
	{ cmd_report, { "report", "-", "--live=3600", "--limit=5" } },
	{ cmd_query, { "query", "SELECT *,leaf(stack) FROM slices", "-" } },
	{ cmd_query, { "query", "SELECT * FROM events e,lost,tasks", "-" } },
	{ cmd_query, { "query", "build-diff", "/proc/self/fd/0" } },
};

enum { RUN_CNT = sizeof(runs) / sizeof(runs[0]) };

/* How each format is exported. */
static const char *const exports[][3] = {
	{ "-", "-o/dev/null" },
	{ "/proc/self/fd/0", "-o/dev/null" },
	{ "-", "-o/dev/null", "--kind=wall" },
	{ "/proc/self/fd/0", "-o/dev/null", "--time=10%,90%" },
};

/* Output goes nowhere, through the real streams, so that all of the printing is run. */
static void mute(void)
{
	static int done;

	if (done)
		return;
	done = 1;
	log_set_level(LOG_LEVEL_QUIET);
	if (!freopen("/dev/null", "w", stdout))
		abort();
}

/* Half of the choices are exports: all formats in turn. */
static int (*choose(uint8_t choice, const char *words[5]))(int argc, char **argv)
{
	const size_t k = choice % (2 * RUN_CNT), way = choice / (2 * RUN_CNT);
	size_t formats = 0;

	if (k < RUN_CNT) {
		memcpy(words, runs[k].words, sizeof(runs[k].words));
		return runs[k].fn;
	}
	while (export_formats[formats])
		formats++;
	words[0] = "export";
	words[1] = export_formats[(k - RUN_CNT) % formats]->name;
	memcpy(words + 2, exports[way % 4], 3 * sizeof(*words));
	return cmd_export;
}

/* In place of /dev/null, for a format that is a directory: one below @top, which is "" for others. */
static void output_to_dir(const char *words[5], char top[64], char opt[80])
{
	const struct exporter *format = words[1] ? export_find(words[1]) : NULL;

	top[0] = '\0';
	if (strcmp(words[0], "export") || !format || !format->directory)
		return;
	temp_dir_make(top, 64);
	snprintf(opt, 80, "-o%s/out", top);
	words[3] = opt;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	char words[5][80], *argv[6] = { NULL }, top[64], opt[80];
	const char *chosen[5] = { NULL };
	int (*run)(int, char **);
	int argc, fd, code;

	mute();
	if (!sz)
		return 0;
	run = choose(data[0], chosen);
	output_to_dir(chosen, top, opt);
	for (argc = 0; argc < 5 && chosen[argc]; argc++) {
		snprintf(words[argc], sizeof(words[argc]), "%s", chosen[argc]);
		argv[argc] = words[argc];
	}
	fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 1, sz - 1) != (ssize_t)(sz - 1))
		abort();
	lseek(fd, 0, SEEK_SET);
	dup2(fd, STDIN_FILENO);
	close(fd);
	code = run(argc, argv);
	if (top[0])
		temp_dir_remove(top);
	/* a window of time may turn out to end before it begins */
	if (code != CMD_OK && code != CMD_INPUT && code != CMD_USAGE)
		abort();
	return 0;
}
