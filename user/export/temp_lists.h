/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_TEMP_LISTS_H
#define D9_EXPORT_TEMP_LISTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Lists of records that do not fit into memory, in an unnamed temporary file. Each list can be read
 * in the order of writing, any number of times. Memory: at most one block per list, and four bytes
 * for each block in the file.
 */
struct temp_lists;

#define TEMP_LISTS_BLOCK 4096
#define TEMP_LISTS_RECORD_MAX (TEMP_LISTS_BLOCK - 8) /* bytes */

/* Never NULL; free with temp_lists_free(). */
struct temp_lists *temp_lists_new(void);
void temp_lists_free(struct temp_lists *s);

/* Appends a copy of a record to a list; lists are numbered from 0 and need no setup. */
void temp_lists_add(struct temp_lists *s, uint32_t list, const void *record, size_t sz);
/*
 * Calls back for each record of a list, at an address that is a multiple of 8; the callback must
 * not add records.
 */
void temp_lists_each(struct temp_lists *s, uint32_t list,
		     void (*fn)(void *ctx, const void *record, size_t sz), void *ctx);
/* 0, or -errno of the first error of the file; what is read afterwards is incomplete. */
int temp_lists_error(const struct temp_lists *s);

#endif /* D9_EXPORT_TEMP_LISTS_H */
