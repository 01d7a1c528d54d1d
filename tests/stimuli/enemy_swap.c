// SPDX-License-Identifier: BSD-2-Clause
/*
 * enemy_swap [--now] DIRECTORY [CHILDREN [MILLISECONDS]]
 *
 * Each of CHILDREN (200) processes has its own file mapped. One after the other runs in its file for
 * MILLISECONDS (15); then the file's path is replaced by a trap, and the process killed: a reader that opens
 * the file by its path opens the trap, which the test watches. DIRECTORY/trap.fifo and DIRECTORY/trap.device
 * are the traps; a path becomes a link to one, or another name of it, in turn.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "badelf.h"
#include "stimulus.h"

enum { CHILDREN_MAX = 1000 };

static char fifo[512], device[512];

static pid_t start(const char *path, int *go)
{
	struct badelf e;
	int ends[2];
	pid_t pid;
	void *page;
	char c;

	badelf_init(&e);
	badelf_write(&e, path);
	if (pipe2(ends, O_CLOEXEC))
		err(2, "pipe");
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		page = badelf_map(path, NULL);
		if (read(ends[0], &c, 1) == 1)
			badelf_run(page);
		_exit(0);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void make_trap(const char *path, unsigned int step)
{
	const char *trap = step & 1 ? device : fifo;
	char tmp[600];

	snprintf(tmp, sizeof(tmp), "%s.new", path);
	if (step & 2 ? link(trap, tmp) : symlink(trap, tmp))
		err(2, "%s", tmp);
	if (rename(tmp, path))
		err(2, "%s", path);
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long cnt = stim_arg(argc, argv, 2, 200), ms = stim_arg(argc, argv, 3, 15);
	static pid_t pids[CHILDREN_MAX];
	static int go[CHILDREN_MAX];
	char path[512];

	if (argc < 2 || cnt > CHILDREN_MAX)
		return 2;
	snprintf(fifo, sizeof(fifo), "%s/trap.fifo", argv[1]);
	snprintf(device, sizeof(device), "%s/trap.device", argv[1]);
	if (mkfifo(fifo, 0666) || mknod(device, S_IFCHR | 0666, makedev(1, 3)))
		err(2, "%s", argv[1]);
	for (unsigned long i = 0; i < cnt; i++) {
		snprintf(path, sizeof(path), "%s/file.%lu", argv[1], i);
		pids[i] = start(path, &go[i]);
	}
	stim_start(now, "");
	for (unsigned long i = 0; i < cnt; i++) {
		snprintf(path, sizeof(path), "%s/file.%lu", argv[1], i);
		if (write(go[i], "", 1) != 1)
			err(2, "write");
		nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
		make_trap(path, i);
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	stim_done(now);
	return 0;
}
