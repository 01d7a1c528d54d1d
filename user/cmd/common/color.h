/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_COLOR_H
#define D9_CMD_COMMON_COLOR_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* What a piece of text is; colours follow from that. */
enum color_as {
	COLOR_PLAIN,
	COLOR_HOT, /* a good part of the whole */
	COLOR_WARM, /* a part that can be measured */
	COLOR_WARN, /* loss, doubt: what makes numbers wrong */
	COLOR_TITLE, /* heads of columns */
	COLOR_DIM, /* of little weight: inside the error of sampling, below a limit */
};

/* When to paint: the choices of --color. */
enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Whether standard output gets colours: with COLOR_AUTO a terminal that has them, unless NO_COLOR is set. */
bool color_wanted(enum color_when when);

/* Appends text; plain unless @on. */
void color_put(struct buf *out, bool on, enum color_as as, const char *s, size_t n);

/* What a share of the whole is, as perf has it: hot from 5% on, warm from 0.5% on. */
enum color_as color_percent(double percent);

#endif /* D9_CMD_COMMON_COLOR_H */
