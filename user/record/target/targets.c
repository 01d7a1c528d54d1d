// SPDX-License-Identifier: BSD-2-Clause
/*
 * targets.c - marks the processes and threads of the command line in the kernel
 *
 * A pidfd holds a process from the first moment, so that its number cannot be reused. Marking runs while forks are
 * already followed: each thread is either in the list of /proc, or was marked when it was created.
 */
#include "record/target/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "base/log.h"
#include "kernel/proc.h"
#include "record/capture/capture.h"
#include "record/process/tasks.h"

enum { INIT_PID_NS_INO = 0xeffffffc };

struct target {
	pid_t pid; /* of the process, also for threads */
	pid_t tid; /* 0: the whole process */
	int pidfd; /* of the process */
};

struct targets {
	struct target *v;
	size_t cnt;
	pid_t *processes; /* marked with all threads */
	size_t process_cnt, process_cap;
	struct hmap is_marked; /* pid -> t, of these */
};

bool targets_numbers_are_kernels(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == INIT_PID_NS_INO;
}

static int check_namespace(void)
{
	if (targets_numbers_are_kernels())
		return 0;
	log_error("record: inside a pid namespace (a container) process IDs differ from the "
		  "kernel's, so single processes cannot be recorded; record on the host, or with "
		  "-a");
	return -ENOTSUP;
}

static int no_such(const char *what, uint32_t id)
{
	log_error("record: no %s %u: has it exited? (ps -e%s lists them)", what, id,
		  *what == 't' ? "L" : "");
	return -ESRCH;
}

static int target_open(struct target *t, uint32_t pid, uint32_t tid)
{
	struct proc_status status;

	if (proc_read_status(tid ? tid : pid, &status))
		return no_such(tid ? "thread" : "process", tid ? tid : pid);
	if (!tid && status.tgid != (pid_t)pid) {
		log_error("record: %u is a thread of process %d: use -t %u for the thread, -p %d "
			  "for the process",
			  pid, status.tgid, pid, status.tgid);
		return -ESRCH;
	}
	t->pid = status.tgid;
	t->tid = tid;
	t->pidfd = syscall(SYS_pidfd_open, t->pid, 0);
	return t->pidfd < 0 ? no_such("process", t->pid) : 0;
}

int targets_new(const uint32_t *pids, size_t pid_cnt, const uint32_t *tids, size_t tid_cnt,
		struct targets **out)
{
	struct targets *t = xcalloc(1, sizeof(*t));
	int err = 0;
	size_t i;

	t->v = xcalloc(pid_cnt + tid_cnt + 1, sizeof(*t->v));
	if (pid_cnt + tid_cnt)
		err = check_namespace();
	for (i = 0; i < pid_cnt + tid_cnt && !err; i++) {
		t->v[i].pidfd = -1;
		t->cnt++;
		err = i < pid_cnt ? target_open(&t->v[i], pids[i], 0) :
				    target_open(&t->v[i], 0, tids[i - pid_cnt]);
	}
	if (err)
		targets_free(t);
	else
		*out = t;
	return err;
}

void targets_free(struct targets *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->cnt; i++)
		if (t->v[i].pidfd >= 0)
			close(t->v[i].pidfd);
	hmap_fini(&t->is_marked);
	free(t->processes);
	free(t->v);
	free(t);
}

/* Marked first, listed later: a thread created in between is in the list, or was marked by its fork. */
static int mark_process(struct targets *t, pid_t pid, struct capture *capture)
{
	pid_t *tids = NULL;
	size_t cnt = 0, i;
	int err;

	capture_add_target(capture, pid, pid);
	err = proc_list_tids(pid, &tids, &cnt);
	for (i = 0; i < cnt; i++)
		capture_add_target(capture, tids[i], 0);
	free(tids);
	if (err)
		return err;
	t->processes = array_reserve(t->processes, &t->process_cap, t->process_cnt + 1,
				     sizeof(*t->processes));
	t->processes[t->process_cnt++] = pid;
	hmap_set(&t->is_marked, pid, t);
	return 0;
}

/* One pass over all processes: returns the number of new children of marked processes. */
static size_t mark_children(struct targets *t, struct capture *capture, struct tasks *tasks)
{
	struct proc_stat stat;
	pid_t *pids = NULL;
	size_t cnt = 0, found = 0, i;

	if (proc_list_pids(&pids, &cnt))
		return 0;
	for (i = 0; i < cnt; i++) {
		if (hmap_get(&t->is_marked, pids[i]) || proc_read_stat(pids[i], &stat) ||
		    !hmap_get(&t->is_marked, stat.ppid))
			continue;
		/* ignores a process that ends now */
		if (!mark_process(t, pids[i], capture) && !tasks_scan(tasks, pids[i]))
			found++;
	}
	free(pids);
	return found;
}

static int mark_target(struct targets *t, const struct target *target, struct capture *capture,
		       struct tasks *tasks)
{
	int err = 0;

	if (target->tid)
		capture_add_target(capture, target->tid, 0);
	else if (!hmap_get(&t->is_marked, target->pid))
		err = mark_process(t, target->pid, capture);
	if (!err)
		err = tasks_scan(tasks, target->pid);
	if (!err)
		return 0;
	log_error("record: process %d exited before recording could start; "
		  "dial9-prof -- CMD records a short command from its start",
		  target->pid);
	return -ESRCH;
}

int targets_seed(struct targets *t, struct capture *capture, struct tasks *tasks, bool descend)
{
	size_t i;
	int err;

	for (i = 0; i < t->cnt; i++) {
		err = mark_target(t, &t->v[i], capture, tasks);
		if (err)
			return err;
	}
	/* children of the last found processes need another pass */
	while (descend && t->process_cnt && mark_children(t, capture, tasks))
		;
	return 0;
}

const pid_t *targets_processes(const struct targets *t, size_t *cnt)
{
	*cnt = t->process_cnt;
	return t->processes;
}

static bool target_ended(const struct target *target)
{
	struct pollfd fd = { .fd = target->pidfd, .events = POLLIN };
	struct proc_status status;

	if (poll(&fd, 1, 0) == 1)
		return true;
	return target->tid &&
	       (proc_read_status(target->tid, &status) || status.tgid != target->pid);
}

bool targets_ended(struct targets *t)
{
	size_t i;

	for (i = 0; i < t->cnt; i++)
		if (!target_ended(&t->v[i]))
			return false;
	return t->cnt > 0;
}

size_t targets_pollfds(const struct targets *t, struct pollfd *fds, size_t max)
{
	size_t i;

	for (i = 0; i < t->cnt && i < max; i++)
		fds[i] = (struct pollfd){ .fd = t->v[i].pidfd, .events = POLLIN };
	return i;
}
