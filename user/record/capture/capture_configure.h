/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_CONFIGURE_H
#define D9_RECORD_CAPTURE_CAPTURE_CONFIGURE_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_program;
struct capture_cfg;
struct capture_field_extract;
struct capture_rings;
struct prof;

struct capture_configure {
	const struct capture_cfg *cfg;
	size_t cpu_cnt; /* highest number of an online CPU, plus one */
	bool orc; /* programs walk kernel stacks themselves */
	struct capture_rings *rings; /* sized here */
	struct capture_field_extract *
		extracts; /* chosen here; ended with capture_field_extract_fini(), also on errors */
};

/* Chooses the programs to load, and their constants. Prints one line and returns -errno. */
int capture_configure(struct prof *skel, const struct capture_configure *c);

/* Whether a run that the kernel skips loses no event: the program only notes or measures something. */
bool capture_configure_is_lossless(const struct bpf_program *prog);

#endif
