// SPDX-License-Identifier: BSD-2-Clause
/*
 * What "lost" means. Owns the table of kinds of loss, the total that all commands print, and the
 * check of a recorder's counters. Recorder and readers share it, so both print the same result.
 * Numbers only.
 *
 * Four classes do not count as lost events. Without sideband records a process may lack its name,
 * but no event is missing. Estimates are not counts. A pause excludes time on purpose. A switch
 * whose stack was dropped is itself in the trace.
 */
#include "profile/sched/loss_accounting.h"

#include <string.h>

#include "trace/read/trace.h"

static const struct {
	const char *kind;
	enum loss_accounting_class cls;
	bool hides_switches;
} kinds[] = {
	{ PROF_LOST_RING_FULL, LOSS_ACCOUNTING_EVENTS, true },
	{ PROF_LOST_NESTED, LOSS_ACCOUNTING_EVENTS, false },
	{ PROF_LOST_NESTED_SCHED, LOSS_ACCOUNTING_EVENTS, true },
	{ PROF_LOST_NESTED_AT_MOST, LOSS_ACCOUNTING_EVENTS, false },
	{ PROF_LOST_MALFORMED, LOSS_ACCOUNTING_EVENTS, true },
	{ PROF_LOST_READ_FAILED, LOSS_ACCOUNTING_EVENTS, true },
	{ PROF_LOST_SAMPLE_RING_FULL, LOSS_ACCOUNTING_SAMPLES, false },
	{ PROF_LOST_SAMPLE_ESTIMATE, LOSS_ACCOUNTING_ESTIMATE, false },
	{ PROF_LOST_SIDEBAND_STALLED, LOSS_ACCOUNTING_STALLS, false },
	{ PROF_LOST_SIDEBAND_DOUBT, LOSS_ACCOUNTING_DOUBTS, false },
	{ PROF_LOST_HOLE, LOSS_ACCOUNTING_HOLES, true },
	{ PROF_LOST_PAUSED, LOSS_ACCOUNTING_PAUSES, true },
	{ PROF_LOST_NOT_KEPT, LOSS_ACCOUNTING_PAUSES, true },
	{ PROF_LOST_STACKS_THINNED, LOSS_ACCOUNTING_STACKS, false },
	{ PROF_LOST_THINNED, LOSS_ACCOUNTING_SLICES, true },
	{ PROF_LOST_STACKS_OFF, LOSS_ACCOUNTING_STACKS_OFF, false },
};

enum { KIND_CNT = sizeof(kinds) / sizeof(kinds[0]) };

static size_t find(const char *kind, size_t len)
{
	size_t i;

	for (i = 0; i < KIND_CNT; i++)
		if (len == strlen(kinds[i].kind) && !memcmp(kind, kinds[i].kind, len))
			break;
	return i;
}

/* "sideband" and its subkinds, such as "sideband_damaged". */
static bool is_sideband(const char *kind, size_t len)
{
	size_t n = strlen(PROF_LOST_SIDEBAND);

	return len >= n && !memcmp(kind, PROF_LOST_SIDEBAND, n) && (len == n || kind[n] == '_');
}

enum loss_accounting_class loss_accounting_class(const char *kind, size_t len)
{
	size_t i = find(kind, len);

	if (i < KIND_CNT)
		return kinds[i].cls;
	return is_sideband(kind, len) ? LOSS_ACCOUNTING_SIDEBAND : LOSS_ACCOUNTING_EVENTS;
}

bool loss_accounting_is_sideband(enum loss_accounting_class cls)
{
	return cls == LOSS_ACCOUNTING_SIDEBAND || cls == LOSS_ACCOUNTING_STALLS ||
	       cls == LOSS_ACCOUNTING_DOUBTS;
}

bool loss_accounting_hides_switches(const char *kind, size_t len)
{
	size_t i = find(kind, len);

	return i < KIND_CNT ? kinds[i].hides_switches : !is_sideband(kind, len);
}

void loss_accounting_add(struct loss_accounting *a, const char *kind, size_t len, uint64_t count)
{
	a->lost[loss_accounting_class(kind, len)] += count;
	if (len == strlen(PROF_LOST_NESTED_AT_MOST) && !memcmp(kind, PROF_LOST_NESTED_AT_MOST, len))
		a->at_most += count;
}

uint64_t loss_accounting_lost(const struct loss_accounting *a)
{
	return a->lost[LOSS_ACCOUNTING_EVENTS] + a->lost[LOSS_ACCOUNTING_SAMPLES];
}

bool loss_accounting_is_incomplete(const struct loss_accounting *a)
{
	return loss_accounting_lost(a) || a->lost[LOSS_ACCOUNTING_ESTIMATE] ||
	       a->lost[LOSS_ACCOUNTING_HOLES];
}

enum loss_accounting_verdict loss_accounting_verdict(const struct loss_accounting_figures *f)
{
	if (!f->known)
		return LOSS_ACCOUNTING_UNKNOWN;
	if (!f->closed)
		return LOSS_ACCOUNTING_OPEN;
	if (f->continues)
		return LOSS_ACCOUNTING_CONTINUES;
	return f->produced == f->written + f->lost ? LOSS_ACCOUNTING_BALANCED :
						     LOSS_ACCOUNTING_WRONG;
}

uint64_t loss_accounting_in_flight(const struct loss_accounting_figures *f)
{
	if (f->closed && !f->continues)
		return 0;
	if (f->written > f->produced || f->lost > f->produced - f->written)
		return 0;
	return f->produced - f->written - f->lost;
}
