/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_SHIP_CHILD_H
#define D9_CMD_RECORD_SHIP_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "base/opts.h"
#include "cmd/record/output_opts.h"

#define SHIP_CHILD_OUTPUT "dial9-spool/trace.bin" /* without -o */
#define SHIP_CHILD_SWITCHING "1min" /* without --switch-output */

/* Options of `record` that start `ship`. */
struct ship_child_opts {
	const char *to; /* URL; NULL: do not ship */
	struct opt_list labels;
	/* passed on; NULL: not given */
	const char *ca_file, *raw_ttl, *rollup_ttl, *key_file;
	bool anonymize, events;
};

/* Rows of an option table for a member `m` of type struct ship_child_opts in struct `s`. */
#define SHIP_CHILD_OPTS(s, m)                                                                       \
	{ .name = "ship",                                                                           \
	  .kind = OPT_STR,                                                                          \
	  .off = offsetof(s, m.to),                                                                 \
	  .arg = "URL",                                                                             \
	  .group = "Fleet",                                                                         \
	  .help = "Rotate the output (default every " SHIP_CHILD_SWITCHING                          \
		  ", -o " SHIP_CHILD_OUTPUT                                                         \
		  ") and send the files to ClickHouse or Pyroscope, see "                           \
		  "dial9-prof ship" },                                                              \
		{ .name = "label",                                                                  \
		  .kind = OPT_LIST,                                                                 \
		  .off = offsetof(s, m.labels),                                                     \
		  .arg = "NAME=VALUE",                                                              \
		  .help = "With --ship: put this label in each row; repeatable" },                  \
		{ .name = "ship-events",                                                            \
		  .kind = OPT_FLAG,                                                                 \
		  .off = offsetof(s, m.events),                                                     \
		  .help = "With --ship: send events of -e too, with their fields" },                \
		{ .name = "anonymize",                                                              \
		  .kind = OPT_FLAG,                                                                 \
		  .off = offsetof(s, m.anonymize),                                                  \
		  .help = "With --ship: send hashes in place of names; files on this "              \
			  "machine keep them" },                                                    \
		{ .name = "anonymize-key",                                                          \
		  .kind = OPT_STR,                                                                  \
		  .off = offsetof(s, m.key_file),                                                   \
		  .arg = "FILE",                                                                    \
		  .help = "With --anonymize: key of these hashes, 32 hexadecimal digits" },         \
		{ .name = "ca-file",                                                                \
		  .kind = OPT_STR,                                                                  \
		  .off = offsetof(s, m.ca_file),                                                    \
		  .arg = "FILE",                                                                    \
		  .help = "With --ship: certificates (PEM) that may sign the server's" },           \
		{ .name = "raw-ttl",                                                                \
		  .kind = OPT_STR,                                                                  \
		  .off = offsetof(s, m.raw_ttl),                                                    \
		  .arg = "DAYS",                                                                    \
		  .help = "With --ship: in tables that this run creates, the server "               \
			  "deletes samples, slices, spans and events after DAYS (1 to 36500; 7 or " \
			  "7d), if it can" },                                                       \
	{                                                                                           \
		.name = "rollup-ttl", .kind = OPT_STR, .off = offsetof(s, m.rollup_ttl),            \
		.arg = "DAYS",                                                                      \
		.help = "With --ship: the same for rollups, which are sums by second or "           \
			"by 10 seconds"                                                             \
	}

/* `ship` next to a recording, in a process of its own. */
struct ship_child;

/*
 * Checks the options, and sets what they imply in @output: its path has to be @unset if no -o was given. NULL: they are
 * right; "": a line was printed.
 */
const char *ship_child_check(const struct ship_child_opts *o, struct output_opts *output,
			     const char *unset);

/*
 * Before there are threads: makes the directory of the output if it is missing, and starts `ship` there with less priority
 * and outside of the terminal's process group. It ends by itself if this process dies. What @o points to is used until
 * ship_child_finish(). 0, or -errno after one line.
 */
int ship_child_start(const struct ship_child_opts *o, const struct output_opts *output, bool quiet,
		     struct ship_child **out);
pid_t ship_child_pid(const struct ship_child *c);

/*
 * After the recording: waits until the last file is sent, and prints what is left. A change of *@stop, or a server that does
 * not answer, ends it early; a second change ends it at once. The exit code of `ship`, CMD_OUTPUT if files are left. Frees @c; NULL is fine.
 */
int ship_child_finish(struct ship_child *c, const volatile sig_atomic_t *stop);

#endif /* D9_CMD_RECORD_SHIP_CHILD_H */
