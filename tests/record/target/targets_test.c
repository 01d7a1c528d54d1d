// SPDX-License-Identifier: BSD-2-Clause
/* From numbers on the command line to opened processes, and their end. */
#include "record/target/targets.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/record/support.h"

/* Numbers mean other processes inside a pid namespace, and targets_new() refuses. */
static void skip_in_namespace(void)
{
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != 0xeffffffc)
		cr_skip_test("inside a pid namespace");
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void expect_error(uint32_t pid, uint32_t tid, const char *line)
{
	struct targets *t = NULL;
	const char *output;
	int err;

	support_catch_stderr();
	err = targets_new(&pid, pid != 0, &tid, tid != 0, &t);
	output = support_stderr();
	cr_expect_eq(err, -ESRCH);
	cr_expect_null(t);
	cr_expect_str_eq(output, line);
}

Test(targets, missing_process_or_thread_is_one_error_line, .init = skip_in_namespace)
{
	expect_error(NO_SUCH_TID, 0,
		     "dial9-prof: record: no process 5000000: has it exited? (ps -e lists them)\n");
	expect_error(0, NO_SUCH_TID,
		     "dial9-prof: record: no thread 5000000: has it exited? (ps -eL lists them)\n");
}

static void *store_tid(void *arg)
{
	pid_t *tid = arg;

	*tid = (pid_t)syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

Test(targets, thread_given_as_a_process_has_its_own_error, .init = skip_in_namespace)
{
	volatile pid_t tid = 0;
	pthread_t thread;
	char want[256];

	pthread_create(&thread, NULL, store_tid, (void *)&tid);
	while (!tid)
		usleep(100);
	snprintf(
		want, sizeof(want),
		"dial9-prof: record: %d is a thread of process %d: use -t %d for the thread, -p %d "
		"for the process\n",
		tid, getpid(), tid, getpid());
	expect_error(tid, 0, want);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

Test(targets, missing_process_among_many_is_an_error_and_leaves_no_descriptor_open,
     .init = skip_in_namespace)
{
	uint32_t pids[] = { (uint32_t)getpid(), NO_SUCH_TID };
	int before = dup(0), after;
	struct targets *t = NULL;

	close(before);
	support_catch_stderr();
	cr_expect_eq(targets_new(pids, 2, NULL, 0, &t), -ESRCH);
	support_stderr();
	after = dup(0);
	close(after);
	cr_expect_eq(after, before, "no descriptor is left");
}

Test(targets, end_of_a_process_is_detected, .init = skip_in_namespace)
{
	struct pollfd fds[4];
	struct targets *t = NULL;
	pid_t pid = sleeper();

	cr_assert_eq(targets_new((uint32_t *)&pid, 1, NULL, 0, &t), 0);
	cr_expect_not(targets_ended(t));
	cr_assert_eq(targets_pollfds(t, fds, 4), 1);
	cr_expect_eq(poll(fds, 1, 0), 0);
	kill(pid, SIGKILL);
	cr_expect_eq(poll(fds, 1, 5000), 1);
	cr_expect(targets_ended(t), "though nobody has waited for it yet");
	waitpid(pid, NULL, 0);
	cr_expect(targets_ended(t));
	targets_free(t);
}

Test(targets, recording_ends_when_all_targets_have_ended, .init = skip_in_namespace)
{
	uint32_t pids[] = { sleeper(), sleeper(), sleeper() };
	struct pollfd fds[4];
	struct targets *t = NULL;

	cr_assert_eq(targets_new(pids, 3, NULL, 0, &t), 0);
	cr_expect_eq(targets_pollfds(t, fds, 4), 3);
	cr_expect_eq(targets_pollfds(t, fds, 2), 2, "no more than there is room for");
	finish(pids[0]);
	finish(pids[2]);
	cr_expect_not(targets_ended(t));
	finish(pids[1]);
	cr_expect(targets_ended(t));
	targets_free(t);
}

Test(targets, end_of_a_thread_is_detected_while_its_process_continues, .init = skip_in_namespace)
{
	volatile pid_t tid = 0;
	struct targets *t = NULL;
	pthread_t thread;
	uint32_t id;
	int i;

	pthread_create(&thread, NULL, store_tid, (void *)&tid);
	while (!tid)
		usleep(100);
	id = tid;
	cr_assert_eq(targets_new(NULL, 0, &id, 1, &t), 0);
	cr_expect_not(targets_ended(t));
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	for (i = 0; i < 1000 && !targets_ended(t); i++)
		usleep(1000);
	cr_expect(targets_ended(t));
	targets_free(t);
}

Test(targets, empty_list_of_targets_never_ends)
{
	struct targets *t = NULL;

	cr_assert_eq(targets_new(NULL, 0, NULL, 0, &t), 0);
	cr_expect_not(targets_ended(t));
	targets_free(t);
	targets_free(NULL);
}
