// SPDX-License-Identifier: BSD-2-Clause
/*
 * modules.c - numbers for the code that frames are in
 *
 * A module is known by its path, build-id and kind. It is written to the trace at its first frame: most files that are
 * mapped have none.
 */
#include "formats/perfdata/modules.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

struct module {
	char *path;
	uint8_t build_id[PERFDATA_BUILD_ID_MAX];
	uint8_t build_id_sz;
	enum prof_module_kind kind;
	uint32_t dev;
	uint64_t inode;
	uint32_t id; /* 0: not written yet */
};

struct perfdata_modules {
	struct emit *emit;
	struct strtab keys; /* an id is an index in v */
	struct module *v;
	size_t cnt, cap;
	uint32_t written;
};

void perfdata_modules_new(struct emit *emit, struct perfdata_modules **out)
{
	struct perfdata_modules *m = xcalloc(1, sizeof(*m));

	m->emit = emit;
	*out = m;
}

void perfdata_modules_free(struct perfdata_modules *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->cnt; i++)
		free(m->v[i].path);
	free(m->v);
	strtab_fini(&m->keys);
	free(m);
}

/* Modules with another key are different; the path follows it. */
struct key {
	uint64_t place;
	uint32_t kind;
	uint8_t build_id_sz;
	uint8_t build_id[PERFDATA_BUILD_ID_MAX];
	uint8_t reserved[7];
};

uint32_t perfdata_modules_add(struct perfdata_modules *m, const struct perfdata_code *code)
{
	struct key key = { .place = code->place, .kind = code->kind };
	struct buf text = { 0 };
	struct module *to;
	uint32_t index;

	if (code->build_id_sz <= sizeof(key.build_id)) {
		key.build_id_sz = (uint8_t)code->build_id_sz;
		if (code->build_id_sz)
			memcpy(key.build_id, code->build_id, code->build_id_sz);
	}
	buf_add(&text, &key, sizeof(key));
	buf_addstr(&text, code->path);
	index = strtab_add(&m->keys, text.data, text.len);
	buf_free(&text);
	if (index < m->cnt)
		return index;
	m->v = array_reserve(m->v, &m->cap, m->cnt + 1, sizeof(*m->v));
	to = &m->v[m->cnt++];
	*to = (struct module){ .path = xstrdup(code->path),
			       .build_id_sz = key.build_id_sz,
			       .kind = code->kind,
			       .dev = code->dev,
			       .inode = code->inode };
	memcpy(to->build_id, key.build_id, sizeof(to->build_id));
	return index;
}

int perfdata_modules_use(struct perfdata_modules *m, uint32_t index, uint64_t ts,
			 uint32_t *module_id)
{
	struct module *mod = &m->v[index];
	int err = 0;

	*module_id = mod->id;
	if (mod->id || m->written >= PROF_FRAME_MODULE_MAX)
		return 0;
	err = emit_module(m->emit, ts, m->written + 1, mod->path, mod->build_id, mod->build_id_sz,
			  mod->kind);
	if (!err)
		*module_id = mod->id = ++m->written;
	return err;
}

enum prof_module_kind perfdata_modules_kind(const struct perfdata_modules *m, uint32_t index)
{
	return m->v[index].kind;
}

const char *perfdata_modules_path(const struct perfdata_modules *m, uint32_t index)
{
	return m->v[index].path;
}

void perfdata_modules_file(const struct perfdata_modules *m, uint32_t index,
			   struct foreign_module *out)
{
	const struct module *mod = &m->v[index];

	*out = (struct foreign_module){ .path = mod->path,
					.build_id = mod->build_id,
					.build_id_sz = mod->build_id_sz,
					.dev = mod->dev,
					.inode = mod->inode };
}
