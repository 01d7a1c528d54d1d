/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_WRITER_H
#define D9_RECORD_OUTPUT_WRITER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/output/segment_ops.h"

struct realtime;

struct writer_cfg {
	int nice; /* the thread's nice value: the drain must not outrun it for long */
	struct realtime *realtime; /* the thread joins it; NULL: none */
	size_t max; /* queued bytes, above which has_room() returns false */
	/* capabilities needed until the first bytes, and those kept after that */
	uint64_t caps_start, caps_keep;
	/* 2 at the end: drop queued data, if the inner output supports that; NULL: never */
	const volatile sig_atomic_t *stop;
	/* set when the inner output must stop waiting for its reader; 0: no limit */
	volatile bool *give_up;
	uint64_t patience_ns; /* maximum time without progress at the end; 0: no limit */
};

/*
 * Puts a thread in front of an output. The thread calls write(), end() and idle() of *inner in the order of the
 * requests. The caller calls begin(), request() and close(). Only close() waits for the thread. Errors of the thread
 * are returned by the next call. *out is the output to use. *inner is owned: out->close() closes it. 0, or -errno
 * with *inner unchanged.
 */
int writer_new(const struct writer_cfg *cfg, const struct segment_ops *inner,
	       struct segment_ops *out);

#endif
