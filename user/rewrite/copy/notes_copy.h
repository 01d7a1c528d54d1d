/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_COPY_NOTES_COPY_H
#define D9_REWRITE_COPY_NOTES_COPY_H

#include "trace/read/trace.h"

/* The annotations that an encoder's schemas have got from input streams. {0}: none. */
struct notes_copy {
	struct hmap current; /* struct dial9_schema of the output -> its last annotations */
	struct hmap changes; /* the same -> number of changes */
	const struct dial9_iter *last;
	struct dial9_annotation *v;
	size_t cap;
};

/* Whether an entry may be written; NULL: all. The answer must be equal for all schemas of a layout. */
typedef bool (*notes_copy_may)(struct dial9_str key, struct dial9_str value);

/*
 * Call it before an event with schema @to is written; there is one object for each layout. Writes the annotations
 * @from unless they were written last. The caller keeps @from. Skips text that is not UTF-8. Does nothing for an
 * encoder of level 3, whose -ENOTSUP is ignored; returns its other errors.
 */
int notes_copy(struct notes_copy *c, struct dial9_enc *enc, const struct dial9_schema *to,
	       const struct dial9_iter *from, notes_copy_may may);
/* Call after dial9_enc_reset(): nothing was written. */
void notes_copy_reset(struct notes_copy *c);
void notes_copy_fini(struct notes_copy *c);

#endif /* D9_REWRITE_COPY_NOTES_COPY_H */
