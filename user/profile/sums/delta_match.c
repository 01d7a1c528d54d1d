// SPDX-License-Identifier: BSD-2-Clause
/*
 * What two traces have in common. Owns names without the parts that change between builds, and the
 * pairing of modules and functions. Takes one pass over the modules and symbols of each trace.
 */
#include "profile/sums/delta_match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* ---- names without build-specific parts ------------------------------------------------------ */

/* "::h" and 16 digits, which older Rust appends to names: a hash of the crate. */
static size_t without_hash(const char *s, size_t len)
{
	if (len < 19 || memcmp(s + len - 19, "::h", 3) != 0)
		return len;
	for (size_t i = len - 16; i < len; i++)
		if (!isxdigit((unsigned char)s[i]))
			return len;
	return len - 19;
}

size_t delta_match_name_len(const char *s, size_t len)
{
	static const char *const suffixes[] = { ".isra.", ".constprop.", ".part.", ".cold",
						".llvm.", ".lto_priv.",	 ".clone." };
	const char *at;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		at = memmem(s, len, suffixes[i], strlen(suffixes[i]));
		if (at && at > s)
			len = (size_t)(at - s);
	}
	return without_hash(s, len);
}

/* ---- modules ------------------------------------------------------------------------------------ */

const char *delta_match_base(const struct names *n, uint32_t index, size_t *len)
{
	const struct names_module *m = names_module(n, index);
	const char *path, *slash;

	if (!index || !m->announced || m->path == NAMES_NONE) {
		*len = strlen("[unknown]");
		return "[unknown]";
	}
	path = names_str(n, m->path, len);
	slash = memrchr(path, '/', *len);
	if (slash && slash[1]) {
		*len -= (size_t)(slash + 1 - path);
		return slash + 1;
	}
	return path;
}

/* "libc.so.6" and "libc-2.36.so" become libc.so: removes digits, dots, and a dash before them. */
static void put_base(struct buf *key, const struct names *names, uint32_t index)
{
	size_t len;
	const char *s = delta_match_base(names, index, &len);
	const char *so = memmem(s, len, ".so", 3);
	size_t n = so ? (size_t)(so - s) : len;

	while (so && n && (isdigit((unsigned char)s[n - 1]) || s[n - 1] == '.'))
		n--;
	if (so && n && n < (size_t)(so - s) && s[n - 1] != '-')
		n = (size_t)(so - s);
	else if (so && n > 1 && s[n - 1] == '-')
		n--;
	buf_add(key, s, n);
}

static void index_add(struct delta_match_index *x, const char *key, size_t len, uint32_t module,
		      bool unique)
{
	const uint32_t before = x->keys.cnt, id = strtab_add(&x->keys, key, len);

	if (id >= before) {
		x->modules =
			array_reserve(x->modules, &x->cap, (size_t)id + 1, sizeof(*x->modules));
		x->modules[id] = module;
	} else if (unique && x->modules[id] != module) {
		x->modules[id] = NAMES_NONE;
	}
}

static uint32_t index_find(const struct delta_match_index *x, const char *key, size_t len)
{
	const uint32_t id = len ? strtab_find(&x->keys, key, len) : NAMES_NONE;

	return id == NAMES_NONE ? NAMES_NONE : x->modules[id];
}

static void index_fini(struct delta_match_index *x)
{
	strtab_fini(&x->keys);
	free(x->modules);
}

static void index_modules(const struct names *n, struct delta_match_index *bases,
			  struct delta_match_index *ids)
{
	struct buf base = { 0 };

	for (uint32_t i = 0; i < n->module_cnt; i++) {
		const struct names_module *m = names_module(n, i);

		buf_clear(&base);
		put_base(&base, n, i);
		index_add(bases, buf_cstr(&base), base.len, i, false);
		if (m->build_id_sz)
			index_add(ids, (const char *)m->build_id, m->build_id_sz, i, false);
	}
	buf_free(&base);
}

/* Finds the modules of @from in @to. */
static uint32_t *find_modules(const struct names *from, const struct names *to)
{
	uint32_t *same = xcalloc(from->module_cnt + 1, sizeof(*same));
	struct delta_match_index bases = { 0 }, ids = { 0 };
	struct buf base = { 0 };

	index_modules(to, &bases, &ids);
	for (uint32_t i = 0; i < from->module_cnt; i++) {
		const struct names_module *m = names_module(from, i);

		buf_clear(&base);
		put_base(&base, from, i);
		same[i] = index_find(&bases, buf_cstr(&base), base.len);
		if (same[i] == NAMES_NONE)
			same[i] = index_find(&ids, (const char *)m->build_id, m->build_id_sz);
	}
	index_fini(&bases);
	index_fini(&ids);
	buf_free(&base);
	return same;
}

/* ---- functions of other modules ----------------------------------------------------------------- */

static void put_function(struct buf *out, const struct names *n, const struct names_frame *f)
{
	size_t len, file_len;
	const char *name = names_str(n, f->name, &len), *file = names_str(n, f->file, &file_len);
	const char *slash = memrchr(file, '/', file_len);

	if (slash) {
		file_len -= (size_t)(slash + 1 - file);
		file = slash + 1;
	}
	buf_addch(out, '/');
	buf_add(out, file, file_len);
	buf_addch(out, '\0');
	buf_add(out, name, delta_match_name_len(name, len));
}

static bool has_file(const struct names_frame *f)
{
	return f && f->name != NAMES_NONE && f->file != NAMES_NONE && !f->label;
}

static void index_functions(struct delta_match *m, enum delta_side side)
{
	const struct names *n = m->names[side];
	struct buf key = { 0 };
	uint64_t frame;
	size_t pos = 0;
	void *value;

	while (hmap_next(&n->symbols, &pos, &frame, &value)) {
		const struct names_symbol *sym = value;
		const uint32_t module = names_frame_module(frame);

		if (m->same[side][module] != NAMES_NONE)
			continue;
		for (uint32_t i = 0; i < sym->cnt; i++) {
			if (!has_file(&sym->frames[i]))
				continue;
			buf_clear(&key);
			put_function(&key, n, &sym->frames[i]);
			index_add(&m->functions[side], buf_cstr(&key), key.len, module, true);
		}
	}
	buf_free(&key);
}

/* Counts by pair of modules the functions that both have; @votes: module of @from << 32 | module of @to. */
static void count_shared(const struct delta_match_index *from, const struct delta_match_index *to,
			 struct hmap *votes)
{
	const char *key;
	uint32_t other;
	size_t len;

	for (uint32_t i = 0; i < from->keys.cnt; i++) {
		if (from->modules[i] == NAMES_NONE)
			continue;
		key = strtab_get(&from->keys, i, &len);
		other = index_find(to, key, len);
		if (other == NAMES_NONE)
			continue;
		const uint64_t pair = (uint64_t)from->modules[i] << 32 | other;

		hmap_set(votes, pair, (char *)hmap_get(votes, pair) + 1);
	}
}

/* By module of one side: the module of the other side with which it shares most functions. */
static uint32_t *best_partners(const struct hmap *votes, enum delta_side side, size_t cnt)
{
	uint32_t *best = xcalloc(cnt + 1, sizeof(*best));
	uintptr_t *most = xcalloc(cnt + 1, sizeof(*most));
	uint32_t module, other;
	size_t pos = 0;
	uint64_t pair;
	void *value;

	while (hmap_next(votes, &pos, &pair, &value)) {
		module = (uint32_t)(side == DELTA_OLD ? pair >> 32 : pair);
		other = (uint32_t)(side == DELTA_OLD ? pair : pair >> 32);
		if ((uintptr_t)value < most[module] ||
		    ((uintptr_t)value == most[module] && other > best[module]))
			continue;
		most[module] = (uintptr_t)value;
		best[module] = other;
	}
	free(most);
	return best;
}

/* Pairs the modules that share more functions with each other than with any other module. */
static void pair_by_functions(struct delta_match *m)
{
	struct hmap votes = { 0 };
	uint32_t *to_new, *to_old;

	count_shared(&m->functions[DELTA_OLD], &m->functions[DELTA_NEW], &votes);
	to_new = best_partners(&votes, DELTA_OLD, m->names[DELTA_OLD]->module_cnt);
	to_old = best_partners(&votes, DELTA_NEW, m->names[DELTA_NEW]->module_cnt);
	for (uint32_t i = 1; i < m->names[DELTA_OLD]->module_cnt; i++) {
		if (!to_new[i] || to_old[to_new[i]] != i)
			continue;
		m->same[DELTA_OLD][i] = to_new[i];
		m->same[DELTA_NEW][to_new[i]] = to_new[i];
	}
	hmap_fini(&votes);
	free(to_new);
	free(to_old);
}

void delta_match_init(struct delta_match *m, const struct names *old_names,
		      const struct names *new_names)
{
	*m = (struct delta_match){
		.names = { old_names, new_names },
		.same = { find_modules(old_names, new_names), find_modules(new_names, old_names) },
	};
	/* a pair is named after its module in the new trace */
	for (uint32_t i = 0; i < new_names->module_cnt; i++)
		if (m->same[DELTA_NEW][i] != NAMES_NONE)
			m->same[DELTA_NEW][i] = i;
	index_functions(m, DELTA_OLD);
	index_functions(m, DELTA_NEW);
	pair_by_functions(m);
}

void delta_match_fini(struct delta_match *m)
{
	for (int side = 0; side < DELTA_SIDES; side++) {
		free(m->same[side]);
		index_fini(&m->functions[side]);
	}
}

/* Whether one module of each trace has the function. */
static bool put_shared_function(const struct delta_match *m, const struct names *n,
				const struct names_frame *f, struct buf *out)
{
	struct buf key = { 0 };
	bool shared;

	put_function(&key, n, f);
	shared = index_find(&m->functions[DELTA_OLD], buf_cstr(&key), key.len) != NAMES_NONE &&
		 index_find(&m->functions[DELTA_NEW], buf_cstr(&key), key.len) != NAMES_NONE;
	if (shared)
		buf_add(out, key.data, key.len);
	buf_free(&key);
	return shared;
}

void delta_match_put(const struct delta_match *m, enum delta_side side, const struct names *n,
		     uint32_t module, const struct names_frame *f, struct buf *out)
{
	const uint32_t same = m->same[side] ? m->same[side][module] : NAMES_NONE;

	if (same != NAMES_NONE)
		put_base(out, m->names[DELTA_NEW], same);
	else if (!m->same[side] || !has_file(f) || !put_shared_function(m, n, f, out))
		put_base(out, n, module);
}
