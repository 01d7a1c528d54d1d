// SPDX-License-Identifier: BSD-2-Clause
/* Ids of stacks and frames. Owns the stacks and frames that were seen; writes nothing. */
#include "profile/sums/content_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

uint64_t content_ids_hash(uint64_t hash, const void *p, size_t sz)
{
	const unsigned char *bytes = p;

	for (size_t i = 0; i < sz; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
	return hash;
}

/* With its NUL, which separates it from what follows. */
static uint64_t hash_text(uint64_t hash, const struct names *n, uint32_t id)
{
	size_t len;
	const char *s = names_str(n, id, &len);

	return content_ids_hash(hash, s, len + 1);
}

static uint64_t hash_private_module(const struct names *n, const struct names_module *m)
{
	const struct part *part = names_part(n, m->part);
	uint64_t hash = hash_text(CONTENT_IDS_HASH, n, part->host);

	hash = hash_text(hash, n, part->boot_id);
	hash = hash_text(hash, n, m->announced ? m->path : NAMES_NONE);
	return content_ids_hash(hash, &m->id, sizeof(m->id));
}

static uint64_t hash_module(const struct names *n, const struct names_module *m)
{
	const char *path;
	size_t len;

	if (!m->announced)
		return hash_private_module(n, m);
	if (m->build_id_sz)
		return content_ids_hash(CONTENT_IDS_HASH, m->build_id, m->build_id_sz);
	if (m->kind == PROF_MODULE_ANON || m->kind == PROF_MODULE_BPF)
		return hash_private_module(n, m);
	path = names_str(n, m->path, &len);
	return content_ids_hash(CONTENT_IDS_HASH, path, len);
}

uint64_t content_ids_offset(const struct names *n, uint64_t frame)
{
	return names_module(n, names_frame_module(frame))->announced ?
		       frame & PROF_FRAME_OFFSET_MASK :
		       names_frame_addr(n, frame);
}

const struct content_frame *content_ids_frame(struct content_ids *ids, const struct names *n,
					      uint64_t frame)
{
	struct content_frame *f = hmap_get(&ids->frames, frame);
	uint64_t offset;

	if (f)
		return f;
	offset = content_ids_offset(n, frame);
	f = xcalloc(1, sizeof(*f));
	f->frame = frame;
	f->id = content_ids_hash(hash_module(n, names_module(n, names_frame_module(frame))),
				 &offset, sizeof(offset));
	hmap_set(&ids->frames, frame, f);
	return f;
}

uint64_t content_ids_hash_stack(struct content_ids *ids, const struct names *n,
				const uint64_t *frames, uint32_t cnt)
{
	uint64_t hash = CONTENT_IDS_HASH;

	for (uint32_t i = 0; i < cnt; i++)
		hash = content_ids_hash(hash, &content_ids_frame(ids, n, frames[i])->id,
					sizeof(uint64_t));
	return hash;
}

uint32_t content_ids_stack(struct content_ids *ids, const struct names *n, const uint64_t *frames,
			   uint32_t cnt)
{
	const size_t before = ids->stacks.cnt;
	const uint32_t row = stack_table_add(&ids->stacks, frames, cnt);

	if (ids->stacks.cnt == before)
		return row;
	frames = stack_table_get(&ids->stacks, row, &cnt);
	ids->stack_ids = array_reserve(ids->stack_ids, &ids->stack_cap, (size_t)row + 1,
				       sizeof(*ids->stack_ids));
	ids->stack_ids[row] = content_ids_hash_stack(ids, n, frames, cnt);
	return row;
}

void content_ids_fini(struct content_ids *ids)
{
	size_t pos = 0;
	void *f;

	while (hmap_next(&ids->frames, &pos, NULL, &f))
		free(f);
	hmap_fini(&ids->frames);
	stack_table_fini(&ids->stacks);
	free(ids->stack_ids);
	memset(ids, 0, sizeof(*ids));
}
