// SPDX-License-Identifier: BSD-2-Clause
/*
 * What readers of an apitrace trace share: opening it and saying how it ended.
 */
#include "formats/apitrace/stream.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

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
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, trailing, "bytes after the end", NULL);
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
