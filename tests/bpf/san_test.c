// SPDX-License-Identifier: BSD-2-Clause
/* The recorder itself under ASan, LeakSanitizer and UBSan, on the live kernel. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tests/bpf/support.h"

TestSuite(san, .fini = live_cleanup);

static const char program[] = "san/dial9-prof";

const char *live_missing(void)
{
	return access(live_built(program), X_OK) ?
		       "needs make SAN=address,undefined O=build/san all" :
		       NULL;
}

static void run(const char *const *argv)
{
	struct live_proc p;
	struct buf text;
	int code;

	live_spawn(&p, argv, NULL);
	live_read_rest(&p);
	code = live_wait(&p);
	text = live_errors(&p);
	cr_assert_eq(code, 0, "exit code %d: %s", code, text.data);
	cr_assert(!strstr(text.data, "Sanitizer") && !strstr(text.data, "runtime error"), "%s",
		  text.data);
	/* a worker that has something to report is killed for trying to */
	cr_assert(!strstr(text.data, "crashed"), "%s", text.data);
	buf_free(&text);
	live_proc_fini(&p);
}

static void check_trace(const char *path)
{
	struct live_trace lt;

	live_open(&lt, path, false);
	cr_assert_gt(lt.produced, 0);
	cr_assert_eq(lt.produced, lt.written + lt.lost);
	live_close(&lt);
}

Test(san, recording_a_command_with_children_is_clean)
{
	const char *path = live_path("san.bin");
	const char *argv[] = { live_built(program),
			       "-F",
			       "999",
			       "-e",
			       "task:*,signal:*",
			       "-o",
			       path,
			       "--",
			       live_built("stimuli/forkchain"),
			       "--now",
			       "10",
			       NULL };

	run(argv);
	check_trace(live_path("san.bin"));
}

Test(san, recording_a_process_is_clean)
{
	const char *argv[] = { live_built(program),  "-F", "999", "-d", "1", "-o",
			       live_path("san.bin"), "-p", NULL,  NULL };
	struct live_proc player;

	live_stimulus(&player, "pingpong", "100000000", NULL);
	argv[8] = live_number(player.pid);
	cr_assert_eq(write(player.in, "\n", 1), 1);
	run(argv);
	check_trace(live_path("san.bin"));
	kill(player.pid, SIGKILL);
	live_proc_fini(&player);
}
