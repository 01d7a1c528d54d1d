/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_SNAPSHOT_H
#define D9_RECORD_PROCESS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct snapshot_map {
	uint64_t start, end;
	uint64_t pgoff; /* bytes */
	uint64_t dev, inode; /* as in struct map */
	size_t path_off;
};

struct snapshot_task {
	uint32_t tid;
	char comm[16];
};

/* What /proc says of one process. */
struct snapshot {
	uint32_t pid;
	int err; /* 0, or -ESRCH: it is gone, and all below is empty */
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC: when it was read */
	uint32_t ppid;
	size_t exe_off; /* the program's path; "" when there is none */
	size_t cgroup_off;
	struct snapshot_map *maps; /* executable ones, ascending; none if they may not be looked at */
	size_t map_cnt, map_cap;
	bool maps_cut; /* there are more */
	struct snapshot_task *tasks;
	size_t task_cnt, task_cap;
	struct buf texts; /* NUL-terminated, one behind the other */
};

/* Reads pid; with_maps: its mappings too, which waits for the process's own lock. Never NULL. */
struct snapshot *snapshot_read(uint32_t pid, bool with_maps);
void snapshot_free(struct snapshot *s);
/* Borrowed. */
const char *snapshot_text(const struct snapshot *s, size_t off);

#endif
