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

/* What frames.c, frames_kernel.c and frames_segment.c share, and nobody else includes. */

/* What a segment of the trace has. */
struct frames_segment {
	struct emit *emit;
	struct hmap requested; /* frames, whether they got a name: only where names are kept */
	size_t asked_cnt; /* of these, those that did not */
	struct module_set modules;
};

/* A BPF image loaded after kallsyms was read. */
struct image {
	uint64_t start, end;
	uint32_t module_id;
	char *name;
};

struct frames {
	struct frames_segment now; /* the segment at hand */
	struct frames_segment
		sealing[FRAMES_SEALING_MAX]; /* those that still wait for names, oldest first */
	size_t sealing_cnt;
	uint64_t segment; /* how many there were */
	struct name_cache *kept; /* NULL: there is one segment, and names are written once */
	struct sym_client *broker;
	bool names;
	struct build_ids *build_ids;
	struct jit *jit;
	const struct kallsyms *kallsyms;
	bool missed_kernel; /* an address is not in that */
	struct modules *modules;
	uint64_t naming_again_ns; /* when the broker may be made to forget the next time */
	size_t naming_left; /* bytes that naming may still keep of modules */
	struct hmap named; /* frames that were given to naming, and whether they got a name */
	struct hmap not_asked; /* module id -> why some of its places are not asked about, in words */
	struct hmap placed; /* program and module -> whether its mappings were sent */
	bool naming_limit_warned; /* that some places stay without names */
	bool passed_over; /* a place was, for want of room in named */
	struct hmap kernel_ids; /* kallsyms module -> id */
	struct image *images;
	size_t image_cnt;
	size_t image_cap;
	uint64_t anon_serial;
	uint32_t generation;
	uint32_t forgets; /* times that modules were forgotten */
	struct process nobody; /* whose frames are of processes that were never seen */
	frames_listen_fn listen;
	void *listen_ctx;
};

/*
 * The id of a module, 0 when there are too many; *fresh when it was not known. The file's dev, inode
 * and version count where its build-id is not known.
 */
struct frames_file {
	uint64_t dev, inode, version;
};
uint32_t frames_module_id(struct frames *f, const char *path, const void *build_id, size_t sz,
			  struct frames_file file, bool *fresh);
/* What a module's key says of it. Borrows the path from it. */
struct map frames_map_of_key(const uint8_t *key, size_t sz);
/* Whether the frame was requested in this segment before. Marks it as requested. */
bool frames_is_named(struct frames *f, uint64_t frame);

/* What frames are marked with: whether a name was written. */
extern char frames_asked, frames_answered;

/* All that is kept of segments, and its bytes. */
void frames_drop_segments(struct frames *f);
size_t frames_segments_memory(const struct frames *f);
/* Of names that are kept: they are asked for again. */
void frames_forget_names(struct frames *f);
/* Labels for what has no name, in all segments: none waits any longer. 0 or -errno. */
int frames_label_all(struct frames *f);
/*
 * Adds a user frame that the current segment does not have yet, and its name if that is known. Only where names
 * are kept.
 */
void frames_add_to_segment(struct frames *f, uint64_t frame);
/* Writes a name to all segments that have the frame, and one's module's status to those that have the module. */
int frames_write_name(struct frames *f, const struct emit_symbol *name);
int frames_write_status(struct frames *f, uint32_t module_id, const char *word, const char *detail);

static inline uint64_t frames_pack(uint32_t id, uint64_t off)
{
	return (uint64_t)id << PROF_FRAME_MODULE_SHIFT | (off & PROF_FRAME_OFFSET_MASK);
}

#endif
