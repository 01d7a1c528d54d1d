/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_COPY_NOTES_COPY_H
#define D9_REWRITE_COPY_NOTES_COPY_H

#include "trace/read/trace.h"

/* Which annotations an encoder's schemas have got, of those that streams have. {0} is none. */
struct notes_copy {
	struct hmap told; /* struct dial9_schema, of the output -> what it was told last */
	struct hmap turns; /* the same -> how often that changed */
	const struct dial9_iter *last;
	struct dial9_annotation *v;
	size_t cap;
};

/* Whether such an entry may be written; NULL: all may. The same for all of one layout. */
typedef bool (*notes_copy_may)(struct dial9_str key, struct dial9_str value);

/*
 * Before an event is written as one of @to, which is one object for each layout, between events: @from is said of
 * it, if that was not said last. What is at @from stays as it is. Text that is not UTF-8 is left out. Nothing for
 * an encoder of level 3, whose -ENOTSUP is taken for an answer; other errors are the encoder's.
 */
int notes_copy(struct notes_copy *c, struct dial9_enc *enc, const struct dial9_schema *to,
	       const struct dial9_iter *from, notes_copy_may may);
/* After dial9_enc_reset(): nothing was said. */
void notes_copy_reset(struct notes_copy *c);
void notes_copy_fini(struct notes_copy *c);

#endif /* D9_REWRITE_COPY_NOTES_COPY_H */
