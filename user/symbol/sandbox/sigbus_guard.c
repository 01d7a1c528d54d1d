// SPDX-License-Identifier: BSD-2-Clause
/*
 * Handles mapped files that shrink.
 *
 * If a library is overwritten in place while its program is recorded, accessing its pages causes
 * SIGBUS, which would end the process. There is no way to check in advance. The parsers accept any
 * contents, so the handler replaces the missing page by zeros, and the read is repeated. The flag
 * is per thread, because a signal handler cannot find out otherwise which code it interrupted.
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
	/* the instruction faults again, and then SIGBUS ends the process */
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
