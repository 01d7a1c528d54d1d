/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_FLIGHT_H
#define D9_RECORD_OUTPUT_FLIGHT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/output/compress.h"
#include "record/output/segment_ops.h"

enum {
	FLIGHT_PARTS = 8, /* segments that what is kept is made of */
	FLIGHT_WAITING_BYTES = 32 << 20, /* memory for what is on its way there, and to files */
};

struct flight_cfg {
	uint64_t ns; /* that are kept; 0: this is no flight recorder */
	size_t bytes; /* of memory for that, at most */
	enum compress_kind pack; /* of what is kept: as struct output_cfg has it */
	unsigned int level;
	const volatile sig_atomic_t *stop; /* 2: what is not written yet is given up */
};

struct sudo_user;
struct output_cfg;

/* Keeps the last segments of a recording in memory, until a snapshot of them is asked for. */
struct flight;

/*
 * *out keeps segments and gives them to *files, an outlet that does not wait: each snapshot is one segment there,
 * of whole traces one behind the other, and so is what there is at the end. *files is taken over. What was
 * given is not kept: no event is in two snapshots. @out's write(), end() and idle() may be another thread's than
 * its begin() and wish(). Never fails.
 */
struct flight *flight_new(const struct flight_cfg *cfg, const struct segment_ops *files,
			  struct segment_ops *out);

/*
 * The same in front of files of @output's names, which *name is as output_open() has it, with threads that pack
 * and write. They belong to @user. Prints one line and returns -errno. If nothing is to be kept it is output_open(),
 * and *flight is left alone.
 */
int flight_open(const struct flight_cfg *cfg, const struct output_cfg *output,
		const struct sudo_user *user, struct segment_ops *out, struct flight **flight,
		char **name);

/*
 * All that is there by the next flush is to be written. By the thread that calls begin() and wish(). True: it does
 * not go back to where the last snapshot ended; whatever spans what is missing spans the time between *from_ns and
 * *to_ns (CLOCK_MONOTONIC).
 */
bool flight_snapshot(struct flight *f, uint64_t *from_ns, uint64_t *to_ns);

/* What it held, and how often something had to go before its time for want of memory. Any thread. */
struct flight_counts {
	size_t bytes; /* of memory */
	uint64_t snapshots;
	uint64_t cut_short; /* segments that went before they were as old as what is to be kept */
};
void flight_count(struct flight *f, struct flight_counts *out);

#endif
