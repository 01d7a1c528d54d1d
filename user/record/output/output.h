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

/* When the disk is full, or the disk budget used up. */
enum output_on_full {
	OUTPUT_STOP, /* the recording ends with an error */
	OUTPUT_PAUSE, /* nothing is written until there is room: events are lost in the rings, and counted there */
	OUTPUT_DROP_OLDEST, /* the oldest finished file of the set is deleted; if there is none, as OUTPUT_PAUSE */
};

/* Where a recording is written, and in which pieces. */
struct output_cfg {
	const char *
		path; /* as out_file_open() or stream_connect() has it; of a set, what its names are made of */
	enum compress_kind pack;
	unsigned int level; /* 0: the library's own */

	bool set; /* several files, NAME.N.bin; the next begins by any of: */
	uint64_t switch_bytes; /* so many were written to one; 0: none */
	uint64_t switch_ns; /* or so long after it began; 0: none */
	const volatile sig_atomic_t *switch_asked; /* or when this has another value */
	bool later; /* of a set: nothing is made before there is something to write */
	bool packed; /* bytes come packed as `pack` says */
	uint32_t max_files; /* of the set, earlier runs included: the oldest are deleted; 0: no limit */
	uint64_t disk_budget; /* bytes of all files of the set, earlier runs included; 0: no limit */
	enum output_on_full on_full;

	uint64_t max_bytes; /* of all together, then the recording ends; 0: none */
	bool stamp; /* the time of the start becomes part of the name */
	int nice; /* of the thread that writes */
	const volatile sig_atomic_t *stop; /* 2: who does not read is not waited for */
};

/*
 * Files or a stream, written by a thread. Files belong to uid:gid (-1: left as created). The first one is
 * opened at once: prints one line and returns -errno. *name is what the recording can be read by, a file or
 * what the files of the set begin with; the caller frees.
 */
int output_open(const struct output_cfg *cfg, uid_t uid, gid_t gid, struct segment_ops *out,
		char **name);

#endif
