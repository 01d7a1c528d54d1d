/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_MERGE_MERGE_H
#define D9_REWRITE_MERGE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewrite/copy/cut_out.h"

enum merge_align {
	MERGE_AUTO, /* clocks of the same boot are equal; others are aligned by wall clock */
	MERGE_MONO, /* times are unchanged */
	MERGE_REAL, /* align all by wall clock */
	MERGE_OFFSET, /* shift all inputs except the first */
};

/* {0}: the defaults. */
struct merge_opts {
	enum merge_align align;
	int64_t offset_ns; /* the shift for MERGE_OFFSET */
	size_t sort_bytes; /* memory for sorting events; 0: 64 MiB */
	const char *output; /* skipped when reading directories; NULL: none */
	const char *word; /* the command, for messages; NULL: "merge" */
};

/* Results. */
struct merge_sum {
	uint64_t inputs; /* with written events */
	uint64_t events, bytes; /* written, including the list of parts */
	uint64_t parts; /* in the result */
	uint64_t left_out; /* traces of another time, skipped by merge_found() */
	uint64_t refused; /* events that the format cannot represent */
	bool failed; /* an input could not be read again or sorted: valid events are missing */
	bool incomplete; /* an input was damaged or of a newer format; not set for a truncated end */
};

/*
 * Merges all events of the traces at @paths into one stream in order of time: files, "-", and directories with all
 * traces in them. Each event appears once. Its values are the same, except for ids that are valid in one file only:
 * pools, types and modules. Each recording or application is a separate part of the result (struct part). Threads
 * of parts from different hosts or boots are distinct. CpuSampleEvents of the recorder get the worker of their
 * thread if an application's events contain it.
 *
 * Ordered inputs are read while writing. Others are sorted in runs of sort_bytes, stored in a temporary file.
 * Memory use is sort_bytes, plus the distinct strings, stacks and names of overlapping inputs.
 *
 * Returns an exit code, after one line for each input that cannot be read to its end; CMD_INPUT even if valid
 * events were written. If there are none, nothing is written.
 */
int merge_to(const struct merge_opts *opts, const char *const *paths, size_t cnt,
	     const struct cut_out *out, struct merge_sum *sum);
/* The same into an open file. */
int merge_to_file(const struct merge_opts *opts, const char *const *paths, size_t cnt, int fd,
		  struct merge_sum *sum);

/* An open file at any offset; merge closes it. */
struct merge_input {
	int fd;
	const char *name; /* for messages */
};

/*
 * Like merge_to(), for a recording and traces found next to it. Found traces are merged if they have events of the
 * recording's time on its clock. A trace without a clock is assumed to be on that clock. If there is none, nothing
 * is written, and sum.inputs is 1.
 */
int merge_found(const struct merge_opts *opts, const struct merge_input *inputs, size_t cnt,
		const struct cut_out *out, struct merge_sum *sum);

#endif /* D9_REWRITE_MERGE_MERGE_H */
