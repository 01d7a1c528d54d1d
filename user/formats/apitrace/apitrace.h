/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_APITRACE_H
#define D9_FORMATS_APITRACE_APITRACE_H

#include "formats/apitrace/parse.h"
#include "formats/container.h"
#include "formats/foreign.h"

/* A trace that is being read: its container and the parser behind it. */
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

/* A decoder over dial9 bytes, and how it ended as exports are to say it (err: of dial9_dec_next()). */
int apitrace_open_dec(const struct foreign_input *in, struct dial9_dec **out);
int apitrace_end_dec(const struct foreign_input *in, const struct dial9_dec *dec, int err,
		     struct foreign_notes *notes);

int apitrace_dump(const struct foreign_input *in, const struct foreign_opts *opts,
		  dial9_write_fn write, void *ctx, struct foreign_notes *notes);
int apitrace_import(const struct foreign_input *in, size_t cnt, const struct foreign_opts *opts,
		    struct dial9_enc *enc, struct foreign_notes *notes);
int apitrace_export(const struct foreign_input *in, const struct foreign_opts *opts,
		    dial9_write_fn write, void *ctx, struct foreign_notes *notes);
int apitrace_info(const struct foreign_input *in, const struct foreign_opts *opts,
		  struct foreign_facts *facts, struct foreign_notes *notes);

#endif /* D9_FORMATS_APITRACE_APITRACE_H */
