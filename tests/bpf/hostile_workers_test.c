// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processes that read symbols are killed or stopped without the recorder's knowledge: names still come. The
 * neighbour starts to run after that, so that the processes that replace them look up its names.
 */
/* ALONE: time and memory next to a hostile program */
#include <criterion/criterion.h>
#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/proc.h"
#include "tests/bpf/fault.h"

TestSuite(fault_workers, .fini = live_cleanup);

#define SECOND_NS 1000000000ULL

enum { HELPERS_MAX = 64 };

struct attack {
	int signal;
	const char *names[5]; /* which processes receive it */
	size_t hit; /* processes that got it */
	bool of_recorder; /* its own children, not children of its spawners */
	pid_t pids[HELPERS_MAX]; /* which */
	bool done;
	unsigned int silent; /* as in struct fault */
};

static bool is_one_of(pid_t pid, const char *const *names)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

/* Who reads and opens files for that recorder, or who makes them. */
static size_t find_helpers(pid_t recorder, const char *const *names, bool makers, pid_t *pids)
{
	static const char *const spawner[] = { "d9-spawner", NULL };
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t cnt = 0;

	cr_assert(dir);
	while ((entry = readdir(dir)) && cnt < HELPERS_MAX) {
		pid_t pid = atoi(entry->d_name), parent;

		if (!isdigit((unsigned char)entry->d_name[0]) || !is_one_of(pid, names))
			continue;
		parent = fault_status(pid, "PPid");
		if (makers ? parent == recorder :
			     is_one_of(parent, spawner) &&
				     (pid_t)fault_status(parent, "PPid") == recorder)
			pids[cnt++] = pid;
	}
	closedir(dir);
	return cnt;
}

static void attack_once(void *ctx, struct fault *f)
{
	struct attack *a = ctx;
	size_t cnt;

	if (a->done || clock_mono_ns() < f->began_ns + SECOND_NS)
		return;
	a->done = true;
	cnt = find_helpers(f->rec.proc.pid, a->names, a->of_recorder, a->pids);
	for (size_t i = 0; i < cnt; i++)
		a->hit += kill(a->pids[i], a->signal) == 0;
	fault_go(f);
}

/* Ended, even if its parent has not waited for it. */
static void expect_gone(pid_t pid)
{
	const struct timespec step = { .tv_nsec = 1000000 };
	struct proc_stat stat;
	int tries;

	for (tries = 0; tries < 5000; tries++) {
		if (proc_read_stat(pid, &stat) || stat.state == 'Z')
			return;
		nanosleep(&step, NULL);
	}
	cr_expect_fail("process %d is still there", pid);
}

static void record_under(struct attack *attack)
{
	struct fault f;

	fault_begin_late(&f);
	f.silent = attack->silent;
	fault_record(&f, 8, NULL);
	fault_watch(&f, attack_once, attack);
	cr_expect_gt(attack->hit, 0, "there are no such processes");
	fault_check(&f);
	fault_end(&f);
}

Test(fault_workers, workers_are_killed)
{
	struct attack attack = {
		.signal = SIGKILL,
		.names = { "d9-names", "d9-lines", "d9-tables", "d9-opener" },
	};

	record_under(&attack);
}

/* Who makes the others: it is continued, and ends with the recorder. */
Test(fault_workers, server_that_forks_workers_is_stopped)
{
	struct attack attack = { .signal = SIGSTOP,
				 .names = { "d9-spawner" },
				 .of_recorder = true };

	record_under(&attack);
	for (size_t i = 0; i < attack.hit; i++)
		expect_gone(attack.pids[i]);
}

/* Spares take over. */
Test(fault_workers, server_that_forks_workers_is_killed)
{
	struct attack attack = { .signal = SIGKILL,
				 .names = { "d9-spawner" },
				 .of_recorder = true };

	record_under(&attack);
	cr_expect_eq(attack.hit, 2);
}

static void hide_dev(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/dev", "tmpfs", 0, NULL))
		_exit(99);
}

Test(fault_workers, no_dev_null)
{
	struct live_proc proc;
	struct buf errors;

	cr_expect_eq(live_run(&proc,
			      (const char *[]){ "-a", "-d", "1", "--no-progress", "-o",
						live_path("null.bin"), NULL },
			      hide_dev),
		     0);
	errors = live_errors(&proc);
	cr_expect_str_eq(buf_cstr(&errors), "");
	buf_free(&errors);
	live_proc_fini(&proc);
}

/*
 * Not the process that opens files: if it is stopped, it looks like a file that does not answer. Lines of a function may
 * be requested when its name is known: then each of the two processes is waited for until it counts as stopped.
 */
Test(fault_workers, workers_are_stopped)
{
	struct attack attack = { .signal = SIGSTOP,
				 .names = { "d9-names", "d9-lines", "d9-tables" },
				 .silent = 2 };

	record_under(&attack);
}
