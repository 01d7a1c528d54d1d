/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_READER_H
#define D9_TRACE_READ_READER_H

#include "trace/read/trace.h"
#include "trace/source/source.h"

/* When names are wanted, for they may stand behind the events that they name. */
enum reader_mode {
	READER_ONE_PASS, /* names are complete at the end: sums, reports */
	READER_NAMES_AHEAD, /* names are known at each event; on pipes as far as can be waited for */
	READER_FOLLOW, /* as READER_NAMES_AHEAD; at the end waits for more, for ever */
};

/* What a look-ahead over a pipe may hold back: time of the trace, bytes of the stream. */
#define READER_HOLD_NS 2000000000ULL
#define READER_HOLD_BYTES (64ULL << 20)

struct reader;

/*
 * Opens a trace: a path, or "-" for standard input. Failures print one line. 0 or -errno; free with
 * reader_free().
 */
int reader_open(const char *path, enum reader_mode mode, struct reader **out);
/* The same over an open source, which is taken over also on failure. */
int reader_new(struct source *src, enum reader_mode mode, struct reader **out);
void reader_free(struct reader *r);

/*
 * The next event: 1, 0 at the end, -errno when the input is bad. A torn tail is an end (a recorder
 * that was killed leaves one) and prints one note; so is a frame of a later format; bad input prints one line that says what is wrong,
 * where, and what to do.
 */
int reader_next(struct reader *r, struct trace_event *ev);

/*
 * For who looks at samples alone: from now on stacks of switches and wakings come without frames. They
 * cost most of reading.
 */
void reader_skip_stacks(struct reader *r);
/* From now on, up to the end or until reader_rewind(): trace_skip_kinds(). Only with READER_ONE_PASS. */
void reader_skip_kinds(struct reader *r, unsigned int kinds);
/*
 * For who has seen enough: what comes up to the end, or until reader_rewind(), has fields and times, but
 * not whom it happened to. Names are learnt as before.
 */
void reader_skip_tasks(struct reader *r);

/*
 * Starts over from the first byte, keeping all names: 0, or -ESPIPE when the input cannot do that.
 * Only with READER_ONE_PASS.
 */
int reader_rewind(struct reader *r);
/* Whether it can. */
bool reader_can_rewind(const struct reader *r);

/* trace_frame() on the trace that events come from. */
uint64_t reader_frame(struct reader *r, uint64_t addr);

/* The trace that events come from, and its names. Borrowed. */
const struct trace *reader_trace(const struct reader *r);
struct names *reader_names(const struct reader *r);
const char *reader_input(const struct reader *r);
/* source_first_number() of it. */
uint64_t reader_first_number(const struct reader *r);
/* True when the input ended before the trace did: after a torn tail, or at a newer writer's frame. */
bool reader_is_torn(const struct reader *r);
/* True after a frame that only a later format has: what came before it is good, but it is not all. */
bool reader_is_newer(const struct reader *r);
/* True after that, and when a file of a set was damaged or none: what was read is good, but it is not all. */
bool reader_is_incomplete(const struct reader *r);

#endif /* D9_TRACE_READ_READER_H */
