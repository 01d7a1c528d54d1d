// SPDX-License-Identifier: BSD-2-Clause
/*
 * What "lost" means. Owns the table of kinds of loss, the one number that all commands print, and
 * the verdict on a recorder's figures; knows nothing of where kinds and figures come from, so that
 * the recorder's last line and a report of the file say the same. Numbers only.
 *
 * Side-band records are no events: without them a process may lack its name, but nothing that
 * happened is missing. Estimates are no count, and what a pause left out was not to be recorded. A
 * switch whose stack was left out for want of room is there. None of them is added to the events.
 */
#include "profile/sched/account.h"

#include <string.h>

#include "trace/read/trace.h"

static const struct {
	const char *kind;
	enum account_class cls;
	bool hides_switches;
} kinds[] = {
	{ PROF_LOST_RING_FULL, ACCOUNT_EVENTS, true },
	{ PROF_LOST_NESTED, ACCOUNT_EVENTS, false },
	{ PROF_LOST_NESTED_SCHED, ACCOUNT_EVENTS, true },
	{ PROF_LOST_NESTED_AT_MOST, ACCOUNT_EVENTS, false },
	{ PROF_LOST_MALFORMED, ACCOUNT_EVENTS, true },
	{ PROF_LOST_READ_FAILED, ACCOUNT_EVENTS, true },
	{ PROF_LOST_SAMPLE_RING_FULL, ACCOUNT_SAMPLES, false },
	{ PROF_LOST_SAMPLE_ESTIMATE, ACCOUNT_ESTIMATE, false },
	{ PROF_LOST_SIDEBAND_STALLED, ACCOUNT_STALLS, false },
	{ PROF_LOST_SIDEBAND_DOUBT, ACCOUNT_DOUBTS, false },
	{ PROF_LOST_HOLE, ACCOUNT_HOLES, true },
	{ PROF_LOST_PAUSED, ACCOUNT_PAUSES, true },
	{ PROF_LOST_NOT_KEPT, ACCOUNT_PAUSES, true },
	{ PROF_LOST_STACKS_THINNED, ACCOUNT_STACKS, false },
	{ PROF_LOST_THINNED, ACCOUNT_THINNED, true },
	{ PROF_LOST_STACKS_OFF, ACCOUNT_STACKS_OFF, false },
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

/* "sideband" and whatever a recorder tells apart below it: "sideband_damaged" and so on. */
static bool is_sideband(const char *kind, size_t len)
{
	size_t n = strlen(PROF_LOST_SIDEBAND);

	return len >= n && !memcmp(kind, PROF_LOST_SIDEBAND, n) && (len == n || kind[n] == '_');
}

enum account_class account_class(const char *kind, size_t len)
{
	size_t i = find(kind, len);

	if (i < KIND_CNT)
		return kinds[i].cls;
	return is_sideband(kind, len) ? ACCOUNT_SIDEBAND : ACCOUNT_EVENTS;
}

bool account_is_sideband(enum account_class cls)
{
	return cls == ACCOUNT_SIDEBAND || cls == ACCOUNT_STALLS || cls == ACCOUNT_DOUBTS;
}

bool account_hides_switches(const char *kind, size_t len)
{
	size_t i = find(kind, len);

	return i < KIND_CNT ? kinds[i].hides_switches : !is_sideband(kind, len);
}

void account_add(struct account *a, const char *kind, size_t len, uint64_t count)
{
	a->lost[account_class(kind, len)] += count;
	if (len == strlen(PROF_LOST_NESTED_AT_MOST) && !memcmp(kind, PROF_LOST_NESTED_AT_MOST, len))
		a->at_most += count;
}

uint64_t account_lost(const struct account *a)
{
	return a->lost[ACCOUNT_EVENTS] + a->lost[ACCOUNT_SAMPLES];
}

bool account_lacks(const struct account *a)
{
	return account_lost(a) || a->lost[ACCOUNT_ESTIMATE] || a->lost[ACCOUNT_HOLES];
}

enum account_verdict account_verdict(const struct account_figures *f)
{
	if (!f->known)
		return ACCOUNT_UNKNOWN;
	if (!f->closed)
		return ACCOUNT_OPEN;
	if (f->goes_on)
		return ACCOUNT_GOES_ON;
	return f->produced == f->written + f->lost ? ACCOUNT_BALANCED : ACCOUNT_WRONG;
}

uint64_t account_under_way(const struct account_figures *f)
{
	if (f->closed && !f->goes_on)
		return 0;
	if (f->written > f->produced || f->lost > f->produced - f->written)
		return 0;
	return f->produced - f->written - f->lost;
}
