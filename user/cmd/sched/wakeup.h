/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_SCHED_WAKEUP_H
#define D9_CMD_SCHED_WAKEUP_H

#include "cmd/common/select.h"
#include "cmd/common/view.h"

struct wakeup_opts {
	struct select_opts sel;
	struct view_opts view;
	const char *chain; /* TID[@TIME] */
	uint64_t limit, depth;
	bool by_tid, stacks, json, include_self;
};

/* The path to one waking, as --chain has it: an exit code of cmd.h. */
int wakeup_chain(const struct wakeup_opts *opts, const char *path);

#endif /* D9_CMD_SCHED_WAKEUP_H */
