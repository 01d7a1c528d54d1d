// SPDX-License-Identifier: BSD-2-Clause
/*
 * own_events.c - the rows of own_events.h as tables, and units and kinds of fields by event and name
 *
 * Recorder and readers share them. Knows no encoder and no reader.
 */
#include "events/own_events.h"

#define PROF_UNIT_NONE NULL
#define PROF_KIND_NONE NULL
#define ROW(type, member, unit, kind, ...)                                                         \
	{                                                                                          \
		_Generic(((const this_event *)NULL)->member, own_type_PART                         \
			 : PROF_F_PART, default                                                    \
			 : #member),                                                               \
		OWN_WIRE_##type,                                                                   \
		offsetof(this_event, member),                                                      \
		{ PROF_UNIT_##unit, PROF_KIND_##kind },                                            \
	},
#define TABLE(ID, id, wire_name)                                                                   \
	static const struct own_event *id##_event(void)                                            \
	{                                                                                          \
		typedef struct own_##id this_event;                                                \
		static const struct own_field rows[] = { OWN_##ID##_FIELDS(ROW) };                 \
		static const struct own_event event = { wire_name, rows,                           \
							sizeof(rows) / sizeof(rows[0]) };          \
                                                                                                   \
		_Static_assert(sizeof(rows) / sizeof(rows[0]) <= OWN_FIELDS_MAX, "a set of them"); \
		return &event;                                                                     \
	}
OWN_EVENTS(TABLE)

const struct own_event *own_event(enum own_event_id id)
{
	static const struct own_event *(*const events[OWN_EVENT_CNT])(void) = {
#define GETTER(ID, id, wire_name) [OWN_##ID] = id##_event,
		OWN_EVENTS(GETTER)
	};

	return events[id]();
}

static bool str_is(struct dial9_str s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.ptr, text, s.len);
}

const struct own_event *own_event_find(struct dial9_str name)
{
	for (int i = 0; i < OWN_EVENT_CNT; i++)
		if (str_is(name, own_event(i)->name))
			return own_event(i);
	return NULL;
}

/* Fields of tracepoints. NULL for the event: of each tracepoint. */
static const struct {
	const char *event, *field;
	struct field_note note;
} tracepoint_notes[] = {
	{ NULL, PROF_TP_COMMON_CPU, { NULL, PROF_KIND_CPU } },
	{ NULL, PROF_TP_COMMON_PID, { NULL, PROF_KIND_TID } },
	{ PROF_EV_SCHED_SWITCH, PROF_F_PREV_PID, { NULL, PROF_KIND_TID } },
	{ PROF_EV_SCHED_SWITCH, PROF_F_PREV_STATE, { NULL, PROF_KIND_STATE } },
	{ PROF_EV_SCHED_SWITCH, PROF_F_NEXT_PID, { NULL, PROF_KIND_TID } },
	{ PROF_EV_SCHED_WAKING, PROF_F_PID, { NULL, PROF_KIND_TID } },
	{ PROF_EV_SCHED_WAKING, PROF_F_TARGET_CPU, { NULL, PROF_KIND_CPU } },
	{ PROF_EV_SCHED_WAKEUP_NEW, PROF_F_PID, { NULL, PROF_KIND_TID } },
	{ PROF_EV_SCHED_WAKEUP_NEW, PROF_F_TARGET_CPU, { NULL, PROF_KIND_CPU } },
	{ PROF_EV_SCHED_MIGRATE_TASK, PROF_F_PID, { NULL, PROF_KIND_TID } },
	{ PROF_EV_SCHED_MIGRATE_TASK, "orig_cpu", { NULL, PROF_KIND_CPU } },
	{ PROF_EV_SCHED_MIGRATE_TASK, PROF_F_DEST_CPU, { NULL, PROF_KIND_CPU } },
	{ PROF_EV_SCHED_PROCESS_FORK, "parent_pid", { NULL, PROF_KIND_TID } },
	{ PROF_EV_SCHED_PROCESS_FORK, PROF_F_CHILD_PID, { NULL, PROF_KIND_TID } },
	{ PROF_EV_SCHED_PROCESS_EXEC, PROF_F_PID, { NULL, PROF_KIND_TID } },
	{ PROF_EV_SCHED_PROCESS_EXEC, PROF_F_OLD_PID, { NULL, PROF_KIND_TID } },
	{ PROF_EV_SCHED_PROCESS_EXIT, PROF_F_PID, { NULL, PROF_KIND_TID } },
	{ PROF_EV_OFF_CPU, PROF_F_OFF_NS, { PROF_UNIT_NS, NULL } },
	{ PROF_EV_OFF_CPU, PROF_F_FROM_CPU, { NULL, PROF_KIND_CPU } },
	{ PROF_EV_OFF_CPU, PROF_F_BLOCKED_NS, { PROF_UNIT_NS, NULL } },
	{ PROF_EV_OFF_CPU, PROF_F_PREV_STATE, { NULL, PROF_KIND_STATE } },
	{ PROF_EV_OFF_CPU, PROF_F_WAKER_PID, { NULL, PROF_KIND_TID } },
	{ "sched:sched_stat_runtime", "runtime", { PROF_UNIT_NS, NULL } },
	{ "power:cpu_frequency", "state", { "kHz", PROF_KIND_GAUGE } },
	{ "power:cpu_frequency", "cpu_id", { NULL, PROF_KIND_CPU } },
	{ "power:cpu_idle", "cpu_id", { NULL, PROF_KIND_CPU } },
	{ "kmem:rss_stat", "size", { PROF_UNIT_BYTES, PROF_KIND_GAUGE } },
	{ "writeback:global_dirty_state", "nr_dirty", { "pages", PROF_KIND_GAUGE } },
	{ "writeback:global_dirty_state", "nr_writeback", { "pages", PROF_KIND_GAUGE } },
	{ "writeback:global_dirty_state", "nr_dirtied", { "pages", PROF_KIND_COUNTER } },
	{ "writeback:global_dirty_state", "nr_written", { "pages", PROF_KIND_COUNTER } },
};

struct field_note own_event_note(struct dial9_str event, struct dial9_str field)
{
	const struct own_event *own = own_event_find(event);
	const bool tracepoint = memchr(event.ptr, ':', event.len) != NULL;

	for (size_t i = 0; own && i < own->cnt; i++)
		if (str_is(field, own->fields[i].name))
			return own->fields[i].note;
	for (size_t i = 0; i < sizeof(tracepoint_notes) / sizeof(tracepoint_notes[0]); i++)
		if (str_is(field, tracepoint_notes[i].field) &&
		    (tracepoint_notes[i].event ? str_is(event, tracepoint_notes[i].event) :
						 tracepoint))
			return tracepoint_notes[i].note;
	return (struct field_note){ 0 };
}
