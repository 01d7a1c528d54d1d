/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_MAPS_H
#define D9_RECORD_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/perf_side.h"

/* One executable mapping of a process. */
struct map {
	uint64_t start, end;
	uint64_t pgoff;
	const char *path; /* borrowed from the table of paths; "[vdso]", "//anon" or "" too */
	uint8_t build_id[PERF_BUILD_ID_MAX];
	uint8_t build_id_sz;
	bool build_id_known; /* the kernel said it, even if it is empty */
	bool announced; /* its ProcMapsEntry has been written */
	uint32_t module_id; /* 0: not looked up yet */
};

/* The executable mappings of a process, sorted, without overlaps. {0} is an empty set. */
struct maps {
	struct map *v;
	size_t cnt;
	size_t cap;
	uint32_t generation; /* changes whenever a mapping does */
};

/* Puts m in, over whatever it covers, as the kernel did. */
void maps_insert(struct maps *maps, const struct map *m);
/* The mapping that addr lies in, borrowed until the next change; NULL when there is none. */
struct map *maps_find(const struct maps *maps, uint64_t addr);
void maps_copy(struct maps *dst, const struct maps *src);
void maps_clear(struct maps *maps);
void maps_free(struct maps *maps);

/* A path that names a file, not "[vdso]", "//anon" or such. */
bool maps_is_file(const char *path);
bool maps_is_vdso(const char *path);

#endif
