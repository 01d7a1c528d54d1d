/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_STREAM_H
#define D9_FORMATS_APITRACE_STREAM_H

#include "formats/apitrace/parse.h"
#include "formats/container.h"
#include "formats/foreign.h"

/* A trace that is being read: its container and its parser. */
struct apitrace_trace {
	const struct foreign_input *in;
	struct container *box;
	struct apitrace_parser *parser;
	int header; /* what apitrace_parse_header() returned: 1 or 0 */
};

/*
 * Opens @in from where it stands and reads the header. 0, -EBADMSG when it is no apitrace stream (with
 * *reason, static or borrowed from the trace), or an error of read(). Free with apitrace_close() in any
 * case.
 */
int apitrace_open(const struct foreign_input *in, container_chunk_fn on_chunk, void *ctx,
		  struct apitrace_trace *out);
void apitrace_close(struct apitrace_trace *t);

/* What went wrong in words, when apitrace_parse_next() returned err < 0. Borrowed. */
const char *apitrace_reason(const struct apitrace_trace *t, int err);

/*
 * Counts in notes how the trace ended: err is the last result of apitrace_parse_next(). Returns what is
 * left of err: damage is a note and no error any more.
 */
int apitrace_conclude(const struct apitrace_trace *t, int err, struct foreign_notes *notes);

/* One log_error() line: @in is no apitrace stream. -EBADMSG. */
int apitrace_refuse(const struct foreign_input *in, const char *reason);

#endif /* D9_FORMATS_APITRACE_STREAM_H */
