/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_TONBANDGERAET_STATE_H
#define D9_FORMATS_TONBANDGERAET_STATE_H

#include "formats/foreign.h"
#include "formats/tonbandgeraet/frames.h"

/*
 * State from the frames so far: names, the resolution, the running task of each core, drops. Memory
 * follows distinct names and cores, with a cap on each.
 */
struct tonband_state;

struct tonband_str {
	const char *s; /* NULL: no name known */
	size_t len;
};

void tonband_state_new(struct tonband_state **out);
void tonband_state_free(struct tonband_state *st);

/*
 * State that changes over time: the running task, drops, the order of timestamps. Call it for every
 * event, in order, before the other function. Returns the events dropped since the last report.
 */
uint64_t tonband_state_step(struct tonband_state *st, const struct tonband_item *item,
			    struct foreign_notes *notes);

/* State that a restart keeps: names and the resolution. */
void tonband_state_learn(struct tonband_state *st, const struct tonband_item *item,
			 struct foreign_notes *notes);

/* Resets the state that changes over time, before a second pass. */
void tonband_state_restart(struct tonband_state *st);

/* ns per tick; 0 until it is known. */
uint64_t tonband_state_ns_per_ts(const struct tonband_state *st);

/* The task that runs on a core, or false when no switch was seen. */
bool tonband_state_task(const struct tonband_state *st, uint32_t core, uint32_t *task);

/* Name of what an event is about: its ISR, marker, task or queue. Borrowed. */
struct tonband_str tonband_state_name(const struct tonband_state *st,
				      const struct tonband_item *item);
struct tonband_str tonband_state_task_name(const struct tonband_state *st, uint32_t task);

/* Events of this type are about something that can have a name; about the task that runs. */
bool tonband_state_is_nameable(uint8_t id);
bool tonband_state_is_of_task(uint8_t id);

/* Distinct cores seen. */
size_t tonband_state_core_cnt(const struct tonband_state *st);

#endif /* D9_FORMATS_TONBANDGERAET_STATE_H */
