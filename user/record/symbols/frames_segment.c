// SPDX-License-Identifier: BSD-2-Clause
/*
 * frames_segment.c - the modules and frames of each segment
 *
 * A segment is complete in itself, so modules and frames are written again in each, at first use. A symbol is
 * requested once and kept. It may arrive after the next segment has begun. So the earlier segment waits for some
 * time, with its own emitter, and then gets labels for frames without symbols.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "dial9.h"
#include "events/emit.h"
#include "record/symbols/frames_impl.h"
#include "record/symbols/name_cache.h"

/* NAME_BYTES: bytes that a frame's symbol adds to a segment, measured on busy machines. */
enum { REQUESTED_MAX = 2 << 20, NAME_BYTES = 150 };

void frames_keep_names(struct frames *f)
{
	f->kept = name_cache_new();
}

static void segment_fini(struct frames_segment *s)
{
	hmap_fini(&s->requested);
	module_set_fini(&s->modules);
}

void frames_drop_segments(struct frames *f)
{
	size_t i;

	for (i = 0; i < f->sealing_cnt; i++)
		segment_fini(&f->sealing[i]);
	f->sealing_cnt = 0;
	segment_fini(&f->now);
	name_cache_free(f->kept);
	f->kept = NULL;
}

static size_t segment_memory(const struct frames_segment *s)
{
	return s->requested.cap * sizeof(struct hmap_slot) + s->modules.cap;
}

size_t frames_segments_memory(const struct frames *f)
{
	size_t sum = segment_memory(&f->now), i;

	for (i = 0; i < f->sealing_cnt; i++)
		sum += segment_memory(&f->sealing[i]);
	return sum + (f->kept ? name_cache_memory(f->kept) : 0);
}

void frames_forget_names(struct frames *f)
{
	if (!f->kept)
		return;
	name_cache_clear(f->kept);
	hmap_fini(&f->named);
	hmap_fini(&f->now.requested);
}

void frames_next_segment(struct frames *f, struct emit *emit)
{
	f->sealing[f->sealing_cnt++] = f->now;
	f->now = (struct frames_segment){ .emit = emit };
	f->segment++;
	hmap_fini(&f->placed);
	/* resolves stacks again, which adds their frames to the segment */
	f->generation++;
}

void frames_add_to_segment(struct frames *f, uint64_t frame)
{
	if (f->now.requested.cnt >= REQUESTED_MAX)
		hmap_fini(&f->now.requested);
	if (name_cache_write(f->kept, frame, f->now.emit) > 0) {
		hmap_set(&f->now.requested, frame, &frames_mark_answered);
		return;
	}
	hmap_set(&f->now.requested, frame, &frames_mark_requested);
	f->now.asked_cnt++;
}

uint64_t frames_pending_bytes(const struct frames *f)
{
	return f->now.asked_cnt * NAME_BYTES;
}

static int write_name_to(struct frames_segment *s, const struct emit_symbol *name)
{
	const void *mark = hmap_get(&s->requested, name->addr);

	if (!mark)
		return 0;
	if (mark == &frames_mark_requested && s->asked_cnt)
		s->asked_cnt--;
	hmap_set(&s->requested, name->addr, &frames_mark_answered);
	return emit_symbol(s->emit, name);
}

int frames_write_name(struct frames *f, const struct emit_symbol *name)
{
	size_t i;
	int err;

	if (!f->kept)
		return emit_symbol(f->now.emit, name);
	name_cache_put(f->kept, name);
	err = write_name_to(&f->now, name);
	for (i = 0; i < f->sealing_cnt && !err; i++)
		err = write_name_to(&f->sealing[i], name);
	return err;
}

static int write_status_to(const struct frames_segment *s, uint32_t module_id, const char *word,
			   const char *detail)
{
	if (!module_set_has(&s->modules, module_id))
		return 0;
	return emit_module_status(s->emit, EMIT_NOW, module_id, word, detail);
}

int frames_write_status(struct frames *f, uint32_t module_id, const char *word, const char *detail)
{
	int err = write_status_to(&f->now, module_id, word, detail);
	size_t i;

	for (i = 0; i < f->sealing_cnt && !err; i++)
		err = write_status_to(&f->sealing[i], module_id, word, detail);
	return err;
}

/* ---- labels --------------------------------------------------------------------------------------- */

/* The label of a frame in that module: "[libc.so.6]", "[jit]"; a path like "[heap]" unchanged. */
static void label_of(const struct frames *f, uint32_t module_id, struct buf *out)
{
	size_t len;
	const void *key = modules_key(f->modules, module_id, &len);
	struct map m = { .path = "[forgotten]" };

	buf_clear(out);
	if (key)
		m = frames_map_from_key(key, len);
	if (*m.path == '[')
		buf_addstr(out, m.path);
	else if (proc_maps_has_file(&m))
		buf_printf(out, "[%s]", strrchr(m.path, '/') + 1);
	else
		buf_addstr(out, "[jit]");
}

static int label_unnamed(const struct frames *f, const struct hmap *frames, struct emit *emit)
{
	struct emit_symbol event = { 0 };
	struct buf label = { 0 }, valid = { 0 };
	struct dial9_str text;
	size_t pos = 0;
	void *mark;
	int err = 0;

	while (!err && hmap_next(frames, &pos, &event.addr, &mark)) {
		if (mark != &frames_mark_requested || event.addr & PROF_FRAME_KERNEL)
			continue;
		label_of(f, event.addr >> PROF_FRAME_MODULE_SHIFT & PROF_FRAME_MODULE_MAX, &label);
		text = emit_text(&valid, buf_cstr(&label), label.len);
		event.name = text.ptr;
		event.name_len = text.len;
		event.base = event.addr;
		err = emit_symbol(emit, &event);
	}
	buf_free(&label);
	buf_free(&valid);
	return err;
}

int frames_seal(struct frames *f)
{
	struct frames_segment oldest = f->sealing[0];
	int err = label_unnamed(f, &oldest.requested, oldest.emit);

	f->sealing_cnt--;
	memmove(f->sealing, f->sealing + 1, f->sealing_cnt * sizeof(*f->sealing));
	segment_fini(&oldest);
	return err;
}

int frames_label_all(struct frames *f)
{
	int err = 0;

	while (f->sealing_cnt && !err)
		err = frames_seal(f);
	return err ? err : label_unnamed(f, f->kept ? &f->now.requested : &f->named, f->now.emit);
}
