// SPDX-License-Identifier: BSD-2-Clause
/*
 * stacks.c - a cache of whole stacks
 *
 * A program blocks in a handful of places, so the stacks of its switches out repeat. Each slot of the cache holds a
 * raw stack and its frames in the trace, for one program with one set of mappings, and one state of the kernel's
 * code. A new stack simply replaces the stack in its slot. Records with numbers have an id of their frames, and for
 * the others a thread often blocks in the same place again. So the slot of the id's or the thread's last stack is
 * tried first, which is cheaper than the hash of a stack.
 */
#include "record/symbols/stacks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "events/emit.h"
#include "prof_abi.h"
#include "prof_rec.h"
#include "prof_unwind.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"

enum {
	SLOTS = 8192,
	LAST = 4096, /* ids and threads with a last slot; a power of two */
};

struct slot {
	uint64_t serial;
	uint64_t raw_id; /* of the raw frames; 0: unknown */
	uint32_t generation; /* of the process's mappings */
	uint32_t frames_generation;
	uint16_t kstack_cnt, cnt;
	uint8_t kind;
	bool walked; /* user frames in the form of prof_unwind.h */
	bool anywhere; /* walked, and independent of the process's mappings */
	bool known_only; /* addresses outside all mappings do not belong to the current program */
	uint16_t packed_cnt; /* less than cnt by the tracing frames */
	size_t cap; /* in frames, of each half */
	struct emit_stack_id id; /* of the packed frames */
	uint64_t *frames; /* cnt raw ones; from cap on, packed_cnt packed ones */
};

struct stacks {
	struct frames *frames;
	size_t bytes; /* of the slots' frames */
	struct slot slots[SLOTS];
	uint16_t last[LAST]; /* slots of the last stacks */
};

struct stacks *stacks_new(struct frames *frames)
{
	struct stacks *s = xcalloc(1, sizeof(*s));

	s->frames = frames;
	return s;
}

void stacks_free(struct stacks *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < SLOTS; i++)
		free(s->slots[i].frames);
	free(s);
}

static bool slot_holds(const struct slot *slot, const struct slot *key, const uint64_t *raw)
{
	return slot->frames && slot->serial == key->serial &&
	       (slot->generation == key->generation || slot->anywhere) &&
	       slot->frames_generation == key->frames_generation && slot->kind == key->kind &&
	       slot->walked == key->walked && slot->known_only == key->known_only &&
	       slot->kstack_cnt == key->kstack_cnt && slot->cnt == key->cnt &&
	       ((key->raw_id && slot->raw_id == key->raw_id) ||
		!memcmp(slot->frames, raw, key->cnt * sizeof(*raw)));
}

static void slot_fill(struct stacks *s, struct slot *slot, const struct slot *key,
		      const uint64_t *raw)
{
	uint64_t *frames = slot->frames;
	size_t cap = slot->cap;

	if (!frames || cap < key->cnt) {
		cap = key->cnt > 32 ? key->cnt : 32;
		frames = xreallocarray(frames, 2 * cap, sizeof(*frames));
		s->bytes += 2 * (cap - slot->cap) * sizeof(*frames);
	}
	*slot = *key;
	slot->cap = cap;
	slot->frames = frames;
	memcpy(frames, raw, key->cnt * sizeof(*raw));
}

/* The number of frames between tracepoint and program differs between kernels, and with the number of probes. */
static size_t tracing_frames(struct stacks *s, const struct slot *slot)
{
	size_t n = 0;

	if (slot->kind == PROF_REC_SAMPLE)
		return 0;
	while (n < slot->kstack_cnt && frames_is_tracing(s->frames, slot->frames[n]))
		n++;
	return n;
}

/*
 * The leaf of a sample is the instruction itself. Every other frame is a return address, so its call is one byte
 * before. At a switch out the kernel's leaf is the scheduler's call of the tracepoint. A walk by lists has adjusted
 * its frames already.
 */
static void pack_frames(struct stacks *s, struct slot *slot, struct process *proc)
{
	uint64_t *out = slot->frames + slot->cap;
	bool exact_kernel_leaf = slot->kind == PROF_REC_SAMPLE;
	size_t i = tracing_frames(s, slot);

	for (; i < slot->kstack_cnt; i++)
		*out++ = frames_kernel(s->frames, slot->frames[i] - (i > 0 || !exact_kernel_leaf));
	for (; i < slot->cnt; i++) {
		uint64_t raw = slot->frames[i], leaf = i == slot->kstack_cnt;
		uint64_t frame = slot->walked ? frames_walked(s->frames, proc, raw) :
						frames_user(s->frames, proc, raw - !leaf);

		if (slot->known_only && !(frame >> PROF_FRAME_MODULE_SHIFT))
			break;
		*out++ = frame;
	}
	slot->packed_cnt = out - (slot->frames + slot->cap);
}

static bool has_raw(const uint64_t *frames, size_t cnt)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < cnt; i++)
		all |= frames[i];
	return all & PROF_UNWIND_RAW;
}

/* The slot for the stack, filled. */
static struct slot *find_slot(struct stacks *s, struct slot *key, const uint64_t *raw,
			      struct process *proc)
{
	uint64_t hash = hash_bytes(raw, key->cnt * sizeof(*raw)) ^ hash_u64(key->serial);
	struct slot *slot = &s->slots[hash % SLOTS];

	if (slot_holds(slot, key, raw))
		return slot;
	key->anywhere = key->walked && !has_raw(raw + key->kstack_cnt, key->cnt - key->kstack_cnt);
	slot_fill(s, slot, key, raw);
	pack_frames(s, slot, proc);
	return slot;
}

const uint64_t *stacks_resolve(struct stacks *s, const struct prof_rec *rec, struct process *proc,
			       size_t *cnt, struct emit_stack_id **id)
{
	const uint64_t *raw = prof_rec_frames(rec);
	struct slot key = {
		.kstack_cnt = rec->kstack_cnt,
		.cnt = rec->kstack_cnt + rec->ustack_cnt,
		.kind = rec->kind,
		.serial = proc ? proc->serial : 0,
		.walked = rec->flags & PROF_REC_WALKED,
		.generation = proc ? proc->maps.generation : 0,
		.frames_generation = frames_generation(s->frames),
	};
	uint16_t *last;
	uint8_t end = rec->user_end & PROF_USER_END_MASK;
	struct slot *slot;

	/* an exec leaves the old program's registers */
	key.known_only = end == PROF_END_NO_LIST || end == PROF_END_NO_MAPPING;
	if (rec->flags & PROF_REC_NUMBERED)
		key.raw_id = raw[key.cnt];
	last = &s->last[hash_u64(key.raw_id ? key.raw_id ^ key.serial : rec->tid) % LAST];
	slot = &s->slots[*last];
	if (!slot_holds(slot, &key, raw)) {
		slot = find_slot(s, &key, raw, proc);
		*last = slot - s->slots;
	}
	slot->raw_id = key.raw_id;
	*cnt = slot->packed_cnt;
	if (id)
		*id = &slot->id;
	return slot->frames + slot->cap;
}

size_t stacks_memory(const struct stacks *s)
{
	return sizeof(*s) + s->bytes;
}

void stacks_forget(struct stacks *s)
{
	size_t i;

	for (i = 0; i < SLOTS; i++)
		free(s->slots[i].frames);
	memset(s->slots, 0, sizeof(s->slots));
	s->bytes = 0;
}
