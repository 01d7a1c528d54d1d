/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_FRAMES_IMPL_H
#define D9_RECORD_FRAMES_IMPL_H

#include "base/hmap.h"
#include "prof_events.h"
#include "record/frames.h"
#include "record/tasks.h"

struct build_ids;
struct jit;
struct kallsyms;
struct modules;

/* What frames.c and frames_kernel.c share, and nobody else includes. */

/* A BPF image loaded after kallsyms was read. */
struct image {
	uint64_t start, end;
	uint32_t module_id;
	char *name;
};

struct frames {
	struct emit *emit;
	struct symbroker *broker;
	bool names;
	struct build_ids *build_ids;
	struct jit *jit;
	const struct kallsyms *kallsyms;
	struct modules *modules;
	uint64_t naming_again_ns; /* when the broker may be made to forget the next time */
	size_t naming_left; /* bytes that naming may still keep of modules */
	struct hmap named; /* frames that were given to naming, and whether they got a name */
	struct hmap not_asked; /* module id -> why some of its places are not asked about, in words */
	struct hmap placed; /* program and module -> whether its mappings were told */
	bool over_told; /* that some places stay without names */
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
/* Whether the frame was given to naming before; it counts as such from here on. */
bool frames_is_named(struct frames *f, uint64_t frame);

static inline uint64_t frames_pack(uint32_t id, uint64_t off)
{
	return (uint64_t)id << PROF_FRAME_MODULE_SHIFT | (off & PROF_FRAME_OFFSET_MASK);
}

#endif
