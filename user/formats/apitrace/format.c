// SPDX-License-Identifier: BSD-2-Clause
/*
 * apitrace's row in the table of formats, and what its readers share: opening a trace and saying how it
 * ended.
 *
 * Two of the containers say no more than "gzip" or "zstd", and brotli says nothing at all, so a file is
 * recognised by what is inside: the first bytes must decompress to a version that there is, and what
 * follows it in a stream of that version.
 */
#include "formats/apitrace/apitrace.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"

/* Enough for a version and the first property. */
#define PEEK 64

int apitrace_open(const struct foreign_input *in, container_chunk_fn on_chunk, void *ctx,
		  struct apitrace_trace *t)
{
	int err;

	*t = (struct apitrace_trace){ .in = in };
	err = container_open(in, on_chunk, ctx, &t->box);
	if (err)
		return err;
	apitrace_parse_new(container_read, t->box, &t->parser);
	t->header = apitrace_parse_header(t->parser);
	return t->header < 0 ? t->header : 0;
}

void apitrace_close(struct apitrace_trace *t)
{
	apitrace_parse_free(t->parser);
	container_close(t->box);
}

const char *apitrace_reason(const struct apitrace_trace *t, int err)
{
	if (!t->parser)
		return strerror(-err);
	if (*apitrace_parse_error(t->parser))
		return apitrace_parse_error(t->parser);
	return container_error(t->box) ? container_error(t->box) : strerror(-err);
}

int apitrace_conclude(const struct apitrace_trace *t, int err, struct foreign_notes *notes)
{
	int64_t version = apitrace_parse_version(t->parser);
	uint64_t trailing = container_trailing(t->box);

	if (err == -EBADMSG || err == -E2BIG) {
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1, "rest of the trace", "%s",
			     apitrace_reason(t, err));
		err = 0;
	}
	if (!t->header)
		foreign_note(notes, FOREIGN_NOTE_HINT, 1, "the trace ends before its first call",
			     NULL);
	if (container_is_cut(t->box))
		foreign_note(notes, FOREIGN_NOTE_HINT, 1, "the compressed data is cut off", NULL);
	if (trailing)
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, trailing, "bytes behind the end", NULL);
	if (version > APITRACE_VERSION)
		foreign_note(notes, FOREIGN_NOTE_HINT, 1,
			     "a version newer than 6, read as if it were 6", "version %d",
			     (int)version);
	return err;
}

int apitrace_refuse(const struct foreign_input *in, const char *reason)
{
	log_error("%s: no apitrace trace: %s", in->name, reason);
	return -EBADMSG;
}

int apitrace_open_dec(const struct foreign_input *in, struct dial9_dec **out)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .read = in->read, .ctx = in->ctx };

	return dial9_dec_new(&opts, out);
}

int apitrace_end_dec(const struct foreign_input *in, const struct dial9_dec *dec, int err,
		     struct foreign_notes *notes)
{
	struct dial9_error e;

	dial9_dec_error(dec, &e);
	if (err == -ENODATA) {
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1, "the dial9 trace is torn",
			     "byte %" PRIu64 ": %s", e.offset, e.reason);
		return 0;
	}
	if (foreign_is_stop(err)) {
		log_error("%s: %s at byte %" PRIu64 ": %s", in->name, foreign_stop_word(err),
			  e.offset, e.reason);
		return -EBADMSG;
	}
	return err;
}

/* ---- detection --------------------------------------------------------------------------------- */

/* How the stream of each version begins. */
static bool plausible(const uint8_t *p, size_t n)
{
	if (!n || p[0] > APITRACE_VERSION)
		return false;
	if (n == 1)
		return true;
	/* Before threads were told apart, the first call is: its signature's id, then its name. */
	if (p[0] < 4 && p[1] == APITRACE_EVENT_ENTER && n > 3)
		return p[3];
	if (p[0] < 6)
		return p[1] <= APITRACE_EVENT_LEAVE;
	return p[1] <= p[0];
}

static int detect(const void *head, size_t sz, bool whole)
{
	enum container_kind kind = container_detect(head, sz);
	struct container *box;
	struct foreign_input in;
	struct foreign_mem mem;
	uint8_t peek[PEEK];
	ssize_t n;

	if (sz < 2)
		return 0;
	foreign_mem_input(&mem, head, sz, &in);
	if (container_open(&in, NULL, NULL, &box))
		return 0;
	n = container_read(box, peek, sizeof(peek));
	container_close(box);
	if (kind == CONTAINER_SNAPPY)
		return n > 0 && plausible(peek, (size_t)n) ? 90 : sz == 2 && whole ? 60 : 40;
	if (n <= 0 || !plausible(peek, (size_t)n))
		return 0;
	return kind == CONTAINER_BROTLI ? 30 : 80;
}

const struct foreign_format apitrace_format = {
	.name = "apitrace",
	.title = "apitrace trace",
	.detect = detect,
	.import = apitrace_import,
	.export = apitrace_export,
	.dump = apitrace_dump,
	.info = apitrace_info,
};
