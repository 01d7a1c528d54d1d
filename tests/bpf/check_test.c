// SPDX-License-Identifier: BSD-2-Clause
/* `check` reports whether a recording can start, and a recording confirms it. */
#include <criterion/criterion.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "tests/bpf/support.h"

TestSuite(check, .fini = live_cleanup);

enum { NOBODY = 65534 };

static void drop_to_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(121);
}

/* What it prints, which the caller frees; *code is its exit status. */
static struct buf check(const char *option, live_prepare_fn prepare, int *code)
{
	const char *args[] = { "check", option, NULL };
	struct live_proc p;
	struct buf output;

	*code = live_run(&p, args, prepare);
	output = p.output;
	p.output = (struct buf){ 0 };
	live_proc_fini(&p);
	buf_cstr(&output);
	return output;
}

/* The line about it, to its end. */
static const char *line_of(const struct buf *output, const char *name)
{
	static char line[512];
	const char *at = strstr(output->data, name), *start = at;

	cr_assert(at, "nothing about %s in: %s", name, output->data);
	while (start > output->data && start[-1] != '\n')
		start--;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(start, "\n"), start);
	return line;
}

static void expect_state(const struct buf *output, const char *name, const char *state)
{
	const char *line = line_of(output, name);

	cr_expect_eq(strncmp(line, state, strlen(state)), 0, "%s", line);
}

Test(check, check_reports_that_root_can_record_and_record_works)
{
	const char *args[] = { "-q", "-o", live_path("c.bin"), "--", "/bin/true", NULL };
	struct live_proc p;
	struct buf output;
	int code;

	output = check(NULL, NULL, &code);
	cr_expect_eq(code, 0, "%s", output.data);
	cr_expect(strstr(output.data, "\nRecording can start.\n"), "%s", output.data);
	expect_state(&output, "CAP_BPF", "ok ");
	expect_state(&output, "kernel types (BTF)", "ok ");
	expect_state(&output, "record -a", "ok ");
	expect_state(&output, "--neighbours", "ok ");
	expect_state(&output, "--min-block", "ok ");
	expect_state(&output, "--summary", "ok ");
	expect_state(&output, "kernel symbols", "ok ");
	buf_free(&output);
	cr_expect_eq(live_run(&p, args, NULL), 0);
	live_proc_fini(&p);
}

Test(check, check_prints_each_needed_command_to_an_unprivileged_user)
{
	struct buf output;
	int code;

	output = check(NULL, drop_to_nobody, &code);
	cr_expect_eq(code, 2);
	cr_expect(strstr(output.data, "\nRecording cannot start.\n"), "%s", output.data);
	expect_state(&output, "CAP_BPF", "missing ");
	expect_state(&output, "CAP_SYSLOG", "limited ");
	expect_state(&output, "BPF programs", "missing ");
	expect_state(&output, "sampling clock", "limited ");
	cr_expect(strstr(output.data, "fix: sudo, or once: sudo setcap cap_bpf,cap_perfmon,"));
	cr_expect_null(strstr(strstr(output.data, "setcap") + 1, "setcap"), "once: %s",
		       output.data);
	buf_free(&output);
}

Test(check, json_has_the_same_result)
{
	struct buf output;
	int code;

	output = check("--json", NULL, &code);
	cr_expect_eq(code, 0);
	cr_expect_eq(strstr(output.data, "{\"can_record\":true,\"checks\":[{\"state\":\"ok\","),
		     output.data);
	cr_expect(strstr(output.data, "\"name\":\"tracefs\",\"detail\":\"mounted"), "%s",
		  output.data);
	cr_expect_str_eq(output.data + output.len - 4, "}]}\n");
	buf_free(&output);
	output = check("--json", drop_to_nobody, &code);
	cr_expect_eq(code, 2);
	cr_expect_eq(strstr(output.data, "{\"can_record\":false,"), output.data, "%s", output.data);
	cr_expect(strstr(output.data, "\"state\":\"missing\",\"name\":\"BPF programs\""));
	buf_free(&output);
}

/* Each thousand instructions take the verifier a millisecond before the first event. */
Test(check, verifier_is_fast_on_every_program_of_a_process)
{
	enum { INSNS_MAX = 30000 };
	char *line, *next, name[64];
	unsigned int insns;
	size_t cnt = 0;
	struct buf output;
	int code;

	output = check("--programs=process", NULL, &code);
	cr_expect_eq(code, 0, "%s", output.data);
	for (line = output.data; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "process %63s ok %u", name, &insns) != 2)
			continue;
		cr_expect(insns && insns <= INSNS_MAX, "%s: %u", name, insns);
		cnt++;
	}
	cr_expect_gt(cnt, 10);
	buf_free(&output);
}

Test(check, programs_that_no_user_may_load_are_reported_in_one_line)
{
	const char *args[] = { "check", "--programs", NULL };
	struct live_proc p;
	struct buf err;

	cr_expect_eq(live_run(&p, args, drop_to_nobody), 2);
	cr_expect_eq(p.output.len, 0, "%s", buf_cstr(&p.output));
	err = live_errors(&p);
	buf_cstr(&err);
	cr_expect_eq(strncmp(err.data, "dial9-prof: ", 12), 0, "%s", err.data);
	cr_expect_eq(strchr(err.data, '\n'), err.data + err.len - 1, "one line: %s", err.data);
	buf_free(&err);
	live_proc_fini(&p);
}
