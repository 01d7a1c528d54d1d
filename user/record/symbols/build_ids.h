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
 * The build-ids of files that /proc listed as mapped: the kernel says them of new mappings, and of
 * those that were there before it takes a look into the file. That is the broker's to do, so each
 * file is asked about as early as can be, and its build-id is there some time later, or not; and again
 * when it is mapped anew some time after.
 */
struct build_ids;

/* broker is borrowed; NULL: nothing is ever known. Never fails. */
struct build_ids *build_ids_new(struct sym_client *broker);
void build_ids_free(struct build_ids *b);

/* Asks about all files that a process has mapped and that are not known. */
void build_ids_expect(struct build_ids *b, struct process *proc);

/* Asks about one file, of a mapping of process pid, whose owner is as proc_owner() says. */
void build_ids_expect_map(struct build_ids *b, uint32_t pid, uint64_t owner, const struct map *m);

/*
 * Fills in m's build-id, or version if it has none, and returns true when all that can be known of it is
 * known by now. `recent`: as of a moment ago, since a file may be written anew in its place.
 */
bool build_ids_find(struct build_ids *b, struct map *m, bool recent);
/* Changes when a file turned out to be another one than it was. */
uint32_t build_ids_changes(const struct build_ids *b);

/* Takes the broker's answer to what was asked here. */
void build_ids_answer(struct build_ids *b, const struct sym_client_answer *answer);

#endif
