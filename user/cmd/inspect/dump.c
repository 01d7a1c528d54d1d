// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dump`: the encoded trace, frame by frame, for authors of readers.
 *
 * It shows dial9 literally: nothing is joined, sorted or named beyond the frame, except that pool ids are shown
 * together with their current meaning. A truncated end is normal for a killed recorder, so it is a warning; damage
 * is an error, with the offset, after all frames before it.
 */
#include "cmd/inspect/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/opts.h"
#include "cmd/common/cmd.h"
#include "cmd/common/input.h"
#include "cmd/common/select.h"
#include "cmd/inspect/show_foreign.h"
#include "dial9.h"
#include "trace/source/source.h"

/* Lines are written in blocks of this size. */
#define OUT_BLOCK (128u << 10)

struct dump_opts {
	bool json;
	uint64_t limit;
	int from;
	struct select_opts sel; /* of which it has the input alone */
	struct view_opts view;
};

static const struct opt dump_opts[] = {
	SELECT_OPT_INPUT(struct dump_opts, sel),
	{ INPUT_OPT_FROM(offsetof(struct dump_opts, from)),
	  .help = "Format of the input (default auto)" },
	{ OPT_JSON(offsetof(struct dump_opts, json)),
	  .help = "Print one exact JSON object per frame, and one for the end" },
	{ OPT_LIMIT(offsetof(struct dump_opts, limit)),
	  .help = "Stop after N frames of a dial9 trace, 0 for never (default 0)" },
	VIEW_OPT_PAGER(struct dump_opts, view),
};

static const struct opt_spec dump_spec = {
	.name = "dump",
	.usage = "dial9-prof dump [OPTIONS] [FILE]",
	.brief =
		"Print the frames of a dial9 trace, one per line; traces of other formats as JSON.",
	OPT_ROWS(dump_opts),
	.examples = "  dial9-prof dump | head\n"
		    "  dial9-prof dump --json trace.bin.gz\n",
};

void dump_count(struct dump_tally *tally, const struct dial9_frame *f)
{
	switch (f->kind) {
	case DIAL9_FRAME_HEADER:
	case DIAL9_FRAME_MIDHEADER:
	case DIAL9_FRAME_RESET:
		return;
	case DIAL9_FRAME_EVENT:
		tally->events++;
		break;
	case DIAL9_FRAME_SCHEMA:
	case DIAL9_FRAME_STRINGS:
	case DIAL9_FRAME_STACKS:
	case DIAL9_FRAME_ANNOTATIONS:
		break;
	}
	tally->frames++;
}

static bool write_out(struct buf *text, FILE *out)
{
	bool ok = fwrite(buf_cstr(text), 1, text->len, out) == text->len;

	buf_clear(text);
	return ok;
}

int dump_run(struct dial9_dec *dec, const struct dump_how *how, FILE *out, struct dump_tally *tally)
{
	/* a user at the terminal sees each line at once */
	size_t block = out == stdout && isatty(STDOUT_FILENO) ? 0 : OUT_BLOCK;
	struct dump_cache cache;
	struct buf text = { 0 };
	struct dial9_frame f;
	uint64_t printed = 0;
	bool ok = true;
	int err = 0;

	*tally = (struct dump_tally){ 0 };
	dump_cache_init(&cache);
	while (ok && (err = dial9_dec_next(dec, &f)) == 1) {
		dump_count(tally, &f);
		if (how->json)
			dump_json_frame(&text, &cache, dec, &f);
		else
			dump_text_frame(&text, &cache, dec, &f);
		buf_addch(&text, '\n');
		if (text.len > block)
			ok = write_out(&text, out);
		if (++printed == how->limit)
			break;
	}
	/* the end was not reached, so it is not reported */
	if (ok && how->json && err != 1) {
		dump_json_end(&text, dec, tally, err);
		buf_addch(&text, '\n');
	}
	ok = ok && write_out(&text, out);
	dump_cache_fini(&cache);
	buf_free(&text);
	if (!ok)
		return -EPIPE;
	return err == 1 ? 0 : err;
}

int dump_conclude(const char *cmd, const struct source *src, const struct dial9_dec *dec, int err)
{
	const char *name = source_name(src);
	struct dial9_error e;

	dial9_dec_error(dec, &e);
	switch (err) {
	case 0:
		if (source_is_cut(src))
			log_warn("%s: %s: truncated after %" PRIu64
				 " bytes: the %s data ends too early",
				 cmd, name, dial9_dec_consumed(dec), source_packing(src));
		return CMD_OK;
	case -ENODATA:
		if (source_is_empty(src)) {
			source_print_empty(name);
			return CMD_INPUT;
		}
		log_warn("%s: %s: truncated after %" PRIu64 " bytes: %s", cmd, name, e.offset,
			 e.reason);
		return e.offset ? CMD_OK : CMD_INPUT;
	case -EPROTONOSUPPORT:
		log_error("%s: %s: stopped at byte %" PRIu64 ": %s", cmd, name, e.offset, e.reason);
		return CMD_INPUT;
	case -EBADMSG:
	case -E2BIG:
		log_error("%s: %s: damaged at byte %" PRIu64 ": %s", cmd, name, e.offset, e.reason);
		return CMD_INPUT;
	default:
		log_error("%s: %s: %s", cmd, name, strerror(-err));
		return CMD_INPUT;
	}
}

static int dump_source(struct source *src, const struct dump_opts *opts)
{
	struct dial9_dec_opts dec_opts = { .sz = sizeof(dec_opts),
					   .read = source_read,
					   .ctx = src };
	const struct dump_how how = { .json = opts->json, .limit = opts->limit };
	struct dump_tally tally;
	struct dial9_dec *dec;
	struct view view;
	int code, err;

	err = dial9_dec_new(&dec_opts, &dec);
	if (err) {
		log_error("dump: %s", strerror(-err));
		return CMD_INPUT;
	}
	view_begin(&view, &opts->view, true);
	err = dump_run(dec, &how, stdout, &tally);
	code = view_end(&view);
	if (code == CMD_OK && err != -EPIPE)
		code = dump_conclude("dump", src, dec, err);
	dial9_dec_free(dec);
	return code;
}

static int dump_file(const void *arg, const char *path)
{
	const struct dump_opts *opts = arg;
	struct source *src;
	int code;

	if (show_foreign(path, opts->from, SHOW_DUMP, &opts->view, &code))
		return code;
	if (source_open(path, &src))
		return CMD_INPUT;
	code = dump_source(src, opts);
	source_close(src);
	return code;
}

int cmd_dump(int argc, char **argv)
{
	struct dump_opts opts = { 0 };

	return select_run(&dump_spec, argc, argv, &opts, &opts.sel, dump_file);
}
