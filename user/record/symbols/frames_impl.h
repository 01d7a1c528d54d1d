/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_FRAMES_IMPL_H
#define D9_RECORD_SYMBOLS_FRAMES_IMPL_H

#include "base/hmap.h"
#include "prof_events.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "record/symbols/modules.h"

struct build_ids;
struct emit_symbol;
struct jit;
struct kallsyms;
struct name_cache;

/* Private to frames.c, frames_kernel.c and frames_segment.c. */

/* Contents of a segment. */
struct frames_segment {
	struct emit *emit;
	struct hmap requested; /* frame -> whether it has a symbol: only if symbols are kept */
	size_t asked_cnt; /* frames of these without a symbol */
	struct module_set modules;
};

/* A BPF image loaded after kallsyms was read. */
struct image {
	uint64_t start, end;
	uint32_t module_id;
	char *name;
};

struct frames {
	struct frames_segment now; /* the current segment */
	struct frames_segment
		sealing[FRAMES_SEALING_MAX]; /* segments that wait for symbols, oldest first */
	size_t sealing_cnt;
	uint64_t segment; /* number of earlier segments */
	struct name_cache *kept; /* NULL: a single segment, symbols are written once */
	struct sym_client *broker;
	bool names;
	struct build_ids *build_ids;
	struct jit *jit;
	const struct kallsyms *kallsyms;
	bool missed_kernel; /* an unknown kernel address was used */
	struct modules *modules;
	uint64_t naming_again_ns; /* when the broker's data may be dropped again */
	size_t naming_left; /* bytes left for symbol lookup */
	struct hmap named; /* requested frames -> whether they have a symbol */
	struct hmap not_asked; /* module id -> text: why some of its addresses are not requested */
	struct hmap placed; /* program and module -> whether its mappings were sent */
	bool naming_limit_warned; /* about addresses without symbols */
	bool passed_over; /* an address was skipped because `named` was full */
	struct hmap kernel_ids; /* kallsyms module -> id */
	struct image *images;
	size_t image_cnt;
	size_t image_cap;
	uint64_t anon_serial;
	uint32_t generation;
	uint32_t forgets; /* times that modules were forgotten */
	struct process nobody; /* the process of frames without a known process */
	frames_listen_fn listen;
	void *listen_ctx;
};

/*
 * The id of a module, 0 if there are too many; *fresh if it is new. Without a build-id, the file's dev, inode and
 * version are part of the key.
 */
struct frames_file {
	uint64_t dev, inode, version;
};
uint32_t frames_module_id(struct frames *f, const char *path, const void *build_id, size_t sz,
			  struct frames_file file, bool *fresh);
/* The map in a module's key. Borrows the path. */
struct map frames_map_from_key(const uint8_t *key, size_t sz);
/* Whether the frame was requested in this segment before. Marks it as requested. */
bool frames_is_named(struct frames *f, uint64_t frame);

/* Marks of frames: whether a symbol was written. */
extern char frames_mark_requested, frames_mark_answered;

/* Frees the data of all segments, and resets its size. */
void frames_drop_segments(struct frames *f);
size_t frames_segments_memory(const struct frames *f);
/* Forgets kept symbols: they are requested again. */
void frames_forget_names(struct frames *f);
/* Writes labels for frames without symbols in all segments: none waits any longer. 0 or -errno. */
int frames_label_all(struct frames *f);
/*
 * Adds a new user frame to the current segment, with its symbol if known. Only if symbols are kept.
 */
void frames_add_to_segment(struct frames *f, uint64_t frame);
/* Writes a symbol to all segments that have the frame, or a status to those that have the module. */
int frames_write_name(struct frames *f, const struct emit_symbol *name);
int frames_write_status(struct frames *f, uint32_t module_id, const char *word, const char *detail);

static inline uint64_t frames_pack(uint32_t id, uint64_t off)
{
	return (uint64_t)id << PROF_FRAME_MODULE_SHIFT | (off & PROF_FRAME_OFFSET_MASK);
}

#endif
