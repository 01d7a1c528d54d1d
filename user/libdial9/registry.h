/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_REGISTRY_H
#define D9_LIBDIAL9_REGISTRY_H

#include "dial9.h"

/* A layout and the type id that it has in one trace of one encoder. */
struct registry_entry {
	struct dial9_schema *schema; /* counted */
	uint16_t id;
	bool emitted; /* its frame is in the stream */
};

struct registry {
	struct registry_entry *entries;
	size_t cnt, cap;
	struct registry_ptr *ptrs; /* schema address -> entry */
	unsigned int ptr_bits;
	size_t ptr_used, alias_cnt;
	uint32_t *layouts; /* hash of the layout -> entry + 1 */
	unsigned int layout_bits;
	uint8_t *taken; /* a bit for each type id */
	uint32_t first_id, next_id;
};

int registry_init(struct registry *r, uint16_t first_id);
void registry_fini(struct registry *r);

/* Forget everything; ids start again. */
void registry_clear(struct registry *r);

/*
 * The entry of a schema, made on first sight; an equal layout has the same entry whatever object brings it.
 * Borrowed until the next call that may add one. -ENOSPC when all ids are used, -ENOMEM.
 */
int registry_get(struct registry *r, const struct dial9_schema *s, struct registry_entry **out);

/* Same, under an id of the caller's choice: -EEXIST if another layout has it. */
int registry_get_as(struct registry *r, const struct dial9_schema *s, uint16_t id,
		    struct registry_entry **out);

#endif
