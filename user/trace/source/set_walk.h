/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_SOURCE_SET_WALK_H
#define D9_TRACE_SOURCE_SET_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/source/source_set.h"

/* The files of a set in order, the good part of each; and generated segments for missing data. */
struct set_walk;

struct source;

/* How to read one file: source.h's functions, passed in because sources themselves use set_walk. */
struct set_walk_ops {
	int (*open_fd)(int fd, const char *name, struct source **out);
	ssize_t (*read)(void *src, void *buf, size_t sz);
	void (*close)(struct source *src);
	bool (*is_cut)(const struct source *src);
	bool (*is_packed)(const struct source *src);
	bool (*is_empty)(const struct source *src);
	const char *(*packing)(const struct source *src);
};

/* The next piece: a file, or bytes of a trace. */
struct set_piece {
	int fd; /* owned by the caller; -1: bytes */
	const char *path; /* of the file; borrowed */
	uint64_t limit; /* unpacked bytes to read; UINT64_MAX: all, including data appended later */
	const void *data;
	size_t sz;
	bool names_only; /* none of its events are requested */
};

/* Owns the files of @set; @ops belongs to the caller. A set of one file is not checked. */
struct set_walk *set_walk_new(struct source_set *set, const struct set_walk_ops *ops);
/* NULL is fine. */
void set_walk_free(struct set_walk *w);

/*
 * 1 and a piece, or 0 after the last. Prints one line, once, for each file that is damaged,
 * truncated, empty or missing. For missing data it returns a generated segment with a loss
 * (PROF_LOST_HOLE) from the end of the data before to the start of the data after. The last file is
 * not checked for truncation, because it may still grow.
 */
int set_walk_next(struct set_walk *w, struct set_piece *out);
/* Number of the first file: earlier ones, if there were any, do not exist. */
uint64_t set_walk_first(const struct set_walk *w);

/*
 * From now on returns only files that may have events in this time range, as far as their last
 * event shows. Before the first rewind also files that begin within SET_WALK_NAMES_NS after @to_ns,
 * which have symbols that were found late. False: no file, or every file, can be skipped, so all
 * are read.
 */
#define SET_WALK_NAMES_NS 30000000000ULL
bool set_walk_restrict(struct set_walk *w, uint64_t from_ns, uint64_t to_ns);

/* Back to the first. */
void set_walk_rewind(struct set_walk *w);

/* Whether data was found missing so far, except files before the first. */
bool set_walk_has_holes(const struct set_walk *w);
/*
 * Whether a file so far was damaged or not a trace; truncated, empty or missing files do not count.
 */
bool set_walk_is_damaged(const struct set_walk *w);

#endif /* D9_TRACE_SOURCE_SET_WALK_H */
