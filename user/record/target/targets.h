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

/* The requested processes or threads of a recording. */
struct targets;

/*
 * -ESRCH with one line if one of them does not exist. -ENOTSUP inside a pid namespace, where numbers differ from
 * the kernel's tracing.
 */
int targets_new(const uint32_t *pids, size_t pid_cnt, const uint32_t *tids, size_t tid_cnt,
		struct targets **out);
void targets_free(struct targets *t);

/*
 * Marks all of them with their threads in the kernel, and reads their names. descend: also existing children and
 * their children; call it while forks are followed. -ESRCH with one line if a requested process has ended.
 */
int targets_seed(struct targets *t, struct capture *capture, struct tasks *tasks, bool descend);
/* The processes that targets_seed() marked with all threads, including children; borrowed. */
const pid_t *targets_processes(const struct targets *t, size_t *cnt);

/* Whether process numbers here are the kernel's own: false inside a pid namespace. */
bool targets_numbers_are_kernels(void);

/* Whether all of them have ended; false if there are none. */
bool targets_ended(struct targets *t);
/* Descriptors to poll for their end; fills at most max. */
size_t targets_pollfds(const struct targets *t, struct pollfd *fds, size_t max);

#endif
