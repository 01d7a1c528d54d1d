// SPDX-License-Identifier: BSD-2-Clause
/*
 * name_cache.c - keeps symbols of frames for the next segment
 *
 * Each segment of a recording contains the symbols of its frames, and the file of a symbol may no longer exist by
 * then. Owns a list per address: a function and the functions inlined into it, one entry per depth. Names and file
 * paths repeat, so they are stored once.
 */
#include "record/symbols/name_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "events/emit.h"
#include "record/process/string_pool.h"

struct kept_name {
	const char *name, *file; /* texts */
	uint64_t size, base;
	uint32_t depth, line;
};

struct kept_list {
	uint32_t cnt;
	struct kept_name v[];
};

struct name_cache {
	struct hmap lists;
	struct string_pool *texts;
	size_t bytes; /* of the lists */
};

struct name_cache *name_cache_new(void)
{
	struct name_cache *k = xcalloc(1, sizeof(*k));

	k->texts = string_pool_new();
	return k;
}

void name_cache_clear(struct name_cache *k)
{
	uint64_t addr;
	void *list;
	size_t pos = 0;

	while (hmap_next(&k->lists, &pos, &addr, &list))
		free(list);
	hmap_fini(&k->lists);
	string_pool_free(k->texts);
	k->texts = string_pool_new();
	k->bytes = 0;
}

void name_cache_free(struct name_cache *k)
{
	if (!k)
		return;
	name_cache_clear(k);
	string_pool_free(k->texts);
	free(k);
}

static size_t list_size(uint32_t cnt)
{
	return sizeof(struct kept_list) + cnt * sizeof(struct kept_name);
}

/* The entry of a depth in the list of an address; its texts are references. */
static struct kept_name *place(struct name_cache *k, uint64_t addr, uint32_t depth)
{
	struct kept_list *list = hmap_get(&k->lists, addr);
	uint32_t cnt = list ? list->cnt : 0, i;

	for (i = 0; i < cnt; i++)
		if (list->v[i].depth == depth)
			return &list->v[i];
	list = xrealloc(list, list_size(cnt + 1));
	list->cnt = cnt + 1;
	list->v[cnt] = (struct kept_name){ .depth = depth, .name = "", .file = "" };
	hmap_set(&k->lists, addr, list);
	k->bytes += list_size(cnt + 1) - (cnt ? list_size(cnt) : 0);
	return &list->v[cnt];
}

static const char *text_of(struct name_cache *k, const char *s, size_t len)
{
	return string_pool_get(k->texts, s ? s : "", s ? len : 0);
}

void name_cache_put(struct name_cache *k, const struct emit_symbol *name)
{
	struct kept_name *at = place(k, name->addr, name->depth), old = *at;

	*at = (struct kept_name){
		.name = text_of(k, name->name, name->name_len),
		.file = text_of(k, name->file, name->file_len),
		.size = name->size,
		.base = name->base,
		.depth = name->depth,
		.line = name->line,
	};
	string_pool_unref(k->texts, old.name);
	string_pool_unref(k->texts, old.file);
}

int name_cache_write(const struct name_cache *k, uint64_t addr, struct emit *emit)
{
	const struct kept_list *list = hmap_get(&k->lists, addr);
	uint32_t i;
	int err = 0;

	for (i = 0; list && i < list->cnt && !err; i++) {
		const struct kept_name *v = &list->v[i];

		err = emit_symbol(emit, &(struct emit_symbol){
						.addr = addr,
						.size = v->size,
						.name = v->name,
						.name_len = strlen(v->name),
						.depth = v->depth,
						.file = *v->file ? v->file : NULL,
						.file_len = strlen(v->file),
						.line = v->line,
						.base = v->base,
					});
	}
	return err ? err : (int)i;
}

size_t name_cache_memory(const struct name_cache *k)
{
	return k->bytes + k->lists.cap * sizeof(struct hmap_slot) + string_pool_memory(k->texts);
}
