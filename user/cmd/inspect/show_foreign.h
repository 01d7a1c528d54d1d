/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_INSPECT_SHOW_FOREIGN_H
#define D9_CMD_INSPECT_SHOW_FOREIGN_H

#include "cmd/common/view.h"

/* Commands of dial9 that also look at traces of other formats, as they are. */
enum show_what { SHOW_DUMP, SHOW_INFO, SHOW_INFO_JSON };

/*
 * Shows the file if it is a trace of another format, or is said to be one: `from` as in
 * input_from_names. True when that is done, or there is nothing to read in it, which was said; *code is
 * what to exit with: CMD_INPUT also when parts of it could not be read. False for what may be dial9, or
 * cannot be opened: then nothing was printed, and reading it is the caller's.
 */
bool show_foreign(const char *path, int from, enum show_what what, const struct view_opts *shown,
		  int *code);

#endif /* D9_CMD_INSPECT_SHOW_FOREIGN_H */
