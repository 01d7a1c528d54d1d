/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_PAINT_H
#define D9_CMD_COMMON_PAINT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* What a piece of text is; colours follow from that. */
enum paint_as {
	PAINT_PLAIN,
	PAINT_HOT, /* a good part of the whole */
	PAINT_WARM, /* a part that can be measured */
	PAINT_WARN, /* loss, doubt: what makes numbers wrong */
	PAINT_TITLE, /* heads of columns */
	PAINT_DIM, /* of little weight: inside the error of sampling, below a limit */
};

/* When to paint: the choices of --color. */
enum paint_when { PAINT_AUTO, PAINT_ALWAYS, PAINT_NEVER };

/* Whether standard output gets colours: with PAINT_AUTO a terminal that has them, unless NO_COLOR is set. */
bool paint_wanted(enum paint_when when);

/* Appends text; plain unless @on. */
void paint_put(struct buf *out, bool on, enum paint_as as, const char *s, size_t n);

/* What a share of the whole is, as perf has it: hot from 5% on, warm from 0.5% on. */
enum paint_as paint_percent(double percent);

#endif /* D9_CMD_COMMON_PAINT_H */
