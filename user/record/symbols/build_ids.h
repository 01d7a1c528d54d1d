/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_BUILD_IDS_H
#define D9_RECORD_SYMBOLS_BUILD_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map;
struct process;
struct sym_client;
struct sym_client_answer;

/*
 * The build-ids of mapped files that /proc listed. The kernel reports build-ids of new mappings only. For older
 * mappings the broker reads the file. So each file is requested as early as possible, and again when it is mapped
 * again some time later. Its build-id may arrive later, or never.
 */
struct build_ids;

/* broker is borrowed; NULL: nothing is ever known. Never fails. */
struct build_ids *build_ids_new(struct sym_client *broker);
void build_ids_free(struct build_ids *b);

/* Requests all unknown files that a process has mapped. */
void build_ids_expect(struct build_ids *b, struct process *proc);

/* Requests the file of one mapping of process pid; @owner: see proc_owner(). */
void build_ids_expect_map(struct build_ids *b, uint32_t pid, uint64_t owner, const struct map *m);

/*
 * Fills in m's build-id, or its version if it has none. Returns true if all that can be known is known. `recent`:
 * checked a moment ago, since a file may be rewritten in place.
 */
bool build_ids_find(struct build_ids *b, struct map *m, bool recent);
/* Changes when a file at a known path was replaced. */
uint32_t build_ids_changes(const struct build_ids *b);

/* Handles the broker's answer to a request of this module. */
void build_ids_answer(struct build_ids *b, const struct sym_client_answer *answer);

#endif
