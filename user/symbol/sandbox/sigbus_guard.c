// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files that shrink while they are mapped.
 *
 * A library that is overwritten in place while its program is recorded, by mistake or by malice,
 * turns the next look at its pages into a SIGBUS, whose default is the end of the recorder. There
 * is no way to ask first. But the parsers take any contents: so the page that is gone is replaced
 * by one of zeros, and the read that faulted is done again. Nothing unwinds, nothing is left half
 * done. The mark is the thread's, since a signal handler has no other way to know where it is.
 */
#include "symbol/sandbox/sigbus_guard.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Thread_local volatile bool guarded;

static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	uintptr_t page_sz = sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)info->si_addr & ~(page_sz - 1));

	if (guarded && info->si_code == BUS_ADRERR &&
	    mmap(page, page_sz, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1,
		 0) != MAP_FAILED)
		return;
	/* the instruction faults again, and then it is final */
	signal(sig, SIG_DFL);
}

void sigbus_guard_enter(void)
{
	struct sigaction sa = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
	sigset_t bus;

	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, NULL);
	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
	guarded = true;
}
