/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_NAMES_H
#define D9_TRACE_READ_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "prof_events.h"
#include "trace/read/parts.h"
#include "trace/read/tp_symbols.h"

#define NAMES_NONE UINT32_MAX
#define NAMES_BUILD_ID_MAX 32
#define NAMES_DEPTH_MAX 64 /* inlined functions at one address; deeper entries are ignored */
#define NAMES_BASE_UNKNOWN UINT64_MAX

/* A file, a kernel image or an anonymous mapping that frames lie in. String ids as names_str(). */
struct names_module {
	uint32_t id; /* as the trace numbers it; only for showing raw addresses */
	uint32_t path;
	uint8_t kind; /* enum prof_module_kind */
	uint8_t build_id_sz;
	bool announced; /* false: no ModuleEvent, so the address is all there is */
	uint32_t part; /* of the stream, which had it first */
	uint32_t group; /* index of the first module that people would call the same */
	uint32_t status, detail; /* the last ModuleStatus; NAMES_NONE: the trace does not say */
	uint8_t build_id[NAMES_BUILD_ID_MAX];
};

/* One function at an address. */
struct names_frame {
	uint32_t name; /* NAMES_NONE: a depth that has no entry yet */
	uint32_t file; /* NAMES_NONE: unknown */
	uint32_t line;
	uint64_t base; /* frame of the function's start, or NAMES_BASE_UNKNOWN */
	uint64_t size; /* bytes; 0: unknown */
	bool label; /* "[libc.so.6]": says where the address lies, and is no name of a function */
};

/* All functions at an address: index = inline depth, 0 the outermost. */
struct names_symbol {
	uint32_t cnt;
	struct names_frame frames[];
};

struct names_task {
	uint32_t tid, pid, ppid; /* pid NAMES_NONE: unknown */
	uint32_t comm, exe, cgroup;
	bool told; /* by a TaskEvent, not guessed from a switch */
};

/*
 * Everything in a trace that gives names: strings, modules, symbols, first names of tasks, the rows
 * of TracepointSymbol, the metadata. Grows with what is distinct, never with the number of events.
 * Nothing is ever removed, and string ids and pointers from names_str() stay valid until
 * names_free(). One thread.
 */
struct names {
	struct strtab strs;
	struct names_module *modules; /* by index; index 0 is "no module" */
	size_t module_cnt, module_cap;
	struct hmap module_raw; /* part << 32 | id -> index + 1 of modules never announced */
	struct hmap module_by_hash; /* content -> index + 1 */
	struct hmap module_groups; /* path << 8 | kind -> index + 1 of the first without a content */
	struct hmap symbols; /* frame -> struct names_symbol */
	uint64_t symbols_version; /* moves when one changes */
	struct hmap tasks; /* clock << 32 | tid -> struct names_task: the first name of each */
	struct hmap tp_symbols; /* event string id << 32 | field string id -> struct tp_symbols */
	struct hmap *part_tp_symbols; /* the same, of what each part told */
	size_t part_tp_cnt, part_tp_cap;
	uint64_t tp_symbols_version; /* moves when a field's rows change */
	struct hmap enums; /* string id + 1 of an annotation's text -> struct tp_symbols */
	uint64_t segment; /* headers seen */
	struct parts parts;
};

int names_new(struct names **out);
void names_free(struct names *n);

uint32_t names_add(struct names *n, const char *s, size_t len);
/* NUL-terminated text, "" for NAMES_NONE; @len may be NULL. */
const char *names_str(const struct names *n, uint32_t id, size_t *len);

/*
 * Index of a module by content; the same (path, build-id, kind) is one module however often and in
 * whichever segment it is announced. Where that says nothing of the code, in anonymous memory and in
 * files without a build-id, it takes the same id of the same part too: these are modules of their own,
 * of one group when path and kind are equal. Index 0 when there are more than frames can name.
 */
uint32_t names_module_add(struct names *n, const struct names_module *m);
/*
 * Index for an id that no ModuleEvent announced. Such frames are plain addresses, which mean something
 * else in each part of the stream; only in the first part id 0 is index 0.
 */
uint32_t names_module_raw(struct names *n, uint32_t part, uint32_t id);
const struct names_module *names_module(const struct names *n, uint32_t index);

/*
 * Frames here are packed as on the wire, but with the module's index in place of its id, so that
 * they mean the same in every segment. The module index of a frame, and its address as written:
 */
static inline uint32_t names_frame_module(uint64_t frame)
{
	return (uint32_t)(frame >> PROF_FRAME_MODULE_SHIFT) & PROF_FRAME_MODULE_MAX;
}
uint64_t names_frame_addr(const struct names *n, uint64_t frame);

/* How naming a module went. A trace may say so more than once: the last time counts. */
void names_module_set_status(struct names *n, uint32_t index, uint32_t status, uint32_t detail);
/* For each index the first module of the same group, status and detail. Free it. */
uint32_t *names_modules_alike(const struct names *n);

/* Whether this text stands for the place of an address that has no name: "[libc.so.6]", "[jit]". */
bool names_is_label(const char *s, size_t len);

/* Sets the function at (frame, depth); a later one wins, but a label never ousts a name. */
void names_symbol_set(struct names *n, uint64_t frame, uint32_t depth, const struct names_frame *f);
/* NULL when nothing is known. Borrowed until the next names_symbol_set(). */
const struct names_symbol *names_symbol(const struct names *n, uint64_t frame);
/*
 * Which entries readers tell of. Compilers split a function and put the one half into the other, as they do with
 * one that calls itself, and debug information may know one function twice: what is inlined into itself
 * is told once, as the outer entry, at the line of the innermost. Nor is an inlined one told that has no name.
 */
static inline bool names_symbol_tells(const struct names_symbol *sym, uint32_t depth)
{
	return !depth || (sym->frames[depth].name != NAMES_NONE &&
			  sym->frames[depth].name != sym->frames[depth - 1].name);
}
/* The entry that has the line of one that is told. */
static inline const struct names_frame *names_symbol_line(const struct names_symbol *sym,
							  uint32_t depth)
{
	const uint32_t name = sym->frames[depth].name;

	while (name != NAMES_NONE && depth + 1 < sym->cnt && sym->frames[depth + 1].name == name)
		depth++;
	return &sym->frames[depth];
}
/* Whether a function is known there; labels are none. */
bool names_is_named(const struct names *n, uint64_t frame);

/* One part of the stream: never NULL, part 0 for a number too large. */
static inline const struct part *names_part(const struct names *n, uint32_t part)
{
	return &n->parts.v[part < n->parts.cnt ? part : 0];
}

/* What stands for a thread in maps: parts of one boot share their threads. */
static inline uint64_t names_task_key(const struct names *n, uint32_t part, uint32_t tid)
{
	return (uint64_t)names_part(n, part)->clock << 32 | tid;
}

/*
 * The first name that the trace gives to a thread, for events before it; NULL when there is none.
 * @part is the part of the stream that asks or tells.
 */
static inline const struct names_task *names_task_first(const struct names *n, uint32_t part,
							uint32_t tid)
{
	return hmap_get(&n->tasks, names_task_key(n, part, tid));
}
/* Fills in from that what the caller does not know of a thread yet: what is NAMES_NONE. */
void names_task_fill(const struct names *n, uint32_t part, uint32_t tid, uint32_t *pid,
		     uint32_t *comm);
void names_task_learn(struct names *n, uint32_t part, const struct names_task *t);

/*
 * Rows of a field, as its part tells them, for kernels differ; where it tells none, those of any part. Created empty by
 * _add, NULL when there are none.
 */
const struct tp_symbols *names_tp_symbols(const struct names *n, uint32_t part, uint32_t event,
					  uint32_t field);
void names_add_tp_symbol(struct names *n, uint32_t part, uint32_t event, uint32_t field,
			 const struct tp_symbols_row *row);

/*
 * The rows that the lines of an enum are, as PROF_NOTE_ENUM's; NULL for a text without any. Valid as long as the
 * names.
 */
const struct tp_symbols *names_enum(struct names *n, uint32_t text);

/* Metadata of a part by key. NULL when absent. */
const char *names_meta(const struct names *n, uint32_t part, const char *key);
/* The number that it is; 0: it is none. */
uint64_t names_meta_u64(const struct names *n, uint32_t part, const char *key);
/* Nanoseconds of CPU time for which each sample of a part stands; 0: it does not say. */
uint64_t names_period_ns(const struct names *n, uint32_t part);

#endif /* D9_TRACE_READ_NAMES_H */
