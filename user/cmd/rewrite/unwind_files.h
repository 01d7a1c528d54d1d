/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_REWRITE_UNWIND_FILES_H
#define D9_CMD_REWRITE_UNWIND_FILES_H

#include "formats/foreign.h"

/* Unwind tables of files, built by processes without rights. They start with the first file. */
struct unwind_files;

struct unwind_files *unwind_files_new(void);
void unwind_files_free(struct unwind_files *u);

/* For foreign_opts; borrowed. */
const struct foreign_unwind *unwind_files_foreign(const struct unwind_files *u);

#endif /* D9_CMD_REWRITE_UNWIND_FILES_H */
