// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of `convert --to perf-data`, read by perf itself.
 *
 * A file of perf goes to dial9 and back, and perf prints the same for both. A recording of ours goes to perf.data, and
 * perf counts the same events, samples and functions in it as we do. The functions belong to a program with symbols.
 */
/* ALONE: perf runs too */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bpf/support.h"

TestSuite(perf_data, .fini = live_cleanup);

static const char perf_path[] = "/usr/bin/perf";

const char *live_missing(void)
{
	return access(perf_path, X_OK) ? "needs perf (Debian: linux-perf)" : NULL;
}

/* Runs shell commands in the test's directory, where $D is the recorder; they must succeed. */
static struct buf shell(const char *commands)
{
	struct live_proc p = { 0 };
	struct buf script = { 0 }, errors;
	const char *argv[] = { "/bin/sh", "-c", NULL, NULL };
	int code;

	buf_printf(&script, "set -e; cd %s; D='%s'\n%s", live_dir(), live_program(), commands);
	argv[2] = buf_cstr(&script);
	live_spawn(&p, argv, NULL);
	live_read_rest(&p);
	code = live_wait(&p);
	errors = live_errors(&p);
	buf_cstr(&p.output);
	cr_assert_eq(code, 0, "exit code %d: %s%s", code, p.output.data, buf_cstr(&errors));
	buf_free(&errors);
	buf_free(&script);
	return p.output;
}

/* Commands whose output must be empty: differences. */
static void same(const char *commands)
{
	struct buf out = shell(commands);

	cr_assert_str_empty(out.data, "%s", out.data);
	buf_free(&out);
}

/*
 * The last word that perf follows on a stack may have the value of a context marker. perf script then drops all of the
 * callchain, which a round trip keeps: such samples are compared without callchains.
 */
#define WITHOUT_DROPPED                                                                            \
	"awk 'BEGIN { RS = \"\"; FS = \"\\n\" } NR == FNR { if (NF == 1) dropped[$1]; next }\n"    \
	"{ print $1 in dropped ? $1 : $0 }' perf.script "

Test(perf_data, perf_reports_the_same_for_its_own_file_after_a_round_trip)
{
	struct buf lines;

	same("perf record -q -e cpu-clock -F 999 -g -o perf.data ls -R /usr/share >/dev/null\n"
	     "$D convert -q perf.data -o perf.d9; $D convert -q --to perf-data perf.d9 -o back.data\n"
	     "for f in perf back; do\n"
	     "perf report --stdio -n --no-children -g none --sort comm,dso,sym -i $f.data 2>/dev/null |\n"
	     "grep -v '^#' >$f.report\n"
	     "perf script -F comm,tid,time,period,event,ip,sym,dso -i $f.data 2>/dev/null |\n"
	     "sed 's/^\t *[0-9a-f]* /\t/' >$f.script\n"
	     "done; diff perf.report back.report\n" WITHOUT_DROPPED
	     "perf.script >perf.kept\n" WITHOUT_DROPPED
	     "back.script >back.kept; diff perf.kept back.kept");
	lines = shell("cat perf.kept");
	cr_assert(strstr(lines.data, "getdents"), "no known function in the file of perf");
	buf_free(&lines);
}

/*
 * Stacks that perf copied. perf unwinds them itself, and may give up early; what it has must be the start of ours. Where
 * code has no rules, perf may name a wrong caller; and we end at the dynamic linker's resolver, whose CFA is in rbx. In
 * 7,000 stacks of ls there were 3 of these. The chain of the program is known up to a frame of 40,000 bytes, whose untouched pages the
 * kernel cannot copy.
 */
Test(perf_data, copied_stacks_have_the_callers_that_perf_finds)
{
	struct buf commands = { 0 }, lines;

	buf_printf(
		&commands,
		"for c in '%s --now 30' 'ls -R /usr/share'; do\n"
		"perf record -q -e cpu-clock -F 999 --call-graph dwarf,16384 -o dwarf.data $c >/dev/null\n"
		"$D convert -q dwarf.data -o dwarf.d9\n"
		"perf script -F ip,dso,event --no-inline -i dwarf.data 2>/dev/null | awk '\n"
		"/cpu-clock/ { if (s) print s; s = \"S\"; next }\n"
		"NF && !/\\[kernel/ && $1 != \"ffffffffffffffff\" { s = s \" \" $1 }\n"
		"END { print s }' >perf.chains\n"
		"$D script -F ip,dso,event dwarf.d9 | awk '\n"
		"/cpu-clock/ { if (s) print s; s = \"S\"; next }\n"
		"NF && !/\\[kernel/ { s = s \" \" $1 } END { print s }' >our.chains\n"
		"paste -d: perf.chains our.chains | awk -F: 'index($2, $1) != 1 { n++; other = $0 }\n"
		"END { if (n * 50 > NR) print n \" of \" NR \" differ: \" other }'\n"
		"done",
		live_built("stimuli/unwind_chain"));
	same(buf_cstr(&commands));
	buf_free(&commands);
	lines = shell("$D info dwarf.d9; cat our.chains");
	cr_assert(strstr(lines.data, "complete"), "%s", lines.data);
	cr_assert(!strstr(lines.data, " 0.00% of"), "no stack is complete:\n%s", lines.data);
	buf_free(&lines);
}

/* A directory with a file per thread of perf, whose records are in order of time in no file. */
Test(perf_data, perf_reports_the_same_for_a_directory_of_its_threads)
{
	struct buf files;

	same("perf record -q --threads -e cpu-clock -F 999 -g -o threads ls -R /usr/share >/dev/null\n"
	     "$D convert -q threads -o threads.d9\n"
	     "$D convert -q --to perf-data threads.d9 -o back.data\n"
	     "for f in threads back.data; do\n"
	     "perf report --stdio -n --no-children -g none --sort comm,dso,sym -i $f 2>/dev/null |\n"
	     "grep -v '^#' >$f.report\n"
	     "done; diff threads.report back.data.report\n"
	     "$D script -F time,event threads.d9 | sort -c");
	files = shell("ls threads; cat threads.report");
	cr_assert(strstr(files.data, "data.0") && strstr(files.data, "ls"), "%s", files.data);
	buf_free(&files);
}

/* Threads that perf did not name have a name in ours. */
Test(perf_data, perf_sched_latency_is_the_same_after_a_round_trip)
{
	struct buf lines;

	same("perf record -q -a -m 1024 -c 1 -R -e sched:sched_switch,sched:sched_waking \\\n"
	     "-e sched:sched_wakeup_new,sched:sched_stat_runtime,sched:sched_migrate_task \\\n"
	     "-o perf.data sleep 0.5 >&2\n"
	     "$D convert -q perf.data -o perf.d9; $D convert -q --to perf-data perf.d9 -o back.data\n"
	     "for f in perf back; do perf sched latency -p -i $f.data 2>/dev/null |\n"
	     "sed 's/^  .*:\\([0-9]* *|\\)/\\1/; s/ *|/|/' | sort >$f.latency\n"
	     "perf script --ns -F cpu,time,event,trace -i $f.data 2>/dev/null | grep 'sched_switch:' >$f.script; done\n"
	     "diff perf.latency back.latency; diff perf.script back.script");
	lines = shell("cat perf.latency");
	cr_assert(strstr(lines.data, "avg:"), "no thread in the file of perf:\n%s", lines.data);
	buf_free(&lines);
}

static const char record[] =
	"$D record -q -F 999 --switch-stacks both -o ours.d9 -- '%s' --now 20 >/dev/null\n"
	"$D convert -q --to perf-data ours.d9 -o ours.data\n";

static void record_chain(void)
{
	struct buf commands = { 0 }, out;

	buf_printf(&commands, record, live_built("stimuli/unwind_chain"));
	out = shell(buf_cstr(&commands));
	buf_free(&out);
	buf_free(&commands);
}

/* As "[Y] sched:sched_switch", by CPU and event. */
Test(perf_data, perf_script_has_the_same_events_of_our_recording)
{
	record_chain();
	same("perf script --ns -F tid,cpu,time,event -i ours.data 2>/dev/null |\n"
	     "sed -n 's/^ *\\([0-9]*\\) \\[\\([0-9]*\\)\\] *\\([0-9.]*\\): *\\([a-z_:-]*\\):.*/\\1 \\2 \\3 \\4/p' |\n"
	     "sort >perf.events\n"
	     "$D script --ns -F tid,cpu,time,event ours.d9 |\n"
	     "sed -n 's/^ *\\([0-9]*\\) \\[\\([0-9]*\\)\\] *\\([0-9.]*\\): *\\([a-z_:-]*\\):.*/\\1 \\2 \\3 \\4/p' |\n"
	     "sort >our.events\n"
	     "grep -q sched_switch our.events; diff our.events perf.events");
}

/* Functions of the program, by the leaf of CPU samples. perf finds the symbols in the file, we have them in the trace. */
Test(perf_data, perf_report_counts_the_same_leaves_of_our_recording)
{
	struct buf lines;

	record_chain();
	same("perf report --stdio -n --no-children -g none --sort sym -i ours.data 2>/dev/null |\n"
	     "sed -n '/^# .*cpu-clock/,/^# Samples.*sched/s/^ *[0-9.]*% *\\([0-9]*\\) *\\[\\.\\] \\(chain_[a-z_]*\\).*/\\2 \\1/p' |\n"
	     "sort >perf.leaves\n"
	     "$D script -F ip,sym,event ours.d9 | awk '\n"
	     "/cpu-clock:/ { leaf = 1; next }\n"
	     "leaf { if ($2 ~ /^chain_/) { sub(/\\+.*/, \"\", $2); n[$2]++ } leaf = 0 }\n"
	     "END { for (f in n) print f, n[f] }' | sort >our.leaves\n"
	     "diff our.leaves perf.leaves");
	lines = shell("cat our.leaves");
	cr_assert(strstr(lines.data, "chain_leaf "), "no samples:\n%s", lines.data);
	buf_free(&lines);
}

/* How many switches have a function on their stack, in the output of either script: frames begin with a tab. */
#define SWITCHES_OF(function)                                                                      \
	"awk '/^[^\\t]/ { on = /sched:sched_switch:/; next } on && / " function                    \
	"/ { n++ } END { print n + 0 }'"

/* Off-CPU stacks belong to their switch: each chain that sleeps has its caller. */
Test(perf_data, perf_script_has_the_stacks_of_switches)
{
	struct buf n;
	long ours, theirs;

	record_chain();
	n = shell("$D script -F ip,sym,event ours.d9 | " SWITCHES_OF("chain_sleeps"));
	ours = atol(n.data);
	buf_free(&n);
	n = shell("perf script -F ip,sym,event -i ours.data 2>/dev/null |\n" SWITCHES_OF(
		"chain_sleeps"));
	theirs = atol(n.data);
	buf_free(&n);
	cr_assert_gt(ours, 10);
	cr_assert_eq(ours, theirs, "ours %ld, perf %ld", ours, theirs);
}
