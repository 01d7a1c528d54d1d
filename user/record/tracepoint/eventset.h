/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_EVENTSET_H
#define D9_RECORD_TRACEPOINT_EVENTSET_H

#include <stdbool.h>
#include <stddef.h>

#include "record/tracepoint/event.h"

/* The events that have a program of their own; all others share the generic one. */
enum eventset_hot {
	EVENTSET_SWITCH,
	EVENTSET_WAKEUP,
	EVENTSET_WAKEUP_NEW,
	EVENTSET_MIGRATE,
	EVENTSET_CPU_WATCH, /* no tracepoint of the kernel's, but recorded like one */
	EVENTSET_OFF_CPU, /* likewise */
	EVENTSET_HOT_CNT,
};

/* The tracepoints of a recording, each once. An event's index is what records carry. */
struct eventset {
	struct event_def **defs;
	size_t cnt;
	size_t cap;
	int hot[EVENTSET_HOT_CNT]; /* index, or -1 when it is not recorded */
	size_t filter_cnt, pattern_cnt; /* events with a filter, and patterns of all of these */
	bool has_ipis; /* this kernel has tracepoints for interrupts that it sends itself */
};

struct eventset_cfg {
	bool sched; /* the scheduler's seven */
	bool neighbours; /* PROF_EV_CPU_WATCH */
	bool off_cpu; /* PROF_EV_OFF_CPU in place of switches and wakeups */
	const char *const *patterns; /* system:event, globs, comma lists */
	const char *const *filters; /* of each pattern's events, or NULL: all; may be NULL itself */
	size_t pattern_cnt;
};

/*
 * Reads the formats of all events asked for through tracefs_fd. Of an event that several patterns name
 * the last one's filter holds. -ENOENT for a pattern that names no event, -EINVAL for one without a colon
 * or for a filter that an event's fields do not allow; one line is printed. The caller frees with
 * eventset_free().
 */
int eventset_new(int tracefs_fd, const struct eventset_cfg *cfg, struct eventset **out);
void eventset_free(struct eventset *set);

/* The generic program is needed, as some event is not a hot one. */
bool eventset_is_hot(const struct eventset *set, size_t idx);

#endif
