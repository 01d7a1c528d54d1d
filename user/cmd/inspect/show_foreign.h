/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_INSPECT_SHOW_FOREIGN_H
#define D9_CMD_INSPECT_SHOW_FOREIGN_H

#include "cmd/common/view.h"

/* Commands of dial9 that also read traces of other formats directly. */
enum show_what { SHOW_DUMP, SHOW_INFO, SHOW_INFO_JSON };

/*
 * Shows the file if it is a trace of another format, or if `from` (index of input_from_names) selects one. True if
 * that is done, or if it reported an empty file; *code: the exit code, CMD_INPUT also if parts could not be read.
 * False if it may be dial9, or cannot be opened: then nothing was printed, and the caller reads it.
 */
bool show_foreign(const char *path, int from, enum show_what what, const struct view_opts *shown,
		  int *code);

#endif /* D9_CMD_INSPECT_SHOW_FOREIGN_H */
