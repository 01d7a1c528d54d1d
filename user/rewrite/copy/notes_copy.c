// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies annotations of schemas from input streams to the output. Owns the annotations written so far.
 *
 * An encoder has one type for all schemas of equal layout, while two such schemas may have different annotations in
 * the inputs. The last annotation applies from the next event on, so annotations are written again when they
 * change. If they change too often, which could fill a file, no more are written.
 */
#include "rewrite/copy/notes_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Per layout. */
#define CHANGES_MAX 16

static bool is_text(struct dial9_str s)
{
	return dial9_utf8_valid_len(s.ptr, s.len) == s.len;
}

/* Entries on their way to the encoder. */
struct way {
	struct notes_copy *c;
	struct dial9_enc *enc;
	const struct dial9_schema *to;
	size_t cnt;
};

static int flush(struct way *w)
{
	const int err = dial9_enc_annotate_all(w->enc, w->to, w->c->v, w->cnt);

	w->cnt = 0;
	return err;
}

/* @unsay: withdraws all entries by empty values. */
static int write_notes(struct way *w, const struct dial9_iter *from, bool unsay, notes_copy_may may)
{
	struct dial9_iter it = *from;
	struct dial9_annotation a;
	int err = 0;

	while (!err && dial9_annotations_next(&it, &a.field, &a.key, &a.value) == 1) {
		if (!is_text(a.key) || !is_text(a.value) || (may && !may(a.key, a.value)))
			continue;
		if (unsay)
			a.value.len = 0;
		w->c->v = array_reserve(w->c->v, &w->c->cap, w->cnt + 1, sizeof(*w->c->v));
		w->c->v[w->cnt++] = a;
		if (w->cnt == UINT16_MAX)
			err = flush(w);
	}
	return err;
}

/* How often the annotations of a schema changed. */
static size_t changes_of(struct notes_copy *c, const struct dial9_schema *to)
{
	const size_t changes = (uintptr_t)hmap_get(&c->changes, (uintptr_t)to) + 1;

	hmap_set(&c->changes, (uintptr_t)to, (void *)changes);
	return changes;
}

int notes_copy(struct notes_copy *c, struct dial9_enc *enc, const struct dial9_schema *to,
	       const struct dial9_iter *from, notes_copy_may may)
{
	static const struct dial9_iter silence;
	struct way w = { .c = c, .enc = enc, .to = to };
	const struct dial9_iter *current;
	int err = 0;

	if (from == c->last)
		return 0;
	c->last = from;
	current = hmap_get(&c->current, (uintptr_t)to);
	if (current == from || current == &silence || (!current && !from->left))
		return 0;
	if (changes_of(c, to) > CHANGES_MAX)
		from = &silence;
	hmap_set(&c->current, (uintptr_t)to, (void *)from);
	if (current)
		err = write_notes(&w, current, true, may);
	if (!err)
		err = write_notes(&w, from, false, may);
	if (!err)
		err = flush(&w);
	return err == -ENOTSUP ? 0 : err;
}

void notes_copy_reset(struct notes_copy *c)
{
	hmap_fini(&c->current);
	hmap_fini(&c->changes);
	c->last = NULL;
}

void notes_copy_fini(struct notes_copy *c)
{
	notes_copy_reset(c);
	free(c->v);
}
