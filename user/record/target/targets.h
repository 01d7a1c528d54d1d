/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TARGET_TARGETS_H
#define D9_RECORD_TARGET_TARGETS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct capture;
struct tasks;

/* The processes or threads that a recording was asked for. */
struct targets;

/*
 * -ESRCH with one line when one of them does not exist, -ENOTSUP inside a pid namespace, where
 * numbers mean other processes than the kernel's tracing means.
 */
int targets_new(const uint32_t *pids, size_t pid_cnt, const uint32_t *tids, size_t tid_cnt,
		struct targets **out);
void targets_free(struct targets *t);

/*
 * Marks all of them, threads included, in the kernel, and reads who they are. descend: with the
 * children that processes have already, and those of the children; call it when forks are followed.
 * -ESRCH with one line when one of those asked for has gone meanwhile.
 */
int targets_seed(struct targets *t, struct capture *capture, struct tasks *tasks, bool descend);
/* The processes that targets_seed() marked as a whole, children included; borrowed. */
const pid_t *targets_processes(const struct targets *t, size_t *cnt);

/* Whether the numbers of processes here are the kernel's own: not so inside a pid namespace. */
bool targets_numbers_are_kernels(void);

/* Whether all of them have ended; never for none. */
bool targets_ended(struct targets *t);
/* Something to poll for their end: at most max are filled. */
size_t targets_pollfds(const struct targets *t, struct pollfd *fds, size_t max);

#endif
