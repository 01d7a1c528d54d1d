// SPDX-License-Identifier: BSD-2-Clause
/*
 * mapping_lag.c - time ranges in which mapping lists were out of date
 *
 * Stored only for processes that map code over code, and until the drain has passed. A process that does it all the
 * time has one range for all of its modules.
 */
#include "record/unwind_maps/mapping_lag.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hmap.h"
#include "prof_abi.h"
#include "prof_rec.h"
#include "prof_unwind.h"

enum { WINDOWS = 16, ANY_MODULE = 0 };

struct window {
	uint64_t from_ns, to_ns; /* UINT64_MAX: not over */
	uint32_t module_id;
};

struct windows {
	uint32_t cnt;
	struct window v[WINDOWS];
};

struct mapping_lag {
	struct hmap by_pid; /* struct windows */
	struct buf cut; /* a record without invalid frames */
};

struct mapping_lag *mapping_lag_new(void)
{
	struct mapping_lag *s = xcalloc(1, sizeof(*s));

	hmap_init(&s->by_pid);
	return s;
}

void mapping_lag_free(struct mapping_lag *s)
{
	size_t pos = 0;
	uint64_t key;
	void *w;

	if (!s)
		return;
	while (hmap_next(&s->by_pid, &pos, &key, &w))
		free(w);
	hmap_fini(&s->by_pid);
	buf_free(&s->cut);
	free(s);
}

/* Merges all ranges into one. */
static void merge(struct windows *w)
{
	struct window all = { UINT64_MAX, 0, ANY_MODULE };

	for (uint32_t i = 0; i < w->cnt; i++) {
		if (w->v[i].from_ns < all.from_ns)
			all.from_ns = w->v[i].from_ns;
		if (w->v[i].to_ns > all.to_ns)
			all.to_ns = w->v[i].to_ns;
	}
	w->v[0] = all;
	w->cnt = 1;
}

static void add(struct windows *w, const struct window *window)
{
	for (uint32_t i = 0; i < w->cnt; i++) {
		const struct window *old = &w->v[i];

		if (old->to_ns == UINT64_MAX && old->from_ns <= window->from_ns &&
		    (old->module_id == window->module_id || old->module_id == ANY_MODULE))
			return;
	}
	if (w->cnt == WINDOWS)
		merge(w);
	w->v[w->cnt++] = *window;
}

static struct windows *get(struct mapping_lag *s, uint32_t pid)
{
	struct windows *w = hmap_get(&s->by_pid, pid);

	if (!w) {
		w = xcalloc(1, sizeof(*w));
		hmap_set(&s->by_pid, pid, w);
	}
	return w;
}

void mapping_lag_begin(struct mapping_lag *s, uint32_t pid, uint32_t module_id, uint64_t from_ns)
{
	const struct window window = { from_ns, UINT64_MAX, module_id };

	add(get(s, pid), &window);
}

void mapping_lag_end(struct mapping_lag *s, uint32_t pid, uint64_t now_ns)
{
	struct windows *w = hmap_get(&s->by_pid, pid);

	for (uint32_t i = 0; w && i < w->cnt; i++)
		if (w->v[i].to_ns == UINT64_MAX)
			w->v[i].to_ns = now_ns;
}

bool mapping_lag_fork(struct mapping_lag *s, uint32_t parent, uint32_t child, uint64_t at_ns)
{
	struct windows *w = hmap_get(&s->by_pid, parent);
	bool any = false;

	for (uint32_t i = 0; w && i < w->cnt; i++) {
		struct window window = w->v[i];

		if (at_ns < window.from_ns || at_ns > window.to_ns)
			continue;
		window.to_ns = UINT64_MAX;
		add(get(s, child), &window);
		any = true;
	}
	return any;
}

static bool covers(const struct window *w, uint64_t ts, uint64_t frame)
{
	if (ts < w->from_ns || ts > w->to_ns || frame & PROF_UNWIND_RAW)
		return false;
	return w->module_id == ANY_MODULE || frame >> PROF_FRAME_MODULE_SHIFT == w->module_id;
}

size_t mapping_lag_true(const struct mapping_lag *s, uint32_t pid, uint64_t ts,
			const uint64_t *frames, size_t cnt)
{
	const struct windows *w = s->by_pid.cnt ? hmap_get(&s->by_pid, pid) : NULL;

	for (size_t i = 0; w && i < cnt; i++)
		for (uint32_t k = 0; k < w->cnt; k++)
			if (covers(&w->v[k], ts, frames[i]))
				return i;
	return cnt;
}

static const struct prof_rec *cut(struct mapping_lag *s, const struct prof_rec *rec, size_t kept)
{
	struct prof_rec *copy;

	buf_clear(&s->cut);
	buf_add(&s->cut, rec, rec->size);
	copy = (struct prof_rec *)s->cut.data;
	copy->ustack_cnt = kept;
	copy->user_end = PROF_END_NO_LIST | (rec->user_end & ~PROF_USER_END_MASK);
	if (kept < 2)
		copy->user_end &= ~PROF_USER_GUESSED;
	copy->flags &= ~(PROF_REC_USTACK_CUT | PROF_REC_NUMBERED);
	return copy;
}

const struct prof_rec *mapping_lag_record(struct mapping_lag *s, const struct prof_rec *rec)
{
	size_t kept;

	if (!(rec->flags & PROF_REC_WALKED))
		return rec;
	kept = mapping_lag_true(s, rec->pid, rec->ts, prof_rec_frames(rec) + rec->kstack_cnt,
				rec->ustack_cnt);
	return kept < rec->ustack_cnt ? cut(s, rec, kept) : rec;
}

void mapping_lag_forget(struct mapping_lag *s, uint64_t before_ns)
{
	struct hmap kept;
	size_t pos = 0;
	uint64_t pid;
	void *value;

	if (!s->by_pid.cnt)
		return;
	hmap_init(&kept);
	while (hmap_next(&s->by_pid, &pos, &pid, &value)) {
		struct windows *w = value;
		uint32_t cnt = 0;

		for (uint32_t i = 0; i < w->cnt; i++)
			if (w->v[i].to_ns >= before_ns)
				w->v[cnt++] = w->v[i];
		w->cnt = cnt;
		if (cnt)
			hmap_set(&kept, pid, w);
		else
			free(w);
	}
	hmap_fini(&s->by_pid);
	s->by_pid = kept;
}

size_t mapping_lag_memory(const struct mapping_lag *s)
{
	return sizeof(*s) + s->by_pid.cap * sizeof(struct hmap_slot) +
	       s->by_pid.cnt * sizeof(struct windows);
}
