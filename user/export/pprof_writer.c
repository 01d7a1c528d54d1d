// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages of pprof's profile.proto, gzipped. Owns the tables of distinct locations (an address with the functions at it),
 * functions, mappings and strings; samples refer to locations by id. Does not know where samples come from.
 *
 * Fields of a message may be in any order, so samples are written as they come, and the tables
 * after them. A mapping begins at the frame address of its module's offset 0, so an address minus
 * the start is an offset in the file.
 */
#include "export/pprof_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "base/str.h"
#include "base/strtab.h"
#include "export/gzip.h"
#include "export/proto.h"
#include "export/value_text.h"

/* profile.proto: fields by message */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION
};
enum { PROFILE_STRING = 6, PROFILE_TIME_NS = 9, PROFILE_DURATION_NS, PROFILE_PERIOD_TYPE };
enum { PROFILE_PERIOD = 12, PROFILE_COMMENT, PROFILE_DEFAULT_TYPE };
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID
};
enum { MAPPING_FUNCTIONS = 7, MAPPING_FILES, MAPPING_LINES, MAPPING_INLINE };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/* The raw message is compressed in pieces of this size. */
#define RAW_BLOCK (64u << 10)

/* Stands for an empty stack: samples without a location would not be counted. */
#define NO_STACK UINT64_MAX

/* A module with frames in samples. */
struct mapping {
	uint64_t key; /* a frame without its offset */
	uint64_t most; /* largest offset */
	uint64_t samples; /* of stacks in which it is */
	uint64_t last_stack; /* counted last, from 1 */
	bool functions, files, inlined;
};

struct pprof_writer {
	struct pprof_writer_opts opts;
	struct buf raw; /* of the message, not yet compressed */
	uint64_t compressed; /* bytes of the message that were in raw */
	struct buf text;
	struct gzip *gzip;
	struct strtab strings;
	struct hmap locations; /* frame -> id */
	uint64_t *frames; /* by id - 1 */
	size_t location_cnt, location_cap;
	struct hmap functions; /* name << 32 | file, of names -> id */
	struct hmap mappings; /* key -> id */
	struct mapping *maps; /* by id - 1 */
	size_t map_cnt, map_cap;
	uint64_t *ids; /* of the current stack */
	size_t ids_cap;
	uint64_t stacks; /* so far */
	size_t sample; /* the message that is open */
};

/* ---- gzip -------------------------------------------------------------------------------------- */

static void compress_raw(struct pprof_writer *w)
{
	w->compressed += w->raw.len;
	gzip_put(w->gzip, w->raw.data, w->raw.len);
	buf_clear(&w->raw);
}

/* Call it after each field of the profile. */
static void flush_raw(struct pprof_writer *w)
{
	if (w->raw.len >= RAW_BLOCK)
		compress_raw(w);
}

/* ---- tables ------------------------------------------------------------------------------------ */

static uint64_t string_of(struct pprof_writer *w, const char *s)
{
	return strtab_add(&w->strings, s, strlen(s));
}

static uint64_t name_of(struct pprof_writer *w, enum pprof_name what, uint32_t id)
{
	buf_clear(&w->text);
	if (w->opts.name)
		w->opts.name(w->opts.ctx, what, id, &w->text);
	else
		value_text_name(&w->text, w->opts.names, id);
	return strtab_add(&w->strings, buf_cstr(&w->text), w->text.len);
}

/* @file 0: unknown. */
static void put_function(struct pprof_writer *w, uint64_t id, uint64_t name, uint64_t file)
{
	size_t begun = proto_begin(&w->raw, PROFILE_FUNCTION);

	proto_u64(&w->raw, FUNCTION_ID, id);
	proto_u64(&w->raw, FUNCTION_NAME, name);
	proto_u64(&w->raw, FUNCTION_SYSTEM_NAME, name);
	if (file)
		proto_u64(&w->raw, FUNCTION_FILE, file);
	proto_end(&w->raw, begun);
}

static uint64_t function_of(struct pprof_writer *w, const struct names_frame *f)
{
	uint64_t key = (uint64_t)f->name << 32 | f->file, name;
	uintptr_t id = (uintptr_t)hmap_get(&w->functions, key);

	if (id)
		return id;
	id = w->functions.cnt + 1;
	hmap_set(&w->functions, key, (void *)id);
	name = name_of(w, f->label ? PPROF_LABEL : PPROF_FUNCTION, f->name);
	put_function(w, id, name, f->file != NAMES_NONE ? name_of(w, PPROF_SOURCE, f->file) : 0);
	return id;
}

/* 0: in no known module. */
static uint64_t mapping_of(struct pprof_writer *w, uint64_t frame)
{
	const uint64_t offset_mask = (1ULL << PROF_FRAME_MODULE_SHIFT) - 1;
	uint64_t key = frame & ~offset_mask, off = frame & offset_mask;
	uintptr_t id = (uintptr_t)hmap_get(&w->mappings, key);

	if (!names_module(w->opts.names, names_frame_module(frame))->announced)
		return 0;
	if (!id) {
		w->maps = array_reserve(w->maps, &w->map_cap, w->map_cnt + 1, sizeof(*w->maps));
		w->maps[w->map_cnt++] = (struct mapping){ .key = key };
		id = w->map_cnt;
		hmap_set(&w->mappings, key, (void *)id);
	}
	if (off > w->maps[id - 1].most)
		w->maps[id - 1].most = off;
	return id;
}

static uint64_t location_of(struct pprof_writer *w, uint64_t frame)
{
	uintptr_t id = (uintptr_t)hmap_get(&w->locations, frame);

	if (id)
		return id;
	w->frames =
		array_reserve(w->frames, &w->location_cap, w->location_cnt + 1, sizeof(*w->frames));
	w->frames[w->location_cnt++] = frame;
	id = w->location_cnt;
	hmap_set(&w->locations, frame, (void *)id);
	return id;
}

/* ---- samples ----------------------------------------------------------------------------------- */

static void count_mappings(struct pprof_writer *w, const uint64_t *frames, uint32_t len,
			   uint64_t count)
{
	w->stacks++;
	for (uint32_t i = 0; i < len; i++) {
		const uint64_t id = mapping_of(w, frames[i]);
		struct mapping *map = id ? &w->maps[id - 1] : NULL;

		if (!map || map->last_stack == w->stacks)
			continue;
		map->last_stack = w->stacks;
		map->samples += count;
	}
}

void pprof_writer_begin_sample(struct pprof_writer *w, const uint64_t *frames, uint32_t len,
			       uint64_t count, uint64_t ns)
{
	const uint64_t values[] = { count, ns };

	w->sample = proto_begin(&w->raw, PROFILE_SAMPLE);
	w->ids = array_reserve(w->ids, &w->ids_cap, (size_t)len + 1, sizeof(*w->ids));
	w->ids[0] = len ? 0 : location_of(w, NO_STACK);
	for (uint32_t i = 0; i < len; i++)
		w->ids[i] = location_of(w, frames[i]);
	count_mappings(w, frames, len, count);
	proto_packed(&w->raw, SAMPLE_LOCATION, w->ids, len ? len : 1);
	proto_packed(&w->raw, SAMPLE_VALUE, values, 2);
}

static void put_label(struct pprof_writer *w, const char *key, uint32_t field, uint64_t value)
{
	size_t begun = proto_begin(&w->raw, SAMPLE_LABEL);

	proto_u64(&w->raw, LABEL_KEY, string_of(w, key));
	proto_u64(&w->raw, field, value);
	proto_end(&w->raw, begun);
}

void pprof_writer_label(struct pprof_writer *w, const char *key, const char *value, size_t len)
{
	put_label(w, key, LABEL_STR, strtab_add(&w->strings, value, len));
}

void pprof_writer_label_number(struct pprof_writer *w, const char *key, uint64_t value)
{
	put_label(w, key, LABEL_NUM, value);
}

void pprof_writer_end_sample(struct pprof_writer *w)
{
	proto_end(&w->raw, w->sample);
	flush_raw(w);
}

/* ---- tables after the samples ---------------------------------------------------------------- */

static void put_line(struct pprof_writer *w, struct mapping *map, const struct names_frame *f,
		     uint64_t function)
{
	size_t begun = proto_begin(&w->raw, LOCATION_LINE);

	proto_u64(&w->raw, LINE_FUNCTION, function);
	if (f->line)
		proto_u64(&w->raw, LINE_LINE, f->line);
	proto_end(&w->raw, begun);
	if (!map)
		return;
	map->functions |= !f->label;
	map->files |= f->file != NAMES_NONE;
}

/* Innermost first. Writes the functions first, because they are messages of their own. */
static void put_location(struct pprof_writer *w, uint64_t id)
{
	const uint64_t frame = w->frames[id - 1], mapping = mapping_of(w, frame);
	const struct names_symbol *sym = names_symbol(w->opts.names, frame);
	struct mapping *map = mapping ? &w->maps[mapping - 1] : NULL;
	uint64_t functions[NAMES_DEPTH_MAX];
	uint32_t cnt = sym ? sym->cnt : 0;
	size_t begun;

	/* two lines of one function would look like recursion */
	for (uint32_t depth = 0; depth < cnt; depth++)
		functions[depth] = sym->frames[depth].name != NAMES_NONE &&
						   names_symbol_is_printed(sym, depth) ?
					   function_of(w, names_symbol_line(sym, depth)) :
					   0;
	begun = proto_begin(&w->raw, PROFILE_LOCATION);
	proto_u64(&w->raw, LOCATION_ID, id);
	if (mapping)
		proto_u64(&w->raw, LOCATION_MAPPING, mapping);
	proto_u64(&w->raw, LOCATION_ADDRESS, frame);
	while (cnt--) {
		if (!functions[cnt])
			continue;
		put_line(w, map, names_symbol_line(sym, cnt), functions[cnt]);
		if (map)
			map->inlined |= cnt > 0;
	}
	proto_end(&w->raw, begun);
	flush_raw(w);
}

static void put_no_stack(struct pprof_writer *w, uint64_t id)
{
	const uint64_t function = w->functions.cnt + 1;
	size_t begun, line;

	put_function(w, function, string_of(w, "[no stack]"), 0);
	begun = proto_begin(&w->raw, PROFILE_LOCATION);
	proto_u64(&w->raw, LOCATION_ID, id);
	line = proto_begin(&w->raw, LOCATION_LINE);
	proto_u64(&w->raw, LINE_FUNCTION, function);
	proto_end(&w->raw, line);
	proto_end(&w->raw, begun);
}

static void put_locations(struct pprof_writer *w)
{
	uint64_t no_stack = 0;

	for (size_t i = 0; i < w->location_cnt; i++) {
		if (w->frames[i] == NO_STACK)
			no_stack = i + 1;
		else
			put_location(w, i + 1);
	}
	/* after all other functions have their ids */
	if (no_stack)
		put_no_stack(w, no_stack);
}

static enum pprof_name module_kind(const struct names_module *m)
{
	const bool system = m->kind == PROF_MODULE_KERNEL || m->kind == PROF_MODULE_KMOD ||
			    m->kind == PROF_MODULE_VDSO;

	return system ? PPROF_SYSTEM_MODULE : PPROF_MODULE;
}

static void put_mapping(struct pprof_writer *w, size_t i)
{
	const struct mapping *map = &w->maps[i];
	const struct names_module *m = names_module(w->opts.names, names_frame_module(map->key));
	size_t begun = proto_begin(&w->raw, PROFILE_MAPPING);

	proto_u64(&w->raw, MAPPING_ID, i + 1);
	proto_u64(&w->raw, MAPPING_START, map->key);
	proto_u64(&w->raw, MAPPING_LIMIT, map->key + map->most + 1);
	proto_u64(&w->raw, MAPPING_FILE, name_of(w, module_kind(m), m->path));
	if (m->build_id_sz) {
		buf_clear(&w->text);
		str_hex(&w->text, m->build_id, m->build_id_sz);
		proto_u64(&w->raw, MAPPING_BUILD_ID, string_of(w, buf_cstr(&w->text)));
	}
	proto_u64(&w->raw, MAPPING_FUNCTIONS, map->functions);
	proto_u64(&w->raw, MAPPING_FILES, map->files);
	proto_u64(&w->raw, MAPPING_LINES, map->files);
	proto_u64(&w->raw, MAPPING_INLINE, map->inlined);
	proto_end(&w->raw, begun);
}

static bool is_program(const struct pprof_writer *w, const struct names_module *m)
{
	return m->kind == PROF_MODULE_ELF &&
	       !strstr(names_str(w->opts.names, m->path, NULL), ".so");
}

/*
 * Readers assume that the first mapping is the program: @exe, or else the program with most samples. Returns map_cnt if
 * there is none.
 */
static size_t find_program(const struct pprof_writer *w, uint32_t exe)
{
	const struct names_module *m;
	size_t found = w->map_cnt;

	for (size_t i = 0; i < w->map_cnt; i++) {
		m = names_module(w->opts.names, names_frame_module(w->maps[i].key));
		if (exe != NAMES_NONE && m->path == exe)
			return i;
		if (is_program(w, m) &&
		    (found == w->map_cnt || w->maps[i].samples > w->maps[found].samples))
			found = i;
	}
	return found;
}

static void put_mappings(struct pprof_writer *w, uint32_t exe)
{
	const size_t program = find_program(w, exe);

	if (program < w->map_cnt)
		put_mapping(w, program);
	for (size_t i = 0; i < w->map_cnt; i++)
		if (i != program)
			put_mapping(w, i);
}

/* ---- the message ------------------------------------------------------------------------------ */

struct pprof_writer *pprof_writer_new(const struct pprof_writer_opts *opts)
{
	struct pprof_writer *w = xcalloc(1, sizeof(*w));

	w->opts = *opts;
	w->gzip = gzip_new(opts->put, opts->ctx);
	return w;
}

void pprof_writer_free(struct pprof_writer *w)
{
	if (!w)
		return;
	gzip_free(w->gzip);
	buf_free(&w->raw);
	buf_free(&w->text);
	strtab_fini(&w->strings);
	hmap_fini(&w->locations);
	hmap_fini(&w->functions);
	hmap_fini(&w->mappings);
	free(w->frames);
	free(w->maps);
	free(w->ids);
	free(w);
}

static void put_type(struct pprof_writer *w, uint32_t field, const char *type, const char *unit)
{
	size_t begun = proto_begin(&w->raw, field);

	proto_u64(&w->raw, VALUE_TYPE, string_of(w, type));
	proto_u64(&w->raw, VALUE_UNIT, string_of(w, unit));
	proto_end(&w->raw, begun);
}

void pprof_writer_types(struct pprof_writer *w, const struct pprof_writer_types *types)
{
	string_of(w, "");
	put_type(w, PROFILE_SAMPLE_TYPE, types->count, "count");
	put_type(w, PROFILE_SAMPLE_TYPE, types->time, "nanoseconds");
	proto_u64(&w->raw, PROFILE_DEFAULT_TYPE,
		  string_of(w, types->timed ? types->time : types->count));
	if (types->period_ns) {
		put_type(w, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		proto_u64(&w->raw, PROFILE_PERIOD, types->period_ns);
	}
}

static void put_strings(struct pprof_writer *w)
{
	const char *s;
	size_t len;

	for (uint32_t i = 0; i < w->strings.cnt; i++) {
		s = strtab_get(&w->strings, i, &len);
		proto_bytes(&w->raw, PROFILE_STRING, s, len);
		flush_raw(w);
	}
}

void pprof_writer_end(struct pprof_writer *w, const struct pprof_writer_end *end)
{
	put_locations(w);
	put_mappings(w, end->exe);
	if (end->has_time)
		proto_u64(&w->raw, PROFILE_TIME_NS, end->time_ns);
	proto_u64(&w->raw, PROFILE_DURATION_NS, end->duration_ns);
	if (end->comment)
		proto_u64(&w->raw, PROFILE_COMMENT, string_of(w, end->comment));
	put_strings(w);
	compress_raw(w);
	gzip_end(w->gzip);
}

uint64_t pprof_writer_size(const struct pprof_writer *w)
{
	return w->compressed + w->raw.len;
}
