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
	uint32_t insns; /* processed by the verifier; 0 if refused */
	const struct capture_refusal *refusal; /* NULL: loaded */
};
typedef void (*capture_program_fn)(void *ctx, const struct capture_program *program);

/*
 * Loads each BPF program that a recording of @cfg uses, reports each, and unloads all. @alternatives: also the
 * programs that replace those that walk kernel stacks. Otherwise these are tried only after a refusal. All programs
 * are tried, also after a refused one. A program that @verdicts has with equal constants is reported without
 * another load. -errno after one line if loading fails before the first program, for example without privileges.
 */
int capture_programs(const struct capture_cfg *cfg, bool alternatives, struct verdicts *verdicts,
		     capture_program_fn fn, void *ctx);

#endif
