// SPDX-License-Identifier: BSD-2-Clause
/* A snapshot of one process: the result for this program is compared with its own data. */
#include "record/process/snapshot.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/record/support.h"

TestSuite(snapshot, .timeout = 60);

/* Lines of /proc/self/maps with an x, one after the other. */
static void expect_line(const struct snapshot *s, size_t i, const char *line)
{
	uint64_t start, end, pgoff, inode;
	unsigned int major, minor;
	const struct snapshot_map *m = &s->maps[i];
	char path[4096] = "";

	cr_assert_geq(sscanf(line,
			     "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64 " %4095[^\n]",
			     &start, &end, &pgoff, &major, &minor, &inode, path),
		      6);
	cr_assert_lt(i, s->map_cnt);
	cr_expect_eq(m->start, start);
	cr_expect_eq(m->end, end);
	cr_expect_eq(m->pgoff, pgoff);
	cr_expect_eq(m->dev, (uint64_t)major << 32 | minor);
	cr_expect_eq(m->inode, inode);
	cr_expect_str_eq(snapshot_text(s, m->path_off), path);
}

Test(snapshot, executable_mappings_equal_the_kernels)
{
	struct snapshot *s = snapshot_read(getpid(), SNAPSHOT_MAPS_SZ);
	FILE *f = fopen("/proc/self/maps", "re");
	char line[8192], mode[8];
	size_t cnt = 0;

	cr_assert_eq(s->err, 0);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %7s", mode) == 1 && mode[2] == 'x')
			expect_line(s, cnt++, line);
	fclose(f);
	cr_expect_gt(cnt, 2);
	cr_expect_eq(s->map_cnt, cnt);
	snapshot_free(s);
}

/* The line of the single hierarchy is "0::/path". Empty if there is none. */
static void own_cgroup(char *out, size_t sz)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[4096];

	*out = '\0';
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "0::", 3))
			snprintf(out, sz, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
	fclose(f);
}

static void *wait_at(void *barrier)
{
	prctl(PR_SET_NAME, "fifteen-letters");
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

static const char *comm_of(const struct snapshot *s, uint32_t tid)
{
	size_t i;

	for (i = 0; i < s->task_cnt; i++)
		if (s->tasks[i].tid == tid)
			return s->tasks[i].comm;
	return "none";
}

Test(snapshot, process_and_its_threads_have_their_names)
{
	char exe[4096] = "", own[17] = "", cgroup[4096];
	uint64_t before = clock_mono_ns();
	pthread_barrier_t barrier;
	struct snapshot *s;
	pthread_t thread;
	size_t i, cnt = 0;

	cr_assert_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	prctl(PR_GET_NAME, own);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, wait_at, &barrier);
	pthread_barrier_wait(&barrier);
	s = snapshot_read(getpid(), 0);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	cr_expect_eq(s->err, 0);
	cr_expect_eq((pid_t)s->pid, getpid());
	cr_expect_eq((pid_t)s->ppid, getppid());
	cr_expect_str_eq(snapshot_text(s, s->exe_off), exe);
	own_cgroup(cgroup, sizeof(cgroup));
	if (*cgroup)
		cr_expect_str_eq(snapshot_text(s, s->cgroup_off), cgroup);
	cr_expect_str_eq(comm_of(s, gettid()), own);
	for (i = 0; i < s->task_cnt; i++)
		cnt += !strcmp(s->tasks[i].comm, "fifteen-letters");
	cr_expect_eq(cnt, 1);
	cr_expect_eq(s->map_cnt, 0, "they were not asked for");
	cr_expect_geq(s->from_ns, before);
	cr_expect_geq(s->to_ns, s->from_ns);
	cr_expect_leq(s->to_ns, clock_mono_ns());
	snapshot_free(s);
}

Test(snapshot, snapshot_of_a_process_that_has_ended_is_empty)
{
	struct snapshot *s = snapshot_read(NO_SUCH_TID, SNAPSHOT_MAPS_SZ);

	cr_expect_eq(s->err, -ESRCH);
	cr_expect_eq(s->task_cnt, 0);
	cr_expect_eq(s->map_cnt, 0);
	cr_expect_str_eq(snapshot_text(s, s->exe_off), "");
	snapshot_free(s);
	snapshot_free(NULL);
}
