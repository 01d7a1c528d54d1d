/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_CHECK_H
#define D9_CMD_RECORD_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum check_state {
	CHECK_GOOD,
	CHECK_LIMITED, /* a recording can start, and something will be missing */
	CHECK_BAD, /* no recording can start */
};

struct check_row {
	const char *name; /* static, as are option and costs */
	enum check_state state;
	char *detail; /* what was found; owned */
	const char *option; /* without it a recording needs this option; NULL: needs none */
	const char *costs; /* what the lack of it costs; NULL when good */
	char *mend; /* the command or action that fixes it; owned; NULL: none */
};

struct check {
	struct check_row *rows;
	size_t cnt, cap;
};

/*
 * @btf: as record --btf; NULL: none. Inspects the process and the kernel. Needs no privileges, but finds less
 * without them.
 */
void check_probe(struct check *c, const char *btf);
void check_fini(struct check *c);

/* Adds a row. The text of @costs is borrowed, the text of the remedy is copied; NULL: none. */
struct check_row *check_add(struct check *c, const char *name, enum check_state state,
			    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void check_explain(struct check_row *row, const char *costs, const char *mend);

/* Whether no row is bad. */
bool check_can_record(const struct check *c);

/* On standard output: a line or more for each row, and the verdict; or one JSON object. */
void check_print_text(const struct check *c);
void check_print_json(const struct check *c);

#endif /* D9_CMD_RECORD_CHECK_H */
