/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_OUTPUT_OPTS_H
#define D9_CMD_OUTPUT_OPTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/opts.h"

struct output_cfg;

/* Where a recording goes, and in which pieces. The defaults are zeros, but for path. */
struct output_opts {
	const char *path;
	const char *switching; /* NULL: one file */
	uint32_t max_files;
	uint64_t max_bytes;
	bool stamp;
	bool snapshots; /* not of the table: --flight writes a file each time */
	uint32_t level; /* 0: not given */
	const char *compress;
};

/* Rows of an option table for a member `m` of type struct output_opts in struct `s`. */
#define OUTPUT_OPTS(s, m)                                                                          \
	{ .name = "output",                                                                        \
	  .key = 'o',                                                                              \
	  .kind = OPT_STR,                                                                         \
	  .off = offsetof(s, m.path),                                                              \
	  .arg = "FILE",                                                                           \
	  .group = "Output",                                                                       \
	  .help = "default dial9.bin; - is standard output; unix:PATH and "                        \
		  "tcp:HOST:PORT are where somebody listens" },                                    \
		{ .name = "switch-output",                                                         \
		  .kind = OPT_STR,                                                                 \
		  .off = offsetof(s, m.switching),                                                 \
		  .arg = "SIZE|TIME|signal",                                                       \
		  .implied = "signal",                                                             \
		  .help = "files that take turns, FILE.0.bin, FILE.1.bin: the next one after "     \
			  "500M or 1h; SIGUSR2 and SIGHUP always begin it" },                      \
		{ .name = "switch-max-files",                                                      \
		  .kind = OPT_U32,                                                                 \
		  .off = offsetof(s, m.max_files),                                                 \
		  .arg = "N",                                                                      \
		  .min = 1,                                                                        \
		  .help = "keep N of them: the oldest are removed" },                              \
		{ .name = "max-size",                                                              \
		  .kind = OPT_SIZE,                                                                \
		  .off = offsetof(s, m.max_bytes),                                                 \
		  .min = 1,                                                                        \
		  .help = "end when so much was written" },                                        \
		{ .name = "timestamp-filename",                                                    \
		  .kind = OPT_FLAG,                                                                \
		  .off = offsetof(s, m.stamp),                                                     \
		  .help = "the time of the start becomes part of the name" },                      \
		{ .name = "compression-level",                                                     \
		  .key = 'z',                                                                      \
		  .kind = OPT_U32,                                                                 \
		  .off = offsetof(s, m.level),                                                     \
		  .arg = "LEVEL",                                                                  \
		  .implied = "6",                                                                  \
		  .min = 1,                                                                        \
		  .max = 22,                                                                       \
		  .help = "compress, by gzip if --compress does not say otherwise: 1 is quick" },  \
	{                                                                                          \
		.name = "compress", .kind = OPT_STR, .off = offsetof(s, m.compress),               \
		.arg = "gzip|zstd|none", .help = "compress that way"                               \
	}

/*
 * Fills *cfg, which borrows from o. switch_asked counts signals that ask for another file. Returns NULL, or what is
 * wrong with the options, static.
 */
const char *output_opts_read(const struct output_opts *o, const volatile sig_atomic_t *switch_asked,
			     struct output_cfg *cfg);

/* Whether it goes to no file: to standard output, or to somebody who listens. */
bool output_opts_is_stream(const struct output_opts *o);

#endif /* D9_CMD_OUTPUT_OPTS_H */
