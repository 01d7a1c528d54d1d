/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_SYMBOLIZE_SYMBOLIZE_COPY_H
#define D9_REWRITE_SYMBOLIZE_SYMBOLIZE_COPY_H

#include "rewrite/copy/cut_out.h"
#include "rewrite/symbolize/symbolize_find.h"
#include "trace/read/reader.h"

/* Places in code that the events of a trace have, and where its segments begin. {0} is empty. */
struct symbolize_copy {
	struct reader *reader; /* borrowed */
	/* ---- */
	struct hmap schemas; /* struct trace_schema -> struct copy_schema */
	struct hmap frames; /* of the names: those that were met */
	struct hmap seen; /* addresses as written in this segment */
	struct hmap ids; /* modules that it has introduced */
	uint64_t *segments; /* offset of each one's header */
	size_t segment_cnt, segment_cap;
	uint64_t segment; /* at hand */
	uint64_t events, consumed;
};

void symbolize_copy_fini(struct symbolize_copy *c);

/*
 * One pass over all events, from the first: hands each distinct frame of stacks to @find, when all names are
 * known, and each mapping. 0, or -errno as reader_next() says it, -EINTR when *stop is not 0.
 */
int symbolize_copy_look(struct symbolize_copy *c, struct symbolize_find *find,
			const volatile sig_atomic_t *stop);

/*
 * A second pass, behind symbolize_find_run(): writes the bytes of the trace, read once more from @src, up to the last
 * whole frame that the first pass saw. Behind each segment that has a place with a new name goes one more, of the
 * same recording, with the modules and the names of these places. *@added counts places. 0, -ESTALE if the trace is
 * another one by now, or -errno; *@told: a line was printed for it.
 */
int symbolize_copy_write(struct symbolize_copy *c, struct symbolize_find *find, struct source *src,
			 const struct cut_out *out, const volatile sig_atomic_t *stop,
			 uint64_t *added, bool *told);

#endif /* D9_REWRITE_SYMBOLIZE_SYMBOLIZE_COPY_H */
