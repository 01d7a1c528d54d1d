/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_OUTPUT_OPTS_H
#define D9_CMD_RECORD_OUTPUT_OPTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/opts.h"

struct output_cfg;

enum { OUTPUT_OPTS_DEFAULT = -1, OUTPUT_OPTS_BUDGET_MIN = 1 << 20 };

#define SWITCH_IMPLIED "signal"
#define COMPRESS_IMPLIED "gzip"

extern const char *const output_opts_on_full[];

/* Where a recording goes, and in which pieces. The defaults are zeros, but for path and on_full. */
struct output_opts {
	const char *path;
	const char *switching; /* NULL: one file */
	uint32_t max_files;
	uint64_t disk_budget; /* 0: none */
	int on_full; /* index of output_opts_on_full, or OUTPUT_OPTS_DEFAULT */
	uint64_t max_bytes;
	bool stamp;
	bool snapshots; /* not of the table: --flight writes a file each time */
	const char *compress; /* NULL: no */
};

/* Rows of an option table for a member `m` of type struct output_opts in struct `s`. */
#define OUTPUT_OPTS(s, m)                                                                           \
	{ .name = "output",                                                                         \
	  .key = 'o',                                                                               \
	  .kind = OPT_STR,                                                                          \
	  .off = offsetof(s, m.path),                                                               \
	  .arg = "FILE",                                                                            \
	  .group = "Output",                                                                        \
	  .help = "Write to FILE (default dial9.bin); - is standard output; unix:PATH and "         \
		  "tcp:HOST:PORT send to a socket listener" },                                      \
		{ .name = "switch-output",                                                          \
		  .kind = OPT_STR,                                                                  \
		  .off = offsetof(s, m.switching),                                                  \
		  .arg = "SIZE|TIME|signal",                                                        \
		  .implied = SWITCH_IMPLIED,                                                        \
		  .help = "Rotate the output: start a new file, FILE.N.bin, every SIZE (500M) or "  \
			  "TIME (30s, 5min, 1h), and on SIGUSR2 and SIGHUP" },                      \
		{ .name = "switch-max-files",                                                       \
		  .kind = OPT_U32,                                                                  \
		  .off = offsetof(s, m.max_files),                                                  \
		  .arg = "N",                                                                       \
		  .min = 1,                                                                         \
		  .help = "Keep N of these files, earlier runs included; delete the oldest" },      \
		{ .name = "disk-budget",                                                            \
		  .kind = OPT_SIZE,                                                                 \
		  .off = offsetof(s, m.disk_budget),                                                \
		  .min = OUTPUT_OPTS_BUDGET_MIN,                                                    \
		  .help = "Limit all files of this name together, earlier runs included, to SIZE; " \
			  "delete the oldest" },                                                    \
		{ .name = "on-full",                                                                \
		  .kind = OPT_CHOICE,                                                               \
		  .off = offsetof(s, m.on_full),                                                    \
		  .choices = output_opts_on_full,                                                   \
		  .help = "If the disk or the budget is full: end with an error, lose and count "   \
			  "events until there is space, or delete the oldest file (default stop; "  \
			  "with --disk-budget drop-oldest)" },                                      \
		{ .name = "max-size",                                                               \
		  .kind = OPT_SIZE,                                                                 \
		  .off = offsetof(s, m.max_bytes),                                                  \
		  .min = 1,                                                                         \
		  .help = "Stop after writing SIZE bytes" },                                        \
		{ .name = "timestamp-filename",                                                     \
		  .kind = OPT_FLAG,                                                                 \
		  .off = offsetof(s, m.stamp),                                                      \
		  .help = "Add the start time to the file name" },                                  \
	{                                                                                           \
		.name = "compress", .key = 'z', .kind = OPT_STR, .off = offsetof(s, m.compress),    \
		.arg = "gzip|zstd[:LEVEL]", .implied = COMPRESS_IMPLIED,                            \
		.help = "Compress with gzip (default) or zstd; LEVEL is 1 (fast) to 9, zstd to 22"  \
	}

/*
 * Fills *cfg, which borrows from o. switch_asked counts signals that ask for another file. Returns NULL, or what is
 * wrong with the options, static.
 */
const char *output_opts_read(const struct output_opts *o, const volatile sig_atomic_t *switch_asked,
			     struct output_cfg *cfg);

/* The option of which a command is the value with a blank in place of the '=', as in --compress zstd; NULL: none. */
const char *output_opts_before(const struct output_opts *o, const char *command);

/* Whether the output is not a file: standard output, or a socket listener. */
bool output_opts_is_stream(const struct output_opts *o);

#endif /* D9_CMD_RECORD_OUTPUT_OPTS_H */
