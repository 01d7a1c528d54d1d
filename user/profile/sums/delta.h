/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_DELTA_H
#define D9_PROFILE_SUMS_DELTA_H

#include "base/strtab.h"
#include "profile/sums/delta_match.h"
#include "profile/sums/quantile.h"
#include "trace/read/names.h"

/* Observations: samples or intervals. */
struct delta_sum {
	uint64_t cnt;
	double sum; /* of their values: the time that each one stands for */
	double squares; /* the variance of the sum, if observations are independent */
};

/*
 * A function as printed, named as in the new trace if it is in both: string ids, see delta_str().
 */
struct delta_place {
	uint32_t name;
	uint32_t module; /* base name; empty for threads */
	uint32_t match; /* private: what must be equal besides the name */
};

/* A function, a stack (leaf first), or a thread by name. */
struct delta_row {
	struct delta_place *places;
	uint32_t place_cnt;
	struct delta_sum self[DELTA_SIDES]; /* as leaf; see also delta.own */
	struct delta_sum total[DELTA_SIDES]; /* anywhere in the stack, each stack counted once */
	struct quantile *latencies[DELTA_SIDES]; /* threads: run-queue latency; NULL: none */
	uint64_t last_stack; /* private: the stack counted last */
};

/*
 * Rows of two traces. Rows are matched by name, so ASLR and rebuilds do not separate them: a
 * function by its name without compiler suffixes such as .isra.0, and by its module: see
 * delta_match.h. Code without symbols has one row per module. Grows with distinct rows.
 */
struct delta {
	bool by_stack; /* rows are whole stacks; self is total */
	bool by_name; /* set by the caller: modules of functions do not matter */
	/*
	 * Set by the caller: count a stack as self of its innermost function of the program. All
	 * blocked threads have the same few innermost functions of the kernel and libc.
	 */
	bool own;
	struct delta_match match; /* set by delta_match_init(); else base names count alone */
	struct strtab strs, keys;
	struct delta_row *rows;
	size_t cnt, cap;
	struct delta_sum all[DELTA_SIDES]; /* of each side */
	uint64_t stacks; /* private: stacks added so far */
	struct delta_place *places; /* private: of the current stack */
	size_t place_cap;
};

struct delta *delta_new(bool by_stack);
void delta_free(struct delta *d);

/*
 * Adds what was observed at one stack. Frames are as in trace_event.frames; symbols are looked
 * up now.
 */
void delta_add_stack(struct delta *d, enum delta_side side, const struct names *n,
		     const uint64_t *frames, uint32_t cnt, const struct delta_sum *sum);
/* Adds one run-queue latency of a thread of that name. */
void delta_add_wait(struct delta *d, enum delta_side side, const char *comm, size_t len,
		    uint64_t ns);

/*
 * The share of a side (0 to 1) in rows that both sides have, or (@by_name) would have if modules did
 * not matter; 1 if the side has nothing.
 */
double delta_matched(const struct delta *d, enum delta_side side, bool by_name);

/* Text of a delta_place member; NUL-terminated, borrowed. */
const char *delta_str(const struct delta *d, uint32_t id, size_t *len);

/* How values are computed from sums. */
struct delta_scale {
	double by[DELTA_SIDES]; /* factors */
	/*
	 * Observations have lengths of their own. If all of them changed, the change is
	 * significant, even if there are too few for the variance.
	 */
	bool lengths;
	/* factors give percentages: what is in one row is not in another, and the total is fixed */
	bool share;
};

/* Significance of a difference: changed, within noise, error unknown. */
enum delta_verdict { DELTA_CHANGED, DELTA_NOISE, DELTA_UNSURE };

/* A row of the comparison: both values, their difference, and its error. */
struct delta_change {
	const struct delta_row *row;
	double v[DELTA_SIDES];
	double delta;
	double error; /* two standard deviations of @delta; negative: unknown */
	double ratio; /* new / old; 0 or infinity if one side is 0 */
	double ratio_error; /* two standard deviations of ratio; negative: unknown */
	/*
	 * Run-queue latency: the same for the medians, which may change when the quantile does not.
	 */
	double median_delta, median_error;
	/*
	 * The difference and the ratio for the verdict: the median's if only the median changed.
	 */
	double verdict_delta, verdict_ratio;
	/* Changed: the difference, or the median's, is larger than its error. */
	enum delta_verdict verdict;
};

/*
 * The change of a sum. Counting is a Poisson process, so each observation adds its square to the
 * variance; for percentages it is binomial. Zero observations still have an error of one.
 */
struct delta_change delta_change_sum(const struct delta *d, const struct delta_row *row, bool total,
				     const struct delta_scale *scale);
/*
 * The change of quantile @q (0 to 1) of a thread's run-queue latency, in ns. 0 and no error if one
 * trace has none.
 */
struct delta_change delta_change_quantile(const struct delta_row *row, double q);

#endif /* D9_PROFILE_SUMS_DELTA_H */
