/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_VERDICTS_H
#define D9_RECORD_CAPTURE_VERDICTS_H

#include <stdint.h>

struct bpf_program;
struct prof;

/*
 * What the verifier found for programs, so that none is loaded twice with equal constants. Of two skeletons,
 * programs of one name are equal but for the constants and the sizes of maps that they refer to.
 */
struct verdicts;

struct verdicts *verdicts_new(void);
void verdicts_free(struct verdicts *v);
/* Of a skeleton that is loaded. */
void verdicts_add(struct verdicts *v, const struct prof *skel, const struct bpf_program *prog,
		  uint32_t insns);
/* Of one that is configured: instructions that the verifier processed; -1: not known. */
int64_t verdicts_find(const struct verdicts *v, const struct prof *skel,
		      const struct bpf_program *prog);

#endif
