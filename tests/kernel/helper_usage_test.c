// SPDX-License-Identifier: BSD-2-Clause
/* Usage of processes started here and of their children, as reported by /proc. */
#include "kernel/helper_usage.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BURN_MS = 50, BYTES = 8 << 20 };

#define MS_NS 1000000LL

static void burn(void)
{
	struct timespec ts;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	while (ts.tv_sec * 1000 * MS_NS + ts.tv_nsec < BURN_MS * MS_NS);
}

/* Waits for a child that has worked, and leaves another child that uses memory. */
static void serve(int ready)
{
	pid_t pid = fork();
	char *memory;

	if (!pid) {
		burn();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = fork();
	if (!pid) {
		memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
		memset(memory, 1, BYTES);
		(void)!write(ready, "x", 1);
	}
	for (;;)
		pause();
}

Test(helper_usage, children_count_and_so_does_the_time_of_ended_children)
{
	uint32_t pids[3] = { 0 };
	struct helper_usage usage = { 0 };
	int ready[2];
	char c;

	cr_assert_eq(pipe(ready), 0);
	pids[1] = (uint32_t)fork();
	if (!pids[1]) {
		setpgid(0, 0);
		serve(ready[1]);
	}
	cr_assert_eq(read(ready[0], &c, 1), 1);
	helper_usage_read(pids, 3, &usage);
	cr_expect_eq(usage.cnt, 2);
	cr_expect_geq(usage.cpu_ns, (BURN_MS - 20) * MS_NS, "%llu ns, in ticks of 10 ms",
		      (unsigned long long)usage.cpu_ns);
	cr_expect_geq(usage.bytes, BYTES);
	cr_assert_eq(usage.v_cnt, 2);
	cr_expect_eq(usage.v[0].pid, pids[1]);
	cr_expect_geq(usage.v[1].bytes, BYTES);
	cr_expect_eq(usage.v[0].bytes + usage.v[1].bytes, usage.bytes);
	cr_expect_eq(usage.v[1].peak_bytes, usage.v[1].bytes);
	cr_expect_neq(usage.v[1].name[0], '\0');
	helper_usage_read_one((uint32_t)getpid(), &usage);
	cr_expect_eq(usage.v_cnt, 3);
	cr_expect_eq(usage.cnt, 2, "not in the sums");
	kill(-(pid_t)pids[1], SIGKILL);
	waitpid((pid_t)pids[1], NULL, 0);
	helper_usage_read(pids, 3, &usage);
	cr_expect_eq(usage.cnt, 0, "it has ended");
	cr_expect_eq(usage.bytes, 0);
	cr_expect(usage.v[0].ended);
	cr_expect_geq(usage.v[1].peak_bytes, BYTES, "the row stays");
	cr_expect_not(usage.v[2].ended);
	helper_usage_forget_ended(&usage);
	cr_assert_leq(usage.v_cnt, 2, "the child may be a zombie of init");
}

Test(helper_usage, memory_that_grew_since_the_last_read_counts)
{
	uint32_t pids[1] = { (uint32_t)getpid() };
	struct helper_usage usage = { 0 };
	uint64_t before, read_ns;
	char *memory;

	helper_usage_read(pids, 1, &usage);
	cr_assert_eq(usage.cnt, 1);
	before = usage.bytes;
	read_ns = usage.v[0].read_ns;
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 1, BYTES);
	helper_usage_read(pids, 1, &usage);
	cr_expect_geq(usage.bytes, before + BYTES - BYTES / 4, "the counters are approximate");
	munmap(memory, BYTES);
	helper_usage_read(pids, 1, &usage);
	cr_expect_lt(usage.bytes, before + BYTES / 2);
	if (usage.cnt && usage.v[0].read_ns - read_ns < HELPER_USAGE_READ_NS)
		cr_expect_eq(usage.v[0].read_ns, read_ns, "not read again");
}

enum { MARK = 12345 }; /* bytes that no reading has */

/* A reading of a process that runs would replace the mark. */
static void read_until_asleep(const uint32_t *pids, struct helper_usage *usage)
{
	do {
		helper_usage_read(pids, 1, usage);
		usage->v[0].bytes = MARK;
		helper_usage_read(pids, 1, usage);
	} while (usage->v[0].bytes != MARK);
}

/* The row is not read again until the process runs: it sleeps in a read here. */
Test(helper_usage, process_that_did_not_run_keeps_its_row)
{
	struct helper_usage usage = { 0 };
	int go[2], ready[2];
	uint32_t pids[1];
	char c;

	cr_assert_eq(pipe(go) | pipe(ready), 0);
	pids[0] = (uint32_t)fork();
	if (!pids[0]) {
		(void)!write(ready[1], "x", 1);
		while (read(go[0], &c, 1) == 1) {
			burn();
			(void)!write(ready[1], "x", 1);
		}
		_exit(0);
	}
	cr_assert_eq(read(ready[0], &c, 1), 1);
	read_until_asleep(pids, &usage);
	cr_expect_eq(usage.bytes, MARK);
	cr_assert_eq(write(go[1], "x", 1), 1);
	cr_assert_eq(read(ready[0], &c, 1), 1);
	helper_usage_read(pids, 1, &usage);
	cr_expect_neq(usage.bytes, MARK);
	kill((pid_t)pids[0], SIGKILL);
	waitpid((pid_t)pids[0], NULL, 0);
}

/* It was read before it had its name, and slept when the next reading was due. */
Test(helper_usage, process_that_sleeps_is_read_once_more)
{
	struct helper_usage usage = { 0 };
	int go[2], ready[2];
	uint32_t pids[1];
	char c;

	cr_assert_eq(pipe(go) | pipe(ready), 0);
	pids[0] = (uint32_t)fork();
	if (!pids[0]) {
		(void)!read(go[0], &c, 1);
		prctl(PR_SET_NAME, "sleeper");
		burn();
		(void)!write(ready[1], "x", 1);
		(void)!read(go[0], &c, 1);
		_exit(0);
	}
	helper_usage_read(pids, 1, &usage);
	cr_assert_eq(write(go[1], "x", 1), 1);
	cr_assert_eq(read(ready[0], &c, 1), 1);
	read_until_asleep(pids, &usage);
	usage.v[0].read_ns -= HELPER_USAGE_READ_NS;
	helper_usage_read(pids, 1, &usage);
	cr_expect_str_eq(usage.v[0].name, "sleeper");
	usage.v[0].bytes = MARK;
	usage.v[0].read_ns -= HELPER_USAGE_READ_NS;
	helper_usage_read(pids, 1, &usage);
	cr_expect_eq(usage.v[0].bytes, MARK, "not a second time");
	kill((pid_t)pids[0], SIGKILL);
	waitpid((pid_t)pids[0], NULL, 0);
}

Test(helper_usage, process_with_less_cpu_time_than_its_row_is_a_new_process)
{
	uint32_t pids[1] = { (uint32_t)getpid() };
	struct helper_usage usage = { 0 };

	helper_usage_read(pids, 1, &usage);
	cr_assert_eq(usage.v_cnt, 1);
	usage.v[0].cpu_ns += 1000 * 1000 * MS_NS;
	helper_usage_read(pids, 1, &usage);
	cr_assert_eq(usage.v_cnt, 2);
	cr_expect(usage.v[0].ended);
	cr_expect_not(usage.v[1].ended);
	cr_expect_eq(usage.v[1].pid, pids[0]);
}

Test(helper_usage, processes_without_a_row_count_in_the_sums)
{
	uint32_t pids[1] = { (uint32_t)getpid() };
	struct helper_usage usage = { .v_cnt = HELPER_PROCESSES_MAX };

	helper_usage_read(pids, 1, &usage);
	cr_expect_eq(usage.v_cnt, HELPER_PROCESSES_MAX);
	cr_expect_eq(usage.cnt, 1);
	cr_expect_gt(usage.bytes, 0);
	cr_expect_gt(usage.cpu_ns, 0);
}
