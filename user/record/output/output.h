/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_OUTPUT_H
#define D9_RECORD_OUTPUT_OUTPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/output/compress.h"
#include "record/output/segment_ops.h"

/* Behaviour if the disk is full, or the disk budget is used up. */
enum output_on_full {
	OUTPUT_STOP, /* end the recording with an error */
	OUTPUT_PAUSE, /* write nothing until there is room: events are lost in the rings, and counted there */
	OUTPUT_DROP_OLDEST, /* delete the oldest finished file of the set; if there is none, as OUTPUT_PAUSE */
};

struct realtime;

/* Destination and rotation of a recording. */
struct output_cfg {
	const char *
		path; /* for out_file_open() or stream_connect(); for a set, the base of its names */
	enum compress_kind pack;
	unsigned int level; /* 0: the library's default */

	bool set; /* several files NAME.N.bin; the next begins by any of: */
	uint64_t switch_bytes; /* bytes written to the file; 0: none */
	uint64_t switch_ns; /* time since it began; 0: none */
	const volatile sig_atomic_t *switch_asked; /* a changed value */
	bool later; /* for a set: create no file before there is data */
	bool packed; /* data is already compressed by `pack` */
	uint32_t max_files; /* of the set, including earlier runs: the oldest are deleted; 0: no limit */
	uint64_t disk_budget; /* bytes of all files of the set, including earlier runs; 0: no limit */
	enum output_on_full on_full;

	uint64_t max_bytes; /* total, then the recording ends; 0: none */
	bool stamp; /* add the start time to the name */
	int nice; /* of the writer thread */
	struct realtime *realtime; /* the writer thread joins it; NULL: none */
	const volatile sig_atomic_t *stop; /* 2: do not wait for readers */
};

/*
 * Files or a stream, written by a thread. Files belong to uid:gid (-1: left as created). The first one is opened at
 * once: prints one line and returns -errno. *name is the name for reading the recording: a file, or the base of a
 * set's names. The caller frees it.
 */
int output_open(const struct output_cfg *cfg, uid_t uid, gid_t gid, struct segment_ops *out,
		char **name);

#endif
