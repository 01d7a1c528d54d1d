// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables of all printed names. Owns strings, modules, symbols and first names of tasks;
 * knows neither decoder nor output.
 *
 * Module ids are valid only within a segment: two recordings in one file number their modules
 * independently. So modules are interned by content, and trace.c rewrites frames to the index when
 * reading. Modules without a content to compare are identified by their id. Streams without
 * ModuleEvents have plain addresses; these take the same path with bits 40 to 62 as the id of a raw
 * module, and come out unchanged.
 */
#include "trace/read/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

/* more than any real sampling period; sums of longer ones would overflow */
#define PERIOD_MAX_NS 3600000000000ULL

int names_new(struct names **out)
{
	struct names *n = xcalloc(1, sizeof(*n));
	struct names_module none = { .path = NAMES_NONE,
				     .kind = PROF_MODULE_ELF,
				     .status = NAMES_NONE,
				     .detail = NAMES_NONE };

	strtab_init(&n->strs);
	hmap_init(&n->module_raw);
	hmap_init(&n->module_by_hash);
	hmap_init(&n->module_groups);
	hmap_init(&n->symbols);
	hmap_init(&n->tasks);
	hmap_init(&n->tp_symbols);
	hmap_init(&n->enums);
	n->modules = array_reserve(NULL, &n->module_cap, 1, sizeof(*n->modules));
	n->modules[n->module_cnt++] = none;
	parts_init(&n->parts, names_add(n, PROF_META_HOST, strlen(PROF_META_HOST)),
		   names_add(n, PROF_META_BOOT_ID, strlen(PROF_META_BOOT_ID)),
		   names_add(n, PROF_META_START_REALTIME_NS, strlen(PROF_META_START_REALTIME_NS)));
	*out = n;
	return 0;
}

static void free_values(struct hmap *m)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(m, &pos, &key, &value))
		free(value);
	hmap_fini(m);
}

static void free_rows(struct hmap *m)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(m, &pos, &key, &value))
		tp_symbols_fini(value);
	free_values(m);
}

void names_free(struct names *n)
{
	if (!n)
		return;
	free_rows(&n->tp_symbols);
	for (size_t i = 0; i < n->part_tp_cnt; i++)
		free_rows(&n->part_tp_symbols[i]);
	free(n->part_tp_symbols);
	free_rows(&n->enums);
	free_values(&n->tasks);
	free_values(&n->symbols);
	hmap_fini(&n->module_raw);
	hmap_fini(&n->module_by_hash);
	hmap_fini(&n->module_groups);
	free(n->modules);
	parts_fini(&n->parts);
	strtab_fini(&n->strs);
	free(n);
}

uint32_t names_add(struct names *n, const char *s, size_t len)
{
	return strtab_add(&n->strs, s, len);
}

const char *names_str(const struct names *n, uint32_t id, size_t *len)
{
	const char *s = id == NAMES_NONE ? NULL : strtab_get(&n->strs, id, len);

	if (s)
		return s;
	if (len)
		*len = 0;
	return "";
}

static uint32_t module_append(struct names *n, const struct names_module *m)
{
	if (n->module_cnt > PROF_FRAME_MODULE_MAX)
		return 0;
	n->modules =
		array_reserve(n->modules, &n->module_cap, n->module_cnt + 1, sizeof(*n->modules));
	n->modules[n->module_cnt] = *m;
	n->modules[n->module_cnt].status = n->modules[n->module_cnt].detail = NAMES_NONE;
	n->modules[n->module_cnt].group = (uint32_t)n->module_cnt;
	return (uint32_t)n->module_cnt++;
}

/*
 * Whether the code at an offset is unknown: all have the same path, or the file differs on other
 * machines.
 */
static bool module_without_content(const struct names_module *m)
{
	return m->kind == PROF_MODULE_ANON || (m->kind == PROF_MODULE_ELF && !m->build_id_sz);
}

static bool module_same(const struct names_module *a, const struct names_module *b)
{
	if (module_without_content(a) && (a->part != b->part || a->id != b->id))
		return false;
	return a->announced == b->announced && a->path == b->path && a->kind == b->kind &&
	       a->build_id_sz == b->build_id_sz &&
	       !memcmp(a->build_id, b->build_id, a->build_id_sz);
}

static uint32_t module_group(struct names *n, uint32_t idx)
{
	uint64_t key = (uint64_t)n->modules[idx].path << 8 | n->modules[idx].kind;
	uintptr_t at = (uintptr_t)hmap_get(&n->module_groups, key);

	if (at)
		return (uint32_t)(at - 1);
	hmap_set(&n->module_groups, key, (void *)((uintptr_t)idx + 1));
	return idx;
}

uint32_t names_module_add(struct names *n, const struct names_module *m)
{
	uint64_t h = hash_bytes(m->build_id, m->build_id_sz);
	uintptr_t at;
	uint32_t idx;

	h = hash_u64(h ^ hash_u64((uint64_t)m->path << 8 | m->kind));
	if (module_without_content(m))
		h = hash_u64(h ^ ((uint64_t)m->part << 32 | m->id));
	/* on a collision of the full hash use the next key */
	for (;; h++) {
		at = (uintptr_t)hmap_get(&n->module_by_hash, h);
		if (!at)
			break;
		if (module_same(&n->modules[at - 1], m))
			return (uint32_t)(at - 1);
	}
	idx = module_append(n, m);
	if (!idx)
		return 0;
	hmap_set(&n->module_by_hash, h, (void *)((uintptr_t)idx + 1));
	if (module_without_content(m))
		n->modules[idx].group = module_group(n, idx);
	return idx;
}

uint32_t names_module_raw(struct names *n, uint32_t part, uint32_t id)
{
	struct names_module m = { .id = id, .path = NAMES_NONE, .part = part };
	uint64_t key = (uint64_t)part << 32 | id;
	uintptr_t at;
	uint32_t idx;

	if (!key)
		return 0;
	at = (uintptr_t)hmap_get(&n->module_raw, key);
	if (at)
		return (uint32_t)(at - 1);
	idx = module_append(n, &m);
	if (idx)
		hmap_set(&n->module_raw, key, (void *)((uintptr_t)idx + 1));
	return idx;
}

void names_module_set_status(struct names *n, uint32_t index, uint32_t status, uint32_t detail)
{
	if (!index || index >= n->module_cnt)
		return;
	n->modules[index].status = status;
	n->modules[index].detail = detail;
}

static bool module_alike(const struct names_module *a, const struct names_module *b)
{
	return a->group == b->group && a->status == b->status && a->detail == b->detail;
}

uint32_t *names_modules_alike(const struct names *n)
{
	uint32_t *v = xcalloc(n->module_cnt, sizeof(*v));
	struct hmap first;

	hmap_init(&first);
	for (size_t i = 0; i < n->module_cnt; i++) {
		const struct names_module *m = &n->modules[i];
		uint64_t h = hash_u64((uint64_t)m->status << 32 | m->detail);
		uintptr_t at;

		h = hash_u64(h ^ m->group);
		for (;; h++) {
			at = (uintptr_t)hmap_get(&first, h);
			if (!at || module_alike(&n->modules[at - 1], m))
				break;
		}
		if (!at) {
			at = i + 1;
			hmap_set(&first, h, (void *)at);
		}
		v[i] = (uint32_t)(at - 1);
	}
	hmap_fini(&first);
	return v;
}

const struct names_module *names_module(const struct names *n, uint32_t index)
{
	return &n->modules[index < n->module_cnt ? index : 0];
}

uint64_t names_frame_addr(const struct names *n, uint64_t frame)
{
	uint64_t id = names_module(n, names_frame_module(frame))->id;

	return (frame & (PROF_FRAME_KERNEL | PROF_FRAME_OFFSET_MASK)) |
	       id << PROF_FRAME_MODULE_SHIFT;
}

bool names_is_label(const char *s, size_t len)
{
	if (len < 3 || s[0] != '[' || s[len - 1] != ']')
		return false;
	for (size_t i = 1; i < len - 1; i++)
		if (s[i] == '[' || s[i] == ']')
			return false;
	return true;
}

static bool frame_same(const struct names_frame *a, const struct names_frame *b)
{
	return a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->base == b->base && a->size == b->size && a->label == b->label;
}

void names_symbol_set(struct names *n, uint64_t frame, uint32_t depth, const struct names_frame *f)
{
	struct names_symbol *sym = hmap_get(&n->symbols, frame);
	uint32_t cnt = sym ? sym->cnt : 0;

	if (depth >= NAMES_DEPTH_MAX)
		return;
	if (f->label && depth < cnt && sym->frames[depth].name != NAMES_NONE &&
	    !sym->frames[depth].label)
		return;
	if (depth >= cnt) {
		sym = xrealloc(sym, sizeof(*sym) + (depth + 1) * sizeof(sym->frames[0]));
		for (; cnt < depth; cnt++)
			sym->frames[cnt] =
				(struct names_frame){ .name = NAMES_NONE, .file = NAMES_NONE };
		sym->cnt = depth + 1;
		hmap_set(&n->symbols, frame, sym);
	} else if (frame_same(&sym->frames[depth], f))
		return;
	sym->frames[depth] = *f;
	n->symbols_version++;
}

const struct names_symbol *names_symbol(const struct names *n, uint64_t frame)
{
	return hmap_get(&n->symbols, frame);
}

bool names_is_named(const struct names *n, uint64_t frame)
{
	const struct names_symbol *sym = names_symbol(n, frame);

	for (uint32_t i = 0; sym && i < sym->cnt; i++)
		if (sym->frames[i].name != NAMES_NONE && !sym->frames[i].label)
			return true;
	return false;
}

void names_task_fill(const struct names *n, uint32_t part, uint32_t tid, uint32_t *pid,
		     uint32_t *comm)
{
	const struct names_task *task = names_task_first(n, part, tid);

	if (!task)
		return;
	if (*pid == NAMES_NONE)
		*pid = task->pid;
	if (*comm == NAMES_NONE)
		*comm = task->comm;
}

void names_task_learn(struct names *n, uint32_t part, const struct names_task *t)
{
	uint64_t key = names_task_key(n, part, t->tid);
	struct names_task *first = hmap_get(&n->tasks, key);

	if (first) {
		/* a name from a switch yields to a recorded TaskEvent */
		if (!first->recorded && t->recorded)
			*first = *t;
		return;
	}
	hmap_set(&n->tasks, key, xmemdup(t, sizeof(*t)));
}

const struct tp_symbols *names_tp_symbols(const struct names *n, uint32_t part, uint32_t event,
					  uint32_t field)
{
	const uint64_t key = (uint64_t)event << 32 | field;
	const struct tp_symbols *own = NULL;

	if (part < n->part_tp_cnt)
		own = hmap_get(&n->part_tp_symbols[part], key);
	return own ? own : hmap_get(&n->tp_symbols, key);
}

bool names_has_tp_symbols(const struct names *n, uint32_t part, const char *event,
			  const char *field)
{
	const uint64_t of = strtab_find(&n->strs, event, strlen(event));
	const uint32_t named = strtab_find(&n->strs, field, strlen(field));

	return part < n->part_tp_cnt && of != NAMES_NONE && named != NAMES_NONE &&
	       hmap_get(&n->part_tp_symbols[part], of << 32 | named);
}

const struct tp_symbols *names_enum(struct names *n, uint32_t text)
{
	struct tp_symbols *ts = hmap_get(&n->enums, (uint64_t)text + 1);
	const char *s;
	size_t len;

	if (!ts) {
		ts = xcalloc(1, sizeof(*ts));
		s = names_str(n, text, &len);
		tp_symbols_parse(ts, s, len);
		hmap_set(&n->enums, (uint64_t)text + 1, ts);
	}
	return ts->cnt ? ts : NULL;
}

static bool add_row(struct names *n, struct hmap *to, uint64_t key,
		    const struct tp_symbols_row *row)
{
	struct tp_symbols *ts = hmap_get(to, key);

	if (!ts) {
		ts = xcalloc(1, sizeof(*ts));
		hmap_set(to, key, ts);
	}
	return tp_symbols_add(ts, n->segment, row);
}

void names_add_tp_symbol(struct names *n, uint32_t part, uint32_t event, uint32_t field,
			 const struct tp_symbols_row *row)
{
	const uint64_t key = (uint64_t)event << 32 | field;
	bool fresh;

	n->part_tp_symbols = array_reserve(n->part_tp_symbols, &n->part_tp_cap, (size_t)part + 1,
					   sizeof(*n->part_tp_symbols));
	while (n->part_tp_cnt <= part)
		hmap_init(&n->part_tp_symbols[n->part_tp_cnt++]);
	fresh = add_row(n, &n->part_tp_symbols[part], key, row);
	n->tp_symbols_version += add_row(n, &n->tp_symbols, key, row) || fresh;
}

const char *names_meta(const struct names *n, uint32_t part, const char *key)
{
	uint32_t id = strtab_find(&n->strs, key, strlen(key));

	if (id != NAMES_NONE)
		id = parts_get(&n->parts, part, id);
	return id == NAMES_NONE ? NULL : names_str(n, id, NULL);
}

uint64_t names_meta_u64(const struct names *n, uint32_t part, const char *key)
{
	const char *text = names_meta(n, part, key);
	uint64_t v;

	return text && !str_parse_u64(text, UINT64_MAX, &v) ? v : 0;
}

uint64_t names_period_ns(const struct names *n, uint32_t part)
{
	uint64_t ns = names_meta_u64(n, part, PROF_META_SAMPLE_PERIOD_NS);
	uint64_t hz = names_meta_u64(n, part, PROF_META_SAMPLE_HZ);

	if (!ns && hz && hz <= 1000000000)
		ns = 1000000000 / hz;
	return ns <= PERIOD_MAX_NS ? ns : 0;
}
