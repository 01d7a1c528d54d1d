/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_TRACEFS_H
#define D9_KERNEL_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

/*
 * A directory fd of tracefs: the mounted one, or one mounted privately for this fd alone, which
 * leaves no mount behind. The caller closes it. Prints the remedy on failure: -EPERM/-EACCES
 * without privileges, -ENODEV when the kernel has no tracing.
 */
int tracefs_open(int *dirfd);
/* The same without a word; *mounted: there is one to be read, whether or not it may be. */
int tracefs_open_quiet(int *dirfd, bool *mounted);

/* Appends a whole file ("events/sched/sched_switch/format") to out. -ENOENT and such, silently. */
int tracefs_read(int dirfd, const char *path, struct buf *out);

/* The numeric id of an event; -ENOENT when there is none. A name with a slash is -EINVAL. */
int tracefs_event_id(int dirfd, const char *system, const char *name, uint32_t *id);

/*
 * Calls cb for each event that has a format file, sorted by system and name. A non-zero return
 * ends the walk and becomes its result. The strings are borrowed during the call.
 */
int tracefs_each_event(int dirfd, int (*cb)(const char *system, const char *name, void *ctx),
		       void *ctx);

#endif /* D9_KERNEL_TRACEFS_H */
