/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_NAME_TEXT_H
#define D9_EXPORT_NAME_TEXT_H

#include "base/buf.h"
#include "profile/sched/intervals.h"
#include "trace/read/trace.h"

/*
 * Text from a trace made fit for a terminal: invalid UTF-8 and control characters become \xHH. All
 * functions append to @out.
 */
void name_text_clean(struct buf *out, const char *s, size_t n);
/* The same for a string of the names; "[unknown]" for NAMES_NONE. */
void name_text_name(struct buf *out, const struct names *n, uint32_t id);

/* A function as it stands in a stack: "f", or "f (inlined)". */
void name_text_function(struct buf *out, const struct names *n, uint32_t sym, bool inlined);
/*
 * What stands in @out from @from on is one function or task of a folded stack: a semicolon in it would
 * end it, and becomes a colon.
 */
void name_text_fold(struct buf *out, size_t from);

/*
 * Begins the object that --json prints, with the version of its layout: "{"version":1". A key that
 * goes or means something else takes the next number; a key that is added does not.
 */
void name_text_json_begin(struct buf *out);

/* A name as a JSON string; null for NAMES_NONE. */
void name_text_json_name(struct buf *out, const struct names *n, uint32_t id);

/* A number of a process, thread or CPU behind @lead; null for TRACE_NONE. */
void name_text_json_id(struct buf *out, const char *lead, uint32_t id);

/*
 * What a waking came from: "timer", "softirq NET_RX", "irq 24 (virtio0-input)", or the thread, as in
 * "comm/tid".
 */
void name_text_waker(struct buf *out, const struct names *n, const struct interval_waker *w);

/* "running" and so on of enum interval_state; what is none: "unknown". */
const char *name_text_state(uint32_t state);

/* The path of a module, or "[unknown]". */
void name_text_module(struct buf *out, const struct names *n, uint32_t index);
/* The last component of it. */
void name_text_module_base(struct buf *out, const struct names *n, uint32_t index);

/*
 * A length of time in the unit that fits, right-aligned in @width columns: "1.234 s", "45.678 ms", "9.000 us",
 * "12 ns".
 */
void name_text_duration(struct buf *out, uint64_t ns, size_t width);

/*
 * Field @i of an event as script shows it: flags and symbols by name where the trace says how, and where it
 * says of which unit the numbers are, times as lengths of time and others with their unit.
 */
void name_text_field(struct buf *out, const struct trace *t, const struct trace_event *ev,
		     size_t i);
/* The same with numbers of any unit as they are, for programs that count on. */
void name_text_field_exact(struct buf *out, const struct trace *t, const struct trace_event *ev,
			   size_t i);
/* Whether name_text_field() has a unit to tell of that number. */
bool name_text_field_has_unit(const struct trace_event *ev, size_t i);
/* The same as a JSON value; numbers keep their exact value. */
void name_text_json_field(struct buf *out, const struct trace *t, const struct trace_event *ev,
			  size_t i);

/* Columns that a string takes on a terminal, counting each code point as one. */
size_t name_text_width(const char *s, size_t n);

#endif /* D9_EXPORT_NAME_TEXT_H */
