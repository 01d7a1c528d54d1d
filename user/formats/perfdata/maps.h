/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_MAPS_H
#define D9_FORMATS_PERFDATA_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata_map {
	uint64_t start, end;
	uint64_t off; /* of the first address in the module */
	uint32_t module;
	bool written; /* the owner's; false for a mapping that was cut */
};

/* Mappings of an address space, by start, without overlaps. {0} is empty; free v. */
struct perfdata_maps {
	struct perfdata_map *v;
	size_t cnt, cap;
};

/* The index of the first mapping that ends after @addr; cnt: none. */
size_t perfdata_maps_find(const struct perfdata_maps *m, uint64_t addr);

/* The mapping that has @addr; NULL: none. Borrowed until the next change. */
struct perfdata_map *perfdata_maps_at(const struct perfdata_maps *m, uint64_t addr);

/* Makes room from start to end: parts of mappings before and after remain. */
void perfdata_maps_clear(struct perfdata_maps *m, uint64_t start, uint64_t end);

/* Replaces what it overlaps. */
void perfdata_maps_add(struct perfdata_maps *m, const struct perfdata_map *map);

/* The mappings of @from, not written, in place of the mappings of @m. */
void perfdata_maps_copy(struct perfdata_maps *m, const struct perfdata_maps *from);

#endif /* D9_FORMATS_PERFDATA_MAPS_H */
