/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_TEXT_H
#define D9_CMD_TEXT_H

#include "base/buf.h"
#include "profile/account.h"
#include "profile/intervals.h"
#include "trace/trace.h"

/*
 * Text from a trace made fit for a terminal: invalid UTF-8 and control characters become \xHH. All
 * functions append to @out.
 */
void text_clean(struct buf *out, const char *s, size_t n);
/* The same for a string of the names; "[unknown]" for NAMES_NONE. */
void text_name(struct buf *out, const struct names *n, uint32_t id);

/*
 * Begins the object that --json prints, with the version of its layout: "{"version":1". A key that
 * goes or means something else takes the next number; a key that is added does not.
 */
void text_json_begin(struct buf *out);

/* A name as a JSON string; null for NAMES_NONE. */
void text_json_name(struct buf *out, const struct names *n, uint32_t id);

/*
 * What a waking came from: "timer", "softirq NET_RX", "irq 24 (virtio0-input)", or the thread, as in
 * "comm/tid".
 */
void text_waker(struct buf *out, const struct names *n, const struct interval_waker *w);

/* The path of a module, or "[unknown]". */
void text_module(struct buf *out, const struct names *n, uint32_t index);
/* The last component of it. */
void text_module_base(struct buf *out, const struct names *n, uint32_t index);

/* Field @i of an event as script shows it: flags and symbols by name where the trace says how. */
void text_field(struct buf *out, const struct trace *t, const struct trace_event *ev, size_t i);
/* The same as a JSON value; numbers keep their exact value. */
void text_json_field(struct buf *out, const struct trace *t, const struct trace_event *ev,
		     size_t i);

/*
 * What is missing, in words: "nothing", "3 events and 1 sample", "2 events, and an estimated 7
 * samples".
 */
void text_lost(struct buf *out, const struct account *a);
/* "12 records, 1 stall: names of some processes may be missing"; false, and nothing, without loss. */
bool text_sideband(struct buf *out, const struct account *a);
/* Members of a JSON object: lost_events, lost_samples, lost_samples_estimate, lost_sideband, ... */
void text_json_account(struct buf *out, const struct account *a);

/*
 * A length of time in the unit that fits, right-aligned in @width columns: "1.234 s", "45.678 ms", "9.000 us",
 * "12 ns".
 */
void text_duration(struct buf *out, uint64_t ns, size_t width);

/* Columns that a string takes on a terminal, counting each code point as one. */
size_t text_width(const char *s, size_t n);
/* Appends s and spaces up to @cols columns; what is wider is cut with an ellipsis if @cut. */
void text_column(struct buf *out, const char *s, size_t n, size_t cols, bool cut);

/* Appends a path of at most @cols columns: a longer one keeps its end, from a slash on if it can. */
void text_path(struct buf *out, const char *s, size_t n, size_t cols);

/* Columns of the terminal on standard output, 0 when it is none. */
size_t text_terminal_width(void);

/*
 * Ends what was written to standard output: an exit code of cmd.h. A reader that has gone away is
 * no error; anything else prints one line.
 */
int text_finish(void);

#endif /* D9_CMD_TEXT_H */
