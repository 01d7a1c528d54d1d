/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_SCHED_OFFCPU_H
#define D9_CMD_SCHED_OFFCPU_H

#include "cmd/common/interval_report.h"

struct offcpu_opts {
	struct interval_report_opts common;
	/* offcpu */
	const char *by, *states;
	uint64_t min_ns, max_ns;
	bool hist, folded, kernel, user;
	/* wakeup */
	const char *chain; /* TID[@TIME] */
	uint64_t depth;
	bool by_tid, stacks;
};

/* `wakeup --chain`: the chain of wakeups before one of @opts->chain. An exit code of cmd.h. */
int wakeup_chain(const struct offcpu_opts *opts, const char *path);

#endif /* D9_CMD_SCHED_OFFCPU_H */
