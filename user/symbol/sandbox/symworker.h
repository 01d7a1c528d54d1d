/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SYMWORKER_H
#define D9_SYMBOL_SANDBOX_SYMWORKER_H

#include <stddef.h>

enum symworker_role {
	SYMWORKER_NAMES, /* functions, from symbol tables; and build-ids */
	SYMWORKER_LINES, /* frames with file and line, from debug information */
	SYMWORKER_TABLES, /* unwind tables; the question's offset is 0 */
	SYMWORKER_ROLE_CNT,
};

struct symworker_cfg {
	/* for all modules' debug information together; 0 = 256 MiB */
	size_t dwarf_mem_max;
};

/*
 * The life of a worker process: gives up what it still can do, then answers the messages on sock
 * (symproto.h) until the other end is gone. Modules take turns of some tens of milliseconds.
 */
void symworker_serve(int sock, enum symworker_role role, const struct symworker_cfg *cfg);

#endif /* D9_SYMBOL_SANDBOX_SYMWORKER_H */
