// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes the shift of each part's times. Owns groups of parts: parts within one file, and parts on one clock.
 * Several groups are aligned by their wall clocks: all shift forward to the group that booted first, so no time
 * becomes negative.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "rewrite/merge/merge_impl.h"

/* The leader of a part's group. */
static uint32_t leader(uint32_t *with, uint32_t i)
{
	while (with[i] != i)
		i = with[i] = with[with[i]];
	return i;
}

static void join(uint32_t *with, uint32_t a, uint32_t b)
{
	a = leader(with, a);
	b = leader(with, b);
	if (a != b)
		with[a < b ? b : a] = a < b ? a : b;
}

/* @clocks: also groups parts on the same clock. */
static uint32_t *group(const struct merge_plan *p, bool clocks)
{
	const uint32_t cnt = (uint32_t)p->names->parts.cnt;
	uint32_t *with = xcalloc((size_t)cnt + 1, sizeof(*with));

	for (uint32_t i = 0; i < cnt; i++)
		with[i] = i;
	for (uint32_t i = 0; i < cnt; i++) {
		const struct part *part = names_part(p->names, i);

		join(with, i, part->base);
		if (clocks)
			join(with, i, part->clock);
	}
	return with;
}

/* Wall-clock time of a group's clock zero, from its first part with a wall clock. */
struct zero {
	bool known, needed;
	uint64_t real;
};

static struct zero *find_zeros(const struct merge_plan *p, uint32_t *with)
{
	const uint32_t cnt = (uint32_t)p->names->parts.cnt;
	struct zero *zeros = xcalloc((size_t)cnt + 1, sizeof(*zeros));

	for (uint32_t i = 0; i < cnt; i++) {
		const struct part *part = names_part(p->names, i);
		struct zero *z = &zeros[leader(with, i)];

		z->needed |= p->parts[i].has_ts;
		if (!part->synced || z->known)
			continue;
		z->known = true;
		z->real = part->real - part->mono;
	}
	return zeros;
}

static const char *name_of(const struct merge_plan *p, uint32_t part)
{
	return p->files[p->parts[part].file].name;
}

/* False, after one line, if the wall clock of a group is unknown. */
static bool check(const struct merge_plan *p, uint32_t *with, const struct zero *zeros,
		  size_t *groups)
{
	uint32_t first = TRACE_NONE, blind = TRACE_NONE;

	*groups = 0;
	for (uint32_t i = 0; i < p->names->parts.cnt; i++) {
		if (leader(with, i) != i || !zeros[i].needed)
			continue;
		++*groups;
		if (!zeros[i].known && blind == TRACE_NONE)
			blind = i;
		else if (first == TRACE_NONE)
			first = i;
	}
	if (*groups < 2 || blind == TRACE_NONE)
		return true;
	log_error("%s: %s has no wall-clock time, so it cannot be aligned with %s "
		  "(dial9-prof merge --align mono keeps its times, --align offset=NS moves them)",
		  p->opts.word, name_of(p, blind),
		  first == TRACE_NONE ? "others" : name_of(p, first));
	return false;
}

static bool by_wall_clock(struct merge_plan *p, bool clocks)
{
	const uint32_t cnt = (uint32_t)p->names->parts.cnt;
	uint32_t *with = group(p, clocks);
	struct zero *zeros = find_zeros(p, with);
	bool good, set = false;
	uint64_t least = 0;
	size_t groups;

	good = check(p, with, zeros, &groups);
	for (uint32_t i = 0; i < cnt; i++) {
		if (!zeros[i].needed || (set && (int64_t)(zeros[i].real - least) >= 0))
			continue;
		least = zeros[i].real;
		set = true;
	}
	for (uint32_t i = 0; i < cnt && good && groups > 1; i++) {
		const struct zero *z = &zeros[leader(with, i)];

		p->parts[i].shift_ns = z->needed ? (int64_t)(z->real - least) : 0;
	}
	free(zeros);
	free(with);
	return good;
}

/* Shifting one group back equals shifting all others forward. */
static void by_offset(struct merge_plan *p)
{
	const int64_t ns = p->opts.offset_ns;

	for (uint32_t i = 0; i < p->names->parts.cnt; i++) {
		const bool first = !p->files[p->parts[i].file].arg;

		if (first ? ns < 0 : ns > 0)
			p->parts[i].shift_ns = ns < 0 ? -ns : ns;
	}
}

bool merge_align_parts(struct merge_plan *p)
{
	if (p->opts.align == MERGE_OFFSET)
		by_offset(p);
	else if (p->opts.align != MERGE_MONO)
		return by_wall_clock(p, p->opts.align == MERGE_AUTO);
	return true;
}
