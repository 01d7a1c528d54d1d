// SPDX-License-Identifier: BSD-2-Clause
/*
 * The compressed symbol table in .gnu_debugdata, unpacked in slices.
 *
 * A few kilobytes of xz can expand to gigabytes, and can request gigabytes of dictionary. So the
 * decoder has a memory limit, and the output has a size limit. xz does not store the output size,
 * so the buffer grows, by half, when it is full.
 */
#include "symbol/elf/minidebug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "symbol/budget.h"
#include "symbol/elf/elfimg.h"

#define OUT_MAX (64u << 20)
#define OUT_FIRST (256u << 10)
/* xz -9 needs 65 MiB, distributions use 8 */
#define DECODER_MEM (66u << 20)
#define CHUNK 16384
/* Work to decode a chunk, in units of budget_work() */
#define CHUNK_WORK 1024

struct minidebug {
	struct budget *budget;
	lzma_stream xz;
	size_t in_sz; /* bytes not passed to the decoder yet */
	uint8_t *out;
	size_t out_cap, out_sz;
};

int minidebug_new(const struct elfimg *img, struct budget *budget, struct minidebug **out)
{
	struct minidebug *m;
	struct elfimg_sec sec;
	const uint8_t *in;
	size_t in_sz;

	in = elfimg_find(img, ".gnu_debugdata", &sec) ? elfimg_data(img, &sec, &in_sz) : NULL;
	if (!in)
		return 0;
	if (budget_reserve(budget, DECODER_MEM))
		return budget_exhaust(budget, BUDGET_MEMORY);
	m = xcalloc(1, sizeof(*m));
	m->budget = budget;
	if (lzma_stream_decoder(&m->xz, DECODER_MEM, 0) != LZMA_OK) {
		minidebug_free(m);
		return 0;
	}
	m->xz.next_in = in;
	m->in_sz = in_sz;
	*out = m;
	return 1;
}

static int grow(struct minidebug *m)
{
	size_t more = m->out_cap ? m->out_cap / 2 : OUT_FIRST;

	if (m->out_sz < m->out_cap)
		return 0;
	if (m->out_cap + more > OUT_MAX || budget_reserve(m->budget, more))
		return budget_exhaust(m->budget, BUDGET_MEMORY);
	m->out_cap += more;
	m->out = xrealloc(m->out, m->out_cap);
	return 0;
}

int minidebug_run(struct minidebug *m)
{
	for (;;) {
		size_t given = m->in_sz < CHUNK ? m->in_sz : CHUNK, room;
		lzma_ret ret;
		int err = grow(m);

		if (err)
			return err;
		m->xz.avail_in = given;
		room = m->out_cap - m->out_sz;
		room = room < CHUNK ? room : CHUNK;
		m->xz.next_out = m->out + m->out_sz;
		m->xz.avail_out = room;
		ret = lzma_code(&m->xz, LZMA_RUN);
		m->out_sz += room - m->xz.avail_out;
		m->in_sz -= given - m->xz.avail_in;
		if (ret == LZMA_STREAM_END)
			return 0;
		if (ret != LZMA_OK)
			return -EBADMSG;
		err = budget_work(m->budget, CHUNK_WORK);
		if (err)
			return err;
	}
}

uint8_t *minidebug_steal(struct minidebug *m, size_t *size, size_t *cap)
{
	uint8_t *out = m->out;

	*size = m->out_sz;
	*cap = m->out_cap;
	m->out = NULL;
	m->out_cap = m->out_sz = 0;
	return out;
}

void minidebug_free(struct minidebug *m)
{
	if (!m)
		return;
	lzma_end(&m->xz);
	budget_give_back(m->budget, DECODER_MEM + m->out_cap);
	free(m->out);
	free(m);
}
