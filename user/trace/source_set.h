/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_SOURCE_SET_H
#define D9_TRACE_SOURCE_SET_H

#include <stdbool.h>
#include <stddef.h>

/* The files of one recording that take turns, in their order. {0} has none. */
struct source_set {
	char **paths;
	size_t cnt;
};

/*
 * What @path stands for when it is no file: the set in that directory, or the one that is called so: NAME, or NAME.bin, of
 * NAME.0.bin and so on, with .gz, .zst or .active behind it. Files that are still active count only behind all others:
 * before these they were left behind by who was killed. 0, also when there are none; -errno after one line.
 */
int source_set_find(const char *path, struct source_set *out);
void source_set_fini(struct source_set *s);

#endif /* D9_TRACE_SOURCE_SET_H */
