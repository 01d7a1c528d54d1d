// SPDX-License-Identifier: BSD-2-Clause
/* Rows by key. Keys are compared field by field, as numbers. */
#include "profile/sums/row_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const struct profile_row row_table_no_keys = { .sym = NAMES_NONE,
					       .comm = NAMES_NONE,
					       .pid = NAMES_NONE,
					       .tid = NAMES_NONE,
					       .part = NAMES_NONE,
					       .cpu = NAMES_NONE,
					       .cgroup = NAMES_NONE,
					       .file = NAMES_NONE,
					       .state = NAMES_NONE };

struct profile_row *row_table_at(struct row_table *t, const struct profile_row *key)
{
	uint64_t h = hash_bytes(key->key, sizeof(key->key));
	struct profile_rows *rows = &t->rows;
	uintptr_t at;

	for (;; h++) {
		at = (uintptr_t)hmap_get(&t->index, h);
		if (!at)
			break;
		if (!memcmp(rows->v[at - 1].key, key->key, sizeof(key->key)))
			return &rows->v[at - 1];
	}
	rows->v = array_reserve(rows->v, &rows->cap, rows->cnt + 1, sizeof(*rows->v));
	rows->v[rows->cnt] = (struct profile_row){ 0 };
	memcpy(rows->v[rows->cnt].key, key->key, sizeof(key->key));
	rows->cnt++;
	hmap_set(&t->index, h, (void *)(uintptr_t)rows->cnt);
	return &rows->v[rows->cnt - 1];
}

void row_table_mask(struct profile_row *key, unsigned int keys)
{
	const struct profile_row all = *key;

	*key = row_table_no_keys;
	if (keys & 1u << PROFILE_SYM) {
		key->sym = all.sym;
		key->inlined = all.inlined;
	}
	if (keys & 1u << PROFILE_DSO)
		key->module = all.module;
	if (keys & 1u << PROFILE_COMM)
		key->comm = all.comm;
	if (keys & 1u << PROFILE_PID)
		key->pid = all.pid;
	if (keys & 1u << PROFILE_TID)
		key->tid = all.tid;
	if (keys & 1u << PROFILE_PART)
		key->part = all.part;
	if (keys & 1u << PROFILE_CPU)
		key->cpu = all.cpu;
	if (keys & 1u << PROFILE_CGROUP)
		key->cgroup = all.cgroup;
	if (keys & 1u << PROFILE_STATE)
		key->state = all.state;
	if (keys & 1u << PROFILE_SRCLINE) {
		key->file = all.file;
		key->line = all.line;
	}
}

void row_table_fini(struct row_table *t)
{
	free(t->rows.v);
	hmap_fini(&t->index);
	*t = (struct row_table){ 0 };
}

struct profile_rows row_table_steal(struct row_table *t)
{
	struct profile_rows rows = t->rows;

	t->rows = (struct profile_rows){ 0 };
	row_table_fini(t);
	return rows;
}
