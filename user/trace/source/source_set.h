/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_SOURCE_SOURCE_SET_H
#define D9_TRACE_SOURCE_SOURCE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The files of one recording that take turns, in their order. {0} has none. */
struct source_set {
	struct source_file {
		char *path;
		uint64_t number;
		bool left_out; /* this is none of them, but nothing is missing for that */
		bool open; /* it is read by this descriptor, the caller's, whatever has that name by now */
		int fd;
	} * files;
	size_t cnt;
	bool told; /* somebody else says what is wrong with one of them */
};

/*
 * What @path stands for when it is no file: the set in that directory, or the one that is called so: NAME, or NAME.bin, of
 * NAME.0.bin and so on, with .gz, .zst or .active behind it. Files that are still active count only behind all others:
 * before these they were left behind by who was killed. Of two files of one number, packed and not, the latter counts;
 * a directory of such a name is left out. One line tells of each but these. 0, also when there are none; -errno after one line.
 */
int source_set_find(const char *path, struct source_set *out);
/* True for the path of a file of a set: its number, and the length of what the paths of all of them begin with. */
bool source_set_parse(const char *path, size_t *stem_len, uint64_t *number);
/* True for the name of a file that is being written, or was when its recorder was killed. */
bool source_set_is_active(const char *path);
void source_set_fini(struct source_set *s);

#endif /* D9_TRACE_SOURCE_SOURCE_SET_H */
