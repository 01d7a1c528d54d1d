/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_PROGRAMS_H
#define D9_RECORD_CAPTURE_CAPTURE_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

struct capture_cfg;
struct capture_refusal;
struct verdicts;

/* A program that was loaded or refused. */
struct capture_program {
	const char *name;
	uint32_t insns; /* that the verifier processed; 0 if refused */
	const struct capture_refusal *refusal; /* NULL: loaded */
};
typedef void (*capture_program_fn)(void *ctx, const struct capture_program *program);

/*
 * Loads each BPF program that a recording of @cfg uses, reports each, and keeps none. With @alternatives
 * also those that it would use in place of programs that walk kernel stacks, which else are tried if one
 * of these is refused. A refused program does not keep others from being
 * tried, and a program that @verdicts has seen with equal constants is reported without being loaded again.
 * -errno after one line if loading fails before the first program, as without privileges.
 */
int capture_programs(const struct capture_cfg *cfg, bool alternatives, struct verdicts *verdicts,
		     capture_program_fn fn, void *ctx);

#endif
