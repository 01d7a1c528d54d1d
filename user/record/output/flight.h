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
	FLIGHT_PARTS = 8, /* segments that cover the time to keep */
	FLIGHT_WAITING_BYTES = 32 << 20, /* memory for data queued to flight and to files */
};

struct flight_cfg {
	uint64_t ns; /* time to keep; 0: not a flight recorder */
	size_t bytes; /* maximum memory for it */
	enum compress_kind pack; /* of the stored data: as in struct output_cfg */
	unsigned int level;
	const volatile sig_atomic_t *stop; /* 2: unwritten data is dropped */
};

struct sudo_user;
struct output_cfg;

/* Keeps the last segments of a recording in memory until a snapshot is requested. */
struct flight;

/*
 * *out stores segments and writes them to *files, a non-blocking output. Each snapshot is one segment there, a
 * sequence of whole traces, and so is the rest at the end. *files is owned. Written data is freed: no event is in
 * two snapshots. write(), end() and idle() of @out may run in another thread than begin() and request(). Never fails.
 */
struct flight *flight_new(const struct flight_cfg *cfg, const struct segment_ops *files,
			  struct segment_ops *out);

/*
 * The same in front of files named by @output, with *name as in output_open(), and with threads that compress and
 * write. Files belong to @user. Prints one line and returns -errno. If cfg->ns is 0, it is output_open(), and
 * *flight is unchanged.
 */
int flight_open(const struct flight_cfg *cfg, const struct output_cfg *output,
		const struct sudo_user *user, struct segment_ops *out, struct flight **flight,
		char **name);

/*
 * Requests a snapshot of all data up to the next flush. Call it in the thread that calls begin() and request(). True:
 * the snapshot does not reach back to the last one; the gap lies between *from_ns and *to_ns (CLOCK_MONOTONIC).
 */
bool flight_snapshot(struct flight *f, uint64_t *from_ns, uint64_t *to_ns);

#endif
