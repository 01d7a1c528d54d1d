/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_NOTES_H
#define D9_LIBDIAL9_NOTES_H

#include <stddef.h>
#include <stdint.h>

struct dial9_iter;

/* The annotations of one type in wire form. {0} is empty. */
struct notes {
	uint8_t *data;
	size_t sz, cap;
	uint32_t cnt;
};

void notes_fini(struct notes *n);

/*
 * Adds cnt validated entries of sz bytes. The allocation may grow by at most *room bytes, which is
 * reduced by the growth. 0, -ENOMEM or -E2BIG.
 */
int notes_add(struct notes *n, const uint8_t *entries, size_t sz, uint16_t cnt, size_t *room);

/* All entries, for dial9_annotations_next(). Borrowed until more are added. */
void notes_iter(const struct notes *n, struct dial9_iter *out);

#endif
