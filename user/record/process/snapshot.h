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

/* The content of /proc for one process. */
struct snapshot {
	uint32_t pid;
	int err; /* 0, or -ESRCH: it has ended, and all members below are empty */
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC: start and end of reading */
	uint64_t cpu_ns; /* of reading */
	uint32_t ppid;
	size_t exe_off; /* path of the program; "": none */
	size_t cgroup_off;
	struct snapshot_map *maps; /* executable mappings, ascending; none without permission */
	size_t map_cnt, map_cap;
	bool maps_cut; /* truncated */
	struct snapshot_task *tasks;
	size_t task_cnt, task_cap;
	struct buf texts; /* NUL-terminated, in sequence */
};

#define SNAPSHOT_MAPS_SZ (64UL << 20) /* more than any process can have */

/*
 * Reads pid and, up to maps_sz bytes of text, its mappings. Reading mappings (maps_sz > 0) blocks on the process's own
 * lock. Never NULL.
 */
struct snapshot *snapshot_read(uint32_t pid, size_t maps_sz);
void snapshot_free(struct snapshot *s);
/* Borrowed. */
const char *snapshot_text(const struct snapshot *s, size_t off);

#endif
