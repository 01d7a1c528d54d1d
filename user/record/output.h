/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_H
#define D9_RECORD_OUTPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/outlet.h"
#include "record/pack.h"

/* Where a recording is written, and in which pieces. */
struct output_cfg {
	const char *
		path; /* as sink_open() or stream_connect() has it; of a set, what its names are made of */
	enum pack_kind pack;
	unsigned int level; /* 0: the library's own */

	bool set; /* several files, NAME.N.bin; the next begins by any of: */
	uint64_t switch_bytes; /* so many were written to one; 0: none */
	uint64_t switch_ns; /* or so long after it began; 0: none */
	const volatile sig_atomic_t *switch_asked; /* or when this has another value */
	bool later; /* of a set: nothing is made before there is something to write */
	bool packed; /* bytes come packed as `pack` says */
	uint32_t max_files; /* the oldest are removed; 0: all are kept */

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
int output_open(const struct output_cfg *cfg, uid_t uid, gid_t gid, struct outlet *out,
		char **name);

#endif
