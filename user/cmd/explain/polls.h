/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_EXPLAIN_POLLS_H
#define D9_CMD_EXPLAIN_POLLS_H

#include "cmd/explain/explain.h"

struct polls_opts {
	struct explain_opts explain; /* the subset that polls has */
	uint64_t min_ns;
};

/* The answer on standard output. */
void polls_print(struct explain_slowest *s);
void polls_print_json(struct explain_slowest *s);
/* What a poll is called, and the members of its JSON object that a pair of `explain` does not have. */
void polls_print_title(struct buf *out, const struct explain_slowest *s, const struct span *p);
void polls_print_members(struct buf *out, const struct explain_slowest *s, const struct span *p);

#endif /* D9_CMD_EXPLAIN_POLLS_H */
