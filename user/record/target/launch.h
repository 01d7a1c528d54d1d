/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TARGET_LAUNCH_H
#define D9_RECORD_TARGET_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

/* A command that exists as a process, but waits for launch_go(). */
struct launch;

/*
 * Forks. With as_root false the command will run as the user who called sudo, if there is one. -EINVAL after one
 * line if the environment names no valid user. Its output goes to standard error if standard output is in use. Call
 * it before there are threads, or descriptors that the command should not inherit.
 */
int launch_new(char *const *argv, bool as_root, bool stdout_taken, struct launch **out);
pid_t launch_pid(const struct launch *l);
/*
 * Starts the command. Returns 0 once it runs, or prints one line and returns -errno of the exec. If the exec takes
 * more than a second, or a signal arrives, returns 0; launch_ended() reports the result.
 */
int launch_go(struct launch *l);
/*
 * Whether it has ended; *status is then its exit status in the shell's form. Late errors of the exec are printed,
 * with status 127.
 */
bool launch_ended(struct launch *l, int *status);
/* Kills a command that was not started; a running command continues. NULL is allowed. */
void launch_free(struct launch *l);

#endif
