/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_READER_H
#define D9_TRACE_READ_READER_H

#include "trace/read/trace.h"
#include "trace/source/source.h"

/* When names are needed; they may follow the events that they name. */
enum reader_mode {
	READER_ONE_PASS, /* complete at the end: sums, reports */
	READER_NAMES_AHEAD, /* at each event; on pipes as far as the look-ahead reaches */
	READER_FOLLOW, /* as READER_NAMES_AHEAD; at the end waits for more data forever */
};

/* What the look-ahead on a pipe may hold back: trace time, bytes. */
#define READER_HOLD_NS 2000000000ULL
#define READER_HOLD_BYTES (64ULL << 20)

struct reader;

/*
 * Opens a trace from a source, which it owns even on failure. Prints one line on failure. 0 or
 * -errno; free with reader_free().
 */
int reader_new(struct source *src, enum reader_mode mode, struct reader **out);
void reader_free(struct reader *r);

/*
 * Another reader over the bytes of @of, from their start. @of has been read to its end with READER_ONE_PASS: its names
 * are complete, shared, and must outlive the new reader. What @of printed about bad input is not printed again.
 * @src is owned even on failure. 0 or -errno.
 */
int reader_new_sharing(const struct reader *of, struct source *src, struct reader **out);

/*
 * The next event: 1, 0 at the end, -errno if the input is bad from its start. A truncated tail (a
 * killed recorder leaves one), damage, and a frame of a later format count as the end and print one
 * line: what is wrong, where, and what to do. So does bad input.
 */
int reader_next(struct reader *r, struct trace_event *ev);

/*
 * From now on stacks of switches and wakeups have no frames, which saves most of the reading time.
 * reader_rewind() keeps that.
 */
void reader_skip_stacks(struct reader *r);
/* trace_skip_kinds() until the end or reader_rewind(). Only with READER_ONE_PASS. */
void reader_skip_kinds(struct reader *r, unsigned int kinds);
/*
 * Until the end or reader_rewind(), events have fields and times, but no thread. Names are learned
 * as before.
 */
void reader_skip_tasks(struct reader *r);

/*
 * Restarts at the first byte and keeps all names: 0, or -ESPIPE if the input cannot be rewound.
 * Only with READER_ONE_PASS.
 */
int reader_rewind(struct reader *r);
/* Whether reader_rewind() works. */
bool reader_can_rewind(const struct reader *r);

/* trace_frame() of the trace that events come from. */
uint64_t reader_frame(struct reader *r, uint64_t addr);

/* The trace that events come from, and its names. Borrowed. */
const struct trace *reader_trace(const struct reader *r);
struct names *reader_names(const struct reader *r);
const char *reader_input(const struct reader *r);
/* source_first_number() of the input. */
uint64_t reader_first_number(const struct reader *r);
/* Whether the input ended before the trace: truncated, damaged, or a frame of a later format. */
bool reader_is_truncated(const struct reader *r);
/* Whether there was a frame of a later format: everything before it is good. */
bool reader_is_newer(const struct reader *r);
/* Whether the rest was damaged or could not be read: everything before it is good. */
bool reader_is_damaged(const struct reader *r);
/*
 * Whether reader_is_newer(), reader_is_damaged(), or a file of the set was damaged or not a trace: what was
 * read is good, but incomplete.
 */
bool reader_is_incomplete(const struct reader *r);

#endif /* D9_TRACE_READ_READER_H */
