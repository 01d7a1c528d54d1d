/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SANDBOX_H
#define D9_SYMBOL_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A process to be confined, and one end of a SOCK_SEQPACKET pair; @child is called there with the other, and
 * the process ends when it returns. The caller closes *sock and waits for *pid. -errno of socketpair() or fork().
 */
int sandbox_fork(void (*child)(const void *ctx, int sock), const void *ctx, pid_t *pid, int *sock);

/*
 * Ways for a process to give up what it can do. All are for processes that were just forked, have
 * one thread, and end by _exit(). All return 0 or -errno; after an error the process must end.
 */

/*
 * First of all: closes every descriptor but keep, with empty files as the standard ones, ends the
 * part in the terminal's signals, and dies with its parent.
 */
int sandbox_detach(int keep);

/*
 * Dies with @parent, which is our parent now; -ESRCH if it is not any more. To be called again after another user
 * or other capabilities were taken, for then the kernel forgets it.
 */
int sandbox_die_with(pid_t parent);

/*
 * For those who read what strangers wrote: a user that nobody else is where we may become it, no
 * capability and no way to one, an empty root directory, no file that could be opened, written or
 * executed, bounds on memory. What a kernel does not have, or the caller may not do, is left out.
 */
int sandbox_drop_all(void);

/* Whether the kernel has what denies files to those; all else holds without. For any process. */
bool sandbox_has_landlock(void);

/* For those who open files: keeps the capabilities that this takes, and nothing else. */
int sandbox_keep_opening(void);

/*
 * The last step of a process that reads strangers' files: from here on only what reading given
 * descriptors, memory and a socket take; the kernel kills it for any other system call.
 */
int sandbox_filter(void);

/*
 * For those who look for files with the rights of a user whom they run as already: from here on no capability,
 * and no system call but what finding and reading files and a send() on a socket take. Ends after so many
 * seconds, as far as what it waits for can be interrupted.
 */
int sandbox_only_look(unsigned int seconds);

#endif /* D9_SYMBOL_SANDBOX_SANDBOX_H */
