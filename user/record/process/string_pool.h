/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_STRING_POOL_H
#define D9_RECORD_PROCESS_STRING_POOL_H

#include <stddef.h>

/*
 * Paths, programs and cgroups: equal texts are stored once while they are referenced. A text is a NUL-terminated
 * string that the table owns; "" needs no reference.
 */
struct string_pool;

/* Never fails. */
struct string_pool *string_pool_new(void);
/* Frees all texts, including referenced ones. */
void string_pool_free(struct string_pool *t);

/* The text of these bytes up to the first NUL; the caller owns a reference. */
const char *string_pool_get(struct string_pool *t, const char *s, size_t len);
/* Adds a reference to a text of a table. Returns it. */
const char *string_pool_ref(const char *text);
/* Removes a reference, which may free the text. */
void string_pool_unref(struct string_pool *t, const char *text);

/* Bytes held. */
size_t string_pool_memory(const struct string_pool *t);

#endif
