/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_SHOW_FOREIGN_H
#define D9_CMD_SHOW_FOREIGN_H

#include <stdbool.h>

/* Commands of dial9 that also look at traces of other formats, as they are. */
enum show_what { SHOW_DUMP, SHOW_INFO, SHOW_INFO_JSON };

/*
 * Shows the file if it is a trace of another format: true, and *code is what to exit with. False when
 * it is anything else, or cannot be opened: then nothing was printed, and reading it is the caller's.
 */
bool show_foreign(const char *path, enum show_what what, int *code);

#endif /* D9_CMD_SHOW_FOREIGN_H */
