// SPDX-License-Identifier: BSD-2-Clause
/*
 * `convert`: traces of other formats to dial9, dial9 to them, and one to another through dial9.
 *
 * Owns the choice of files, direction and destination. Formats are implemented through struct foreign_format. The
 * output is opened when the first byte is ready, so an unsupported input leaves no output. Lost or changed data is
 * reported once at the end, by kind and count.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/out_file.h"
#include "cmd/common/cmd.h"
#include "cmd/common/input.h"
#include "cmd/rewrite/unwind_files.h"
#include "formats/foreign.h"
#include "trace/source/source.h"

/* How often a stop was asked for: the one thing a signal handler may touch. */
static volatile sig_atomic_t stop_asked;

static const char *const to_names[] = { "dial9",    "tonbandgeraet", "heph",
					"apitrace", "perf-data",     NULL };
static const char *const spec_names[] = { "0.3", "0.4", NULL };

struct convert_opts {
	int from, to, spec;
	const char *output;
	uint64_t tick_ns;
	bool follow, quiet;
};

#define O(m) offsetof(struct convert_opts, m)

static const struct opt convert_opts[] = {
	{ INPUT_OPT_FROM(O(from)), .help = "Format of the inputs (default auto)",
	  .group = "Formats" },
	{ .name = "to",
	  .kind = OPT_CHOICE,
	  .off = O(to),
	  .choices = to_names,
	  .help = "Format to write (default dial9)" },
	{ .name = "spec",
	  .kind = OPT_CHOICE,
	  .off = O(spec),
	  .choices = spec_names,
	  .help = "Level of dial9 output: 0.3 for all readers, 0.4 with lists and maps (default 0.3)" },
	{ .name = "tick",
	  .kind = OPT_U64,
	  .off = O(tick_ns),
	  .arg = "NS",
	  .help = "Formats without time: synthetic timestamps with this distance in ns" },
	{ OPT_OUTPUT(O(output)), .help = "Write to FILE; - is standard output", .group = "Files" },
	{ .name = "follow",
	  .kind = OPT_FLAG,
	  .off = O(follow),
	  .help = "Convert while the input still grows, in one pass, until Ctrl-C" },
	OPT_ROW_QUIET(O(quiet)),
	OPT_ROW_HELP,
};

static const struct opt_spec convert_spec = {
	.name = "convert",
	.usage = "dial9-prof convert [OPTIONS] IN[@CORE]... -o OUT",
	.brief = "Convert traces between dial9 and Tonbandgeraet, Heph, apitrace and perf.data.",
	OPT_ROWS(convert_opts),
	.examples = "  dial9-prof convert firmware.hex -o firmware.bin\n"
		    "  dial9-prof convert core0.bin@0 core1.bin@1 -o both.bin\n"
		    "  dial9-prof convert --from tonbandgeraet --follow /dev/ttyACM0 -o live.bin\n"
		    "  dial9-prof convert perf.data -o perf.bin\n"
		    "  dial9-prof convert --to perf-data trace.bin -o perf.data\n"
		    "  dial9-prof convert --to tonbandgeraet dial9.bin -o markers.bin\n",
};

struct output {
	const char *path;
	struct out_file *sink;
	bool failed; /* the sink has said why */
	bool foreign; /* not dial9 */
};

struct convert {
	const struct convert_opts *opts;
	struct foreign_opts foreign;
	struct input **ins;
	struct foreign_input *files;
	size_t cnt, cap;
	const struct foreign_format *from, *to; /* NULL: dial9 */
	bool damaged; /* parts of the foreign input could not be read */
	struct output out;
	struct dial9_enc *enc;
	struct foreign_notes notes;
};

/* ---- output ------------------------------------------------------------------------------------ */

static int output_write(void *ctx, const void *data, size_t sz)
{
	struct output *out = ctx;
	int err = 0;

	if (!out->sink) {
		err = out_file_open(out->path, (uid_t)-1, (gid_t)-1, &out->sink);
		if (!err && out->foreign)
			out_file_need_end(out->sink);
	}
	if (!err)
		err = out_file_write(out->sink, data, sz);
	out->failed |= err != 0;
	return err;
}

static int file_write(void *ctx, const void *data, size_t sz)
{
	return fwrite(data, 1, sz, ctx) == sz ? 0 : -EIO;
}

static void flush_idle(void *ctx)
{
	struct convert *cv = ctx;

	if (cv->enc)
		dial9_enc_flush(cv->enc);
}

/* ---- the ways ---------------------------------------------------------------------------------- */

static int to_dial9(struct convert *cv, dial9_write_fn write, void *ctx)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts),
				       .write = write,
				       .ctx = ctx,
				       .level = cv->foreign.level,
				       .first_type_id = 256 };
	int err = dial9_enc_new(&opts, &cv->enc);

	if (err)
		return err;
	err = cv->from->import(cv->files, cv->cnt, &cv->foreign, cv->enc, &cv->notes);
	/* What was read before a failure is worth having; a file that was never one leaves none. */
	if (!err || cv->out.sink)
		err = dial9_enc_flush(cv->enc) ?: err;
	dial9_enc_free(cv->enc);
	cv->enc = NULL;
	cv->damaged = foreign_notes_count(&cv->notes, FOREIGN_NOTE_DAMAGED, NULL);
	return err;
}

static int from_dial9(struct convert *cv, const struct foreign_input *in)
{
	if (!cv->to->export) {
		log_error("convert: %s cannot be written", cv->to->name);
		return -EINVAL;
	}
	return cv->to->export(in, &cv->foreign, output_write, &cv->out, &cv->notes);
}

/* From one foreign format to another, with the dial9 between in a temporary file. */
static int by_way_of_dial9(struct convert *cv)
{
	FILE *temp = tmpfile();
	struct input *middle = NULL;
	char path[32];
	int err;

	if (!temp)
		return -errno;
	err = to_dial9(cv, file_write, temp);
	if (!err && fflush(temp))
		err = -errno;
	rewind(temp);
	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(temp));
	if (!err)
		err = input_open(path, NULL, &middle);
	if (!err)
		err = from_dial9(cv, input_foreign(middle));
	input_close(middle);
	fclose(temp);
	return err;
}

static int run(struct convert *cv)
{
	if (!cv->to)
		return to_dial9(cv, output_write, &cv->out);
	if (!cv->from)
		return from_dial9(cv, &cv->files[0]);
	return by_way_of_dial9(cv);
}

/* ---- which formats ----------------------------------------------------------------------------- */

static const char *name_of(const struct foreign_format *format)
{
	return format ? format->name : "dial9";
}

/* Even of what it was said to be: looking unpacks gzip. */
static int detect_format(struct convert *cv, size_t i, const struct foreign_format **format)
{
	*format = input_detect(cv->ins[i]);
	if (!input_is_empty(cv->ins[i]))
		return 0;
	source_print_empty(cv->files[i].name);
	return -EBADMSG;
}

static int detect_one(struct convert *cv, size_t i)
{
	const struct foreign_format *format;
	int err = detect_format(cv, i, &format);

	if (err)
		return err;
	if (!format && !input_is_dial9(cv->ins[i])) {
		log_error("convert: %s: unknown format; use --from with one of " INPUT_FORMATS,
			  cv->files[i].name);
		return -EBADMSG;
	}
	if (i && format != cv->from) {
		log_error("convert: inputs have different formats: %s is %s and %s is %s",
			  cv->files[0].name, name_of(cv->from), cv->files[i].name, name_of(format));
		return -EINVAL;
	}
	cv->from = format;
	return 0;
}

static int choose_from(struct convert *cv)
{
	const struct foreign_format *format;
	int err = 0;

	for (size_t i = 0; i < cv->cnt && !err; i++) {
		if (cv->files[i].is_part)
			continue;
		err = cv->opts->from ? detect_format(cv, i, &format) : detect_one(cv, i);
		if (!err && cv->opts->from == INPUT_DIAL9 && format) {
			log_error("convert: %s is %s, not dial9; remove --from dial9",
				  cv->files[i].name, format->name);
			err = -EINVAL;
		}
	}
	if (cv->opts->from)
		cv->from = foreign_find(input_from_names[cv->opts->from]);
	/* Looking may have changed how they are read. */
	for (size_t i = 0; i < cv->cnt; i++)
		cv->files[i].read = input_foreign(cv->ins[i])->read;
	return err;
}

static bool is_format(const struct foreign_format *format, const char *name)
{
	return format && !strcmp(format->name, name);
}

/* What was asked for in vain is not passed over in silence. */
static int check_options(const struct convert *cv)
{
	size_t without = 0;

	if (cv->opts->tick_ns && !is_format(cv->from, "apitrace")) {
		log_error("convert: --tick needs an apitrace input; %s has its own times",
			  name_of(cv->from));
		return -EINVAL;
	}
	if (cv->opts->spec && cv->to)
		log_warn("convert: --spec has no effect on %s output", name_of(cv->to));
	for (size_t i = 0; i < cv->cnt; i++)
		without += !cv->files[i].has_core && !cv->files[i].is_part;
	if (is_format(cv->from, "tonbandgeraet") && without > 1)
		log_warn(
			"convert: %zu files without a core number are all read as core 0; use FILE@CORE",
			without);
	return 0;
}

static int choose_formats(struct convert *cv)
{
	int err = choose_from(cv);

	if (err)
		return err;
	cv->to = foreign_find(to_names[cv->opts->to]);
	cv->out.foreign = cv->to;
	if (cv->from == cv->to) {
		log_error("convert: %s is already %s; use --to for another format",
			  cv->files[0].name, name_of(cv->from));
		return -EINVAL;
	}
	if (!cv->from && cv->cnt > 1) {
		log_error("convert: only one dial9 trace can be converted");
		return -EINVAL;
	}
	return check_options(cv);
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* FILE or FILE@CORE, which it cuts; or a file of a directory. */
static int open_one(struct convert *cv, char *word, bool is_part)
{
	struct input_follow follow = { .stop = &stop_asked, .idle = flush_idle, .ctx = cv };
	uint32_t core = 0;
	bool has_core = !is_part && input_split_core(word, &core);
	size_t cap = cv->cap;
	int err;

	cv->ins = array_reserve(cv->ins, &cap, cv->cnt + 1, sizeof(struct input *));
	cv->files = array_reserve(cv->files, &cv->cap, cv->cnt + 1, sizeof(*cv->files));
	err = input_open(word, cv->opts->follow ? &follow : NULL, &cv->ins[cv->cnt]);
	if (err)
		return err;
	cv->files[cv->cnt] = *input_foreign(cv->ins[cv->cnt]);
	cv->files[cv->cnt].has_core = has_core;
	cv->files[cv->cnt].core = core;
	cv->files[cv->cnt++].is_part = is_part;
	return 0;
}

static int open_part(void *ctx, char *path, size_t number)
{
	return open_one(ctx, path, number > 0);
}

static int open_directory(struct convert *cv, const char *dir, struct buf *path)
{
	int err = input_each_part(dir, path, open_part, cv);

	if (err == -ENODATA)
		log_error(
			"convert: %s is missing, and files after it are there; to convert without "
			"it, rename them",
			path->data);
	return err;
}

static int open_word(struct convert *cv, char *word)
{
	struct buf path = { 0 };
	int err;

	if (input_part(word, 0, &path))
		err = open_directory(cv, word, &path);
	else
		err = open_one(cv, word, false);
	buf_free(&path);
	return err;
}

static int open_inputs(struct convert *cv, char **words, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		err = open_word(cv, words[i]);
	return err;
}

static void print_notes(const struct convert *cv)
{
	struct buf out = { 0 };

	if (cv->opts->quiet)
		return;
	foreign_notes_print(&cv->notes, &out);
	buf_print(&out, stderr);
}

static int exit_code(struct convert *cv, int err)
{
	int close_err = out_file_close(cv->out.sink);

	if (cv->out.failed)
		return err == -EPIPE ? CMD_OK : CMD_OUTPUT;
	if (close_err)
		return CMD_OUTPUT;
	if (!err)
		return cv->damaged ? CMD_INPUT : CMD_OK;
	if (err == -EINVAL)
		return CMD_USAGE;
	if (err != -EBADMSG)
		log_error("convert: %s: %s", cv->files[0].name, strerror(-err));
	return CMD_INPUT;
}

static int convert_files(const struct convert_opts *opts, char **words, size_t cnt)
{
	struct convert cv = { .opts = opts, .out = { .path = opts->output } };
	struct unwind_files *unwind = unwind_files_new();
	int err, code = CMD_INPUT;

	cv.foreign = (struct foreign_opts){ .level = opts->spec ? DIAL9_LEVEL_4 : DIAL9_LEVEL_3,
					    .follow = opts->follow,
					    .tick_ns = opts->tick_ns,
					    .unwind = unwind_files_foreign(unwind) };
	if (!open_inputs(&cv, words, cnt)) {
		err = choose_formats(&cv);
		if (!err)
			err = run(&cv);
		code = exit_code(&cv, err);
		print_notes(&cv);
	}
	for (size_t i = 0; i < cv.cnt; i++)
		input_close(cv.ins[i]);
	free(cv.ins);
	free(cv.files);
	foreign_notes_fini(&cv.notes);
	unwind_files_free(unwind);
	return code;
}

static void on_signal(int sig)
{
	stop_asked++;
}

static void catch_stop(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

static const char *conflict(const struct convert_opts *opts, int word_cnt)
{
	if (!word_cnt)
		return "no input given; use dial9-prof convert IN -o OUT";
	if (!opts->output)
		return "no output given; use -o FILE, or -o - for standard output";
	if (out_file_is_stdout(opts->output) && isatty(STDOUT_FILENO))
		return "-o - needs a pipe or a file; standard output is a terminal";
	if (opts->follow && word_cnt > 1)
		return "only one input can be followed";
	return NULL;
}

static bool is_any_input(const char *output, char *const *inputs, int cnt)
{
	bool any = false;

	for (int i = 0; i < cnt && !any; i++)
		any = out_file_is_input("convert", output, inputs[i]);
	return any;
}

int cmd_convert(int argc, char **argv)
{
	struct convert_opts opts = { 0 };
	int first, ret, code = CMD_USAGE;
	const char *why;

	ret = opts_parse(&convert_spec, argc, argv, &opts, &first);
	if (ret == 1) {
		code = CMD_OK;
	} else if (!ret) {
		why = conflict(&opts, argc - first);
		if (why) {
			log_error("convert: %s", why);
		} else if (!is_any_input(opts.output, argv + first, argc - first)) {
			if (opts.follow)
				catch_stop();
			code = convert_files(&opts, argv + first, (size_t)(argc - first));
		}
	}
	opts_fini(&convert_spec, &opts);
	return code;
}
