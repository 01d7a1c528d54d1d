// SPDX-License-Identifier: BSD-2-Clause
/* Trace events: rows of CPUs and threads, arrows, marks and frames. */
#include "tests/cmd/run_cmd.h"

static struct run exported(struct make *m, const char *kind)
{
	return run_cmd(cmd_export, make_done(m), "export", "chrome", "-", kind, NULL);
}

static void expect_line(const struct run *r, const char *line)
{
	const char *at = strstr(r->out, line);

	cr_assert_eq(r->code, CMD_OK, "%s", r->err);
	cr_expect(at && at[-1] == '\n', "no line %s in:\n%s", line, r->out);
}

/* 10 runs on CPU 0 from 1 ms on, blocks at 2 ms, and is woken by 20 at 3 ms, which runs on CPU 1. */
static void make_two(struct make *m)
{
	const uint64_t stack[] = { make_frame(1, 0x310), make_frame(1, 0x110) };

	make_init(m, NULL);
	make_module(m, 1, 1, "/bin/app", PROF_MODULE_ELF);
	make_task(m, 1, 10, 10, "app");
	make_task(m, 1, 10, 20, "pool");
	make_switch(m, 1000000, 0, "swapper/0", 0, 0, "app", 10);
	make_switch(m, 1500000, 1, "swapper/1", 0, 0, "pool", 20);
	make_sample(m, 1600001, 10, 10, PROF_SOURCE_SAMPLE, 0, stack, 2);
	make_switch(m, 2000000, 0, "app", 10, 1, "swapper/0", 0);
	make_sample(m, 2000000, 10, 10, PROF_SOURCE_SWITCH_OUT, 0, stack + 1, 1);
	make_waking(m, 3000000, 1, 20, "app", 10);
	make_switch(m, 3000500, 0, "swapper/0", 0, 0, "app", 10);
	make_switch(m, 4000000, 0, "app", 10, 0x10, "swapper/0", 0);
	make_switch(m, 4000001, 1, "pool", 20, 0x10, "swapper/1", 0);
	make_symbol(m, 5000000, stack[0], 0, stack[0], "hot", "", 0);
	make_symbol(m, 5000000, stack[1], 0, stack[1], "main", "", 0);
}

Test(chrome, cpus_and_threads_have_rows)
{
	struct make m;
	struct run r;

	make_two(&m);
	r = exported(&m, NULL);
	expect_line(&r, "{\"ph\":\"M\",\"pid\":10,\"tid\":10,\"name\":\"thread_name\","
			"\"args\":{\"name\":\"app\"}}");
	expect_line(&r, "{\"ph\":\"M\",\"pid\":0,\"tid\":1,\"name\":\"thread_name\","
			"\"args\":{\"name\":\"CPU 1\"}}");
	expect_line(&r, "{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":1000.000,\"dur\":1000.000,"
			"\"cat\":\"cpu\",\"name\":\"app/10\"}");
	expect_line(&r, "{\"ph\":\"X\",\"pid\":10,\"tid\":10,\"ts\":1000.000,\"dur\":1000.000,"
			"\"cat\":\"state\",\"name\":\"running\",\"args\":{\"cpu\":0}}");
	expect_line(&r, "{\"ph\":\"X\",\"pid\":10,\"tid\":10,\"ts\":2000.000,\"dur\":1000.000,"
			"\"cat\":\"state\",\"name\":\"blocked\",\"sf\":0,"
			"\"args\":{\"cpu\":0,\"letter\":\"S\",\"waker\":\"pool/20\"}}");
	expect_line(&r, "{\"ph\":\"s\",\"pid\":10,\"tid\":20,\"ts\":3000.000,\"cat\":\"wakeup\","
			"\"name\":\"wakeup\",\"id\":0}");
	expect_line(&r, "{\"ph\":\"f\",\"pid\":10,\"tid\":10,\"ts\":3000.000,\"cat\":\"wakeup\","
			"\"name\":\"wakeup\",\"id\":0,\"bp\":\"e\"}");
	expect_line(&r, "{\"ph\":\"i\",\"pid\":10,\"tid\":10,\"ts\":1600.001,\"s\":\"t\","
			"\"cat\":\"sample\",\"name\":\"sample\",\"sf\":1}");
	expect_line(&r, "\"0\":{\"name\":\"main\",\"category\":\"/bin/app\"}");
	expect_line(&r, "\"1\":{\"name\":\"hot\",\"category\":\"/bin/app\",\"parent\":0}}}");
	cr_expect(!strstr(r.out, "swapper"));
	run_free(&r);
}

Test(chrome, event_without_a_thread_is_on_the_row_of_its_cpu)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_sample(&m, 5000, 0, 0, PROF_SOURCE_SAMPLE, 3, NULL, 0);
	make_lost(&m, 6000, "ring_full", 3, 5000, 5500);
	r = exported(&m, NULL);
	expect_line(&r, "{\"ph\":\"M\",\"pid\":0,\"tid\":3,\"name\":\"thread_name\","
			"\"args\":{\"name\":\"CPU 3\"}}");
	expect_line(&r, "{\"ph\":\"i\",\"pid\":0,\"tid\":3,\"ts\":5.000,\"s\":\"t\","
			"\"cat\":\"sample\",\"name\":\"sample\"}");
	expect_line(&r, "{\"ph\":\"i\",\"pid\":0,\"tid\":0,\"ts\":6.000,\"s\":\"g\","
			"\"cat\":\"event\",\"name\":\"LostEvents\",\"args\":{\"cpu\":0,"
			"\"kind\":\"ring_full\",\"count\":3,\"first_ns\":5000,\"last_ns\":5500}}");
	run_free(&r);
}

Test(chrome, one_kind_is_exported_alone)
{
	struct make m;
	struct run r;

	make_two(&m);
	r = exported(&m, "--kind=runq");
	expect_line(&r, "{\"ph\":\"X\",\"pid\":10,\"tid\":10,\"ts\":3000.000,\"dur\":0.500,"
			"\"cat\":\"state\",\"name\":\"runnable\",\"sf\":0,"
			"\"args\":{\"cpu\":0,\"waker\":\"pool/20\"}}");
	cr_expect(!strstr(r.out, "running"));
	cr_expect(!strstr(r.out, "sample"));
	run_free(&r);
}

Test(chrome, events_keep_their_fields_and_hostile_names_stay_names)
{
	struct dial9_schema *evil = MAKE_SCHEMA("a:\"}]\n", { "common_cpu", DIAL9_VARINT },
						{ "common_pid", DIAL9_VARINT },
						{ "x\"", DIAL9_STRING }, { "n", DIAL9_I64 });
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, 1, 10, 10, "\"},\\");
	dial9_enc_begin(m.enc, evil, 7001);
	dial9_enc_put_u64(m.enc, 3);
	dial9_enc_put_u64(m.enc, 10);
	make_str(&m, "</script>\"\x1b");
	dial9_enc_put_i64(m.enc, -5);
	make_end(&m);
	r = exported(&m, NULL);
	dial9_schema_free(evil);
	expect_line(&r, "{\"ph\":\"M\",\"pid\":10,\"tid\":10,\"name\":\"thread_name\","
			"\"args\":{\"name\":\"\\\"},\\\\\"}}");
	expect_line(&r, "{\"ph\":\"i\",\"pid\":10,\"tid\":10,\"ts\":7.001,\"s\":\"t\","
			"\"cat\":\"event\",\"name\":\"a:\\\"}]\\n\",\"args\":{\"common_cpu\":3,"
			"\"common_pid\":10,\"x\\\"\":\"</script>\\\"\\u001b\",\"n\":-5}}");
	run_free(&r);
}
