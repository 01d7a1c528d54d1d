/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_SOURCE_SET_WALK_H
#define D9_TRACE_SOURCE_SET_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/source/source_set.h"

/* The files of a set in turn, of each what is good of it; and what to read where something is not there. */
struct set_walk;

struct source;

/* How one file is read: what source.h has of these names, since sources in turn are made of walks. */
struct set_walk_ops {
	int (*open_fd)(int fd, const char *name, struct source **out);
	ssize_t (*read)(void *src, void *buf, size_t sz);
	void (*close)(struct source *src);
	bool (*is_cut)(const struct source *src);
	bool (*is_packed)(const struct source *src);
	bool (*is_empty)(const struct source *src);
	const char *(*packing)(const struct source *src);
};

/* What comes next: a file, or bytes of a trace. */
struct set_piece {
	int fd; /* the caller's; -1: bytes */
	const char *path; /* of the file; borrowed */
	uint64_t limit; /* so many of its bytes, unpacked; UINT64_MAX: all, and what may be added */
	const void *data;
	size_t sz;
	bool names_only; /* no event of it is wanted */
};

/* Takes the files over; @ops stay the caller's. Of a set of one, nothing is looked into. */
struct set_walk *set_walk_new(struct source_set *set, const struct set_walk_ops *ops);
/* NULL is fine. */
void set_walk_free(struct set_walk *w);

/*
 * 1 and a piece, or 0 behind the last. Prints one line for each file that is damaged, cut, empty or not there, once.
 * In place of what is missing comes a segment that tells of it as a loss (PROF_LOST_HOLE) from the end of what was
 * before to the start of what is behind. The last file is not looked into for being cut: it may still grow.
 */
int set_walk_next(struct set_walk *w, struct set_piece *out);
/* The number of the first file: so many before it are not there, if there ever were. */
uint64_t set_walk_first(const struct set_walk *w);

/*
 * From here on only files that may have events between these times, as the last event of each says. Before the first
 * rewind also files that begin within SET_WALK_NAMES_NS after @to_ns: a symbol that was found late is in these. False:
 * nothing is known to be elsewhere, or everything is, and all files are read.
 */
#define SET_WALK_NAMES_NS 30000000000ULL
bool set_walk_restrict(struct set_walk *w, uint64_t from_ns, uint64_t to_ns);

/* Back to the first. */
void set_walk_rewind(struct set_walk *w);

/* True when something was found to be missing so far, but for files that were there before the first. */
bool set_walk_has_holes(const struct set_walk *w);
/* True when one of the files so far was damaged, or no trace: more than cut, empty or not there. */
bool set_walk_is_damaged(const struct set_walk *w);

#endif /* D9_TRACE_SOURCE_SET_WALK_H */
