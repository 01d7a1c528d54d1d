// SPDX-License-Identifier: BSD-2-Clause
/*
 * output_opts.c - interprets -o, -z and related options
 *
 * Spellings follow perf. A size has an upper-case suffix and a time a lower-case one; a bare number is ambiguous,
 * and is rejected.
 */
#include "cmd/record/output_opts.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "base/out_file.h"
#include "base/str.h"
#include "record/output/output.h"
#include "record/output/stream.h"

enum { SWITCH_BYTES_MIN = 64 << 10, SWITCH_NS_MIN = 10000000 };

const char *const output_opts_on_full[] = { "stop", "pause", "drop-oldest", NULL };

/* The name of a method, its level, or both with a colon between them; -z=gzip is accepted like -zgzip. */
static const char *read_compress(const char *value, struct output_cfg *cfg)
{
	static const char *const names[] = { "gzip", "zstd" };
	static const enum compress_kind kinds[] = { COMPRESS_GZIP, COMPRESS_ZSTD };
	const char *text = value + (*value == '=');
	const size_t name_len = strcspn(text, ":0123456789");
	const char *level = text + name_len;
	const int at = opts_word(text, name_len, names, sizeof(names) / sizeof(names[0]));
	uint64_t v = 0;

	if (name_len && (at < 0 || (*level && *level++ != ':')))
		return "bad value for --compress: expected gzip, zstd, gzip:LEVEL, zstd:LEVEL or LEVEL";
	cfg->pack = at < 0 ? COMPRESS_GZIP : kinds[at];
	if (level != text + name_len || !name_len)
		if (str_parse_u64(level, compress_level_max(cfg->pack), &v) || !v)
			return "gzip has levels 1 to 9, zstd 1 to 22";
	cfg->level = (unsigned int)v;
	return NULL;
}

static bool ends_in(const char *text, const char *letters)
{
	size_t len = strlen(text);

	return len && strchr(letters, text[len - 1]);
}

static const char *read_switching(const char *text, struct output_cfg *cfg)
{
	cfg->set = true;
	if (!strcmp(text, SWITCH_IMPLIED))
		return NULL;
	if (ends_in(text, "BKMGT") && !str_parse_size(text, &cfg->switch_bytes))
		return cfg->switch_bytes < SWITCH_BYTES_MIN ?
			       "bad value for --switch-output: expected at least 64K" :
			       NULL;
	if (!str_parse_unit_duration(text, &cfg->switch_ns))
		return cfg->switch_ns < SWITCH_NS_MIN ?
			       "bad value for --switch-output: expected at least 10ms" :
			       NULL;
	return "bad value for --switch-output: expected a size (500M), a time (30s, 5min, 1h) or signal";
}

/* A device or a FIFO: rotated files would lie in its directory. */
static bool is_no_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* A set can make room for itself; one file cannot. */
static const char *read_room(const struct output_opts *o, struct output_cfg *cfg)
{
	static const enum output_on_full on_full[] = { OUTPUT_STOP, OUTPUT_PAUSE,
						       OUTPUT_DROP_OLDEST };
	const bool set = o->switching || o->snapshots;

	if (o->max_files && !set)
		return "--switch-max-files needs --switch-output or --flight";
	if (o->disk_budget && !set)
		return "--disk-budget needs --switch-output or --flight; use --max-size for one file";
	if (o->on_full != OUTPUT_OPTS_DEFAULT && output_opts_is_stream(o))
		return "--on-full needs a file: -o FILE";
	cfg->on_full = o->on_full != OUTPUT_OPTS_DEFAULT ? on_full[o->on_full] :
		       o->disk_budget			 ? OUTPUT_DROP_OLDEST :
							   OUTPUT_STOP;
	if (cfg->on_full == OUTPUT_DROP_OLDEST && !set)
		return "--on-full drop-oldest needs --switch-output or --flight";
	return NULL;
}

const char *output_opts_before(const struct output_opts *o, const char *command)
{
	struct output_cfg cfg = { 0 };

	if (o->switching && !strcmp(o->switching, SWITCH_IMPLIED) && !read_switching(command, &cfg))
		return "--switch-output";
	if (o->compress && !strcmp(o->compress, COMPRESS_IMPLIED) && !read_compress(command, &cfg))
		return "--compress";
	return NULL;
}

bool output_opts_is_stream(const struct output_opts *o)
{
	return out_file_is_stdout(o->path) || stream_is(o->path);
}

const char *output_opts_read(const struct output_opts *o, const volatile sig_atomic_t *switch_asked,
			     struct output_cfg *cfg)
{
	const char *wrong;

	*cfg = (struct output_cfg){
		.path = o->path,
		.switch_asked = switch_asked,
		.max_files = o->max_files,
		.disk_budget = o->disk_budget,
		.max_bytes = o->max_bytes,
		.stamp = o->stamp,
	};
	wrong = o->compress ? read_compress(o->compress, cfg) : NULL;
	if (!wrong && o->switching)
		wrong = read_switching(o->switching, cfg);
	if (!wrong)
		wrong = read_room(o, cfg);
	if (!wrong)
		wrong = stream_name_is_wrong(o->path);
	if (!wrong && (cfg->set || o->stamp) && (output_opts_is_stream(o) || is_no_file(o->path)))
		wrong = "--switch-output and --timestamp-filename need a file: -o FILE";
	if (!wrong && o->snapshots && is_no_file(o->path))
		wrong = "--flight needs a file: -o FILE";
	return wrong;
}
