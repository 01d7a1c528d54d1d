/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TARGET_SELECTION_H
#define D9_RECORD_TARGET_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof_select.h"

struct buf;

/* Arguments of the command line, in order; borrowed. */
struct selection_words {
	const char *const *v;
	size_t cnt;
};

/* Filters of the targets from the command line. {0}: none. */
struct selection_cfg {
	const uint32_t *cpus;
	size_t cpu_cnt;
	struct selection_words cgroups; /* paths: absolute, or relative to the cgroup mount */
	struct selection_words users; /* names or numbers; comma-separated lists */
	struct selection_words comms, no_comms, threads; /* globs */
	struct prof_select_task task;
};

/* Whether any task can start or stop being a target at any time. */
bool selection_is_by_task(const struct selection_cfg *cfg);

/*
 * Looks up the names. @system_wide: filters all tasks. -ENOENT, -EINVAL, -E2BIG or the error of the lookup, after
 * one line.
 */
int selection_make(const struct selection_cfg *cfg, bool system_wide, struct prof_select *out);

/* For people: "cgroup a, user b, process x*". Empty for {0}; without CPUs. */
void selection_describe(const struct selection_cfg *cfg, struct buf *out);
/* "0,2-3"; empty for all. */
void selection_describe_cpus(const struct selection_cfg *cfg, struct buf *out);

/* -E2BIG: only names above the maximum length would match. */
int selection_glob(const char *pattern, struct prof_glob *out);

/*
 * The id of a cgroup of version 2, mounted according to @mounts (/proc/mounts). -ENOENT: no such cgroup, -ENODEV:
 * not mounted, -EINVAL: not a cgroup.
 */
int selection_cgroup_id(const char *mounts, const char *path, __u64 *id);

#endif
