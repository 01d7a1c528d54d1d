/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_CAUSES_H
#define D9_PROFILE_EXPLAIN_CAUSES_H

#include "profile/explain/explain.h"

enum cause_kind {
	CAUSE_RAN,
	CAUSE_RUNNABLE, /* for a CPU */
	CAUSE_OTHERS, /* likewise, behind threads that found no room in this table or the one below */
	CAUSE_BLOCKED,
	CAUSE_UNKNOWN, /* events are missing */
	CAUSE_UNRECORDED, /* on CPUs, or as a thread, that the recording left out */
	CAUSE_ABSENT, /* the trace has nothing of the thread */
};

/* So many rows; waits that would need one more go to CAUSE_OTHERS, and only those. */
#define CAUSES_RUNNABLE_MAX 4096

/* Time of one kind that had one cause. */
struct cause {
	enum cause_kind kind;
	/* Waited: behind this thread; 0: the CPU was idle, TRACE_NONE: the trace does not tell. */
	uint32_t tid, comm;
	/*
	 * Blocked: the function that people know it by, a string id: the innermost of the program's that has no
	 * underscore in front and was not inlined, or of the kernel's where it has no others; NAMES_NONE: unknown.
	 */
	uint32_t function;
	/*
	 * And of a function of a library, the innermost one of another file that called it and is of no
	 * language's own library: a string id; NAMES_NONE: there is none.
	 */
	uint32_t under;
	bool fault; /* blocked in a page fault in that function */
	uint64_t ns, ranges; /* together; in how many of the moments that were added */
	uint64_t mostly; /* in how many of these nothing took longer */
	uint64_t last, last_ns; /* of these, the one counted last, and the time in it */
};

/* Where the time of some moments went. {0} is empty. */
struct causes {
	struct hmap index; /* hash -> row + 1 */
	struct cause *v;
	size_t cnt, cap;
	size_t runnable_rows; /* rows of CAUSE_RUNNABLE */
	uint64_t ns, ranges; /* together */
	size_t longest; /* of the moment at hand: its row, if longest_ns is not 0 */
	uint64_t longest_ns;
};

/*
 * Adds what a thread did from @from to @to: the rows grow by just that time. After explain_finish();
 * @iv has the stacks of its pieces.
 */
void causes_add(struct causes *c, const struct explain *e, const struct intervals *iv,
		const struct names *names, uint32_t part, uint32_t tid, uint64_t from, uint64_t to);
/* The most time first. Once, after the last one. */
void causes_finish(struct causes *c);
void causes_fini(struct causes *c);

#endif /* D9_PROFILE_EXPLAIN_CAUSES_H */
