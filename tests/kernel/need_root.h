/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_KERNEL_NEED_ROOT_H
#define D9_TESTS_KERNEL_NEED_ROOT_H

#include <stdio.h>
#include <unistd.h>

/*
 * Without root the program ends before it begins, with exit code 77 and a reason. A constructor,
 * because criterion's own main also runs each test's process.
 */
__attribute__((constructor)) static void need_root(void)
{
	if (!geteuid())
		return;
	puts("needs root: tracefs and perf events of the whole machine");
	fflush(stdout);
	_exit(77);
}

#endif /* D9_TESTS_KERNEL_NEED_ROOT_H */
