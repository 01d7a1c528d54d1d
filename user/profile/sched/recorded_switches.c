// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether context switches were recorded, if none happened. The recorder writes the texts of prev_state if it records
 * switches, and a cut without switches drops these texts, also cuts from before PROF_META_SWITCHES.
 */
#include "profile/sched/recorded_switches.h"

bool recorded_switches(const struct names *n, uint32_t part)
{
	static const char *const lacks[] = { PROF_META_SWITCHES, PROF_META_SWITCH_FILTER,
					     PROF_META_OFF_MIN_NS, PROF_META_SUMMARY_NS };

	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (names_meta(n, part, lacks[i]))
			return false;
	return names_meta(n, part, PROF_META_TARGET) &&
	       names_has_tp_symbols(n, part, PROF_EV_SCHED_SWITCH, PROF_F_PREV_STATE);
}
