/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_KALLSYMS_THREAD_H
#define D9_RECORD_KALLSYMS_THREAD_H

#include <stdbool.h>

struct kallsyms;

/* The kernel's symbol table, while it is being read and after. */
struct kallsyms_thread;

/* Begins to read it, which takes CAP_SYSLOG. Never NULL. */
struct kallsyms_thread *kallsyms_thread_new(void);
/* Whether it has been read, or could not be. */
bool kallsyms_thread_is_done(const struct kallsyms_thread *t);
/* Waits for it. Borrowed; NULL: it could not be read. */
const struct kallsyms *kallsyms_thread_get(struct kallsyms_thread *t);
void kallsyms_thread_free(struct kallsyms_thread *t);

#endif
