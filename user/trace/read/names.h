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

/* A file, a kernel image or an anonymous mapping that has code. String ids as for names_str(). */
struct names_module {
	uint32_t id; /* id in the trace; only to print raw addresses */
	uint32_t path;
	uint8_t kind; /* enum prof_module_kind */
	uint8_t build_id_sz;
	bool announced; /* false: no ModuleEvent; only the address is known */
	uint32_t part; /* the part that had it first */
	/* index of the first module with the same path and kind, for grouping in output */
	uint32_t group;
	uint32_t status, detail; /* the last ModuleStatus; NAMES_NONE: not recorded */
	uint8_t build_id[NAMES_BUILD_ID_MAX];
};

/* One function at an address. */
struct names_frame {
	uint32_t name; /* NAMES_NONE: no entry for this depth yet */
	uint32_t file; /* NAMES_NONE: unknown */
	uint32_t line;
	uint64_t base; /* frame of the function's start, or NAMES_BASE_UNKNOWN */
	uint64_t size; /* bytes; 0: unknown */
	bool label; /* "[libc.so.6]": the location of an address without symbol */
};

/* All functions at an address: index = inline depth, 0 the outermost. */
struct names_symbol {
	uint32_t cnt;
	struct names_frame frames[];
};

struct names_task {
	uint32_t tid, pid, ppid; /* pid NAMES_NONE: unknown */
	uint32_t comm, exe, cgroup;
	bool recorded; /* from a TaskEvent, not guessed from a switch */
};

/*
 * Everything in a trace that gives names: strings, modules, symbols, first names of tasks, the rows
 * of TracepointSymbol, the metadata. Grows with distinct entries, not with the number of events.
 * Nothing is removed; string ids and pointers from names_str() stay valid until names_free(). One
 * thread.
 */
struct names {
	struct strtab strs;
	struct names_module *modules; /* by index; index 0 is "no module" */
	size_t module_cnt, module_cap;
	struct hmap
		module_raw; /* part << 32 | id -> index + 1 of raw modules, without a ModuleEvent */
	struct hmap module_by_hash; /* content -> index + 1 */
	struct hmap
		module_groups; /* path << 8 | kind -> index + 1 of the first module of the group */
	struct hmap symbols; /* frame -> struct names_symbol */
	uint64_t symbols_version; /* changes with every change of symbols */
	struct hmap tasks; /* clock << 32 | tid -> struct names_task: the first name of each */
	struct hmap tp_symbols; /* event string id << 32 | field string id -> struct tp_symbols */
	struct hmap *part_tp_symbols; /* the same, by part */
	size_t part_tp_cnt, part_tp_cap;
	uint64_t tp_symbols_version; /* changes with every change of rows */
	struct hmap enums; /* string id + 1 of an annotation's text -> struct tp_symbols */
	uint64_t segment; /* stream headers read so far */
	struct parts parts;
};

int names_new(struct names **out);
void names_free(struct names *n);

uint32_t names_add(struct names *n, const char *s, size_t len);
/* NUL-terminated text, "" for NAMES_NONE; @len may be NULL. */
const char *names_str(const struct names *n, uint32_t id, size_t *len);

/*
 * Index of a module by content: equal (path, build-id, kind) is one module, however often and in
 * whichever segment it is announced. For anonymous memory and files without a build-id, part and id
 * must be equal too. These are separate modules, in one group if path and kind are equal. Index 0
 * if there are more than frames can number.
 */
uint32_t names_module_add(struct names *n, const struct names_module *m);
/*
 * Index for an id without a ModuleEvent. Such frames are plain addresses, which differ between
 * parts; only in the first part id 0 is index 0.
 */
uint32_t names_module_raw(struct names *n, uint32_t part, uint32_t id);
const struct names_module *names_module(const struct names *n, uint32_t index);

/*
 * Frames here are packed as on the wire, but with the module's index instead of its id, so that
 * they are valid across segments. The module index of a frame, and its address as written:
 */
static inline uint32_t names_frame_module(uint64_t frame)
{
	return (uint32_t)(frame >> PROF_FRAME_MODULE_SHIFT) & PROF_FRAME_MODULE_MAX;
}
uint64_t names_frame_addr(const struct names *n, uint64_t frame);

/* Result of symbol lookup in a module. A trace may have several; the last counts. */
void names_module_set_status(struct names *n, uint32_t index, uint32_t status, uint32_t detail);
/* For each index, the first module with the same group, status and detail. Free it. */
uint32_t *names_modules_alike(const struct names *n);

/* Whether a text is a placeholder for an unresolved address: "[libc.so.6]", "[jit]". */
bool names_is_label(const char *s, size_t len);

/*
 * Sets the function at (frame, depth); a later one replaces it, but a label never replaces a name.
 */
void names_symbol_set(struct names *n, uint64_t frame, uint32_t depth, const struct names_frame *f);
/* NULL if unknown. Borrowed until the next names_symbol_set(). */
const struct names_symbol *names_symbol(const struct names *n, uint64_t frame);
/*
 * Which entries are printed. Compilers inline parts of a function into itself, and debug
 * information may contain one function twice. A function inlined into itself is printed once, as
 * the outer entry, with the line of the innermost. Inlined entries without a name are not printed.
 */
static inline bool names_symbol_is_printed(const struct names_symbol *sym, uint32_t depth)
{
	return !depth || (sym->frames[depth].name != NAMES_NONE &&
			  sym->frames[depth].name != sym->frames[depth - 1].name);
}
/* The entry with the line of a printed entry. */
static inline const struct names_frame *names_symbol_line(const struct names_symbol *sym,
							  uint32_t depth)
{
	const uint32_t name = sym->frames[depth].name;

	while (name != NAMES_NONE && depth + 1 < sym->cnt && sym->frames[depth + 1].name == name)
		depth++;
	return &sym->frames[depth];
}
/* Whether a function is known at an address; a label does not count. */
bool names_is_named(const struct names *n, uint64_t frame);

/* A part by index: never NULL, part 0 if the index is too large. */
static inline const struct part *names_part(const struct names *n, uint32_t part)
{
	return &n->parts.v[part < n->parts.cnt ? part : 0];
}

/* Key of a thread in maps: parts of one boot share their threads. */
static inline uint64_t names_task_key(const struct names *n, uint32_t part, uint32_t tid)
{
	return (uint64_t)names_part(n, part)->clock << 32 | tid;
}

/*
 * The first name of a thread in the trace, for events before it; NULL if there is none. @part is
 * the part of the event.
 */
static inline const struct names_task *names_task_first(const struct names *n, uint32_t part,
							uint32_t tid)
{
	return hmap_get(&n->tasks, names_task_key(n, part, tid));
}
/* Fills the members that are NAMES_NONE from the first name. */
void names_task_fill(const struct names *n, uint32_t part, uint32_t tid, uint32_t *pid,
		     uint32_t *comm);
void names_task_learn(struct names *n, uint32_t part, const struct names_task *t);

/*
 * Rows of a field from its part, because kernels differ; without such rows, from any part. _add
 * creates them; NULL if there are none.
 */
const struct tp_symbols *names_tp_symbols(const struct names *n, uint32_t part, uint32_t event,
					  uint32_t field);
/* Whether a part has rows of its own for a field. */
bool names_has_tp_symbols(const struct names *n, uint32_t part, const char *event,
			  const char *field);
void names_add_tp_symbol(struct names *n, uint32_t part, uint32_t event, uint32_t field,
			 const struct tp_symbols_row *row);

/* The rows of an enum text (PROF_NOTE_ENUM); NULL if it has none. Valid while the names are. */
const struct tp_symbols *names_enum(struct names *n, uint32_t text);

/* Metadata of a part by key. NULL if absent. */
const char *names_meta(const struct names *n, uint32_t part, const char *key);
/* The same as a number; 0: absent or not a number. */
uint64_t names_meta_u64(const struct names *n, uint32_t part, const char *key);
/* CPU time in ns that each sample of a part stands for; 0: unknown. */
uint64_t names_period_ns(const struct names *n, uint32_t part);

#endif /* D9_TRACE_READ_NAMES_H */
