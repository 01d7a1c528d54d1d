/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_EVENTSET_H
#define D9_RECORD_TRACEPOINT_EVENTSET_H

#include <stdbool.h>
#include <stddef.h>

#include "record/tracepoint/event.h"

/* The events with their own program; all others share the generic one. */
enum eventset_hot {
	EVENTSET_SWITCH,
	EVENTSET_WAKEUP,
	EVENTSET_WAKEUP_NEW,
	EVENTSET_MIGRATE,
	EVENTSET_CPU_WATCH, /* not a tracepoint of the kernel, but recorded like one */
	EVENTSET_OFF_CPU, /* likewise */
	EVENTSET_HOT_CNT,
};

/* The tracepoints of a recording, each once. Records contain an event's index. */
struct eventset {
	struct event_def **defs;
	size_t cnt;
	size_t cap;
	int hot[EVENTSET_HOT_CNT]; /* index, or -1: not recorded */
	size_t filter_cnt, pattern_cnt; /* events with a filter, and patterns in all filters */
	bool has_ipis; /* this kernel has tracepoints for interrupts that it sends to itself */
};

struct eventset_cfg {
	bool sched; /* the scheduler's seven */
	bool neighbours; /* PROF_EV_CPU_WATCH */
	bool off_cpu; /* PROF_EV_OFF_CPU in place of switches and wakeups */
	const char *const *patterns; /* system:event, globs, comma-separated lists */
	const char *const *filters; /* per pattern, or NULL: all; may be NULL itself */
	size_t pattern_cnt;
};

/*
 * Reads the formats of all requested events through tracefs_fd. If several patterns match an event, the last one's
 * filter applies. -ENOENT: a pattern matches nothing. -EINVAL: a pattern without a colon, or a filter that does not
 * fit an event's fields. Prints one line. Free with eventset_free().
 */
int eventset_new(int tracefs_fd, const struct eventset_cfg *cfg, struct eventset **out);
void eventset_free(struct eventset *set);

/* Whether the event has its own program; others need the generic program. */
bool eventset_is_hot(const struct eventset *set, size_t idx);

#endif
