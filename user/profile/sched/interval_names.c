// SPDX-License-Identifier: BSD-2-Clause
/* Names for the numbers in an interval: thread states, softirq vectors, reasons and ends. */
#include "profile/sched/intervals.h"

#include <stddef.h>

/* The low byte has the states that ps shows; 0x100 means preempted. */
#define STATE_LETTERS 0xff

char interval_letter(uint32_t prev_state)
{
	static const char letters[] = "SDTtXZPI";

	if (!(prev_state & STATE_LETTERS))
		return 'R';
	for (int bit = 0; bit < 8; bit++)
		if (prev_state == 1u << bit)
			return letters[bit];
	return '?';
}

char interval_blocked_letter(unsigned int flags, uint32_t prev_state)
{
	return flags & INTERVAL_EDGE_START ? '?' : interval_letter(prev_state);
}

const char *interval_softirq(int32_t vector)
{
	static const char *const names[] = { "HI",	 "TIMER",   "NET_TX", "NET_RX",	 "BLOCK",
					     "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

	if (vector < 0 || vector >= (int32_t)(sizeof(names) / sizeof(names[0])))
		return NULL;
	return names[vector];
}

const char *interval_why_word(enum interval_why why)
{
	switch (why) {
	case INTERVAL_WHY_WOKEN:
		return "woken";
	case INTERVAL_WHY_WOKEN_EARLY:
		return "woken_early";
	case INTERVAL_WHY_PREEMPTED:
		return "preempted";
	case INTERVAL_WHY_RESCHED:
		return "resched";
	case INTERVAL_WHY_NEW:
		return "new";
	case INTERVAL_WHY_UNKNOWN:
		break;
	}
	return NULL;
}

const char *interval_end_word(enum interval_end end)
{
	switch (end) {
	case INTERVAL_TO_CPU:
		return "cpu";
	case INTERVAL_TO_WAKEUP:
		return "wakeup";
	case INTERVAL_TO_BLOCK:
		return "block";
	case INTERVAL_TO_PREEMPTED:
		return "preempted";
	case INTERVAL_TO_RESCHED:
		return "resched";
	case INTERVAL_TO_EXIT:
		return "exit";
	case INTERVAL_TO_NOTHING:
		break;
	}
	return NULL;
}
