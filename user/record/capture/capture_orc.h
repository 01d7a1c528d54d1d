/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_ORC_H
#define D9_RECORD_CAPTURE_CAPTURE_ORC_H

#include <stdbool.h>

struct kallsyms;
struct prof;
struct prof_orc_tables;

/* Whether this kernel may be able to run the programs that walk its stacks (bpf/orc.bpf.h). */
bool capture_orc_is_likely(void);

/* Before load: of the programs that are to be loaded, and take kernel stacks, those that walk, or the others. */
void capture_orc_choose(struct prof *skel, bool walk);

/*
 * Where the kernel's ORC tables are, for the programs; false, with the reason said at -v, where it has none
 * that they can use, or does not tell.
 */
bool capture_orc_find(const struct kallsyms *kallsyms, struct prof_orc_tables *out);

/* While recording: stacks are walked by these from here on. Not a system call. */
void capture_orc_begin(struct prof *skel, const struct prof_orc_tables *tables);

#endif
