/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TARGET_SELECTION_H
#define D9_RECORD_TARGET_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof_select.h"

struct buf;

/* Words of the command line, in order; borrowed. */
struct selection_words {
	const char *const *v;
	size_t cnt;
};

/* Narrows the targets, as on the command line. {0}: does not. */
struct selection_cfg {
	const uint32_t *cpus;
	size_t cpu_cnt;
	struct selection_words cgroups; /* paths: absolute, or below where cgroups are mounted */
	struct selection_words users; /* names or numbers; comma lists */
	struct selection_words comms, no_comms, threads; /* globs */
	struct prof_select_task task;
};

/* Whether a task can become a target, or cease to be one, at any time. */
bool selection_is_by_task(const struct selection_cfg *cfg);

/*
 * Looks up what was named. @system_wide: of all that there is. -ENOENT, -EINVAL, -E2BIG or what looking up
 * failed with, after one line.
 */
int selection_make(const struct selection_cfg *cfg, bool system_wide, struct prof_select *out);

/* For people: "cgroup a, user b, process x*". Nothing for {0}; CPUs are not mentioned. */
void selection_describe(const struct selection_cfg *cfg, struct buf *out);
/* "0,2-3"; nothing when all are meant. */
void selection_describe_cpus(const struct selection_cfg *cfg, struct buf *out);

/* -E2BIG for a pattern that only a name longer than names can be would match. */
int selection_glob(const char *pattern, struct prof_glob *out);

/*
 * The id of a cgroup of version 2, which is mounted where @mounts (/proc/mounts) says. -ENOENT: no such cgroup;
 * -ENODEV: none is mounted, -EINVAL: that is no cgroup.
 */
int selection_cgroup_id(const char *mounts, const char *path, __u64 *id);

#endif
