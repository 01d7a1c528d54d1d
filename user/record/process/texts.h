/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_TEXTS_H
#define D9_RECORD_PROCESS_TEXTS_H

#include <stddef.h>

/*
 * Paths, programs and cgroups: equal texts are stored once, for as long as somebody refers to them.
 * A text is a NUL-terminated string that the table owns; "" needs no reference.
 */
struct texts;

/* Never fails. */
struct texts *texts_new(void);
/* All texts go with it, referred to or not. */
void texts_free(struct texts *t);

/* The text of these bytes up to the first NUL, with a reference for the caller. */
const char *texts_get(struct texts *t, const char *s, size_t len);
/* Another reference to a text of a table. Returns it. */
const char *texts_ref(const char *text);
/* Gives a reference back; the text may be gone after that. */
void texts_unref(struct texts *t, const char *text);

/* Bytes held. */
size_t texts_memory(const struct texts *t);

#endif
