// SPDX-License-Identifier: BSD-2-Clause
/*
 * stalls [--now] [ROUNDS]
 *
 * A server that answers requests from a socket: recvfrom(2), 100 us of work, sendto(2). In each of ROUNDS (3)
 * rounds there are 24 requests, and four of them stall in the four ways of stalls.h.
 *
 *	ready pid=P tid=T server=TID cpu=N holder=TID hog=TID pager=TID writer=TID
 *	mutex0_from=NS mutex0_to=NS	when the request came, and when it was answered
 *	...
 *	read2_from=NS read2_to=NS
 *	requests=N
 */
#include <sys/socket.h>

#include "stalls.h"

enum { PER_ROUND = 24, APART = 6, WORK_NS = 100000 };

static int requests[2];
static atomic_long server_tid;
static uint64_t times[ROUNDS_MAX][KINDS][2];

/* ---- the server -------------------------------------------------------------------------------- */

static void answer(unsigned long n)
{
	const unsigned long round = n / PER_ROUND, at = n % PER_ROUND;
	const enum kind kind = (enum kind)(at / APART);
	const bool stalls = at % APART == APART / 2;
	uint64_t from, to;
	char byte;

	if (recv(requests[1], &byte, 1, 0) != 1)
		die("recv");
	from = stim_clock_ns(CLOCK_MONOTONIC);
	burn(WORK_NS);
	if (stalls)
		stall(kind, round);
	to = stim_clock_ns(CLOCK_MONOTONIC);
	if (send(requests[1], &byte, 1, 0) != 1)
		die("send");
	if (stalls) {
		times[round][kind][0] = from;
		times[round][kind][1] = to;
	}
}

static void *serve(void *arg)
{
	(void)arg;
	have_the_cpu("server");
	atomic_store(&server_tid, syscall(SYS_gettid));
	for (unsigned long n = 0; n < rounds * PER_ROUND; n++)
		answer(n);
	return NULL;
}

/* ---- the client -------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	const bool now = stim_parse_now(&argc, &argv);
	pthread_t threads[KINDS], server;
	char extra[160], byte;

	rounds = stim_arg(argc, argv, 1, 3);
	if (rounds > ROUNDS_MAX)
		return 2;
	prepare_stalls();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, requests))
		die("socketpair");
	server = start(serve, NULL);
	snprintf(extra, sizeof(extra), "server=%ld cpu=%d", tid_of(&server_tid), stalled_cpu);
	start_helpers(threads, extra, sizeof(extra));
	stim_start(now, extra);
	for (unsigned long n = 0; n < rounds * PER_ROUND; n++)
		if (write(requests[0], "x", 1) != 1 || read(requests[0], &byte, 1) != 1)
			die("client");
	for (int k = 0; k < KINDS; k++)
		pthread_join(threads[k], NULL);
	pthread_join(server, NULL);
	for (unsigned long r = 0; r < rounds; r++)
		for (int k = 0; k < KINDS; k++)
			print_times(kind_names[k], r, times[r][k]);
	printf("requests=%lu\n", rounds * PER_ROUND);
	stim_done(now);
	return 0;
}
