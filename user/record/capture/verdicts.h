/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_VERDICTS_H
#define D9_RECORD_CAPTURE_VERDICTS_H

#include <stdint.h>

struct bpf_program;
struct prof;

/*
 * The verifier's results for programs, so that no program is loaded twice with equal constants. Programs of the
 * same name in two skeletons differ only in the constants and the sizes of maps that they refer to.
 */
struct verdicts;

struct verdicts *verdicts_new(void);
void verdicts_free(struct verdicts *v);
/* @skel: loaded. */
void verdicts_add(struct verdicts *v, const struct prof *skel, const struct bpf_program *prog,
		  uint32_t insns);
/* @skel: configured. Instructions that the verifier processed; -1: unknown. */
int64_t verdicts_find(const struct verdicts *v, const struct prof *skel,
		      const struct bpf_program *prog);

#endif
