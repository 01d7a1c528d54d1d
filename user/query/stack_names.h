/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_STACK_NAMES_H
#define D9_QUERY_STACK_NAMES_H

#include "base/buf.h"
#include "trace/read/names.h"

/* One function of a stack; an inlined function is one of its own. */
struct stack_names_function {
	uint64_t frame;
	uint32_t name, file, line; /* string ids, or NAMES_NONE; 0 */
	bool inlined;
};

/* The functions of a stack, leaf first: start with { .names, .frames, .cnt }. */
struct stack_names {
	const struct names *names;
	const uint64_t *frames;
	uint32_t cnt;
	uint32_t at, left; /* the next frame; inlined functions of the one before it */
};

bool stack_names_next(struct stack_names *s, struct stack_names_function *out);
/* The name of a function, as report prints it: "[unknown]" if there is none. */
void stack_names_put(struct buf *out, const struct names *n, const struct stack_names_function *f);
/* "main;work;hot (inlined)", root first, for flame graphs. */
void stack_names_put_folded(struct buf *out, const struct names *n, const uint64_t *frames,
			    uint32_t cnt);

#endif /* D9_QUERY_STACK_NAMES_H */
