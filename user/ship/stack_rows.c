// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks and frames as rows. Owns which of them a server has already: it gets each stack once a day, since old days are
 * deleted, and each frame once for each name. Leaf first.
 */
#include "ship/stack_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

/* Marks a row as sent: false if it was. */
static bool mark(struct hmap *seen, uint64_t hash)
{
	if (hmap_get(seen, hash))
		return false;
	if (seen->cnt >= STACK_ROWS_SEEN_MAX) {
		hmap_fini(seen);
		memset(seen, 0, sizeof(*seen));
	}
	hmap_set(seen, hash, seen);
	return true;
}

static void put_name(const struct stack_rows *r, struct native_block *b, size_t column,
		     enum anonymizer_text kind, uint32_t id)
{
	struct buf text = { 0 };
	size_t len;
	const char *s = names_str(r->in->names, id, &len);

	if (id != NAMES_NONE)
		anonymizer_put(r->anonymizer, kind, s, len, &text);
	native_block_put_text(b, column, buf_cstr(&text), text.len);
	buf_free(&text);
}

/* These have the same paths on every machine. */
static enum anonymizer_text path_kind(const struct names_module *m)
{
	return m->kind == PROF_MODULE_KERNEL || m->kind == PROF_MODULE_KMOD ||
			       m->kind == PROF_MODULE_VDSO ?
		       ANONYMIZER_PUBLIC :
		       ANONYMIZER_PRIVATE;
}

static void put_module(const struct stack_rows *r, struct native_block *b, uint64_t frame)
{
	const struct names_module *m = names_module(r->in->names, names_frame_module(frame));
	struct buf text = { 0 };

	put_name(r, b, SHIP_FRAMES_MODULE, path_kind(m), m->announced ? m->path : NAMES_NONE);
	if (m->announced)
		str_hex(&text, m->build_id, m->build_id_sz);
	native_block_put_text(b, SHIP_FRAMES_BUILD_ID, buf_cstr(&text), text.len);
	buf_free(&text);
}

/* One function at an address; @depth 0 is the outermost one. */
static int put_function(const struct stack_rows *r, const struct content_frame *f,
			const struct names_symbol *sym, uint32_t depth)
{
	const struct names *n = r->in->names;
	const struct names_frame *line = sym ? names_symbol_line(sym, depth) : NULL;
	/* "[libc.so.6]" is the name of a file */
	const bool label = sym && sym->frames[depth].label;
	struct native_block *b;
	int err = batch_writer_row(r->frames, 0, &b);

	if (err)
		return err;
	native_block_put(b, SHIP_FRAMES_FRAME, anonymizer_id(r->anonymizer, f->id));
	native_block_put(b, SHIP_FRAMES_DEPTH, depth);
	put_name(r, b, SHIP_FRAMES_FUNCTION, label ? ANONYMIZER_PRIVATE : ANONYMIZER_FUNCTION,
		 sym ? sym->frames[depth].name : NAMES_NONE);
	put_module(r, b, f->frame);
	native_block_put(b, SHIP_FRAMES_OFFSET, content_ids_offset(n, f->frame));
	native_block_put(b, SHIP_FRAMES_KERNEL, (f->frame & PROF_FRAME_KERNEL) != 0);
	put_name(r, b, SHIP_FRAMES_FILE, ANONYMIZER_PRIVATE, line ? line->file : NAMES_NONE);
	native_block_put(b, SHIP_FRAMES_LINE, line ? line->line : 0);
	return batch_writer_end_row(r->frames);
}

/* With its names: a later trace may have better ones. */
static uint64_t hash_frame(const struct names *n, const struct content_frame *f,
			   const struct names_symbol *sym)
{
	uint64_t hash = content_ids_hash(CONTENT_IDS_HASH, &f->id, sizeof(f->id));

	for (uint32_t i = 0; sym && i < sym->cnt; i++) {
		const uint32_t line = names_symbol_line(sym, i)->line;
		size_t len;
		const char *s = names_str(n, sym->frames[i].name, &len);

		hash = content_ids_hash(hash, s, len);
		hash = content_ids_hash(hash, &line, sizeof(line));
	}
	return hash;
}

static int put_frame(const struct stack_rows *r, const struct content_frame *f)
{
	const struct names_symbol *sym = names_symbol(r->in->names, f->frame);
	const uint32_t depths = sym && sym->cnt ? sym->cnt : 1;
	int err = 0;

	if (!mark(r->seen, hash_frame(r->in->names, f, sym)))
		return 0;
	for (uint32_t depth = 0; depth < depths && !err; depth++)
		if (!depth || names_symbol_is_printed(sym, depth))
			err = put_function(r, f, sym && sym->cnt ? sym : NULL, depth);
	return err;
}

static int put_stack(const struct stack_rows *r, uint64_t day, uint64_t id, const uint64_t *ids,
		     uint32_t cnt)
{
	struct native_block *b;
	int err;

	if (!mark(r->seen, content_ids_hash(id, &day, sizeof(day))))
		return 0;
	err = batch_writer_row(r->stacks, day, &b);
	if (err)
		return err;
	native_block_put(b, SHIP_STACKS_STACK, anonymizer_id(r->anonymizer, id));
	native_block_put_u64s(b, SHIP_STACKS_FRAMES, ids, cnt);
	return batch_writer_end_row(r->stacks);
}

int stack_rows_put(const struct stack_rows *r, uint32_t from, uint64_t first_day, uint64_t last_day)
{
	const struct stack_table *table = &r->in->stacks;
	uint64_t *ids = NULL;
	size_t cap = 0;
	int err = 0;

	for (uint32_t row = from; row < table->cnt && !err; row++) {
		uint32_t cnt;
		const uint64_t *frames = stack_table_get(table, row, &cnt);
		const int64_t number = (int64_t)((uint64_t)r->in->index << 32 | row);
		const uint64_t id = known_stacks_get(r->known, r->all, number)->id;

		ids = array_reserve(ids, &cap, cnt, sizeof(*ids));
		for (uint32_t i = 0; i < cnt && !err; i++) {
			const struct content_frame *f =
				content_ids_frame(&r->known->ids, r->in->names, frames[i]);

			ids[i] = anonymizer_id(r->anonymizer, f->id);
			err = put_frame(r, f);
		}
		if (!err)
			err = put_stack(r, first_day, id, ids, cnt);
		if (!err && last_day != first_day)
			err = put_stack(r, last_day, id, ids, cnt);
	}
	free(ids);
	return err;
}
