/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_NOTES_H
#define D9_LIBDIAL9_NOTES_H

#include <stddef.h>
#include <stdint.h>

struct dial9_iter;

/* The annotations of one type, as they stand in frames. {0} is empty. */
struct notes {
	uint8_t *data;
	size_t sz, cap;
	uint32_t cnt;
};

void notes_fini(struct notes *n);

/*
 * Adds cnt entries, sz bytes that were validated. What there is may grow by *room bytes, which become fewer by
 * what it takes. -ENOMEM, -E2BIG.
 */
int notes_add(struct notes *n, const uint8_t *entries, size_t sz, uint16_t cnt, size_t *room);

/* All of them, for dial9_annotations_next(). Borrowed until more are added. */
void notes_iter(const struct notes *n, struct dial9_iter *out);

#endif
