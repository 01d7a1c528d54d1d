// SPDX-License-Identifier: BSD-2-Clause
/*
 * code_names.c - symbols for function addresses in event fields
 *
 * Readers cannot look them up, since the kernel is loaded elsewhere at each boot. The recorder has the symbols. So
 * the first use of an address in a field writes a row of that field's symbols before the event. Owns the set of
 * written addresses, a table of fixed size: nothing is allocated while recording.
 */
#include "record/symbols/code_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash.h"
#include "events/emit.h"
#include "prof_events.h"
#include "record/symbols/frames.h"

enum {
	SLOTS = 16384,
	ADDRESSES_MAX = SLOTS / 2,
};

struct slot {
	uint64_t addr; /* 0: free */
	uint32_t field_id;
};

struct code_names {
	const struct frames *frames;
	struct emit *emit;
	struct buf name;
	size_t cnt;
	struct slot slots[SLOTS];
};

struct code_names *code_names_new(const struct frames *frames, struct emit *emit)
{
	struct code_names *c = xcalloc(1, sizeof(*c));

	c->frames = frames;
	c->emit = emit;
	buf_reserve(&c->name, 1024);
	return c;
}

void code_names_free(struct code_names *c)
{
	if (!c)
		return;
	buf_free(&c->name);
	free(c);
}

void code_names_next_segment(struct code_names *c, struct emit *emit)
{
	c->emit = emit;
	if (c->cnt)
		memset(c->slots, 0, sizeof(c->slots));
	c->cnt = 0;
}

/* False: known already, or the table is full. */
static bool add_address(struct code_names *c, uint32_t field_id, uint64_t addr)
{
	size_t i = hash_u64(addr ^ (uint64_t)field_id << 48) % SLOTS;

	while (c->slots[i].addr && (c->slots[i].addr != addr || c->slots[i].field_id != field_id))
		i = (i + 1) % SLOTS;
	if (c->slots[i].addr || c->cnt == ADDRESSES_MAX)
		return false;
	c->slots[i] = (struct slot){ .addr = addr, .field_id = field_id };
	c->cnt++;
	return true;
}

int code_names_meet(struct code_names *c, const char *event, const char *field, uint32_t field_id,
		    uint64_t addr)
{
	if (!addr || !add_address(c, field_id, addr))
		return 0;
	buf_clear(&c->name);
	if (!frames_code_name(c->frames, addr, &c->name))
		return 0;
	return emit_tp_symbol(c->emit, EMIT_NOW, event, field, PROF_TP_SYMBOL, addr,
			      buf_cstr(&c->name));
}
