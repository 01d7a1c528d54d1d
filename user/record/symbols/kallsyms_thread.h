/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_KALLSYMS_THREAD_H
#define D9_RECORD_SYMBOLS_KALLSYMS_THREAD_H

#include <stdbool.h>

struct frames;
struct kallsyms;

/* The kernel's symbol table, while it is being read and after. All is to be called by one thread. */
struct kallsyms_thread;

/* Begins to read it, which takes CAP_SYSLOG. NULL paths are those of /proc; others are borrowed. Never NULL. */
struct kallsyms_thread *kallsyms_thread_new(const char *symbols_path, const char *modules_path);
/* Whether it has been read, or could not be, and is not being read again. */
bool kallsyms_thread_is_done(struct kallsyms_thread *t);
/* Waits for it. Borrowed until the next renewal; NULL: it could not be read. */
const struct kallsyms *kallsyms_thread_get(struct kallsyms_thread *t);
/*
 * To be called again and again once frames has the table: gives it another one when modules were loaded since
 * and one of their addresses was met. Waits for no reading.
 */
void kallsyms_thread_renew(struct kallsyms_thread *t, struct frames *frames);
void kallsyms_thread_free(struct kallsyms_thread *t);

#endif
