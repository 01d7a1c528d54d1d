/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_DELTA_MATCH_H
#define D9_PROFILE_SUMS_DELTA_MATCH_H

#include "base/buf.h"
#include "base/strtab.h"
#include "trace/read/names.h"

enum delta_side { DELTA_OLD, DELTA_NEW, DELTA_SIDES };

struct delta_match_index {
	struct strtab keys;
	uint32_t *modules; /* by key; NAMES_NONE: several */
	size_t cap;
};

/*
 * Which modules and functions of two traces are the same. Modules are the same if they have the same
 * base name without version (libc-2.36.so and libc.so.6), or else the same build-id. Other modules may
 * have their version in their name: their functions are the same if name and source file are, and only
 * one such module of each trace has that function. The modules that share most functions are the same.
 */
struct delta_match {
	const struct names *names[DELTA_SIDES];
	uint32_t *same[DELTA_SIDES]; /* by module index: a module of DELTA_NEW, or NAMES_NONE */
	struct delta_match_index functions[DELTA_SIDES]; /* of modules without such a module */
};

/* Both traces have been read to the end, and outlive @m. */
void delta_match_init(struct delta_match *m, const struct names *old_names,
		      const struct names *new_names);
void delta_match_fini(struct delta_match *m);

/* The last component of a module's path; "[unknown]". Borrowed. */
const char *delta_match_base(const struct names *n, uint32_t module, size_t *len);
/* The length of a function's name without ".isra.0", ".constprop.1" and others. */
size_t delta_match_name_len(const char *s, size_t len);

/*
 * Appends what code of @module must have besides its name to be the same in both traces. @f: the
 * function; NULL: unknown. Without delta_match_init() it is the module's base name.
 */
void delta_match_put(const struct delta_match *m, enum delta_side side, const struct names *n,
		     uint32_t module, const struct names_frame *f, struct buf *out);

#endif /* D9_PROFILE_SUMS_DELTA_MATCH_H */
