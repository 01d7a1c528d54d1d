/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SYMWORKER_H
#define D9_SYMBOL_SANDBOX_SYMWORKER_H

#include <stddef.h>
#include <stdint.h>

enum symworker_role {
	SYMWORKER_NAMES, /* functions from symbol tables */
	SYMWORKER_LINES, /* frames with file and line from debug information */
	SYMWORKER_TABLES, /* unwind tables, and build-ids; the offset of the request is 0 */
	SYMWORKER_ROLE_CNT,
};

struct symworker_cfg {
	/* memory for what was read of the files; 0: 256 MiB */
	size_t mem_max[SYMWORKER_ROLE_CNT];
	/* CPU time per second for debug information, one file at a time included; 0: no limit */
	uint64_t lines_ns_per_s;
};

/*
 * Main function of a worker: drops its remaining rights, then answers the messages on sock
 * (symproto.h) until the other end is closed. Modules share its time in slices of some tens of
 * milliseconds.
 */
void symworker_serve(int sock, enum symworker_role role, const struct symworker_cfg *cfg);

#endif /* D9_SYMBOL_SANDBOX_SYMWORKER_H */
