/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_WRITER_H
#define D9_RECORD_OUTPUT_WRITER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/output/segment_ops.h"

struct writer_cfg {
	int nice; /* the thread's nice value: who hands over must not be quicker than it for long */
	size_t max; /* bytes that may wait; beyond that outlet.has_room() says no */
	/* capabilities that the thread needs up to the first bytes, and those it keeps after that */
	uint64_t caps_start, caps_keep;
	/* at the end, 2: what still waits is given up, if the outlet behind it can be told so; NULL: never */
	const volatile sig_atomic_t *stop;
	/* set when the outlet behind is to wait no longer for whoever reads; 0: it is waited for without end */
	volatile bool *give_up;
	uint64_t patience_ns; /* that it is waited for at the end without a byte going; 0: without end */
};

/*
 * Puts a thread in front of an outlet: write(), end() and idle() of *inner are called by that, in the order in
 * which they were asked for, begin(), wish() and close() by the caller. Nobody waits for the thread but
 * close(). Its errors come back with the next call. *out is the outlet to use; *inner is taken over: out->close()
 * closes it. 0 or -errno, where nothing was taken.
 */
int writer_new(const struct writer_cfg *cfg, const struct segment_ops *inner,
	       struct segment_ops *out);

#endif
