/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_PARTS_H
#define D9_TRACE_READ_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define PARTS_MAX 4096
#define PARTS_META_MAX 256 /* of one part */
/* Clocks of one boot agree to this: wall clocks are set now and then, but hosts take longer to boot. */
#define PARTS_CLOCK_NS 1000000000ULL

/* String ids of the names that the parts belong to. */
struct parts_meta {
	uint32_t key, value;
};

/*
 * One recording in a stream. Its metadata and its clock hold for its events alone. Times of two parts
 * may be compared when their clock is the same number. Parts follow each other, but those of a merged stream
 * lie within each other: all but its first have that as their base.
 */
struct part {
	uint64_t begin; /* offset in the stream */
	uint64_t events; /* so far */
	uint32_t clock; /* index of the first part on this clock */
	uint32_t base; /* index of the part that begins its stream: its own, unless it is merged into that */
	uint32_t next; /* index of the next one that does; 0: none */
	bool merged; /* by a MergedPart event, which says: */
	uint64_t number, told_clock;
	int64_t shift_ns;
	bool ours; /* written by the recorder, whose segments all begin with the same metadata */
	bool synced; /* at least one ClockSyncEvent, the first of which was: */
	uint64_t mono, real;
	uint32_t host, boot_id; /* string ids; NAMES_NONE: unknown */
	struct parts_meta *meta;
	size_t meta_cnt, meta_cap;
};

/* The parts of a stream in their order; there is always one. */
struct parts {
	struct part *v;
	size_t cnt, cap;
	uint32_t last; /* index of the last one that is its own base */
	struct hmap merged; /* base << 32 | number -> index + 1, of others */
	bool more; /* than PARTS_MAX: the last one holds them all, and no metadata */
	uint32_t host, boot_id, start; /* string ids of keys */
	uint64_t segment; /* offset of the header at hand */
	bool fresh; /* no event after that header */
	uint64_t meta_version; /* moves when metadata of a part changes */
	bool segment_synced; /* a ClockSyncEvent in this segment */
};

/* @host, @boot_id and @start are the ids of PROF_META_HOST and so on. */
void parts_init(struct parts *p, uint32_t host, uint32_t boot_id, uint32_t start);
void parts_fini(struct parts *p);

/* ---- learning: all frames of a stream in order ---- */

void parts_segment(struct parts *p, uint64_t offset);
/* A SegmentMetadataEvent at @offset. Of two entries of one key the later one counts. */
void parts_metadata(struct parts *p, uint64_t offset, const struct parts_meta *meta, size_t cnt);
/* A ClockSyncEvent. */
void parts_clock(struct parts *p, uint64_t offset, uint64_t mono, uint64_t real);
/* Any other event that is the first behind its header. */
void parts_first_event(struct parts *p, uint64_t offset);
/* Any other event. */
static inline void parts_event(struct parts *p, uint64_t offset)
{
	if (p->fresh)
		parts_first_event(p, offset);
	p->v[p->last].events++;
}

/* What a MergedPart event at @offset says. */
void parts_merged(struct parts *p, uint64_t offset, uint64_t number, uint64_t clock,
		  int64_t shift_ns);
/* The same of an event that says of which part it is, at index @part, as parts_of() has it. */
void parts_merged_metadata(struct parts *p, uint32_t part, const struct parts_meta *meta,
			   size_t cnt);
void parts_merged_clock(struct parts *p, uint32_t part, uint64_t mono, uint64_t real);

/* Finds the clock of part @at among those before it, all of which have theirs. */
void parts_find_clock(struct parts *p, uint32_t at);

/* ---- asking ---- */

/* The part that holds @offset, or the base of those that do; @from is it or one before it. */
static inline uint32_t parts_at(const struct parts *p, uint32_t from, uint64_t offset)
{
	while (p->v[from].next && p->v[p->v[from].next].begin <= offset)
		from = p->v[from].next;
	return from;
}
/* Of those with that base the one with that number; the base if there is none. */
uint32_t parts_of(const struct parts *p, uint32_t base, uint64_t number);
/* NAMES_NONE when there is no such entry. */
uint32_t parts_get(const struct parts *p, uint32_t part, uint32_t key);
/* How many clocks there are. */
size_t parts_clocks(const struct parts *p);
/* Whether all parts are of one merged stream, each wall clock where the first one's is. */
bool parts_are_aligned(const struct parts *p);

#endif /* D9_TRACE_READ_PARTS_H */
