/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_VALUE_TEXT_H
#define D9_EXPORT_VALUE_TEXT_H

#include "base/json.h"
#include "profile/sched/intervals.h"
#include "trace/read/trace.h"

/*
 * Text from a trace made safe for a terminal: str_printable(). All functions append to @out.
 */
void value_text_clean(struct buf *out, const char *s, size_t n);
/* The same for a string id; "[unknown]" for NAMES_NONE. */
void value_text_name(struct buf *out, const struct names *n, uint32_t id);

/* A function in a stack: "f", or "f (inlined)". */
void value_text_function(struct buf *out, const struct names *n, uint32_t sym, bool inlined);
/*
 * The text in @out from @from on is one function or task of a folded stack. Semicolons, which
 * separate these, become colons.
 */
void value_text_fold(struct buf *out, size_t from);

/*
 * Starts the object that --json prints, with its layout version: "{"version":2". Removing a key or
 * changing its meaning needs a new version; adding one does not.
 */
void value_text_json_begin(struct buf *out);

/* Members of base/json.h: a name, null for NAMES_NONE; */
void value_text_json_name(struct buf *out, const char *key, const struct names *n, uint32_t id);

/* the number of a process, thread or CPU, null for TRACE_NONE. */
static inline void value_text_json_id(struct buf *out, const char *key, uint32_t id)
{
	if (id == TRACE_NONE)
		json_null(out, key);
	else
		json_u64(out, key, id);
}

/* The path of a module as value_text_module() has it, null if it is not known. */
void value_text_json_module(struct buf *out, const char *key, const struct names *n,
			    uint32_t module);

/*
 * What a wakeup came from: "timer", "softirq NET_RX", "irq 24 (virtio0-input)", or the thread, as
 * in "comm/tid".
 */
void value_text_waker(struct buf *out, const struct names *n, const struct interval_waker *w);

/* The name of an enum interval_state, such as "running"; "unknown" for other values. */
const char *value_text_state(uint32_t state);

/* The path of a module, or "[unknown]". */
void value_text_module(struct buf *out, const struct names *n, uint32_t index);
/* The last component of it. */
void value_text_module_base(struct buf *out, const struct names *n, uint32_t index);

/*
 * A duration in a suitable unit, right-aligned in @width columns: "1.234 s", "45.678 ms", "9.000
 * us", "12 ns".
 */
void value_text_duration(struct buf *out, uint64_t ns, size_t width);

/*
 * Field @i of an event as script prints it: flags and symbols by name if the trace has names. With
 * a known unit, times are durations, and other numbers have their unit.
 */
void value_text_field(struct buf *out, const struct trace *t, const struct trace_event *ev,
		      size_t i);
/* The same with plain numbers, for programs. */
void value_text_field_exact(struct buf *out, const struct trace *t, const struct trace_event *ev,
			    size_t i);
/* Whether value_text_field() prints the number with a unit. */
bool value_text_field_has_unit(const struct trace_event *ev, size_t i);
/* The same as a JSON value; numbers are exact. */
void value_text_json_field(struct buf *out, const struct trace *t, const struct trace_event *ev,
			   size_t i);

/* Terminal columns of a string, one for each code point. */
size_t value_text_width(const char *s, size_t n);

#endif /* D9_EXPORT_VALUE_TEXT_H */
