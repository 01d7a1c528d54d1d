/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_PARTS_H
#define D9_TRACE_READ_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define PARTS_MAX 4096
#define PARTS_META_MAX 256 /* of one part */
#define PARTS_SYNCS_MAX (1u << 20) /* of all parts */
#define PARTS_SYNC_NS 1000000000ULL /* closer ones are not kept */
/* Clocks of one boot agree within this: wall clocks are adjusted, but rebooting takes longer. */
#define PARTS_CLOCK_NS 1000000000ULL

/* String ids of the names that the parts belong to. */
struct parts_meta {
	uint32_t key, value;
};

/* The wall clock at a time of the trace. */
struct parts_sync {
	uint64_t mono, real; /* ns */
};

/*
 * One recording in a stream, called a part. Its metadata and clock are valid for its events only.
 * Times of two parts can be compared if their clock is the same number. Parts follow each other,
 * except in a merged stream, where they overlap. There the first part is the base of the others.
 */
struct part {
	uint64_t begin; /* offset in the stream */
	uint64_t events; /* so far */
	uint32_t clock; /* index of the first part on this clock */
	uint32_t base; /* index of the first part of its stream: itself, unless merged */
	uint32_t next; /* index of the next part that is its own base; 0: none */
	bool merged; /* from a MergedPart event, with: */
	uint64_t number, told_clock;
	int64_t shift_ns;
	/* written by this recorder, whose segments all begin with the same metadata */
	bool by_recorder;
	bool synced; /* at least one ClockSyncEvent, the first of which was: */
	uint64_t mono, real;
	struct parts_sync *syncs; /* later and later, with that first one */
	size_t sync_cnt, sync_cap;
	uint32_t host, boot_id; /* string ids; NAMES_NONE: unknown */
	struct parts_meta *meta;
	size_t meta_cnt, meta_cap;
};

/* The parts of a stream, in order; at least one. */
struct parts {
	struct part *v;
	size_t cnt, cap;
	uint32_t last; /* index of the last part that is its own base */
	struct hmap merged; /* base << 32 | number -> index + 1, of merged parts */
	bool overflow; /* more than PARTS_MAX: the last one has the rest, without metadata */
	uint32_t host, boot_id, start; /* string ids of keys */
	uint64_t segment; /* offset of the current header */
	bool at_header; /* no event since that header */
	uint64_t meta_version; /* changes when metadata of a part changes */
	bool segment_synced; /* a ClockSyncEvent in this segment */
	size_t sync_cnt; /* kept, of all parts */
};

/* @host, @boot_id and @start are the ids of PROF_META_HOST and so on. */
void parts_init(struct parts *p, uint32_t host, uint32_t boot_id, uint32_t start);
void parts_fini(struct parts *p);

/* ---- learning: all frames of a stream in order ---- */

void parts_segment(struct parts *p, uint64_t offset);
/* Handles a SegmentMetadataEvent at @offset. If a key occurs twice, the later entry counts. */
void parts_metadata(struct parts *p, uint64_t offset, const struct parts_meta *meta, size_t cnt);
/* Handles a ClockSyncEvent. */
void parts_clock(struct parts *p, uint64_t offset, uint64_t mono, uint64_t real);
/* Handles any other event that is the first after its header. */
void parts_first_event(struct parts *p, uint64_t offset);
/* Handles any other event. */
static inline void parts_event(struct parts *p, uint64_t offset)
{
	if (p->at_header)
		parts_first_event(p, offset);
	p->v[p->last].events++;
}

/* Handles a MergedPart event at @offset. */
void parts_merged(struct parts *p, uint64_t offset, uint64_t number, uint64_t clock,
		  int64_t shift_ns);
/* Handles metadata and clock events that name their part: index @part, from parts_of(). */
void parts_merged_metadata(struct parts *p, uint32_t part, const struct parts_meta *meta,
			   size_t cnt);
void parts_merged_clock(struct parts *p, uint32_t part, uint64_t mono, uint64_t real);

/* Finds the clock of part @at among the parts before it, which have theirs. */
void parts_find_clock(struct parts *p, uint32_t at);

/* ---- asking ---- */

/* The part at @offset, or the base of merged parts there; @from is that part or one before it. */
static inline uint32_t parts_at(const struct parts *p, uint32_t from, uint64_t offset)
{
	while (p->v[from].next && p->v[p->v[from].next].begin <= offset)
		from = p->v[from].next;
	return from;
}
/* The part with that base and number; the base if there is none. */
uint32_t parts_of(const struct parts *p, uint32_t base, uint64_t number);
/* NAMES_NONE if there is no such entry. */
uint32_t parts_get(const struct parts *p, uint32_t part, uint32_t key);
/*
 * The wall clock, in ns since 1970, at a time of the part: interpolated between the ClockSyncEvents that were read so
 * far; before the first and after the last of them it is as far from the trace's clock as there. A part without any takes
 * the syncs of its clock's first part. False: unknown.
 */
bool parts_wall(const struct parts *p, uint32_t part, uint64_t mono, uint64_t *wall);
/* Number of clocks. */
size_t parts_clocks(const struct parts *p);
/*
 * Whether the number of a process, thread or CPU means the same in all parts: they have one clock, and no two known hosts.
 * Containers of one boot have different hosts, but one clock.
 */
bool parts_share_ids(const struct parts *p);
/* Whether all parts belong to one merged stream, aligned to the first one's wall clock. */
bool parts_are_aligned(const struct parts *p);

#endif /* D9_TRACE_READ_PARTS_H */
