// SPDX-License-Identifier: BSD-2-Clause
/*
 * threads [--now] [COUNT]
 *
 * Makes COUNT (8) threads one after the other once recording is on, each of which sleeps NAPS times
 * and is joined. Then one more thread executes this program again: it takes the place, and the tid,
 * of the main thread, and sleeps NAPS times as well.
 *
 *	thread=TID		one per thread
 *	exec_from=TID		the thread that executes; the new image then prints "done"
 */
#include <pthread.h>

#include "stimulus.h"

enum { NAPS = 5 };

static bool started_now;

static void sleep_times(void)
{
	struct timespec nap = { .tv_nsec = 2000000 };

	for (int i = 0; i < NAPS; i++)
		if (nanosleep(&nap, NULL) != 0)
			exit(2);
}

static void *sleep_a_little(void *arg)
{
	sleep_times();
	printf("thread=%ld\n", (long)syscall(SYS_gettid));
	return arg;
}

static void *execute(void *arg)
{
	printf("exec_from=%ld\n", (long)syscall(SYS_gettid));
	fflush(stdout);
	execl("/proc/self/exe", "threads", "--executed", started_now ? "now" : "wait",
	      (char *)NULL);
	exit(2);
	return arg;
}

static void run(void *(*fn)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, NULL) != 0 || pthread_join(thread, NULL) != 0)
		exit(2);
}

int main(int argc, char **argv)
{
	unsigned long cnt;

	if (argc == 3 && !strcmp(argv[1], "--executed")) {
		sleep_times();
		stim_done(!strcmp(argv[2], "now"));
		return 0;
	}
	started_now = stim_parse_now(&argc, &argv);
	cnt = stim_arg(argc, argv, 1, 8);
	stim_start(started_now, "");
	while (cnt--)
		run(sleep_a_little);
	run(execute);
	return 2;
}
