/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_SYMBOLIZE_SYMBOLIZE_COPY_H
#define D9_REWRITE_SYMBOLIZE_SYMBOLIZE_COPY_H

#include "rewrite/copy/cut_out.h"
#include "rewrite/symbolize/symbolize_find.h"
#include "trace/read/reader.h"

/* Code addresses in the events of a trace, and the offsets of its segments. {0} is empty. */
struct symbolize_copy {
	struct reader *reader; /* borrowed */
	/* ---- */
	struct hmap schemas; /* struct trace_schema -> struct copy_schema */
	struct hmap frames; /* known frames of names */
	struct hmap raw_frames; /* raw addresses in this segment */
	struct hmap ids; /* modules introduced in this segment */
	uint64_t *segments; /* offset of each segment's header */
	size_t segment_cnt, segment_cap;
	uint64_t segment; /* the current segment */
	uint64_t events, consumed;
};

void symbolize_copy_fini(struct symbolize_copy *c);

/*
 * First pass over all events: when all names are known, passes each distinct frame of stacks and each mapping to
 * @find. 0, or -errno of reader_next(), -EINTR if *stop is not 0.
 */
int symbolize_copy_scan(struct symbolize_copy *c, struct symbolize_find *find,
			const volatile sig_atomic_t *stop);

/*
 * Second pass, after symbolize_find_run(). Copies the bytes of the trace, read again from @src, up to the last
 * whole frame of the first pass. After each segment that has an address with a new symbol, or a file with a new
 * status, writes another segment of the same recording, with the modules and the symbols. *@added: number of these addresses. 0, -ESTALE if the
 * trace has changed, or -errno; *@printed: an error line was printed.
 */
int symbolize_copy_write(struct symbolize_copy *c, struct symbolize_find *find, struct source *src,
			 const struct cut_out *out, const volatile sig_atomic_t *stop,
			 uint64_t *added, bool *printed);

#endif /* D9_REWRITE_SYMBOLIZE_SYMBOLIZE_COPY_H */
