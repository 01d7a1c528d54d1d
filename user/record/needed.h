/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_NEEDED_H
#define D9_RECORD_NEEDED_H

#include <stddef.h>

/* Files by their paths, without symbolic links. {0} is none. */
struct needed {
	char **v;
	size_t cnt, cap;
};

/*
 * Which files a command will likely map first: its program, or what runs it if it is a script, the loader
 * and the libraries that it names. A guess, from the usual directories: what is wrong is of no use, and
 * nothing else.
 */
void needed_find(const char *command, struct needed *out);
void needed_fini(struct needed *n);

#endif
