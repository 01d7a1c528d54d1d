// SPDX-License-Identifier: BSD-2-Clause
/* record_signals.c - what signals ask of a recording */
#include "cmd/record/record_signals.h"

#include <stddef.h>

volatile sig_atomic_t record_signals_stops, record_signals_switches;

static void on_signal(int sig)
{
	record_signals_stops++;
}

static void on_switch(int sig)
{
	record_signals_switches++;
}

void record_signals_catch_switch(void)
{
	const struct sigaction sa = { .sa_handler = on_switch };
	sigset_t set;

	sigaction(SIGUSR2, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void record_signals_catch(bool switching)
{
	const struct sigaction another = { .sa_handler = on_switch };
	struct sigaction sa = { .sa_handler = on_signal }, hangup;
	sigset_t stops;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* under nohup a terminal that goes away is none of our business */
	if (switching || (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN))
		sigaction(SIGHUP, switching ? &another : &sa, NULL);
	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	sigprocmask(SIG_UNBLOCK, &stops, NULL);
	/* if SIGCHLD is ignored, exit statuses of children are lost */
	sa.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	/* errors of the writes say it better */
	sigaction(SIGPIPE, &sa, NULL);
	sigaction(SIGXFSZ, &sa, NULL);
}
