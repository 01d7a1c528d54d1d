// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether context switches were recorded, if none happened. The recorder writes the texts of prev_state if it records
 * switches, and a cut without switches drops these texts, also cuts from before PROF_META_SWITCHES.
 */
#include "profile/sched/recorded_switches.h"

#include <string.h>

static bool has_states(const struct names *n, uint32_t part)
{
	return names_has_tp_symbols(n, part, PROF_EV_SCHED_SWITCH, PROF_F_PREV_STATE);
}

bool recorded_switches(const struct names *n, uint32_t part)
{
	static const char *const lacks[] = { PROF_META_SWITCHES, PROF_META_SWITCH_FILTER,
					     PROF_META_OFF_MIN_NS, PROF_META_SUMMARY_NS };

	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (names_meta(n, part, lacks[i]))
			return false;
	return names_meta(n, part, PROF_META_TARGET) && has_states(n, part);
}

bool recorded_switches_excluded(const struct names *n, uint32_t part)
{
	const char *cut = names_meta(n, part, PROF_META_CUT);

	return names_meta(n, part, PROF_META_SWITCHES) ||
	       (cut && strstr(cut, PROF_CUT_EVENTS) && !has_states(n, part));
}
