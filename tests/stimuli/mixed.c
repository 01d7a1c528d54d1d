// SPDX-License-Identifier: BSD-2-Clause
/*
 * mixed [--now] [ROUNDS]
 *
 * Enters and leaves the kernel by many ways, each ROUNDS (100) times: a pipe to and fro with a child, a file
 * that is written, synced and read, a child that execs, threads that pass a futex on, naps, and a timer's
 * signals during all of it.
 *
 *	ready pid=P tid=T
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "stimulus.h"

enum { PIPE_TRIPS = 20, BLOCK = 65536 };

static unsigned long rounds;
static atomic_int turn;
static volatile sig_atomic_t alarms;
static char block[BLOCK];

static void on_alarm(int sig)
{
	alarms += sig == SIGALRM;
}

static void whole(bool fine)
{
	if (!fine) {
		perror("mixed");
		exit(2);
	}
}

/* One byte, even if signals come. */
static bool pass(int fd, bool out)
{
	char c = 0;
	ssize_t n;

	do
		n = out ? write(fd, &c, 1) : read(fd, &c, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static void go_to_and_fro(void)
{
	int there[2], back[2];
	pid_t child;

	whole(!pipe(there) && !pipe(back));
	child = fork();
	if (!child) {
		close(there[1]);
		while (pass(there[0], false) && pass(back[1], true))
			;
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	for (unsigned long i = 0; i < PIPE_TRIPS * rounds; i++)
		whole(pass(there[1], true) && pass(back[0], false));
	close(there[1]);
	close(back[0]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void use_file(void)
{
	char path[] = "/tmp/mixed.XXXXXX";
	int fd = mkstemp(path);

	whole(fd >= 0 && !unlink(path));
	for (unsigned long i = 0; i < rounds; i++) {
		whole(pwrite(fd, block, sizeof(block), 0) == sizeof(block));
		while (fdatasync(fd) && errno == EINTR)
			;
		whole(pread(fd, block, sizeof(block), 0) == sizeof(block));
	}
	close(fd);
}

static void start_programs(void)
{
	for (unsigned long i = 0; i < rounds; i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		whole(WIFEXITED(status) && !WEXITSTATUS(status));
	}
}

static void *hand_on(void *arg)
{
	const int side = *(int *)arg;

	for (unsigned long i = 0; i < PIPE_TRIPS * rounds; i++) {
		for (int seen; (seen = atomic_load(&turn)) != side;)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		atomic_store(&turn, !side);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void use_futex(void)
{
	int sides[] = { 0, 1 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		whole(!pthread_create(&threads[i], NULL, hand_on, &sides[i]));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void nap(void)
{
	const struct timespec step = { .tv_nsec = 100000 };

	for (unsigned long i = 0; i < rounds; i++)
		nanosleep(&step, NULL);
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	const struct itimerval every = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };

	rounds = stim_arg(argc, argv, 1, 100);
	stim_start(now, "");
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	go_to_and_fro();
	use_file();
	start_programs();
	use_futex();
	nap();
	setitimer(ITIMER_REAL, &never, NULL);
	stim_done(now);
	return 0;
}
