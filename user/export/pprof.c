// SPDX-License-Identifier: BSD-2-Clause
/*
 * pprof's profile.proto, gzipped. Owns its tables of distinct locations (an address with the
 * functions at it), functions, mappings and strings; samples refer to locations by id.
 *
 * Fields of a message may be in any order, so samples are written as they come, and the tables
 * after them. A mapping begins at the frame address of its module's offset 0, so an address minus
 * the start is an offset in the file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/strtab.h"
#include "export/formats.h"
#include "export/gzip.h"
#include "export/value_text.h"
#include "export/proto.h"
#include "profile/sched/intervals.h"

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

struct pprof {
	struct buf raw; /* of the message, not yet compressed */
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
};

/* ---- gzip -------------------------------------------------------------------------------------- */

static void put_packed(void *ctx, const void *data, size_t sz)
{
	struct export *x = ctx;

	buf_add(&x->out, data, sz);
	export_flush(x);
}

static void compress_raw(struct pprof *p)
{
	gzip_put(p->gzip, p->raw.data, p->raw.len);
	buf_clear(&p->raw);
}

/* Call it after each field of the profile. */
static void flush_raw(struct export *x)
{
	struct pprof *p = x->state;

	if (p->raw.len >= RAW_BLOCK)
		compress_raw(p);
}

/* ---- tables ------------------------------------------------------------------------------------ */

static uint64_t string_of(struct pprof *p, const char *s)
{
	return strtab_add(&p->strings, s, strlen(s));
}

static uint64_t name_of(struct pprof *p, const struct names *n, uint32_t id)
{
	buf_clear(&p->text);
	value_text_name(&p->text, n, id);
	return strtab_add(&p->strings, buf_cstr(&p->text), p->text.len);
}

/* @file 0: unknown. */
static void put_function(struct pprof *p, uint64_t id, uint64_t name, uint64_t file)
{
	size_t begun = proto_begin(&p->raw, PROFILE_FUNCTION);

	proto_u64(&p->raw, FUNCTION_ID, id);
	proto_u64(&p->raw, FUNCTION_NAME, name);
	proto_u64(&p->raw, FUNCTION_SYSTEM_NAME, name);
	if (file)
		proto_u64(&p->raw, FUNCTION_FILE, file);
	proto_end(&p->raw, begun);
}

static uint64_t function_of(struct export *x, const struct names_frame *f)
{
	struct pprof *p = x->state;
	uint64_t key = (uint64_t)f->name << 32 | f->file, name;
	uintptr_t id = (uintptr_t)hmap_get(&p->functions, key);

	if (id)
		return id;
	id = p->functions.cnt + 1;
	hmap_set(&p->functions, key, (void *)id);
	name = name_of(p, x->names, f->name);
	put_function(p, id, name, f->file != NAMES_NONE ? name_of(p, x->names, f->file) : 0);
	return id;
}

/* 0: in no known module. */
static uint64_t mapping_of(struct export *x, uint64_t frame)
{
	const uint64_t offset_mask = (1ULL << PROF_FRAME_MODULE_SHIFT) - 1;
	struct pprof *p = x->state;
	uint64_t key = frame & ~offset_mask, off = frame & offset_mask;
	uintptr_t id = (uintptr_t)hmap_get(&p->mappings, key);

	if (!names_module(x->names, names_frame_module(frame))->announced)
		return 0;
	if (!id) {
		p->maps = array_reserve(p->maps, &p->map_cap, p->map_cnt + 1, sizeof(*p->maps));
		p->maps[p->map_cnt++] = (struct mapping){ .key = key };
		id = p->map_cnt;
		hmap_set(&p->mappings, key, (void *)id);
	}
	if (off > p->maps[id - 1].most)
		p->maps[id - 1].most = off;
	return id;
}

static uint64_t location_of(struct pprof *p, uint64_t frame)
{
	uintptr_t id = (uintptr_t)hmap_get(&p->locations, frame);

	if (id)
		return id;
	p->frames =
		array_reserve(p->frames, &p->location_cap, p->location_cnt + 1, sizeof(*p->frames));
	p->frames[p->location_cnt++] = frame;
	id = p->location_cnt;
	hmap_set(&p->locations, frame, (void *)id);
	return id;
}

/* ---- samples ----------------------------------------------------------------------------------- */

static void count_mappings(struct export *x, const uint64_t *frames, const struct profile_stack *s)
{
	struct pprof *p = x->state;

	p->stacks++;
	for (uint32_t i = 0; i < s->len; i++) {
		const uint64_t id = mapping_of(x, frames[i]);
		struct mapping *map = id ? &p->maps[id - 1] : NULL;

		if (!map || map->last_stack == p->stacks)
			continue;
		map->last_stack = p->stacks;
		map->samples += s->samples;
	}
}

static void put_label(struct pprof *p, const char *key, uint32_t field, uint64_t value)
{
	size_t begun = proto_begin(&p->raw, SAMPLE_LABEL);

	proto_u64(&p->raw, LABEL_KEY, string_of(p, key));
	proto_u64(&p->raw, field, value);
	proto_end(&p->raw, begun);
}

static void put_sample(struct export *x, struct profile *profile, const struct profile_stack *s)
{
	const uint64_t *frames = profile_stack_frames(profile, s);
	const uint64_t values[] = { s->samples, profile_stack_weight(profile, s) };
	const uint32_t comm = profile_task_row(profile, s, 1u << PROFILE_COMM).comm;
	struct pprof *p = x->state;
	size_t begun = proto_begin(&p->raw, PROFILE_SAMPLE);

	p->ids = array_reserve(p->ids, &p->ids_cap, (size_t)s->len + 1, sizeof(*p->ids));
	p->ids[0] = s->len ? 0 : location_of(p, NO_STACK);
	for (uint32_t i = 0; i < s->len; i++)
		p->ids[i] = location_of(p, frames[i]);
	count_mappings(x, frames, s);
	proto_packed(&p->raw, SAMPLE_LOCATION, p->ids, s->len ? s->len : 1);
	proto_packed(&p->raw, SAMPLE_VALUE, values, 2);
	if (comm != NAMES_NONE)
		put_label(p, "thread", LABEL_STR, name_of(p, x->names, comm));
	if (s->pid != TRACE_NONE)
		put_label(p, "pid", LABEL_NUM, s->pid);
	if (s->tid != TRACE_NONE)
		put_label(p, "tid", LABEL_NUM, s->tid);
	if (x->kind == EXPORT_WALL)
		put_label(p, "state", LABEL_STR, string_of(p, value_text_state(s->state)));
	proto_end(&p->raw, begun);
	flush_raw(x);
}

/* ---- tables after the samples ---------------------------------------------------------------- */

static void put_line(struct export *x, struct mapping *map, const struct names_frame *f,
		     uint64_t function)
{
	struct pprof *p = x->state;
	size_t begun = proto_begin(&p->raw, LOCATION_LINE);

	proto_u64(&p->raw, LINE_FUNCTION, function);
	if (f->line)
		proto_u64(&p->raw, LINE_LINE, f->line);
	proto_end(&p->raw, begun);
	if (!map)
		return;
	map->functions |= !f->label;
	map->files |= f->file != NAMES_NONE;
}

/* Innermost first. Writes the functions first, because they are messages of their own. */
static void put_location(struct export *x, uint64_t id)
{
	struct pprof *p = x->state;
	const uint64_t frame = p->frames[id - 1], mapping = mapping_of(x, frame);
	const struct names_symbol *sym = names_symbol(x->names, frame);
	struct mapping *map = mapping ? &p->maps[mapping - 1] : NULL;
	uint64_t functions[NAMES_DEPTH_MAX];
	uint32_t cnt = sym ? sym->cnt : 0;
	size_t begun;

	/* two lines of one function would look like recursion */
	for (uint32_t depth = 0; depth < cnt; depth++)
		functions[depth] = sym->frames[depth].name != NAMES_NONE &&
						   names_symbol_is_printed(sym, depth) ?
					   function_of(x, names_symbol_line(sym, depth)) :
					   0;
	begun = proto_begin(&p->raw, PROFILE_LOCATION);
	proto_u64(&p->raw, LOCATION_ID, id);
	if (mapping)
		proto_u64(&p->raw, LOCATION_MAPPING, mapping);
	proto_u64(&p->raw, LOCATION_ADDRESS, frame);
	while (cnt--) {
		if (!functions[cnt])
			continue;
		put_line(x, map, names_symbol_line(sym, cnt), functions[cnt]);
		if (map)
			map->inlined |= cnt > 0;
	}
	proto_end(&p->raw, begun);
	flush_raw(x);
}

static void put_no_stack(struct pprof *p, uint64_t id)
{
	const uint64_t function = p->functions.cnt + 1;
	size_t begun, line;

	put_function(p, function, string_of(p, "[no stack]"), 0);
	begun = proto_begin(&p->raw, PROFILE_LOCATION);
	proto_u64(&p->raw, LOCATION_ID, id);
	line = proto_begin(&p->raw, LOCATION_LINE);
	proto_u64(&p->raw, LINE_FUNCTION, function);
	proto_end(&p->raw, line);
	proto_end(&p->raw, begun);
}

static void put_locations(struct export *x)
{
	struct pprof *p = x->state;
	uint64_t no_stack = 0;

	for (size_t i = 0; i < p->location_cnt; i++) {
		if (p->frames[i] == NO_STACK)
			no_stack = i + 1;
		else
			put_location(x, i + 1);
	}
	/* after all other functions have their ids */
	if (no_stack)
		put_no_stack(p, no_stack);
}

static void put_mapping(struct export *x, size_t i)
{
	struct pprof *p = x->state;
	const struct mapping *map = &p->maps[i];
	const struct names_module *m = names_module(x->names, names_frame_module(map->key));
	size_t begun = proto_begin(&p->raw, PROFILE_MAPPING);

	proto_u64(&p->raw, MAPPING_ID, i + 1);
	proto_u64(&p->raw, MAPPING_START, map->key);
	proto_u64(&p->raw, MAPPING_LIMIT, map->key + map->most + 1);
	proto_u64(&p->raw, MAPPING_FILE, name_of(p, x->names, m->path));
	if (m->build_id_sz) {
		buf_clear(&p->text);
		str_hex(&p->text, m->build_id, m->build_id_sz);
		proto_u64(&p->raw, MAPPING_BUILD_ID, string_of(p, buf_cstr(&p->text)));
	}
	proto_u64(&p->raw, MAPPING_FUNCTIONS, map->functions);
	proto_u64(&p->raw, MAPPING_FILES, map->files);
	proto_u64(&p->raw, MAPPING_LINES, map->files);
	proto_u64(&p->raw, MAPPING_INLINE, map->inlined);
	proto_end(&p->raw, begun);
}

/* The executable of the target, at the end of the trace; NAMES_NONE: unknown, or several targets. */
static uint32_t target_exe(const struct export *x)
{
	const uint32_t pid = (uint32_t)names_meta_u64(x->names, 0, PROF_META_TARGET_PIDS);
	const struct names_task *task = pid ? trace_task(reader_trace(x->reader), pid) : NULL;

	if (!task || task->exe == NAMES_NONE)
		task = pid ? names_task_first(x->names, 0, pid) : NULL;
	return task ? task->exe : NAMES_NONE;
}

static bool is_program(const struct export *x, const struct names_module *m)
{
	return m->kind == PROF_MODULE_ELF && !strstr(names_str(x->names, m->path, NULL), ".so");
}

/*
 * Readers assume that the first mapping is the program: the target's executable, or else the program with
 * most samples. Returns map_cnt if there is none.
 */
static size_t find_program(const struct export *x)
{
	const struct pprof *p = x->state;
	const uint32_t exe = target_exe(x);
	const struct names_module *m;
	size_t found = p->map_cnt;

	for (size_t i = 0; i < p->map_cnt; i++) {
		m = names_module(x->names, names_frame_module(p->maps[i].key));
		if (exe != NAMES_NONE && m->path == exe)
			return i;
		if (is_program(x, m) &&
		    (found == p->map_cnt || p->maps[i].samples > p->maps[found].samples))
			found = i;
	}
	return found;
}

static void put_mappings(struct export *x)
{
	struct pprof *p = x->state;
	const size_t program = find_program(x);

	if (program < p->map_cnt)
		put_mapping(x, program);
	for (size_t i = 0; i < p->map_cnt; i++)
		if (i != program)
			put_mapping(x, i);
}

static void put_type(struct pprof *p, uint32_t field, const char *type, const char *unit)
{
	size_t begun = proto_begin(&p->raw, field);

	proto_u64(&p->raw, VALUE_TYPE, string_of(p, type));
	proto_u64(&p->raw, VALUE_UNIT, string_of(p, unit));
	proto_end(&p->raw, begun);
}

static void put_types(struct export *x, struct profile *profile)
{
	static const char *const types[][2] = {
		[EXPORT_CPU] = { "samples", "cpu" },
		[EXPORT_OFFCPU] = { "waits", "offcpu" },
		[EXPORT_RUNQ] = { "waits", "runq" },
		[EXPORT_WALL] = { "events", "wall" },
	};
	struct pprof *p = x->state;
	const char *const *type = types[x->kind];
	bool timed = profile_weight(profile);

	string_of(p, "");
	put_type(p, PROFILE_SAMPLE_TYPE, type[0], "count");
	put_type(p, PROFILE_SAMPLE_TYPE, type[1], "nanoseconds");
	proto_u64(&p->raw, PROFILE_DEFAULT_TYPE, string_of(p, type[timed]));
	if (x->kind == EXPORT_CPU && timed) {
		put_type(p, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		proto_u64(&p->raw, PROFILE_PERIOD, names_period_ns(x->names, 0));
	}
}

static void put_times(struct export *x)
{
	const struct part *part = names_part(x->names, 0);
	struct pprof *p = x->state;
	const char *command = names_meta(x->names, 0, PROF_META_COMMAND_LINE);

	if (part->synced)
		proto_u64(&p->raw, PROFILE_TIME_NS, part->real + (x->span_start - part->mono));
	proto_u64(&p->raw, PROFILE_DURATION_NS, x->span_ns);
	if (!command)
		return;
	buf_clear(&p->text);
	value_text_clean(&p->text, command, strlen(command));
	proto_u64(&p->raw, PROFILE_COMMENT, string_of(p, buf_cstr(&p->text)));
}

static void put_strings(struct export *x)
{
	struct pprof *p = x->state;
	const char *s;
	size_t len;

	for (uint32_t i = 0; i < p->strings.cnt; i++) {
		s = strtab_get(&p->strings, i, &len);
		proto_bytes(&p->raw, PROFILE_STRING, s, len);
		flush_raw(x);
	}
}

static void pprof_profile(struct export *x, struct profile *profile)
{
	struct pprof *p = x->state;
	const struct profile_stack *v;
	size_t cnt;

	p->gzip = gzip_new(put_packed, x);
	put_types(x, profile);
	v = profile_stacks(profile, &cnt);
	for (size_t i = 0; i < cnt; i++)
		if (v[i].samples)
			put_sample(x, profile, &v[i]);
	put_locations(x);
	put_mappings(x);
	put_times(x);
	put_strings(x);
	compress_raw(p);
	gzip_end(p->gzip);
}

static void pprof_fini(struct export *x)
{
	struct pprof *p = x->state;

	gzip_free(p->gzip);
	buf_free(&p->raw);
	buf_free(&p->text);
	strtab_fini(&p->strings);
	hmap_fini(&p->locations);
	hmap_fini(&p->functions);
	hmap_fini(&p->mappings);
	free(p->frames);
	free(p->maps);
	free(p->ids);
}

const struct exporter export_pprof = {
	.name = "pprof",
	.brief = "counts and times by stack, for go tool pprof and other readers of its files",
	.binary = true,
	.state_sz = sizeof(struct pprof),
	.untimed = { [EXPORT_CPU] = "without time", [EXPORT_WALL] = "without time" },
	.profile = pprof_profile,
	.fini = pprof_fini,
};
