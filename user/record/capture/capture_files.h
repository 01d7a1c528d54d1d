/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_FILES_H
#define D9_RECORD_CAPTURE_CAPTURE_FILES_H

struct capture_configure;
struct capture_refusal;
struct prof;

/*
 * Raises the limit of open files as far as allowed. -EMFILE with @why filled if the recording configured in @skel,
 * and loaded after this, needs more. Prints nothing.
 */
int capture_files_check(const struct prof *skel, const struct capture_configure *c,
			struct capture_refusal *why);
/* -EMFILE, -ENFILE: no more files can be opened. 0: a file can be opened. */
int capture_files_lack(void);

#endif
