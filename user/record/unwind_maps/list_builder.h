/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_LIST_BUILDER_H
#define D9_RECORD_UNWIND_MAPS_LIST_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct frames_from;
struct proc_maps;
struct prof_unwind_map;
struct store;
struct table_demand;
struct table_keys;

/* Finds the modules and unwind tables of mappings, for mapping lists and for walks of copied stacks. */
struct list_builder;

struct list_builder_cfg {
	struct frames *frames; /* all borrowed */
	struct store *store;
	struct table_keys *tables;
	struct table_demand *demand;
	uint32_t module_cnt; /* slots */
	/* tables on demand, and of files that many processes map; else all tables of each list */
	bool all;
};

/* Never fails. */
struct list_builder *list_builder_new(const struct list_builder_cfg *cfg);
void list_builder_free(struct list_builder *b);

enum list_builder_flags {
	LIST_BUILDER_RENEW = 1, /* look up all modules again */
	LIST_BUILDER_TABLES =
		2, /* the process runs: request its tables before a stack needs them */
};

/*
 * Makes the list of a process; *entries is borrowed until the next call. @flags: enum list_builder_flags. *waits:
 * the list is incomplete because a file is not identified yet. Returns the number of entries.
 */
uint32_t list_builder_make(struct list_builder *b, const struct frames_from *from,
			   struct proc_maps *maps, uint32_t flags, bool *waits,
			   const struct prof_unwind_map **entries);

/* The mappings of a process at the drain's time. serial: of the process, unique per program. */
struct list_builder_past {
	struct list_builder *builder;
	const struct frames_from *from;
	const struct proc_maps *maps;
	uint64_t serial;
};
/* The entry of the mapping that contains addr, borrowed until the next call; NULL: none. ctx: a list_builder_past */
const struct prof_unwind_map *list_builder_find(void *ctx, uint64_t addr);
/*
 * Requests the tables of the first of these mappings. Call it after each change of the mappings, until it returns true:
 * their files are identified.
 */
bool list_builder_expect(const struct list_builder_past *past);

/* Requests the table of a slot. */
void list_builder_ask_table(struct list_builder *b, uint32_t slot);
/* Module ids, slots or files have changed: list_builder_find() looks everything up again. */
void list_builder_renew(struct list_builder *b);
/* Bytes held. */
size_t list_builder_memory(const struct list_builder *b);

#endif
