/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_REFUSAL_H
#define D9_RECORD_CAPTURE_REFUSAL_H

#include <stdbool.h>

#include "kernel/denial.h"

struct buf;
struct capture_refusal;

/* Properties of this machine that decide why it does not load BPF programs. */
struct refusal_facts {
	struct denial_facts denial;
	bool has_btf; /* the kernel's types can be read */
	const char *release; /* uname -r; static */
};

/* @btf: the file that replaces the kernel's types; NULL: none. */
void refusal_read(const char *btf, struct refusal_facts *out);
/*
 * Appends the refused object, the reason and the remedy. @leave_out: text with the option that disables the refused
 * program; NULL: none.
 */
void refusal_describe(const struct refusal_facts *f, const struct capture_refusal *why,
		      const char *leave_out, struct buf *out);

/* Prints one line of @command with that text. */
void refusal_report(const char *command, const struct refusal_facts *f,
		    const struct capture_refusal *why, const char *leave_out);

#endif
