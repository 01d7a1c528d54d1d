/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_MODULES_H
#define D9_RECORD_SYMBOLS_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers modules: equal keys get equal ids, from 1 on, until they are forgotten. */
struct modules;

/* Never fails. */
struct modules *modules_new(void);
void modules_free(struct modules *m);

/* The id of a key; *fresh if it is new or was forgotten. Ids are never reused. */
uint32_t modules_id(struct modules *m, const void *key, size_t sz, bool *fresh);
/* The NUL-terminated key of an id, borrowed; NULL if it was forgotten. */
const void *modules_key(const struct modules *m, uint32_t id, size_t *sz);

/* Marks the module as used. */
void modules_touch(struct modules *m, uint32_t id);

/* Bytes held. */
size_t modules_memory(const struct modules *m);
/* Forgets the least recently used until at most `keep` bytes are held. Returns their number. */
size_t modules_forget(struct modules *m, size_t keep);

/* A set of ids, including forgotten modules. {0} is empty. */
struct module_set {
	uint8_t *bits;
	size_t cap;
};

/* False: it was in the set already. */
bool module_set_add(struct module_set *s, uint32_t id);
bool module_set_has(const struct module_set *s, uint32_t id);
void module_set_fini(struct module_set *s);

#endif
