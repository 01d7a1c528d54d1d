/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_EMIT_H
#define D9_FORMATS_APITRACE_EMIT_H

#include "formats/apitrace/layout.h"
#include "formats/apitrace/stream.h"

/* The dial9 events of one import. Everything here is 0 or the encoder's -errno. */
struct apitrace_emit;

/* What is known at the end. */
struct apitrace_emit_end {
	uint64_t events, calls, open_calls, stream_bytes;
	bool cut;
	const char *damage; /* NULL: none */
};

/* Writes the event about the trace itself. All arguments are borrowed until apitrace_emit_free(). */
int apitrace_emit_new(const struct apitrace_trace *trace, const struct foreign_opts *opts,
		      struct dial9_enc *enc, struct foreign_notes *notes,
		      struct apitrace_emit **out);
void apitrace_emit_free(struct apitrace_emit *e);

/* Signatures that came up since the last call; seq is the place of the event that brought them. */
int apitrace_emit_tables(struct apitrace_emit *e, uint64_t seq);

/* With synthetic times: that a call began. */
int apitrace_emit_enter(struct apitrace_emit *e, const struct apitrace_event *ev, uint64_t seq);

/* A call; `changed` when its layout was widened for it, or for another since. */
int apitrace_emit_call(struct apitrace_emit *e, const struct apitrace_layout *layout,
		       const struct apitrace_call *call, bool changed, uint64_t seq);

/* A leave without its call. */
int apitrace_emit_leave(struct apitrace_emit *e, const struct apitrace_event *ev, uint64_t seq);

int apitrace_emit_finish(struct apitrace_emit *e, const struct apitrace_emit_end *end);

#endif /* D9_FORMATS_APITRACE_EMIT_H */
