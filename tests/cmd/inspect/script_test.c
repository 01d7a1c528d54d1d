// SPDX-License-Identifier: BSD-2-Clause
/* What `script` prints, to the byte, of run_make_app()'s trace; perf script's layout is the model. */
#include <regex.h>

#include "tests/cmd/run_cmd.h"

/* clang-format off */
static const char full[] = "app      10/10      [001]    11.000000: cpu-clock:\n"
		  "\t             310 leaf (inlined)\n"
		  "\t             310 hot+0x10 (/opt/app/bin/app)\n"
		  "\t             210 work+0x10 (/opt/app/bin/app)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n"
		  "app      10/10      [001]    11.001000: cpu-clock:\n"
		  "\t             310 leaf (inlined)\n"
		  "\t             310 hot+0x10 (/opt/app/bin/app)\n"
		  "\t             210 work+0x10 (/opt/app/bin/app)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n"
		  "app      10/10      [001]    11.002000: cpu-clock:\n"
		  "\t             310 leaf (inlined)\n"
		  "\t             310 hot+0x10 (/opt/app/bin/app)\n"
		  "\t             210 work+0x10 (/opt/app/bin/app)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n"
		  "app      10/10      [001]    11.003000: cpu-clock:\n"
		  "\t             310 leaf (inlined)\n"
		  "\t             310 hot+0x10 (/opt/app/bin/app)\n"
		  "\t             210 work+0x10 (/opt/app/bin/app)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n"
		  "pool      10/11      [001]    11.004000: cpu-clock:\n"
		  "\t             310 leaf (inlined)\n"
		  "\t             310 hot+0x10 (/opt/app/bin/app)\n"
		  "\t             210 work+0x10 (/opt/app/bin/app)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n"
		  "pool      10/11      [001]    11.005000: cpu-clock:\n"
		  "\t             310 leaf (inlined)\n"
		  "\t             310 hot+0x10 (/opt/app/bin/app)\n"
		  "\t             210 work+0x10 (/opt/app/bin/app)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n"
		  "app      10/10      [000]    12.000000: cpu-clock:\n"
		  "\t             910 [unknown] (/lib/libc.so.6)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n"
		  "app      10/10      [000]    12.000000: cpu-clock:\n"
		  "\t             910 [unknown] (/lib/libc.so.6)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n"
		  "            pool      10/11      [001]    12.001234: sched:sched_switch: (prev_comm=pool prev_pid=11 prev_prio=120 prev_state=S next_comm=swapper/1 next_pid=0 next_prio=120)\n"
		  "\t              80 schedule+0x40 ([kernel.kallsyms])\n"
		  "\t             210 work+0x10 (/opt/app/bin/app)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n"
		  "             app      10/10      [000]    13.000000: sched:sched_waking: (comm=pool pid=11 prio=120 target_cpu=0)\n"
		  "#                     -1/-1      [000]    14.000000: LostEvents: (cpu=0 kind=ring_full count=3 first_ns=13000005000 last_ns=13000007000)\n";

static const char brief[] = "             app      10    11.000000000: cpu-clock:\n"
		  "             app      10    11.001000000: cpu-clock:\n"
		  "             app      10    11.002000000: cpu-clock:\n"
		  "             app      10    11.003000000: cpu-clock:\n"
		  "            pool      11    11.004000000: cpu-clock:\n"
		  "            pool      11    11.005000000: cpu-clock:\n"
		  "             app      10    12.000000000: cpu-clock:\n"
		  "             app      10    12.000000005: cpu-clock:\n"
		  "            pool      11    12.001234567: sched:sched_switch:\n"
		  "             app      10    13.000000000: sched:sched_waking:\n"
		  "                      -1    14.000000000: LostEvents:\n";

static const char with_lines[] = "app      10/10      [001]    11.000000: cpu-clock:\n"
		  "\t             310 leaf (inlined)\n"
		  "  leaf.h:7\n"
		  "\t             310 hot+0x10 (/opt/app/bin/app)\n"
		  "  app.c:21\n"
		  "\t             210 work+0x10 (/opt/app/bin/app)\n"
		  "  app.c:15\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "  app.c:5\n"
		  "\n";

static const char sched_only[] = "pool      10/11      [001]    12.001234: sched:sched_switch: prev_comm=pool prev_pid=11 prev_prio=120 prev_state=S next_comm=swapper/1 next_pid=0 next_prio=120\n"
		  "\t              80 schedule+0x40 ([kernel.kallsyms])\n"
		  "\t             210 work+0x10 (/opt/app/bin/app)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n"
		  "             app      10/10      [000]    13.000000: sched:sched_waking: comm=pool pid=11 prio=120 target_cpu=0\n";

#define JSON_SWITCH "{\"version\":2,\"ts\":12001234567,\"event\":\"sched:sched_switch\",\"comm\":\"pool\",\"pid\":10,\"tid\":11,\"cpu\":1,\"fields\":{\"prev_comm\":\"pool\",\"prev_pid\":11,\"prev_prio\":120,\"prev_state\":1,\"next_comm\":\"swapper/1\",\"next_pid\":0,\"next_prio\":120},\"text\":{\"prev_state\":\"S\"}"
#define JSON_STACK ",\"stack\":[{\"addr\":\"0x8000030000000080\",\"sym\":\"schedule\",\"off\":64,\"dso\":\"[kernel.kallsyms]\"},{\"addr\":\"0x10000000210\",\"sym\":\"work\",\"off\":16,\"dso\":\"/opt/app/bin/app\",\"file\":\"app.c\",\"line\":15},{\"addr\":\"0x10000000110\",\"sym\":\"main\",\"off\":16,\"dso\":\"/opt/app/bin/app\",\"file\":\"app.c\",\"line\":5}]}\n"

static const char json[] = JSON_SWITCH JSON_STACK;

static const char json_stack_alone[] = "{\"version\":2,\"ts\":12001234567,\"event\":\"switch-out\",\"comm\":\"pool\",\"pid\":10,\"tid\":11,\"cpu\":1,\"fields\":{\"worker_id\":255,\"tid\":11,\"source\":1,\"thread_name\":null,\"cpu\":1,\"pid\":10,\"flags\":0}" JSON_STACK;

static const char json_lost[] = "{\"version\":2,\"ts\":14000000000,\"event\":\"LostEvents\",\"comm\":null,\"pid\":null,\"tid\":null,\"cpu\":0,\"fields\":{\"cpu\":0,\"kind\":\"ring_full\",\"count\":3,\"first_ns\":13000005000,\"last_ns\":13000007000}}\n";

static const char switch_out_only[] = "pool      10/11      [001]    12.001234: switch-out:\n"
		  "\t              80 schedule+0x40 ([kernel.kallsyms])\n"
		  "\t             210 work+0x10 (/opt/app/bin/app)\n"
		  "\t             110 main+0x10 (/opt/app/bin/app)\n"
		  "\n";
/* clang-format on */

#define APP(...) run_app((const char *[]){ __VA_ARGS__, NULL, NULL, NULL, NULL })

static struct run run_app(const char **w)
{
	struct make m;
	struct run r;

	run_make_app(&m);
	r = run_cmd(cmd_script, make_file(&m), "script", "-", w[0], w[0] ? w[1] : NULL,
		    w[0] && w[1] ? w[2] : NULL, w[0] && w[1] && w[2] ? w[3] : NULL, NULL);
	make_fini(&m);
	return r;
}

Test(script, each_event_is_a_line_with_its_stack_below)
{
	run_expect(APP(NULL), 0, full, "");
}

Test(script, fields_can_be_selected)
{
	run_expect(APP("--ns", "-F", "comm,tid,time,event"), 0, brief, "");
	run_expect(APP("--limit=1", "-F", "+srcline"), 0, with_lines, "");
	run_expect(APP("-e", "*waking", "-F", "-comm,-cpu,-time,-trace"), 0,
		   "     10/10      sched:sched_waking:\n", "");
}

/* At the line of the inner function. */
Test(script, function_inlined_into_itself_is_printed_once)
{
	const uint64_t frame = make_frame(1, 0x310);
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 1, 10, 10, "app");
	make_sample(&m, 5, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	make_symbol(&m, 7, frame, 0, frame, "hot", "a.c", 3);
	make_symbol(&m, 7, frame, 1, frame, "hot", "a.c", 5);
	run_expect(run_cmd(cmd_script, make_done(&m), "script", "-Fevent,sym,srcline", "-eCpu*",
			   "-", NULL),
		   0, "CpuSampleEvent:\n\t hot\n  a.c:5\n\n", "");
}

Test(script, events_and_threads_can_be_selected)
{
	run_expect(APP("-e", "sched:*"), 0, sched_only, "");
	run_expect(APP("-t", "11", "--time=12,", "-esched:*"), 0, sched_only, "");
	run_expect(APP("-e", "switch-out"), 0, switch_out_only, "");
	run_expect(APP("-e", "cpu-clock", "-Fevent", "-C0"), 0, "cpu-clock:\ncpu-clock:\n", "");
	run_expect(APP("-e", "TaskEvent", "-F", "trace"), 0,
		   " pid=10 tid=10 ppid=1 comm=app exe=/usr/bin/thing cgroup=/\n"
		   " pid=10 tid=11 ppid=1 comm=pool exe=/usr/bin/thing cgroup=/\n",
		   "");
}

Test(script, output_is_json)
{
	run_expect(APP("--json", "-e", "sched:sched_switch"), 0, json, "");
	run_expect(APP("--json", "-e", "switch-out"), 0, json_stack_alone, "");
	run_expect(APP("--json", "-e", "LostEvents"), 0, json_lost, "");
}

/* A label such as [libc.so.6] is for readers without modules. */
Test(script, unresolved_frames_have_address_and_module_only)
{
	const uint64_t at = make_frame(2, 0x910);
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_module(&m, 1, 2, "/lib/libc.so.6", PROF_MODULE_ELF);
	make_sample(&m, RUN_SEC, 10, 10, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_label(&m, RUN_SEC, at, "[libc.so.6]");
	r = run_cmd(cmd_script, make_file(&m), "script", "-", NULL);
	run_expect_in(r.out, "\n\t             910 [unknown] (/lib/libc.so.6)\n");
	run_free(&r);
	r = run_cmd(cmd_script, make_file(&m), "script", "--json", "-", NULL);
	run_expect_in(r.out, "\"stack\":[{\"addr\":\"0x20000000910\",\"sym\":null,"
			     "\"dso\":\"/lib/libc.so.6\"}]");
	run_free(&r);
	make_fini(&m);
}

/* A wakeup with its waker stack, and a stack of the same thread that belongs to no wakeup. */
static int make_waker(struct make *m)
{
	const uint64_t frame = make_frame(1, 0x10);

	make_init(m, NULL);
	make_waking(m, 1000000, 1, 7, "a", 5);
	make_sample(m, 1000000, 7, 7, PROF_SOURCE_WAKING, 1, &frame, 1);
	make_sample(m, 2000000, 7, 7, PROF_SOURCE_WAKING, 1, &frame, 1);
	return make_file(m);
}

Test(script, stack_of_a_waker_is_printed_below_its_wakeup)
{
	struct make m;
	struct run r = run_cmd(cmd_script, make_waker(&m), "script", "-", "-Fevent,ip,sym", NULL);
	char *at;

	cr_expect_eq(r.code, CMD_OK);
	at = strstr(r.out, "sched:sched_waking:");
	cr_assert(at, "%s", r.out);
	at = strchr(at, '\n');
	cr_expect_eq(strspn(at + 1, "\t"), 1, "a frame: %s", r.out);
	at = strstr(at, "waker:");
	cr_assert(at, "%s", r.out);
	cr_expect_null(strstr(at + 1, "waker:"), "once, and not below its waking: %s", r.out);
	run_free(&r);
	make_fini(&m);
	r = run_cmd(cmd_script, make_waker(&m), "script", "-", "-ewaker", "--json", NULL);
	cr_expect_eq(r.code, CMD_OK);
	run_expect_in(r.out, "\"event\":\"waker\"");
	cr_expect_null(strstr(r.out, "sched_waking"), "%s", r.out);
	run_free(&r);
	make_fini(&m);
}

Test(script, unknown_fields_are_usage_errors)
{
	run_expect(APP("-F", "comm,colour"), 1, "",
		   "dial9-prof: script: unknown field 'colour' in -F (known: comm, pid, tid, cpu, "
		   "time, event, trace, ip, sym, symoff, dso, srcline, end)\n");
}

/* Foreign schemas: every type has a text and a JSON form. */
Test(script, every_type_of_value_is_printed)
{
	static const struct dial9_field fields[] = {
		{ "i", DIAL9_I64 },	   { "f", DIAL9_F64 },
		{ "b", DIAL9_BOOL },	   { "s", DIAL9_STRING },
		{ "y", DIAL9_BYTES },	   { "st", DIAL9_STACK },
		{ "m", DIAL9_STRING_MAP }, { "o", DIAL9_U8 | DIAL9_OPTIONAL },
		{ "l", DIAL9_LIST },
	};
	static const struct dial9_str kv[][2] = { { { "k", 1 }, { "v", 1 } } };
	const uint64_t frames[] = { 16, 32 };
	struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	struct dial9_schema *s;
	struct make m;

	make_init(&m, &opts);
	cr_assert_eq(dial9_schema_new("Foreign", false, fields, 9, &s), 0);
	for (int i = 0; i < 2; i++) {
		dial9_enc_begin(m.enc, s, 0);
		dial9_enc_put_i64(m.enc, -5);
		dial9_enc_put_f64(m.enc, 1.5);
		dial9_enc_put_bool(m.enc, true);
		dial9_enc_put_str(m.enc, "a\tb\"", 4);
		dial9_enc_put_bytes(m.enc, "\x01\xff", 2);
		dial9_enc_put_stack(m.enc, frames, 2);
		dial9_enc_put_map(m.enc, kv, 1);
		dial9_enc_put_none(m.enc);
		dial9_enc_open_list(m.enc);
		dial9_enc_put_u64(m.enc, 7);
		dial9_enc_put_str(m.enc, "x", 1);
		dial9_enc_close(m.enc);
		make_end(&m);
	}
	run_expect(run_cmd(cmd_script, make_file(&m), "script", "-", "--limit=1", NULL), 0,
		   "#                     -1/-1      [---]            -: Foreign: (i=-5 f=1.5 b=1 "
		   "s=a\\x09b\" y=01ff st=[16,32] m={k: v} o=- l=[7, x])\n",
		   "");
	run_expect(run_cmd(cmd_script, make_file(&m), "script", "-", "--json", "--limit=1", NULL),
		   0,
		   "{\"version\":2,\"ts\":null,\"event\":\"Foreign\",\"comm\":null,\"pid\":null,"
		   "\"tid\":null,\"cpu\":null,\"fields\":{\"i\":-5,\"f\":1.5,\"b\":true,"
		   "\"s\":\"a\\tb\\\"\",\"y\":\"01ff\",\"st\":[16,32],\"m\":[[\"k\",\"v\"]],"
		   "\"o\":null,\"l\":[7,\"x\"]}}\n",
		   "");
	dial9_schema_free(s);
	make_fini(&m);
}

/* Readers of perf's output get only the frames unless requested otherwise. */
Test(script, end_of_a_stack_is_explained_on_request)
{
	const uint64_t at[] = { make_frame(1, 0x10), make_frame(1, 0x20) };
	static const char plain[] = ":10      10/10      [000]     0.000001: CpuSampleEvent:\n"
				    "\t              10 [unknown] (/lib/a.so)\n"
				    "\t              20 [unknown] (/lib/a.so)\n";
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/lib/a.so", PROF_MODULE_ELF);
	make_sample_ended(&m, 1000, PROF_SOURCE_SAMPLE, at, 2, PROF_END_COMPLETE);
	make_sample_ended(&m, 1000, PROF_SOURCE_SAMPLE, at, 2,
			  PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	r = run_cmd(cmd_script, make_file(&m), "script", "-", NULL);
	run_expect_in(r.out, plain);
	cr_expect_null(strstr(r.out, "ends here"), "%s", r.out);
	cr_expect_null(strstr(r.out, "guess"), "%s", r.out);
	run_free(&r);
	r = run_cmd(cmd_script, make_file(&m), "script", "-F", "+end", "-", NULL);
	run_expect_in(r.out, " (/lib/a.so)\n"
			     "  [a caller is a guess: code without unwind information]\n"
			     "  [ends here: no unwind information for this code]\n\n");
	run_expect_in(r.out, " (/lib/a.so)\n\n");
	run_free(&r);
	r = run_cmd(cmd_script, make_file(&m), "script", "--json", "-", NULL);
	run_expect_in(r.out, "\"user_end\":1},\"stack\":[");
	run_expect_in(r.out, "],\"user_end\":\"complete\"}\n");
	run_expect_in(r.out, "\"user_end\":102},\"stack\":[");
	run_expect_in(r.out, "],\"user_end\":\"no_row\",\"uncertain_caller\":true}\n");
	run_free(&r);
	make_fini(&m);
}

/* On a pipe symbols come while lines are printed; a stack that was printed without them must get them later. */
Test(script, stack_uses_symbols_that_came_later)
{
	const uint64_t at[] = { make_frame(1, 0x10) }, sec = 1000000000;
	const void *data;
	struct make m;
	size_t sz;
	int p[2];

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/lib/a.so", PROF_MODULE_ELF);
	make_sample(&m, sec, 10, 10, PROF_SOURCE_SAMPLE, 0, at, 1);
	make_waking(&m, 4 * sec, 0, 10, "app", 10);
	make_symbol(&m, 10 * sec, at[0], 0, at[0], "early", "", 0);
	make_sample(&m, 12 * sec, 10, 10, PROF_SOURCE_SAMPLE, 0, at, 1);
	make_waking(&m, 15 * sec, 0, 10, "app", 10);
	make_symbol(&m, 20 * sec, at[0], 0, at[0], "late", "", 0);
	make_sample(&m, 22 * sec, 10, 10, PROF_SOURCE_SAMPLE, 0, at, 1);
	data = dial9_enc_data(m.enc, &sz);
	cr_assert_eq(pipe(p), 0);
	cr_assert_eq(write(p[1], data, sz), (ssize_t)sz);
	close(p[1]);
	run_expect(run_cmd(cmd_script, p[0], "script", "-", "-F", "sym", "-e", "Cpu*", NULL), 0,
		   "\n\t [unknown]\n\n\n\t early\n\n\n\t late\n\n", "");
	make_fini(&m);
}

/* Percentages of the whole need a pass before, after which the input starts over. */
Test(script, window_in_percent_is_printed_like_any_other)
{
	struct run want, got;
	struct make m;

	run_make_app(&m);
	want = run_cmd(cmd_script, make_file(&m), "script", "-", "--time", "12,12.5", NULL);
	got = run_cmd(cmd_script, make_file(&m), "script", "-", "--time", "50%,60%", NULL);
	cr_assert_neq(strstr(got.out, "sched:sched_switch"), NULL);
	run_expect(got, 0, want.out, "");
	run_free(&want);
	make_fini(&m);
}

/* ---- stackcollapse-perf.pl --------------------------------------------------------------------- */

/*
 * How that script reads text: a record is a line whose first character is no blank, with a PID after the name;
 * the event at its end, if there is one, must be the event of the first record, or the record is skipped; frames are
 * "ADDRESS FUNCTION (MODULE)"; an empty line ends a stack, and a stack without a record is ignored; other
 * lines, except comments, are warned of.
 */
struct collapsed {
	int stacks, warnings;
	char events[256]; /* number of counted records */
};

static regex_t compile(const char *pattern)
{
	regex_t re;

	cr_assert_eq(regcomp(&re, pattern, REG_EXTENDED), 0);
	return re;
}

static bool other_event(const char *line, regmatch_t *m, char *filter)
{
	size_t n = (size_t)(m->rm_eo - m->rm_so);

	cr_assert_lt(n, 64);
	if (!*filter)
		memcpy(filter, line + m->rm_so, n);
	return strlen(filter) != n || memcmp(filter, line + m->rm_so, n) != 0;
}

static struct collapsed collapse(char *text)
{
	regex_t record = compile("^[^[:space:]].*[[:space:]]+[0-9]+/*([0-9]+)*[[:space:]]+");
	regex_t event = compile(":[[:space:]]*([0-9]+)*[[:space:]]+([^[:space:]]+):[[:space:]]*$");
	regex_t frame = compile("^[[:space:]]*([[:alnum:]_]+)[[:space:]]*(.+) \\((.*)\\)");
	struct collapsed c = { 0 };
	bool counts = false;
	char filter[64] = "";
	regmatch_t m[3];
	char *line;
	int frames = 0;

	while ((line = strsep(&text, "\n"))) {
		if (*line == '#')
			continue;
		if (!*line) {
			c.stacks += counts && frames;
			counts = false;
			frames = 0;
		} else if (!regexec(&record, line, 0, NULL, 0)) {
			if (regexec(&event, line, 3, m, 0) || !other_event(line, &m[2], filter))
				counts = true;
		} else if (!regexec(&frame, line, 0, NULL, 0)) {
			frames += counts;
		} else {
			c.warnings++;
		}
	}
	regfree(&record);
	regfree(&event);
	regfree(&frame);
	snprintf(c.events, sizeof(c.events), "%s", filter);
	return c;
}

static void expect_collapsed(struct run r, int stacks, const char *events)
{
	struct collapsed c = collapse(r.out);

	cr_expect_eq(r.code, 0);
	cr_expect_eq(c.stacks, stacks, "%d stacks", c.stacks);
	cr_expect_eq(c.warnings, 0, "%d warnings", c.warnings);
	cr_expect_str_eq(c.events, events);
	run_free(&r);
}

Test(script, stackcollapse_reads_only_samples_by_default)
{
	expect_collapsed(APP(NULL), 8, "cpu-clock");
	expect_collapsed(APP("-F", "-trace"), 8, "cpu-clock");
	expect_collapsed(APP("-F", "comm,pid,tid,cpu,time,event,ip,sym,dso"), 8, "cpu-clock");
	expect_collapsed(APP("--all"), 8, "cpu-clock");
	expect_collapsed(APP("-e", "cpu-clock"), 8, "cpu-clock");
	expect_collapsed(APP("-e", "switch-out"), 1, "switch-out");
	expect_collapsed(APP("-e", "sched:sched_switch"), 1, "");
}

/*
 * A stack never belongs to another event: not to a sample without a stack, nor to a thread whose name cannot be
 * parsed.
 */
Test(script, stackcollapse_never_gives_a_stack_to_another_event)
{
	const uint64_t at[] = { make_frame(1, 0x10) };
	struct make m;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/lib/a.so", PROF_MODULE_ELF);
	make_task(&m, 2, 10, 10, "(odd) one");
	make_task(&m, 2, 11, 11, "a name of many more letters than a kernel has");
	make_switch(&m, 1000, 0, "(odd) one", 10, 1, "x", 11);
	make_sample(&m, 1000, 10, 10, PROF_SOURCE_SWITCH_OUT, 0, at, 1);
	make_switch(&m, 2000, 0, "x", 11, 1, "(odd) one", 10);
	make_sample(&m, 2000, 11, 11, PROF_SOURCE_SWITCH_OUT, 0, at, 1);
	make_sample(&m, 2500, 11, 11, PROF_SOURCE_SWITCH_OUT, 0, at, 1);
	make_sample(&m, 3000, 10, 10, PROF_SOURCE_SAMPLE, 0, NULL, 0);
	make_switch(&m, 4000, 0, "(odd) one", 10, 1, "x", 11);
	make_sample(&m, 4000, 10, 10, PROF_SOURCE_SWITCH_OUT, 0, at, 1);
	expect_collapsed(run_cmd(cmd_script, make_file(&m), "script", "-", NULL), 0,
			 "CpuSampleEvent");
	make_fini(&m);
}

/* As in a merged trace, where each recording has these rows. */
Test(script, state_with_repeated_names_is_printed_once)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_prev_state(&m, RUN_SEC);
	make_prev_state(&m, RUN_SEC + 1);
	make_switch(&m, RUN_SEC + 2, 0, "a", 7, 0x100, "b", 8);
	r = run_cmd(cmd_script, make_file(&m), "script", "-", NULL);
	run_expect_in(r.out, "prev_state=R+ ");
	run_free(&r);
	make_fini(&m);
}
