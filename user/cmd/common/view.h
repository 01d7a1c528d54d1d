/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_VIEW_H
#define D9_CMD_COMMON_VIEW_H

#include "base/opts.h"
#include "cmd/common/color.h"
#include "cmd/common/pager.h"

/* Display options that all reading commands share, in addition to select.h. */
struct view_opts {
	int color; /* enum color_when */
	bool no_pager;
};

extern const char *const view_color_choices[];

/* The last rows of an option table, for a member `m` of type struct view_opts in struct `s`: for text without colours. */
#define VIEW_OPT_PAGER(s, m)                                                                       \
	{ .name = "no-pager",                                                                      \
	  .kind = OPT_FLAG,                                                                        \
	  .off = offsetof(s, m.no_pager),                                                          \
	  .group = "Display",                                                                      \
	  .help = "Print directly to the terminal, also output longer than the screen" },          \
		OPT_ROW_HELP
/* Members of the row for colours; @at as in struct opt. */
#define VIEW_OPT_COLOR(at)                                                                         \
	.name = "color", .kind = OPT_CHOICE, .off = (at), .arg = "WHEN",                           \
	.choices = view_color_choices, .implied = "always",                                        \
	.help = "Use colours: auto (on a terminal, unless NO_COLOR is set), always or never "      \
		"(default auto)"
/* The last rows for text with colours. */
#define VIEW_OPTS(s, m)                                                                            \
	{ VIEW_OPT_COLOR(offsetof(s, m.color)), .group = "Display" }, VIEW_OPT_PAGER(s, m)

/* Where text goes and what may be done to it. {0}: a pipe, plain and whole. */
struct view {
	bool color; /* see color.h */
	size_t width; /* columns of the terminal, to cut lines and shorten names to; 0: neither */
	struct pager *page;
};

/*
 * Before the first byte of output. @machine: JSON and the like, which is neither coloured nor cut.
 * view_end() must follow.
 */
void view_begin(struct view *v, const struct view_opts *o, bool machine);

/*
 * Ends what was written to standard output, and waits for the pager: an exit code of cmd.h. A reader
 * that has gone away is no error; anything else prints one line.
 */
int view_end(struct view *v);

#endif /* D9_CMD_COMMON_VIEW_H */
