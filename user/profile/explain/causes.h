/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_CAUSES_H
#define D9_PROFILE_EXPLAIN_CAUSES_H

#include "profile/explain/explain.h"

enum cause_kind {
	CAUSE_RAN,
	CAUSE_RUNNABLE, /* waiting for a CPU */
	/* the same, with preemptors that did not fit into this table or the preemptor list */
	CAUSE_OTHERS,
	CAUSE_BLOCKED,
	CAUSE_UNKNOWN, /* events are missing */
	CAUSE_UNRECORDED, /* on CPUs, or of a thread, that are not recorded */
	CAUSE_ABSENT, /* the trace does not have the thread */
};

/* Maximum of rows of CAUSE_RUNNABLE; further ones count as CAUSE_OTHERS. */
#define CAUSES_RUNNABLE_MAX 4096

/* Time with one kind and one cause. */
struct cause {
	enum cause_kind kind;
	/* Runnable: the preemptor; 0: the CPU was idle, TRACE_NONE: unknown. */
	uint32_t tid, comm;
	/* If the preemptor is unknown. @part is the recording of the first range. */
	struct explain_own_switches own;
	uint32_t part;
	/*
	 * Blocked: the most informative function, as a string id: the innermost one of the program
	 * without a leading underscore that is not inlined, otherwise of the kernel. NAMES_NONE:
	 * unknown.
	 */
	uint32_t function;
	/*
	 * If that function is in a library: the innermost caller from another file that is not a
	 * runtime library, as a string id. NAMES_NONE: none.
	 */
	uint32_t under;
	bool fault; /* blocked in a page fault in that function */
	uint64_t ns, ranges; /* total; number of ranges with this cause */
	uint64_t mostly; /* number of ranges in which this cause took longest */
	uint64_t last, last_ns; /* the range counted last, and the time in it */
};

/* Time of several ranges, by cause. {0} is empty. */
struct causes {
	struct hmap index; /* hash -> row + 1 */
	struct cause *v;
	size_t cnt, cap;
	size_t runnable_rows; /* rows of CAUSE_RUNNABLE */
	uint64_t ns, ranges; /* total */
	size_t longest; /* the row with most time in the current range, if longest_ns is not 0 */
	uint64_t longest_ns;
};

/*
 * Adds what a thread did from @from to @to: the rows grow by exactly that time. Call it after
 * explain_finish(); @iv has the stacks.
 */
void causes_add(struct causes *c, const struct explain *e, const struct intervals *iv,
		const struct names *names, uint32_t part, uint32_t tid, uint64_t from, uint64_t to);
/* Sorts by most time. Call it once, at the end. */
void causes_finish(struct causes *c);
void causes_fini(struct causes *c);

#endif /* D9_PROFILE_EXPLAIN_CAUSES_H */
