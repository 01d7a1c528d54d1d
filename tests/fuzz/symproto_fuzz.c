// SPDX-License-Identifier: BSD-2-Clause
/*
 * Packets between the recorder and its helper processes, in each direction: the first byte selects the reader,
 * the rest is one packet. Asserted is what both sides rely on: an accepted message has a kind for that reader,
 * its texts have their lengths, its numbers are within their limits, and written again it is read back as the
 * same. Its bytes may differ in fields that a kind does not use.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "prof_unwind.h"
#include "symbol/sandbox/symproto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

enum { SIDES = SYMPROTO_FROM_OPENER + 1 };

static enum symproto_side reader_of(enum symproto_kind kind)
{
	if (kind <= SYMPROTO_PACE)
		return SYMPROTO_TO_WORKER;
	if (kind <= SYMPROTO_WORDS)
		return SYMPROTO_FROM_WORKER;
	return kind == SYMPROTO_OPEN ? SYMPROTO_TO_OPENER : SYMPROTO_FROM_OPENER;
}

static void check(const struct symproto_msg *m, enum symproto_side side)
{
	assert(m->kind >= SYMPROTO_MODULE && m->kind < SYMPROTO_KIND_END);
	assert(reader_of(m->kind) == side);
	assert(m->what < SYMPROTO_WHAT_END);
	assert(m->error <= 0 && m->error >= -4095 && m->pid >= 0);
	assert(m->depth < SYMPROTO_DEPTH_MAX && !(m->flags & ~SYMPROTO_FLAGS));
	assert(m->build_id_sz <= SYMPROTO_BUILD_ID_MAX);
	assert(m->text ? strlen(m->text) == m->text_len : !m->text_len);
	assert(m->more ? strlen(m->more) == m->more_len : !m->more_len);
	assert(m->text_len <= SYMPROTO_NAME_MAX && m->more_len <= SYMPROTO_PATH_MAX);
	if (m->kind == SYMPROTO_NAME || m->kind == SYMPROTO_FRAME)
		assert(m->text);
	assert(!m->word_cnt == (m->kind != SYMPROTO_WORDS) && m->word_cnt <= SYMPROTO_WORDS_MAX);
	assert(m->kind != SYMPROTO_TABLE ||
	       (m->size <= PROF_UNWIND_TABLE_WORDS_MAX && m->line <= m->size &&
		m->offset <= PROF_UNWIND_BIGS_MAX && m->start + m->line <= UINT32_MAX));
}

static void check_text(const char *a, size_t a_len, const char *b, size_t b_len)
{
	assert(!a == !b && a_len == b_len);
	assert(!a || !memcmp(a, b, a_len));
}

/* Written and read again. */
static void check_again(const struct symproto_msg *m, enum symproto_side side)
{
	struct buf packet = { 0 };
	struct symproto_msg n;
	size_t pos = 0;

	symproto_put(&packet, m);
	assert(symproto_get(packet.data, packet.len, &pos, side, &n) == 1);
	assert(pos == packet.len);
	assert(symproto_get(packet.data, packet.len, &pos, side, &n) == 0);
	assert(n.kind == m->kind && n.what == m->what && n.id == m->id && n.flags == m->flags);
	assert(n.error == m->error && n.depth == m->depth && n.line == m->line && n.pid == m->pid);
	assert(n.offset == m->offset && n.start == m->start && n.size == m->size);
	check_text(m->text, m->text_len, n.text, n.text_len);
	check_text(m->more, m->more_len, n.more, n.more_len);
	assert(n.word_cnt == m->word_cnt);
	assert(!n.word_cnt || !memcmp(n.words, m->words, 4 * n.word_cnt));
	assert(n.build_id_sz == m->build_id_sz);
	assert(!n.build_id_sz || !memcmp(n.build_id, m->build_id, n.build_id_sz));
	buf_free(&packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct symproto_msg msg;
	enum symproto_side side;
	size_t pos = 0, before = 0;
	int got;

	if (!sz || sz > SYMPROTO_PACKET_MAX)
		return 0;
	side = data[0] % SIDES;
	data++;
	sz--;
	while ((got = symproto_get(data, sz, &pos, side, &msg)) == 1) {
		assert(pos > before && pos <= sz);
		before = pos;
		check(&msg, side);
		check_again(&msg, side);
	}
	assert(got < 0 || pos == sz);
	return 0;
}
