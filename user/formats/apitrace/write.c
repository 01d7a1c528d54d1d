// SPDX-License-Identifier: BSD-2-Clause
/*
 * The writer: flat events become a stream of version 6.
 *
 * Knows which signatures the stream has defined so far and puts a definition where one is first used, in
 * the very order in which a reader meets them. An event is checked whole before its first byte is written,
 * because a reader that loses its way in one has lost all that follow. Numbers come out in their shortest
 * form, however they came in.
 */
#include "formats/apitrace/write.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/container.h"

struct apitrace_write {
	struct container_out *box;
	const struct apitrace_sigs *sigs;
	struct hmap defined[APITRACE_SIG_KINDS]; /* frames: id -> id written, + 1 as a pointer */
	struct hmap taken; /* ids of frames written */
	uint64_t next_frame, renumbered;
	struct buf event;
};

int apitrace_write_new(dial9_write_fn write, void *ctx, const struct apitrace_sigs *sigs,
		       struct apitrace_write **out)
{
	struct apitrace_write *w = xcalloc(1, sizeof(*w));
	int err = container_out_new(write, ctx, &w->box);

	if (err) {
		free(w);
		return err;
	}
	w->sigs = sigs;
	*out = w;
	return 0;
}

void apitrace_write_free(struct apitrace_write *w)
{
	if (!w)
		return;
	for (size_t k = 0; k < APITRACE_SIG_KINDS; k++)
		hmap_fini(&w->defined[k]);
	hmap_fini(&w->taken);
	container_out_free(w->box);
	buf_free(&w->event);
	free(w);
}

static void put_uint(struct apitrace_write *w, uint64_t v)
{
	apitrace_value_put_uint(&w->event, v);
}

static void put_text(struct apitrace_write *w, struct dial9_str s)
{
	put_uint(w, s.len);
	buf_add(&w->event, s.len ? s.ptr : "", s.len);
}

static int flush_event(struct apitrace_write *w)
{
	int err = container_out_add(w->box, w->event.data, w->event.len);

	buf_clear(&w->event);
	return err;
}

int apitrace_write_header(struct apitrace_write *w, uint64_t semantic_version,
			  const struct dial9_str (*props)[2], size_t cnt)
{
	put_uint(w, APITRACE_VERSION);
	put_uint(w, semantic_version > APITRACE_VERSION ? APITRACE_VERSION : semantic_version);
	for (size_t i = 0; i < cnt; i++) {
		if (!props[i][0].len)
			continue;
		put_text(w, props[i][0]);
		put_text(w, props[i][1]);
	}
	put_uint(w, 0);
	return flush_event(w);
}

/* ---- signatures -------------------------------------------------------------------------------- */

static void put_frame(struct apitrace_write *w, const struct apitrace_frame *f)
{
	for (unsigned int part = APITRACE_FRAME_MODULE; f && part <= APITRACE_FRAME_OFFSET;
	     part++) {
		if (!(f->has & 1 << part))
			continue;
		put_uint(w, part);
		if (part <= APITRACE_FRAME_FILE)
			put_text(w, f->text[part]);
		else
			put_uint(w, part == APITRACE_FRAME_LINE ? f->line : f->offset);
	}
	put_uint(w, 0);
}

/*
 * A frame's id and, the first time, what it is. Readers have an array of frames by id, so ids that no
 * program could have made would take all their memory: such a frame gets the next number that is free.
 */
static void put_frame_id(struct apitrace_write *w, uint64_t id)
{
	const struct apitrace_sig *sig = apitrace_sig_get(w->sigs, APITRACE_SIG_FRAME, id);
	void *known = hmap_get(&w->defined[APITRACE_SIG_FRAME], id);
	uint64_t as = id;

	if (known) {
		put_uint(w, (uintptr_t)known - 1);
		return;
	}
	if (id >= APITRACE_FRAME_ID_MAX || hmap_get(&w->taken, id)) {
		while (hmap_get(&w->taken, w->next_frame))
			w->next_frame++;
		as = w->next_frame++;
		w->renumbered++;
	}
	hmap_set(&w->taken, as, w);
	hmap_set(&w->defined[APITRACE_SIG_FRAME], id, (void *)(uintptr_t)(as + 1));
	put_uint(w, as);
	put_frame(w, sig ? sig->frame : NULL);
}

uint64_t apitrace_write_renumbered(const struct apitrace_write *w)
{
	return w->renumbered;
}

static void put_sig(struct apitrace_write *w, enum apitrace_sig_kind kind, uint64_t id)
{
	const struct apitrace_sig *sig = apitrace_sig_get(w->sigs, kind, id);

	put_uint(w, id);
	if (hmap_get(&w->defined[kind], id))
		return;
	hmap_set(&w->defined[kind], id, w);
	if (kind == APITRACE_SIG_FUNCTION || kind == APITRACE_SIG_STRUCT)
		put_text(w, sig->name);
	put_uint(w, sig ? sig->cnt : 0);
	for (size_t i = 0; sig && i < sig->cnt; i++) {
		put_text(w, sig->v[i].name);
		if (kind == APITRACE_SIG_ENUM)
			put_uint(w, sig->v[i].tag);
		if (kind == APITRACE_SIG_ENUM || kind == APITRACE_SIG_MASK)
			put_uint(w, sig->v[i].value);
	}
}

/* ---- values: details were checked, so that a walk never runs short --------------------------------- */

static uint64_t copy_uint(struct apitrace_write *w, struct apitrace_cur *c)
{
	uint64_t v = apitrace_value_uint(c);

	put_uint(w, v);
	return v;
}

static void copy_bytes(struct apitrace_write *w, struct apitrace_cur *c, uint64_t n)
{
	const uint8_t *p;
	size_t got;

	p = apitrace_value_bytes(c, n, &got);
	buf_add(&w->event, p, got);
}

/* One value without those that nest in it: how many of them follow. */
static uint64_t copy_head(struct apitrace_write *w, struct apitrace_cur *c)
{
	uint8_t tag = apitrace_value_byte(c);
	uint64_t id;

	put_uint(w, tag);
	switch ((enum apitrace_value_tag)tag) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		return 0;
	case APITRACE_NEG:
	case APITRACE_UINT:
	case APITRACE_POINTER:
		copy_uint(w, c);
		return 0;
	case APITRACE_FLOAT:
		copy_bytes(w, c, 4);
		return 0;
	case APITRACE_DOUBLE:
		copy_bytes(w, c, 8);
		return 0;
	case APITRACE_STRING:
	case APITRACE_BLOB:
		copy_bytes(w, c, copy_uint(w, c));
		return 0;
	case APITRACE_ENUM:
		put_sig(w, APITRACE_SIG_ENUM, apitrace_value_uint(c));
		put_uint(w, apitrace_value_byte(c));
		copy_uint(w, c);
		return 0;
	case APITRACE_MASK:
		put_sig(w, APITRACE_SIG_MASK, apitrace_value_uint(c));
		copy_uint(w, c);
		return 0;
	case APITRACE_ARRAY:
		return copy_uint(w, c);
	case APITRACE_STRUCT:
		id = apitrace_value_uint(c);
		put_sig(w, APITRACE_SIG_STRUCT, id);
		return apitrace_sig_get(w->sigs, APITRACE_SIG_STRUCT, id)->cnt;
	case APITRACE_REPR:
		return 2;
	case APITRACE_WSTRING:
		for (id = copy_uint(w, c); id; id--)
			copy_uint(w, c);
		return 0;
	}
	return 0;
}

static void copy_value(struct apitrace_write *w, struct apitrace_cur *c)
{
	for (uint64_t left = 1; left; left--)
		left += copy_head(w, c);
}

static void copy_details(struct apitrace_write *w, struct apitrace_cur c)
{
	struct apitrace_detail det;

	while (apitrace_value_detail(w->sigs, &c, &det)) {
		put_uint(w, det.tag);
		if (det.tag != APITRACE_DETAIL_RET)
			put_uint(w, det.number);
		if (det.tag == APITRACE_DETAIL_STACK)
			for (uint64_t i = 0; i < det.number; i++)
				put_frame_id(w, apitrace_value_uint(&det.value));
		else if (det.tag != APITRACE_DETAIL_FLAGS)
			copy_value(w, &det.value);
	}
	put_uint(w, APITRACE_DETAIL_END);
}

static bool is_whole(const struct apitrace_write *w, struct apitrace_cur c)
{
	struct apitrace_detail det;

	while (apitrace_value_detail(w->sigs, &c, &det))
		;
	return c.pos == c.end;
}

int apitrace_write_enter(struct apitrace_write *w, uint64_t thread, const struct apitrace_sig *fn,
			 struct apitrace_cur details)
{
	if (!is_whole(w, details))
		return -EBADMSG;
	put_uint(w, APITRACE_EVENT_ENTER);
	put_uint(w, thread);
	put_sig(w, APITRACE_SIG_FUNCTION, fn->id);
	copy_details(w, details);
	return flush_event(w);
}

int apitrace_write_leave(struct apitrace_write *w, uint64_t no, struct apitrace_cur details)
{
	if (!is_whole(w, details))
		return -EBADMSG;
	put_uint(w, APITRACE_EVENT_LEAVE);
	put_uint(w, no);
	copy_details(w, details);
	return flush_event(w);
}

int apitrace_write_finish(struct apitrace_write *w)
{
	return container_out_finish(w->box);
}
