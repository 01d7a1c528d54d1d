// SPDX-License-Identifier: BSD-2-Clause
/*
 * The output side of Tonbandgerät: order, cores, frames.
 *
 * The format's readers want time to rise on each core, and dial9 promises no order. So events wait in
 * a heap of bounded size; what comes later still than that is raised to the time already written, and
 * counted. Events that came from a recording are exempt: their key never falls below the key of the
 * event before, which makes the heap a queue for them, and their time is written as it is.
 *
 * A core_id frame before an event sets its core; it is written only when the core changes.
 */
#include "formats/tonbandgeraet/write.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define WINDOW_EVENTS (512 * 1024)
#define WINDOW_BYTES (64 * 1024 * 1024)
#define FLUSH_AT (64 * 1024)

struct waiting {
	uint64_t key, seq;
	struct tonband_out out;
	char *copy; /* what out.ev.str or out.raw point to */
	size_t copy_sz;
};

struct tonband_write {
	dial9_write_fn write;
	void *ctx;
	struct foreign_notes *notes;
	int err;
	bool window;
	struct waiting *heap;
	size_t cnt, cap, bytes;
	uint64_t seq, exact_key;
	uint32_t core;
	uint64_t last_ts;
	bool open_frame; /* a raw frame without its delimiter was the last */
	struct buf buf;
};

void tonband_write_new(dial9_write_fn write, void *ctx, struct foreign_notes *notes, uint32_t core,
		       bool window, struct tonband_write **out)
{
	struct tonband_write *w = xcalloc(1, sizeof(*w));

	w->write = write;
	w->ctx = ctx;
	w->notes = notes;
	w->core = core;
	w->window = window;
	*out = w;
}

void tonband_write_free(struct tonband_write *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->cnt; i++)
		free(w->heap[i].copy);
	free(w->heap);
	buf_free(&w->buf);
	free(w);
}

/* ---- frames ------------------------------------------------------------------------------------ */

static void flush(struct tonband_write *w)
{
	if (!w->err && w->buf.len)
		w->err = w->write(w->ctx, w->buf.data, w->buf.len);
	buf_clear(&w->buf);
}

static void put_core(struct tonband_write *w, uint32_t core)
{
	struct tonband_event ev = { .id = TONBAND_CORE_ID,
				    .type = tonband_event_type(TONBAND_CORE_ID),
				    .ts = w->last_ts,
				    .num = { core } };

	tonband_event_write(&w->buf, &ev);
	w->core = core;
}

static void put_event(struct tonband_write *w, const struct tonband_out *out)
{
	struct tonband_event ev = out->ev;

	if (ev.type->has_ts && !out->exact && ev.ts < w->last_ts) {
		foreign_note(w->notes, FOREIGN_NOTE_CHANGED, 1,
			     "times too far out of order, raised to the one before", NULL);
		ev.ts = w->last_ts;
	}
	if (ev.type->has_ts && ev.id != TONBAND_CORE_ID)
		w->last_ts = ev.ts;
	if (out->has_core && ev.id != TONBAND_CORE_ID && out->core != w->core)
		put_core(w, out->core);
	if (ev.id == TONBAND_CORE_ID)
		w->core = (uint32_t)ev.num[0];
	tonband_event_write(&w->buf, &ev);
}

static void put(struct tonband_write *w, const struct tonband_out *out)
{
	if (w->open_frame)
		buf_addch(&w->buf, '\0');
	w->open_frame = false;
	if (!out->raw) {
		put_event(w, out);
	} else {
		if (out->has_core && out->core != w->core)
			put_core(w, out->core);
		buf_add(&w->buf, out->raw, out->raw_sz);
		if (out->ended)
			buf_addch(&w->buf, '\0');
		w->open_frame = !out->ended;
	}
	if (w->buf.len >= FLUSH_AT)
		flush(w);
}

/* ---- order ------------------------------------------------------------------------------------- */

static bool is_before(const struct waiting *a, const struct waiting *b)
{
	return a->key != b->key ? a->key < b->key : a->seq < b->seq;
}

static void swap(struct waiting *a, struct waiting *b)
{
	struct waiting t = *a;

	*a = *b;
	*b = t;
}

static void sift_up(struct waiting *heap, size_t i)
{
	for (; i && is_before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct waiting *heap, size_t cnt)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < cnt) {
		if (child + 1 < cnt && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &heap[i]))
			break;
		swap(&heap[child], &heap[i]);
		i = child;
	}
}

static void pop(struct tonband_write *w)
{
	struct waiting top = w->heap[0];

	w->heap[0] = w->heap[--w->cnt];
	sift_down(w->heap, w->cnt);
	w->bytes -= top.copy_sz;
	put(w, &top.out);
	free(top.copy);
}

static uint64_t key_of(struct tonband_write *w, const struct tonband_out *out)
{
	bool timed = !out->raw && out->ev.type->has_ts && out->ev.id != TONBAND_CORE_ID;

	if (!out->exact)
		return out->ev.ts;
	if (timed && out->ev.ts > w->exact_key)
		w->exact_key = out->ev.ts;
	return w->exact_key;
}

int tonband_write_push(struct tonband_write *w, const struct tonband_out *out)
{
	struct waiting *slot;

	if (!w->window) {
		put(w, out);
		flush(w);
		return w->err;
	}
	while (w->cnt >= WINDOW_EVENTS || (w->cnt && w->bytes >= WINDOW_BYTES))
		pop(w);
	w->heap = array_reserve(w->heap, &w->cap, w->cnt + 1, sizeof(*w->heap));
	slot = &w->heap[w->cnt];
	*slot = (struct waiting){ .key = key_of(w, out), .seq = w->seq++, .out = *out };
	if (out->raw) {
		slot->copy_sz = out->raw_sz;
		slot->out.raw = slot->copy = xmemdup(out->raw, out->raw_sz);
	} else if (out->ev.str_len) {
		slot->copy_sz = out->ev.str_len;
		slot->out.ev.str = slot->copy = xmemdup(out->ev.str, out->ev.str_len);
	}
	w->bytes += slot->copy_sz;
	sift_up(w->heap, w->cnt++);
	return w->err;
}

int tonband_write_finish(struct tonband_write *w)
{
	while (w->cnt)
		pop(w);
	flush(w);
	return w->err;
}
