// SPDX-License-Identifier: BSD-2-Clause
/*
 * store.c - unwind tables in the memory of the BPF programs
 *
 * A file has a slot until the caller reports that no list uses it. Its table can be loaded and
 * evicted. Tables are runs of blocks (first fit), in chunks; one chunk is allocated ahead of need.
 * Memory that a walk may still read is not overwritten: first the slot's `table` is set to 0; after
 * a grace period the blocks, and a released slot, are free. If a table finds no room, the least
 * recently used tables are evicted, except those used in the last seconds. If that is not enough,
 * the new table waits, or is refused. Recordings can be long and programs exit, so idle unused
 * tables may be released before more memory is allocated.
 */
#include "unwind/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "unwind/free_ranges.h"
#include "unwind/waiter.h"

#define SECOND_NS 1000000000ULL

enum {
	BLOCK_SZ = 4 * PROF_UNWIND_BLOCK_WORDS,
	CHUNK_BLOCKS = PROF_UNWIND_CHUNK_BLOCKS,
	AHEAD_BLOCKS = 64, /* with fewer free blocks, another chunk is allocated */
	RECENT_S = 2, /* tables used within this time are not evicted */
	IDLE_S = 30, /* unused tables idle for this time may be released early */
	CROWDED_BLOCKS =
		CHUNK_BLOCKS / 2, /* with fewer free blocks, another chunk is needed soon */
	AGAIN_S = 10, /* until a refused table may be requested again */
	PUTS_MAX = 16, /* per step */
};

enum slot_state {
	SLOT_FREE, /* unused */
	SLOT_LEAVING, /* free after a grace period */
	SLOT_EMPTY, /* no table, and no request */
	SLOT_EXPECTED,
	SLOT_WAITING, /* for room */
	SLOT_FULL,
	SLOT_WITHOUT, /* there cannot be a table */
	SLOT_ELSEWHERE, /* another slot has the table */
};

struct slot {
	uint8_t state;
	uint32_t next; /* index + 1 in the same bucket, or of the next free slot */
	uint64_t hash;
	uint8_t *key;
	size_t key_sz;
	uint32_t first, cnt; /* blocks of a full slot */
	uint64_t time_s; /* full: last known use; empty: no request before this time */
};

/* A table that is not published yet */
struct waiting {
	struct waiting *next;
	uint32_t slot;
	struct unwind_table table;
};

/* Blocks that walks may still read */
struct retired {
	uint32_t first, cnt;
	uint64_t ticket;
};

/* Slots that walks may still use */
struct leaving {
	uint32_t *v;
	size_t cnt, cap;
	uint64_t ticket;
};

struct store {
	struct store_cfg cfg;
	struct slot *slots;
	uint32_t slot_cnt; /* slots that ever had a key */
	uint32_t *buckets; /* first slot + 1; as many buckets as slots */
	uint32_t free_slots; /* first slot + 1 */
	struct leaving leaving;
	size_t key_bytes;
	uint32_t frees;
	bool is_short; /* a key found no slot since slots were last freed */
	struct free_ranges blocks;
	void *chunks[PROF_UNWIND_CHUNKS_MAX];
	uint32_t chunk_cnt, chunk_max;
	bool chunk_asked, chunk_failed;
	struct waiting *waiting, **waiting_end;
	size_t waiting_bytes;
	struct retired *retired;
	size_t retired_cnt, retired_cap;
	uint32_t expected_cnt;
	uint64_t now_s;
	struct store_counts counts;
};

struct store *store_new(const struct store_cfg *cfg)
{
	struct store *s = xcalloc(1, sizeof(*s));

	s->cfg = *cfg;
	s->chunk_max = (cfg->block_max + CHUNK_BLOCKS - 1) / CHUNK_BLOCKS;
	if (s->chunk_max > PROF_UNWIND_CHUNKS_MAX)
		s->chunk_max = PROF_UNWIND_CHUNKS_MAX;
	s->slots = xcalloc(cfg->module_cnt, sizeof(*s->slots));
	s->buckets = xcalloc(cfg->module_cnt, sizeof(*s->buckets));
	s->waiting_end = &s->waiting;
	return s;
}

static void waiting_free(struct waiting *w)
{
	unwind_table_free(&w->table);
	free(w);
}

void store_free(struct store *s)
{
	struct waiting *w;
	uint32_t i;

	if (!s)
		return;
	while ((w = s->waiting)) {
		s->waiting = w->next;
		waiting_free(w);
	}
	free(s->retired);
	free_ranges_fini(&s->blocks);
	for (i = 0; i < s->slot_cnt; i++)
		free(s->slots[i].key);
	free(s->leaving.v);
	free(s->buckets);
	free(s->slots);
	free(s);
}

/* ---- slots -------------------------------------------------------------------------------------- */

/* The place with the number of the key's slot, or the place where it would be inserted. */
static uint32_t *find_key(struct store *s, const void *key, size_t sz, uint64_t hash)
{
	uint32_t *at = &s->buckets[hash % s->cfg.module_cnt];

	for (; *at; at = &s->slots[*at - 1].next) {
		const struct slot *sl = &s->slots[*at - 1];

		if (sl->hash == hash && sl->key_sz == sz && !memcmp(sl->key, key, sz))
			break;
	}
	return at;
}

uint32_t store_slot(struct store *s, const void *key, size_t sz)
{
	uint64_t hash = hash_bytes(key, sz);
	uint32_t *at = find_key(s, key, sz, hash), slot;

	if (*at)
		return *at - 1;
	if (s->free_slots) {
		slot = s->free_slots - 1;
		s->free_slots = s->slots[slot].next;
	} else if (s->slot_cnt < s->cfg.module_cnt) {
		slot = s->slot_cnt++;
	} else {
		s->is_short = true;
		s->counts.modules_left_out++;
		return PROF_UNWIND_NO_SLOT;
	}
	*at = slot + 1;
	s->slots[slot] = (struct slot){
		.state = SLOT_EMPTY, .hash = hash, .key = xmemdup(key, sz), .key_sz = sz
	};
	s->key_bytes += sz;
	return slot;
}

static void unlink_key(struct store *s, struct slot *sl)
{
	*find_key(s, sl->key, sl->key_sz, sl->hash) = sl->next;
	s->key_bytes -= sl->key_sz;
	free(sl->key);
	*sl = (struct slot){ .state = SLOT_LEAVING };
}

/* Resets freed slots completely, because the next key is another file. */
static void free_leaving(struct store *s)
{
	struct leaving *l = &s->leaving;

	if (!l->cnt || !waiter_is_over(s->cfg.waiter, l->ticket))
		return;
	while (l->cnt) {
		uint32_t slot = l->v[--l->cnt];

		s->cfg.modules[slot] = (struct prof_unwind_module){ 0 };
		s->slots[slot] = (struct slot){ .state = SLOT_FREE, .next = s->free_slots };
		s->free_slots = slot + 1;
		s->counts.slots_freed++;
	}
	s->frees += s->is_short;
	s->is_short = false;
}

/* ---- what is asked for -------------------------------------------------------------------------- */

bool store_expect(struct store *s, uint32_t slot)
{
	if (slot >= s->slot_cnt || s->slots[slot].state != SLOT_EMPTY ||
	    s->now_s < s->slots[slot].time_s)
		return false;
	s->slots[slot].state = SLOT_EXPECTED;
	__atomic_store_n(&s->cfg.modules[slot].left_out, 0, __ATOMIC_RELAXED);
	s->expected_cnt++;
	return true;
}

bool store_next_needed(struct store *s, uint32_t *pos, uint32_t *slot)
{
	while (*pos < s->slot_cnt) {
		*slot = (*pos)++;
		if (s->slots[*slot].state == SLOT_EMPTY &&
		    __atomic_load_n(&s->cfg.modules[*slot].used, __ATOMIC_RELAXED) &&
		    store_expect(s, *slot))
			return true;
	}
	return false;
}

static bool claim_expected(struct store *s, uint32_t slot)
{
	if (slot >= s->slot_cnt || s->slots[slot].state != SLOT_EXPECTED)
		return false;
	s->expected_cnt--;
	return true;
}

void store_put_none(struct store *s, uint32_t slot, bool again)
{
	if (!claim_expected(s, slot))
		return;
	s->slots[slot].state = again ? SLOT_EMPTY : SLOT_WITHOUT;
	__atomic_store_n(again ? &s->cfg.modules[slot].left_out : &s->cfg.modules[slot].without, 1,
			 __ATOMIC_RELAXED);
	s->slots[slot].time_s = s->now_s + AGAIN_S;
}

void store_put_elsewhere(struct store *s, uint32_t slot)
{
	if (claim_expected(s, slot))
		s->slots[slot].state = SLOT_ELSEWHERE;
}

bool store_is_elsewhere(const struct store *s, uint32_t slot)
{
	return slot < s->slot_cnt && s->slots[slot].state == SLOT_ELSEWHERE;
}

void store_put(struct store *s, uint32_t slot, const struct unwind_table *t)
{
	struct waiting *w;

	if (!t->cnt) {
		store_put_none(s, slot, false);
		return;
	}
	if (!claim_expected(s, slot))
		return;
	w = xcalloc(1, sizeof(*w));
	w->slot = slot;
	w->table = *t;
	w->table.words = xmemdup(t->words, t->cnt * sizeof(*t->words));
	*s->waiting_end = w;
	s->waiting_end = &w->next;
	s->waiting_bytes += t->cnt * sizeof(*t->words);
	s->slots[slot].state = SLOT_WAITING;
}

/* ---- room --------------------------------------------------------------------------------------- */

/* The last chunk may exceed the limit in part. */
static void receive_chunk(struct store *s)
{
	void *mem;
	int got = s->chunk_asked ? waiter_chunk(s->cfg.waiter, &mem) : 0;
	uint32_t first = s->chunk_cnt * CHUNK_BLOCKS, left = s->cfg.block_max - first;

	if (!got)
		return;
	s->chunk_asked = false;
	if (got < 0) {
		s->chunk_failed = true;
		return;
	}
	s->chunks[s->chunk_cnt++] = mem;
	free_ranges_add(&s->blocks, first, left < CHUNK_BLOCKS ? left : CHUNK_BLOCKS);
}

static void ask_chunk(struct store *s)
{
	if (s->chunk_asked || s->chunk_failed || s->chunk_cnt == s->chunk_max)
		return;
	s->chunk_asked = true;
	waiter_ask_chunk(s->cfg.waiter, s->chunk_cnt);
}

static void retire(struct store *s, uint32_t slot)
{
	struct slot *sl = &s->slots[slot];

	__atomic_store_n(&s->cfg.modules[slot].table, 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(s->cfg.generation, 1, __ATOMIC_SEQ_CST);
	s->retired =
		array_reserve(s->retired, &s->retired_cap, s->retired_cnt + 1, sizeof(*s->retired));
	s->retired[s->retired_cnt++] = (struct retired){
		.first = sl->first,
		.cnt = sl->cnt,
		.ticket = waiter_grace(s->cfg.waiter),
	};
	sl->state = SLOT_EMPTY;
	sl->time_s = 0;
	s->counts.bytes -= (uint64_t)sl->cnt * BLOCK_SZ;
}

bool store_is_short(const struct store *s)
{
	return s->is_short && !s->leaving.cnt;
}

uint32_t store_frees(const struct store *s)
{
	return s->frees;
}

bool store_is_crowded(const struct store *s)
{
	return s->chunk_cnt && s->blocks.free < CROWDED_BLOCKS && !s->leaving.cnt;
}

static bool is_idle(const struct store *s, uint32_t slot)
{
	return s->slots[slot].state == SLOT_FULL && s->slots[slot].time_s + IDLE_S < s->now_s &&
	       !__atomic_load_n(&s->cfg.modules[slot].used, __ATOMIC_RELAXED);
}

void store_release(struct store *s, const bool *held, bool idle_only)
{
	struct leaving *l = &s->leaving;
	uint32_t i;

	if (l->cnt)
		return;
	for (i = 0; i < s->slot_cnt; i++) {
		struct slot *sl = &s->slots[i];

		if (held[i] || sl->state < SLOT_EMPTY || sl->state == SLOT_EXPECTED ||
		    sl->state == SLOT_WAITING || (idle_only && !is_idle(s, i)))
			continue;
		if (sl->state == SLOT_FULL)
			retire(s, i);
		unlink_key(s, sl);
		l->v = array_reserve(l->v, &l->cap, l->cnt + 1, sizeof(*l->v));
		l->v[l->cnt++] = i;
	}
	if (!l->cnt)
		return;
	__atomic_fetch_add(s->cfg.generation, 1, __ATOMIC_SEQ_CST);
	l->ticket = waiter_grace(s->cfg.waiter);
}

static void free_retired(struct store *s)
{
	size_t i, kept = 0;

	for (i = 0; i < s->retired_cnt; i++) {
		struct retired *r = &s->retired[i];

		if (waiter_is_over(s->cfg.waiter, r->ticket))
			free_ranges_add(&s->blocks, r->first, r->cnt);
		else
			s->retired[kept++] = *r;
	}
	s->retired_cnt = kept;
}

/* The full slot with the oldest use; NULL if all were used recently. */
static struct slot *least_used(struct store *s)
{
	struct slot *best = NULL;
	uint32_t i;

	for (i = 0; i < s->slot_cnt; i++) {
		struct slot *sl = &s->slots[i];

		if (sl->state == SLOT_FULL && sl->time_s + RECENT_S < s->now_s &&
		    !__atomic_load_n(&s->cfg.modules[i].used, __ATOMIC_RELAXED) &&
		    (!best || sl->time_s < best->time_s))
			best = sl;
	}
	return best;
}

/* Evicts tables until `cnt` blocks are free or will be; false if that is impossible. */
static bool make_room(struct store *s, uint32_t cnt)
{
	uint32_t coming = 0;
	struct slot *sl;
	size_t i;

	for (i = 0; i < s->retired_cnt; i++)
		coming += s->retired[i].cnt;
	if (coming)
		return true; /* wait for the result of these first */
	do {
		sl = least_used(s);
		if (!sl)
			return coming > 0;
		coming += sl->cnt;
		retire(s, sl - s->slots);
		s->counts.evicted++;
	} while (coming + s->blocks.free < cnt);
	return true;
}

/* ---- into reach --------------------------------------------------------------------------------- */

static void write_words(struct store *s, uint32_t block, const uint32_t *words, size_t cnt)
{
	size_t n;

	for (; cnt; block++, words += n, cnt -= n) {
		char *chunk = s->chunks[block / CHUNK_BLOCKS];

		n = cnt < PROF_UNWIND_BLOCK_WORDS ? cnt : PROF_UNWIND_BLOCK_WORDS;
		memcpy(chunk + (size_t)(block % CHUNK_BLOCKS) * BLOCK_SZ, words,
		       n * sizeof(*words));
	}
}

static void publish(struct store *s, const struct waiting *w, uint32_t first, uint32_t cnt)
{
	struct prof_unwind_module *m = &s->cfg.modules[w->slot];
	struct slot *sl = &s->slots[w->slot];

	write_words(s, first, w->table.words, w->table.cnt);
	m->first_page = w->table.first_page;
	m->page_cnt = w->table.page_cnt;
	m->big_cnt = w->table.big_cnt;
	__atomic_store_n(&m->table, first + 1, __ATOMIC_RELEASE);
	sl->state = SLOT_FULL;
	sl->first = first;
	sl->cnt = cnt;
	sl->time_s = s->now_s;
	s->counts.put++;
	s->counts.bytes += (uint64_t)cnt * BLOCK_SZ;
}

static void leave_out(struct store *s, uint32_t slot)
{
	s->slots[slot].state = SLOT_EMPTY;
	s->slots[slot].time_s = s->now_s + AGAIN_S;
	/* a walk that needs the table sets it again */
	__atomic_store_n(&s->cfg.modules[slot].used, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->cfg.modules[slot].left_out, 1, __ATOMIC_RELAXED);
	s->counts.left_out++;
}

/* Returns false if the table has to wait on. */
static bool put_waiting(struct store *s, const struct waiting *w)
{
	uint32_t cnt = (w->table.cnt + PROF_UNWIND_BLOCK_WORDS - 1) / PROF_UNWIND_BLOCK_WORDS;
	uint32_t first;

	if (free_ranges_allocate(&s->blocks, cnt, &first)) {
		publish(s, w, first, cnt);
		return true;
	}
	ask_chunk(s);
	if (s->chunk_asked || (cnt <= s->cfg.block_max && make_room(s, cnt)))
		return false;
	leave_out(s, w->slot);
	return true;
}

static void put_all_waiting(struct store *s)
{
	struct waiting *w;
	int n;

	for (n = 0; n < PUTS_MAX && (w = s->waiting) && put_waiting(s, w); n++) {
		s->waiting = w->next;
		if (!s->waiting)
			s->waiting_end = &s->waiting;
		s->waiting_bytes -= w->table.cnt * sizeof(*w->table.words);
		waiting_free(w);
	}
}

/* Once per second: records which tables were used. */
static void note_uses(struct store *s)
{
	uint32_t i;

	for (i = 0; i < s->slot_cnt; i++) {
		struct prof_unwind_module *m = &s->cfg.modules[i];

		if (s->slots[i].state != SLOT_FULL || !__atomic_load_n(&m->used, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&m->used, 0, __ATOMIC_RELAXED);
		s->slots[i].time_s = s->now_s;
	}
}

void store_step(struct store *s, uint64_t now_ns)
{
	if (now_ns / SECOND_NS != s->now_s) {
		s->now_s = now_ns / SECOND_NS;
		note_uses(s);
	}
	receive_chunk(s);
	free_retired(s);
	free_leaving(s);
	put_all_waiting(s);
	if (s->blocks.free < AHEAD_BLOCKS)
		ask_chunk(s);
}

bool store_is_settled(const struct store *s)
{
	return !s->expected_cnt && !s->waiting;
}

void store_count(const struct store *s, struct store_counts *out)
{
	*out = s->counts;
}

size_t store_memory(const struct store *s)
{
	return sizeof(*s) + s->cfg.module_cnt * (sizeof(*s->slots) + sizeof(*s->buckets)) +
	       s->waiting_bytes + s->key_bytes + s->leaving.cap * sizeof(*s->leaving.v) +
	       s->retired_cap * sizeof(*s->retired);
}
