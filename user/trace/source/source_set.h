/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_SOURCE_SOURCE_SET_H
#define D9_TRACE_SOURCE_SOURCE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rotated files of one recording, in order. {0}: none. */
struct source_set {
	struct source_file {
		char *path;
		uint64_t number;
		bool skipped; /* not used, and nothing is missing because of it */
		/* read from this descriptor of the caller, whatever file has the name now */
		bool open;
		int fd;
	} * files;
	size_t cnt;
	bool errors_reported; /* errors in the files are reported elsewhere */
	bool quiet; /* what is wrong with the files was reported when they were read before */
};

/*
 * Finds the set that @path stands for if it is not a file: the set in that directory, or the one
 * with that name. NAME or NAME.bin stands for NAME.0.bin and so on, with .gz, .zst or .active at
 * the end. Active files count only after all others; earlier ones are left from a killed recorder.
 * If a number has a compressed and an uncompressed file, the uncompressed one is used; a directory
 * with such a name is skipped. Prints one line for each other skipped file unless @quiet. 0, also
 * if there is none; -errno after one line.
 */
int source_set_find(const char *path, bool quiet, struct source_set *out);
/*
 * The set of these files, of which source_set_is_same() is true: in order, and skipped as source_set_find() skips them.
 */
void source_set_of(const char *const *paths, size_t cnt, bool quiet, struct source_set *out);
/* Whether two paths differ only in the number of a file of a set, and perhaps in .gz, .zst and .active. */
bool source_set_is_same(const char *a, const char *b);
/*
 * Whether @path is a file of a set: its number, and the length of the common prefix of all its
 * paths.
 */
bool source_set_parse(const char *path, size_t *stem_len, uint64_t *number);
/* Whether the name belongs to a file being written, or left by a killed recorder. */
bool source_set_is_active(const char *path);
void source_set_fini(struct source_set *s);

#endif /* D9_TRACE_SOURCE_SOURCE_SET_H */
