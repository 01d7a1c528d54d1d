/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_STRTAB_H
#define D9_BASE_STRTAB_H

#include <stddef.h>
#include <stdint.h>

struct strtab_ent {
	const char *s;
	size_t len;
	uint64_t hash;
};

/*
 * Interns byte strings: equal strings get equal ids, dense from 0 in order of first use. Strings
 * are copied once and do not move until strtab_fini(). {0} is a valid empty table.
 */
struct strtab {
	struct strtab_ent *ents;
	uint32_t cnt;
	size_t ents_cap;
	uint32_t *slots; /* id + 1; 0: free */
	size_t slots_cap;
	struct strtab_chunk *chunks; /* newest first */
	size_t bytes; /* of all strings, NULs included */
};

int strtab_init(struct strtab *t);
void strtab_fini(struct strtab *t);

/* The id of these n bytes, which may contain NULs */
uint32_t strtab_add(struct strtab *t, const char *s, size_t n);
/* The id, or UINT32_MAX if the string was never added */
uint32_t strtab_find(const struct strtab *t, const char *s, size_t n);
/* Borrowed until strtab_fini(), NUL-terminated; len may be NULL. Returns NULL for an unknown id. */
const char *strtab_get(const struct strtab *t, uint32_t id, size_t *len);

#endif /* D9_BASE_STRTAB_H */
