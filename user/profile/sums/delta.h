/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_DELTA_H
#define D9_PROFILE_SUMS_DELTA_H

#include "base/strtab.h"
#include "profile/sums/quantile.h"
#include "trace/read/names.h"

/* The two traces that are compared. */
enum delta_side { DELTA_OLD, DELTA_NEW, DELTA_SIDES };

/* Observations of something: samples, or intervals. */
struct delta_sum {
	uint64_t cnt;
	double sum; /* of their values: the time for which each stands */
	double squares; /* of the same: of independent observations the variance of the sum */
};

/* One function as it is shown, of the new trace where both have it: string ids, see delta_str(). */
struct delta_place {
	uint32_t name;
	uint32_t module; /* base name; empty for threads */
};

/* What is compared: a function, a stack (leaf first), or a thread by its name. */
struct delta_row {
	struct delta_place *places;
	uint32_t place_cnt;
	struct delta_sum self[DELTA_SIDES]; /* where it is the leaf; or see delta.own */
	struct delta_sum total[DELTA_SIDES]; /* where it is in the stack, each stack counted once */
	struct quantile *latencies[DELTA_SIDES]; /* of threads; NULL: none */
	uint64_t last_stack; /* private: the stack counted last */
};

/*
 * Rows of two traces with what they sum up to. They are matched by names alone, so that neither ASLR
 * nor a rebuild tells them apart: a function by its name without the suffixes that compilers give to
 * copies, and its module's base name without a version. Code without names is one row a module. Grows
 * with distinct rows.
 */
struct delta {
	bool by_stack; /* rows are whole stacks, and their self is their total */
	/*
	 * The caller's to set: a stack counts as self for the innermost function that is the program's own:
	 * all threads that sleep do so in the same few functions of the kernel and of libc.
	 */
	bool own;
	struct strtab strs, keys;
	struct delta_row *rows;
	size_t cnt, cap;
	struct delta_sum all[DELTA_SIDES]; /* of each side */
	uint64_t stacks; /* private: added so far */
	struct delta_place *places; /* private: of the stack at hand */
	size_t place_cap;
};

struct delta *delta_new(bool by_stack);
void delta_free(struct delta *d);

/* What was observed at one stack. Frames are those of trace_event.frames; names are looked up now. */
void delta_add_stack(struct delta *d, enum delta_side side, const struct names *n,
		     const uint64_t *frames, uint32_t cnt, const struct delta_sum *sum);
/* One wait of a thread of that name. */
void delta_add_wait(struct delta *d, enum delta_side side, const char *comm, size_t len,
		    uint64_t ns);

/* Text of a place; NUL-terminated, borrowed. */
const char *delta_str(const struct delta *d, uint32_t id, size_t *len);

/* How values are made of sums. */
struct delta_scale {
	double by[DELTA_SIDES]; /* they are multiplied by these */
	/*
	 * Observations have lengths of their own: where all of them changed, it is no chance, even if so few
	 * are no more than chance may bring.
	 */
	bool lengths;
	bool share; /* which make shares: what is in a row is not in others, and all are fixed */
};

/* What a difference is when its error is known, or is not. */
enum delta_verdict { DELTA_CHANGED, DELTA_NOISE, DELTA_UNSURE };

/* A row of a table: what it was, what it is, and how much of the difference may be chance. */
struct delta_change {
	const struct delta_row *row;
	double v[DELTA_SIDES];
	double delta;
	double error; /* two standard deviations of @delta; negative: not known */
	double ratio; /* new by old; 0 and infinity when there is nothing in one */
	double ratio_error; /* two standard deviations of it, likewise */
	/* Of waits the same of their medians, which may have changed where the quantile has not. */
	double median_delta, median_error;
	/* The difference and the ratio that the verdict is of: the median's where that alone has changed. */
	double verdict_delta, verdict_ratio;
	/* Changed: larger than its error, or the median's is than its own. */
	enum delta_verdict verdict;
};

/*
 * Of sums: counting is a Poisson process, so each observation adds its square to the variance; of shares
 * it is binomial. Of what was not seen at all there may still be one.
 */
struct delta_change delta_change_sum(const struct delta *d, const struct delta_row *row, bool total,
				     const struct delta_scale *scale);
/* Of the quantile @q (0 to 1) of a thread's waits, in ns. 0 and no error when one trace has none. */
struct delta_change delta_change_quantile(const struct delta_row *row, double q);

#endif /* D9_PROFILE_SUMS_DELTA_H */
