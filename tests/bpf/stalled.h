/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_BPF_STALLED_H
#define D9_TESTS_BPF_STALLED_H

#include "tests/bpf/support.h"

/* For tests of reports about threads that stall in known ways: stimuli/stalls.h. */

enum { STALLED_NS = 20000000 };
/* The last one by itself, the others each by the hand of a thread. */
enum stalled_kind {
	STALLED_MUTEX,
	STALLED_HOG,
	STALLED_FAULT,
	STALLED_READ,
	STALLED_COMPUTE,
	STALLED_KINDS,
};

struct stalled {
	enum stalled_kind kind;
	uint64_t helper, from, to; /* as the workload says */
};

/* Why they cannot be made here; NULL: they can. */
const char *stalled_missing(void);
struct stalled stalled_truth(const struct live_proc *workload, int round, enum stalled_kind kind);
const char *stalled_name(enum stalled_kind kind);
/* Whether text names this cause, of a thread that a helper of @s stalled. */
bool stalled_is_cause(const char *text, const struct stalled *s);

/* In JSON of reports, the newline before the next moment, from @at on; NULL: there is none. */
const char *stalled_next_row(const char *at);
/* The end of the line at @at: its newline, or the end of the text. */
const char *stalled_line_end(const char *at);
/*
 * Of JSON that `explain` and `polls` print, @row being where the times by state are: they make up the stall, as the
 * steps of the story between @at and @end do, which follow each other.
 */
void stalled_expect_sums(const char *row, const char *at, const char *end, const struct stalled *s);
/* Whether a step of it says what it was: where and for how long, and who ended it or ran instead. */
bool stalled_is_reported(const char *at, const char *end, const struct stalled *s);

#endif
