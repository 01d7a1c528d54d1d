/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SANDBOX_H
#define D9_SYMBOL_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Forks a process to be restricted, with one end of a SOCK_SEQPACKET pair. It calls @child with the
 * other end and exits when @child returns. The caller closes *sock and waits for *pid. 0, or -errno
 * of socketpair() or fork().
 */
int sandbox_fork(void (*child)(const void *ctx, int sock), const void *ctx, pid_t *pid, int *sock);

/*
 * Functions that drop rights. They are for processes that were just forked, have one thread, and
 * end by _exit(). All return 0 or -errno; after an error the process must exit.
 */

/*
 * Call first: closes all descriptors except keep, opens empty files as standard files, ignores
 * signals of the terminal, and dies with its parent.
 */
int sandbox_detach(int keep);

/*
 * Makes this process die with @parent, which must be its parent; -ESRCH if it is not any more. Call
 * again after each change of user or capabilities, because the kernel resets this then.
 */
int sandbox_die_with(pid_t parent);

/*
 * For processes that read untrusted files: a user id of its own if possible, no capabilities and no
 * way to regain one, an empty root directory, no file to open, write or execute, and limits on
 * memory. Skips what the kernel does not support or the caller may not do.
 */
int sandbox_drop_all(void);

/*
 * Whether the kernel has landlock, which denies files to these processes. The other restrictions do
 * not depend on it. For any process.
 */
bool sandbox_has_landlock(void);

/* For processes that open files: keeps only the capabilities for that. */
int sandbox_keep_opening(void);

/*
 * The last step of a process that reads untrusted files. Allows only reading of open descriptors,
 * memory and a socket; the kernel kills the process for any other system call.
 */
int sandbox_filter(void);

/*
 * For processes that look up files with the rights of their current user. Drops all capabilities,
 * and allows only finding and reading files, and send() on a socket. The process ends after
 * @seconds, unless it is in an uninterruptible call.
 */
int sandbox_only_look(unsigned int seconds);

#endif /* D9_SYMBOL_SANDBOX_SANDBOX_H */
