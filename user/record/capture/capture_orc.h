/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_ORC_H
#define D9_RECORD_CAPTURE_CAPTURE_ORC_H

#include <stdbool.h>

struct kallsyms;
struct prof;
struct prof_orc_tables;

/* Whether this kernel may be able to run the programs that walk its stacks (bpf/orc.bpf.h). */
bool capture_orc_is_likely(void);

/* Call before load: of the programs that read kernel stacks, keeps either those that walk or the others. */
void capture_orc_choose(struct prof *skel, bool walk);

/*
 * Finds the kernel's ORC tables for the programs. Returns false, with the reason printed at -v, if the kernel has
 * none, hides them, or has unsupported ones.
 */
bool capture_orc_find(const struct kallsyms *kallsyms, struct prof_orc_tables *out);

/* While recording: from here on, stacks are walked by these tables. Not a system call. */
void capture_orc_begin(struct prof *skel, const struct prof_orc_tables *tables);

#endif
