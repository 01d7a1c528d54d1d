/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_MERGE_MERGE_H
#define D9_REWRITE_MERGE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewrite/copy/cut_out.h"

enum merge_align {
	MERGE_AUTO, /* clocks of one boot are one; others by their wall clocks */
	MERGE_MONO, /* times are taken as they are */
	MERGE_REAL, /* all by their wall clocks */
	MERGE_OFFSET, /* those of all inputs behind the first are moved */
};

/* {0} are the defaults. */
struct merge_opts {
	enum merge_align align;
	int64_t offset_ns; /* MERGE_OFFSET: by this */
	size_t sort_bytes; /* memory for events that are not in order; 0: 64 MiB */
	const char *output; /* never taken from a directory; NULL: none */
	const char *word; /* the command, for messages; NULL: "merge" */
};

/* What came of it. */
struct merge_sum {
	uint64_t inputs; /* of which events were written */
	uint64_t events, bytes; /* written, with what says which parts there are */
	uint64_t parts; /* of the result */
	uint64_t left_out; /* traces of another time, by merge_beside() */
	uint64_t refused; /* events that cannot be written in the format */
	bool failed; /* an input could not be read again, or not be sorted: something good is missing */
	bool incomplete; /* an input was damaged or of a newer format; a cut off end is none of that */
};

/*
 * One stream of all events of the traces at @paths, in order of time: files, "-", and directories, of which every
 * trace in them is taken. Each event comes once, with its values but for what only means something in its own
 * file: ids of pools, types and modules. Of several recordings or applications each is a part of its own of
 * the result (struct part), whose threads are told apart where their hosts or boots are not the same;
 * CpuSampleEvents of the recorder get the worker of their thread where an application's events tell it.
 *
 * Inputs that are in order are read as they are written; others are sorted in pieces of sort_bytes that wait in a
 * temporary file. Memory is that much, and what the distinct strings, stacks and names of inputs take that
 * lie within each other.
 *
 * An exit code, after one line for each input that cannot be used to its end; CMD_INPUT also when something good
 * was written. Where nothing can be, nothing is written.
 */
int merge_to(const struct merge_opts *opts, const char *const *paths, size_t cnt,
	     const struct cut_out *out, struct merge_sum *sum);
/* The same into an open file. */
int merge_to_file(const struct merge_opts *opts, const char *const *paths, size_t cnt, int fd,
		  struct merge_sum *sum);

/* A file that is open, wherever in it; it is closed. */
struct merge_input {
	int fd;
	const char *name; /* for messages */
};

/*
 * As merge_to(), of a recording and of what was found beside it: those of the others are merged that are traces
 * with events of the time of the recording, on its clock. What does not tell its clock is taken to be on that.
 * Where there is none nothing is written, and sum.inputs is 1.
 */
int merge_beside(const struct merge_opts *opts, const struct merge_input *inputs, size_t cnt,
		 const struct cut_out *out, struct merge_sum *sum);

#endif /* D9_REWRITE_MERGE_MERGE_H */
