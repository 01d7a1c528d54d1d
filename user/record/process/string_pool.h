/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_STRING_POOL_H
#define D9_RECORD_PROCESS_STRING_POOL_H

#include <stddef.h>

/*
 * Paths, programs and cgroups: equal texts are stored once, for as long as somebody refers to them.
 * A text is a NUL-terminated string that the table owns; "" needs no reference.
 */
struct string_pool;

/* Never fails. */
struct string_pool *string_pool_new(void);
/* All texts go with it, referred to or not. */
void string_pool_free(struct string_pool *t);

/* The text of these bytes up to the first NUL, with a reference for the caller. */
const char *string_pool_get(struct string_pool *t, const char *s, size_t len);
/* Another reference to a text of a table. Returns it. */
const char *string_pool_ref(const char *text);
/* Gives a reference back; the text may be gone after that. */
void string_pool_unref(struct string_pool *t, const char *text);

/* Bytes held. */
size_t string_pool_memory(const struct string_pool *t);

#endif
