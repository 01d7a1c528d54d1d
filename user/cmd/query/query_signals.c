// SPDX-License-Identifier: BSD-2-Clause
/* Ctrl-C during a query. Owns the flag, which a handler sets. */
#include "cmd/query/query_cmd.h"

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = 1;
}

void query_signals_begin(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	stop = 0;
	sigaction(SIGINT, &sa, NULL);
}

void query_signals_end(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };

	sigaction(SIGINT, &sa, NULL);
}

const volatile sig_atomic_t *query_signals_flag(void)
{
	return &stop;
}
