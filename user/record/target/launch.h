/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TARGET_LAUNCH_H
#define D9_RECORD_TARGET_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

/* A command that exists as a process, but does not run before it is told to. */
struct launch;

/*
 * Forks. With as_root false the command will run as the user behind sudo, if there is one; -EINVAL
 * after one line when the environment names nobody that can be.
 * What it prints goes to standard error when standard output is taken for something else.
 * Call it before there are threads or descriptors that the command should not have.
 */
int launch_new(char *const *argv, bool as_root, bool stdout_taken, struct launch **out);
pid_t launch_pid(const struct launch *l);
/*
 * Lets it run. Returns 0 once it does, or prints one line and returns -errno of the exec. An exec that takes a
 * second and more, or a signal to us, is not waited for: 0, and launch_ended() tells what becomes of it.
 */
int launch_go(struct launch *l);
/* Whether it has ended; *status is then its exit status as a shell gives it. Late errors of the exec are
 * printed, and are the status 127. */
bool launch_ended(struct launch *l, int *status);
/* A command that was never let go ends now; one that runs goes on. NULL is allowed. */
void launch_free(struct launch *l);

#endif
