/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_MODULES_H
#define D9_RECORD_SYMBOLS_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of modules: equal keys get equal ids, from 1 on, for as long as they are remembered. */
struct modules;

/* Never fails. */
struct modules *modules_new(void);
void modules_free(struct modules *m);

/* The id of a key; *fresh when it was not known, or not any more. Ids are never used twice. */
uint32_t modules_id(struct modules *m, const void *key, size_t sz, bool *fresh);
/* The key of an id with a NUL behind it, borrowed; NULL when it is not remembered. */
const void *modules_key(const struct modules *m, uint32_t id, size_t *sz);

/* The module was used. */
void modules_touch(struct modules *m, uint32_t id);

/* Bytes held. */
size_t modules_memory(const struct modules *m);
/* Forgets the least recently used until no more than `keep` bytes are held. Returns how many. */
size_t modules_forget(struct modules *m, size_t keep);

/* A set of ids, of forgotten modules too. {0} is empty. */
struct module_set {
	uint8_t *bits;
	size_t cap;
};

/* False: it was in the set already. */
bool module_set_add(struct module_set *s, uint32_t id);
bool module_set_has(const struct module_set *s, uint32_t id);
void module_set_fini(struct module_set *s);

#endif
