// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof info --verify`: is every byte of this file dial9? Owns the verdict and the exit code. It
 * asks the decoder alone, below everything that knows what events mean: a trace can be perfect dial9
 * and make no sense. Visiting is the quickest way through a file, and checks as much as any other.
 *
 * A torn tail is what a recorder leaves that was killed, and a verdict of its own; but the file is not
 * whole, which is what was asked.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/common/report_text.h"
#include "cmd/inspect/dump.h"
#include "cmd/inspect/dump_frame.h"
#include "cmd/inspect/info.h"
#include "trace/source/source.h"

static int count_event(void *ctx, const struct dial9_dec *dec, const struct dial9_event *ev)
{
	struct dump_tally *tally = ctx;

	tally->frames++;
	tally->events++;
	return 0;
}

static int count_frame(void *ctx, const struct dial9_dec *dec, const struct dial9_frame *f)
{
	dump_count(ctx, f);
	return 0;
}

static void put_verdict(struct buf *out, const struct source *src, const struct dial9_dec *dec,
			const struct dump_tally *tally, const char *verdict)
{
	value_text_clean(out, source_name(src), strlen(source_name(src)));
	buf_printf(out, ": %s: %" PRIu64 " frames, %" PRIu64 " events, in %" PRIu64 " bytes\n",
		   verdict, tally->frames, tally->events, dial9_dec_consumed(dec));
}

static int verify(struct source *src, struct dial9_dec *dec, bool json)
{
	struct dump_tally tally = { 0 };
	struct dial9_visitor visitor = {
		.sz = sizeof(visitor), .event = count_event, .frame = count_frame, .ctx = &tally
	};
	int code, written, err = dial9_dec_visit(dec, &visitor);
	struct buf out = { 0 };

	if (json) {
		dump_json_end(&out, dec, &tally, err);
		buf_addch(&out, '\n');
	} else {
		put_verdict(&out, src, dec, &tally,
			    source_has_holes(src)	? "damaged" :
			    !err && !source_is_cut(src) ? "good" :
			    !err || err == -ENODATA	? "torn" :
			    err == -EPROTONOSUPPORT	? "newer" :
							  "damaged");
	}
	buf_print(&out, stdout);
	written = report_text_finish();
	code = dump_conclude("info", src, dec, err);
	/* --verify asks for a complete file, so the exit status reports missing parts, too */
	if (code == CMD_OK && (err || source_is_cut(src) || source_has_holes(src)))
		code = CMD_INPUT;
	return written == CMD_OK ? code : written;
}

int info_verify(const char *path, bool json)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .read = source_read };
	struct dial9_dec *dec;
	struct source *src;
	int err, code = CMD_INPUT;

	if (source_open(path, &src))
		return CMD_INPUT;
	opts.ctx = src;
	err = dial9_dec_new(&opts, &dec);
	if (err) {
		log_error("info: %s", strerror(-err));
	} else {
		code = verify(src, dec, json);
		dial9_dec_free(dec);
	}
	source_close(src);
	return code;
}
