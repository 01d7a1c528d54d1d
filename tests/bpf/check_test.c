// SPDX-License-Identifier: BSD-2-Clause
/* `check` reports whether a recording can start, and a recording confirms it. */
#include <criterion/criterion.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "tests/bpf/support.h"

TestSuite(check, .fini = live_cleanup);

enum { NOBODY = 65534 };

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(121);
}

/* What it prints, which the caller frees; *code is its exit status. */
static struct buf check(const char *option, live_prepare_fn prepare, int *code)
{
	const char *args[] = { "check", option, NULL };
	struct live_proc p;
	struct buf said;

	*code = live_run(&p, args, prepare);
	said = p.said;
	p.said = (struct buf){ 0 };
	live_proc_fini(&p);
	buf_cstr(&said);
	return said;
}

/* The line about it, to its end. */
static const char *line_of(const struct buf *said, const char *name)
{
	static char line[512];
	const char *at = strstr(said->data, name), *start = at;

	cr_assert(at, "nothing about %s in: %s", name, said->data);
	while (start > said->data && start[-1] != '\n')
		start--;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(start, "\n"), start);
	return line;
}

static void expect_state(const struct buf *said, const char *name, const char *state)
{
	const char *line = line_of(said, name);

	cr_expect_eq(strncmp(line, state, strlen(state)), 0, "%s", line);
}

Test(check, check_reports_that_root_can_record_and_record_works)
{
	const char *args[] = { "-q", "-o", live_path("c.bin"), "--", "/bin/true", NULL };
	struct live_proc p;
	struct buf said;
	int code;

	said = check(NULL, NULL, &code);
	cr_expect_eq(code, 0, "%s", said.data);
	cr_expect(strstr(said.data, "\nRecording can start.\n"), "%s", said.data);
	expect_state(&said, "CAP_BPF", "ok ");
	expect_state(&said, "kernel types (BTF)", "ok ");
	expect_state(&said, "record -a", "ok ");
	expect_state(&said, "--neighbours", "ok ");
	expect_state(&said, "--min-block", "ok ");
	expect_state(&said, "--summary", "ok ");
	expect_state(&said, "kernel symbols", "ok ");
	buf_free(&said);
	cr_expect_eq(live_run(&p, args, NULL), 0);
	live_proc_fini(&p);
}

Test(check, check_prints_each_needed_command_to_an_unprivileged_user)
{
	struct buf said;
	int code;

	said = check(NULL, become_nobody, &code);
	cr_expect_eq(code, 2);
	cr_expect(strstr(said.data, "\nRecording cannot start.\n"), "%s", said.data);
	expect_state(&said, "CAP_BPF", "missing ");
	expect_state(&said, "CAP_SYSLOG", "limited ");
	expect_state(&said, "BPF programs", "missing ");
	expect_state(&said, "sampling clock", "limited ");
	cr_expect(strstr(said.data, "fix: sudo, or once: sudo setcap cap_bpf,cap_perfmon,"));
	cr_expect_null(strstr(strstr(said.data, "setcap") + 1, "setcap"), "once: %s", said.data);
	buf_free(&said);
}

Test(check, json_has_the_same_result)
{
	struct buf said;
	int code;

	said = check("--json", NULL, &code);
	cr_expect_eq(code, 0);
	cr_expect_eq(strstr(said.data, "{\"can_record\":true,\"checks\":[{\"state\":\"ok\","),
		     said.data);
	cr_expect(strstr(said.data, "\"name\":\"tracefs\",\"detail\":\"mounted"), "%s", said.data);
	cr_expect_str_eq(said.data + said.len - 4, "}]}\n");
	buf_free(&said);
	said = check("--json", become_nobody, &code);
	cr_expect_eq(code, 2);
	cr_expect_eq(strstr(said.data, "{\"can_record\":false,"), said.data, "%s", said.data);
	cr_expect(strstr(said.data, "\"state\":\"missing\",\"name\":\"BPF programs\""));
	buf_free(&said);
}

/* Each thousand instructions take the verifier a millisecond before the first event. */
Test(check, verifier_is_fast_on_every_program_of_a_process)
{
	enum { INSNS_MAX = 60000 };
	char *line, *next, name[64];
	unsigned int insns;
	size_t cnt = 0;
	struct buf said;
	int code;

	said = check("--programs=process", NULL, &code);
	cr_expect_eq(code, 0, "%s", said.data);
	for (line = said.data; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "process %63s ok %u", name, &insns) != 2)
			continue;
		cr_expect_leq(insns, INSNS_MAX, "%s: %u", name, insns);
		cnt++;
	}
	cr_expect_gt(cnt, 10);
	buf_free(&said);
}

Test(check, programs_that_no_user_may_load_are_reported_in_one_line)
{
	const char *args[] = { "check", "--programs", NULL };
	struct live_proc p;
	struct buf err;

	cr_expect_eq(live_run(&p, args, become_nobody), 2);
	cr_expect_eq(p.said.len, 0, "%s", buf_cstr(&p.said));
	err = live_errors(&p);
	buf_cstr(&err);
	cr_expect_eq(strncmp(err.data, "dial9-prof: ", 12), 0, "%s", err.data);
	cr_expect_eq(strchr(err.data, '\n'), err.data + err.len - 1, "one line: %s", err.data);
	buf_free(&err);
	live_proc_fini(&p);
}
