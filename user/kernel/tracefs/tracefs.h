/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_TRACEFS_TRACEFS_H
#define D9_KERNEL_TRACEFS_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

/*
 * Opens a directory descriptor of tracefs, mounted or private to this descriptor. The caller closes
 * it. Prints the remedy on failure. 0; -EPERM or -EACCES without privileges; -ENODEV if the kernel
 * has no tracing.
 */
int tracefs_open(int *dirfd);
/* The same without messages. *mounted: tracefs is mounted, readable or not. */
int tracefs_open_quiet(int *dirfd, bool *mounted);

/*
 * Appends a whole file ("events/sched/sched_switch/format") to out. 0 or -errno, without a message.
 */
int tracefs_read(int dirfd, const char *path, struct buf *out);

/* Reads the numeric id of an event. -ENOENT if it does not exist; -EINVAL if a name has a slash. */
int tracefs_event_id(int dirfd, const char *system, const char *name, uint32_t *id);

/*
 * Calls cb for each event that has a format file, sorted by system and name. A nonzero result of cb
 * ends the iteration and is returned. The strings are borrowed during the call.
 */
int tracefs_each_event(int dirfd, int (*cb)(const char *system, const char *name, void *ctx),
		       void *ctx);

#endif /* D9_KERNEL_TRACEFS_TRACEFS_H */
