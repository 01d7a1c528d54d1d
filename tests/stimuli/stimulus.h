/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The handshake of every workload, so that tests need no sleeps:
 *
 *	workload: "ready pid=P tid=T ...\n"	then blocks on standard input
 *	test:     any line			(recording is on by now)
 *	workload: its truth, one "key=value" per line, the last line being "done"
 *	test:     closes the pipe		(counters have been read)
 *	workload: exits 0
 *
 * With "--now" as the first argument it does not wait for the line, and exits at once at the end: for workloads
 * that are started by the recorder itself or by hand.
 */
#ifndef D9_STIMULI_STIMULUS_H
#define D9_STIMULI_STIMULUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STIM_NOINLINE __attribute__((noinline))

/*
 * Uses a value, and touches the stack: with any options, gcc gives a leaf without stack use no frame, and hides
 * that leaf's caller from every frame-pointer walk.
 */
#define STIM_KEEP(value)                                                                           \
	do {                                                                                       \
		__typeof__(value) stim_slot;                                                       \
		__asm__ volatile("" : "=m"(stim_slot) : "r"(value));                               \
	} while (0)

static inline bool stim_parse_now(int *argc, char ***argv)
{
	if (*argc < 2 || strcmp((*argv)[1], "--now") != 0)
		return false;
	(*argc)--;
	(*argv)++;
	return true;
}

/* A bare read(2): stdio would wait for more input than the one line. */
static inline bool stim_wait_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1)
		if (c == '\n')
			return true;
	return false;
}

static inline void stim_start(bool now, const char *extra)
{
	if (now)
		return;
	printf("ready pid=%d tid=%ld%s%s\n", getpid(), (long)syscall(SYS_gettid), *extra ? " " : "",
	       extra);
	fflush(stdout);
	if (!stim_wait_line())
		exit(2);
}

static inline void stim_done(bool now)
{
	printf("done\n");
	fflush(stdout);
	while (!now && stim_wait_line())
		;
}

static inline uint64_t stim_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline unsigned long stim_arg(int argc, char **argv, int i, unsigned long fallback)
{
	char *end;
	unsigned long v;

	if (i >= argc)
		return fallback;
	v = strtoul(argv[i], &end, 10);
	if (*end || end == argv[i]) {
		fprintf(stderr, "%s: not a number: %s\n", argv[0], argv[i]);
		exit(2);
	}
	return v;
}

#endif
