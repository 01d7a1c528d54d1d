/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_KALLSYMS_THREAD_H
#define D9_RECORD_SYMBOLS_KALLSYMS_THREAD_H

#include <stdbool.h>

struct frames;
struct kallsyms;
struct realtime;

/* The kernel's symbol table, read by a thread. Call all functions in one thread. NULL: it is not needed. */
struct kallsyms_thread;

/*
 * Starts reading, which needs CAP_SYSLOG. NULL: the paths in /proc; other paths are borrowed. During the first read,
 * the thread joins @realtime (NULL: nothing).
 */
struct kallsyms_thread *kallsyms_thread_new(const char *symbols_path, const char *modules_path,
					    struct realtime *realtime);
/* Whether reading has ended, with or without success, and is not running again. */
bool kallsyms_thread_is_done(struct kallsyms_thread *t);
/* Waits for it. Borrowed until the next renewal; NULL: it could not be read, or is not needed. */
const struct kallsyms *kallsyms_thread_get(struct kallsyms_thread *t);
/*
 * Call it repeatedly after frames has the table: replaces it if an address in a later module was used. Does not
 * block on reading.
 */
void kallsyms_thread_renew(struct kallsyms_thread *t, struct frames *frames);
void kallsyms_thread_free(struct kallsyms_thread *t);

#endif
